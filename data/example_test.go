// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package data_test

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/libconfig"
)

// An error of any format says in which file and where the mistake is, and what to try.
func ExampleFormatError() {
	_, err := libconfig.Parse([]byte("shape = [16, 16"), "run.cfg")
	if bad := (*data.FormatError)(nil); errors.As(err, &bad) {
		fmt.Println(bad.File, bad.Line, bad.Column)
		fmt.Println(bad.What)
		fmt.Println(bad.Try)
	}
	// Output:
	// run.cfg 1 9
	// the array has no end
	// close it with ]
}
