// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/fits"
)

// A table with an undefined element is written, and a range of its rows read back.
func Example() {
	dir, err := os.MkdirTemp("", "fits")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "stars.fits")
	w, err := fits.Create(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Discard()
	w.Table("STARS", nil, []fits.Data{
		{Name: "TARGETID", Values: []int64{11, 12, 13}},
		{Name: "VRAD", Unit: "km s-1", Values: []float64{-31.5, 0, 204.25}, Mask: []bool{false, true, false}},
	})
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	f, err := fits.Open(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	stars, err := f.Table("stars")
	if err != nil {
		fmt.Println(err)
		return
	}
	vrad, err := stars.Slice(1, 3).Column("VRAD")
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := vrad.Float64s()
	fmt.Println(math.IsNaN(v[0]), v[1], vrad.Unit, err, f.Verify())
	_, err = stars.Column("VRAD_ERR")
	fmt.Println(err != nil)
	// Output:
	// true 204.25 km s-1 <nil> <nil>
	// true
}
