// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf_test

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// equalOrNaN compares numbers; NaN equals NaN.
func equalOrNaN(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// netCDF 4 files of other programs: types with a name do not stop the reading, and what has them is listed; labels are joined from
// characters, variables are padded to the length of their dimension, and packed numbers are unpacked.
func TestFilesOfOtherPrograms(t *testing.T) {
	tree, err := netcdf.Open("testdata/other.nc")
	must(t, err)
	post, err := tree.Group("posterior")
	must(t, err)
	nan := math.NaN()
	for name, want := range map[string][]float64{
		"mu": {0, .125, .25, .375, .5, .625, .75, .875}, "short": {0, .125, .25, nan, .5, .625, .75, nan}, "n": {1, 2, nan, nan, 3, 4, nan, nan},
		"packed": {1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, nan}, "above": {0, 1, 0, 1, 1, 1, 0, 0},
	} {
		v := post.Var(name)
		if v == nil || !slices.Equal(v.Shape, tensor.Shape{2, 4}) || !equalOrNaN(v.Floats(), want) {
			t.Errorf("%s: %v", name, v)
		}
	}
	labels := post.Coord("school")
	if labels == nil || labels.Text(0) != "ab" || labels.Text(1) != "cde" || !slices.Equal(post.Var("theta").Dims, []string{"chain", "draw", "school"}) {
		t.Errorf("%v", post)
	}
	if got := post.Attrs[xarray.LeftOut]; !strings.Contains(got, "complex (") || !strings.Contains(got, "ragged (") || strings.Contains(got, "above") {
		t.Errorf("left out: %q", got)
	}
}

// Files of the classic format, in all its versions, have the same numbers; there is one group, the root.
func TestClassicFiles(t *testing.T) {
	nan := math.NaN()
	for _, version := range []string{"1", "2", "5"} {
		tree, err := netcdf.Open("testdata/classic" + version + ".nc")
		must(t, err)
		d, err := tree.Group("root")
		must(t, err)
		for name, want := range map[string][]float64{"mu": {0, .5, .125, .625, .25, .75, .375, .875}, "n": {1, 2, 3, nan, 5, 6, 7, 8}, "packed": {1, 1.5, 1.125, 1.625, 1.25, 1.75, 1.375, nan},
			"theta": {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15}, "tau": {2.5}} {
			if v := d.Var(name); v == nil || !equalOrNaN(v.Floats(), want) {
				t.Errorf("%s: %s: %v", version, name, v)
			}
		}
		if d.Coord("school").Text(1) != "cde" || d.Attrs["seeds"] != "1, 2" || d.Attrs["inference_library"] != "none" {
			t.Errorf("%s: %v %v", version, d, d.Attrs)
		}
	}
}

// FuzzClassic reads hostile files of the classic format.
func FuzzClassic(f *testing.F) {
	for _, version := range []string{"1", "2", "5"} {
		b, err := os.ReadFile("testdata/classic" + version + ".nc")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !bytes.HasPrefix(b, []byte("CDF")) {
			return
		}
		if tree, err := netcdf.Read(bytes.NewReader(b), int64(len(b)), "x.nc"); err == nil {
			_ = tree.String()
		}
	})
}
