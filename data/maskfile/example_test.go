// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/maskfile"
)

// A mask from a list of pixels becomes a picture.
func Example() {
	dir, err := os.MkdirTemp("", "masks")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	list, picture := filepath.Join(dir, "bad.txt"), filepath.Join(dir, "mask.tif")
	if err := maskfile.WriteList(list, [][2]int{{2, 5}, {7, 1}}, false); err != nil {
		panic(err)
	}
	m, err := maskfile.Read(list, maskfile.Settings{Height: 10, Width: 12})
	if err != nil {
		panic(err)
	}
	if err := maskfile.Write(picture, m, false); err != nil {
		panic(err)
	}
	again, err := maskfile.Read(picture, maskfile.Settings{Height: 10, Width: 12})
	if err != nil {
		panic(err)
	}
	fmt.Println(again.Keep[2*12+5], again.Keep[2*12+6])
	// Output: false true
}
