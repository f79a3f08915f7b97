// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/tensor"
)

// What a fit says of a measurement is read back from the files: arrays by energy and pixel, what was reduced of them, and parameters.
func TestDatasets(t *testing.T) {
	k := small(t, 3)
	x, sd := make([]float64, len(k.Params)), make([]float64, len(k.Params))
	for i, p := range k.Params {
		x[i], sd[i] = p.Start, 0.1
	}
	list, err := k.Datasets(x, sd)
	if err != nil || len(list) != 1 {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "fit.nc")
	if err := netcdf.WriteDataset(name, list[0], netcdf.Settings{Gzip: 4}); err != nil {
		t.Fatal(err)
	}
	if err := zarr.WriteDataset(filepath.Join(dir, "fit.zarr"), list[0], zarr.Settings{}); err != nil {
		t.Fatal(err)
	}
	tree, err := netcdf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := tree.Group("root")
	if err != nil {
		t.Fatal(err)
	}
	data := d.Var("data")
	if data == nil || !slices.Equal(data.Dims, []string{"energy", "polarization", "exposure", "pix_y", "pix_x"}) || !data.Shape.Equal(tensor.Shape{2, 1, 1, 20, 22}) {
		t.Fatalf("%+v", data)
	}
	if !slices.Equal(data.Data.([]float64)[:440], k.Model.Data.Frames[0].Counts) {
		t.Error("the counts are others")
	}
	if v := d.Var("radius"); v == nil || v.Data.([]float64)[0] != truthOf["radius"] || d.Var("radius_sd") == nil {
		t.Errorf("the radius is %+v", v)
	}
	if c := d.Coord("energy"); c == nil || c.Attrs["units"] != "eV" {
		t.Errorf("%+v", c)
	}
	far, n := 0.0, 0
	for i, m := range d.Var("I_model").Data.([]float64) {
		if v := d.Var("I").Data.([]float64)[i]; !math.IsNaN(v) {
			far, n = far+math.Abs(v/m-1), n+1
		}
	}
	if n < 10 || far/float64(n) > 0.1 {
		t.Errorf("I(q) of data and model differ by %g on average in %d bins", far/float64(n), n)
	}
}
