// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"

	"github.com/euryale-dev/euryale/tensor"
)

// Dataset returns the pattern with named axes, for netCDF and Zarr files that
// xarray opens: intensity over energy (eV), qy and qx (1/nm), and over beam where
// there are several. depth is the number of slices of the volume.
func (p *Pattern) Dataset(physSize float64, depth int) (*tensor.Dataset, error) {
	d := tensor.NewDataset("scattering")
	d.Attrs["phys_size_nm"] = fmt.Sprint(physSize)
	d.Attrs["z_dim"] = fmt.Sprint(depth)
	s := p.Intensity.Shape()
	dims, shape := []string{"energy", "beam", "qy", "qx"}, s
	if s[1] == 1 {
		dims, shape = []string{"energy", "qy", "qx"}, tensor.Shape{s[0], s[2], s[3]}
	}
	err := d.AddVariable(tensor.Variable{Name: "intensity", Data: p.Intensity.Float64s(), Shape: shape, Dims: dims})
	for _, c := range []struct {
		dim    string
		labels []float64
	}{{"energy", p.Energies}, {"qy", p.QY}, {"qx", p.QX}} {
		if err == nil {
			err = d.AddCoord(c.dim, c.labels)
		}
	}
	return d, err
}
