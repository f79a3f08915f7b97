// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dl_test

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

// A library that is missing gives an error that lists every place that was tried, and an environment variable can name
// another place.
func Example() {
	_, err := dl.Open(dl.Spec{Name: "NOSUCH", Sonames: []string{"libnosuch.so.1"}, DLLs: []string{"nosuch1.dll"}})
	var missing *dl.NotFound
	if errors.As(err, &missing) {
		fmt.Println("not found:", missing.Name)
	}
	fmt.Println("override it with", dl.Variable("NOSUCH"))
	fmt.Printf("%q\n", dl.Bytes("cuInit")) // the form in which C expects a string
	// Output:
	// not found: NOSUCH
	// override it with EURYALE_LIBNOSUCH
	// "cuInit\x00"
}
