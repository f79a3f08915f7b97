// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"slices"
	"testing"
)

// Tiles of older compressors hold 32 bits for each pixel of 16; the values are those of testdata/gzip_wide.py.
func TestWideTiles(t *testing.T) {
	f, err := Open("testdata/gzip_wide.fits")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	im, err := f.Image("COMPRESSED_IMAGE")
	if err != nil {
		t.Fatal(err)
	}
	if x, err := im.Float64s(); err != nil || !slices.Equal(x, []float64{1, -2, 300, 4, 5, -32768}) {
		t.Error(x, err)
	}
}
