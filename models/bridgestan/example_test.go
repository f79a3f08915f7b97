// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package bridgestan_test

import (
	"fmt"

	"github.com/euryale-dev/euryale/models/bridgestan"
)

// A library that is not there gives an error that says what to do.
func Example() {
	_, err := bridgestan.Open("schools_model.so", []byte(`{"J": 8}`), bridgestan.Settings{})
	fmt.Println(err)
	// Output: bridgestan: there is no file schools_model.so: compile the program with BridgeStan first
}
