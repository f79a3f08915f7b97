// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "github.com/euryale-dev/euryale/tensor"

// Polar returns the intensities along the circles before any mean, float64 [energy,
// beam, chi, Q], and the directions chi in degrees: see Reduction.
func (d *Reducer) Polar(p *Pattern) (*tensor.Tensor, []float64, error) {
	images, beams, err := d.images(p.Intensity)
	if err != nil {
		return nil, nil, err
	}
	t := tensor.New(tensor.Float64, len(d.energies), beams, len(d.polar), d.n)
	out := t.Data().([]float64)
	for i, image := range images {
		for j := range d.polar {
			at := (i*len(d.polar) + j) * d.n
			d.row(out[at:at+d.n], image, j, i/beams)
		}
	}
	chi := make([]float64, len(d.polar))
	for j := range chi {
		chi[j] = float64(j) - 179.5
	}
	return t, chi, nil
}

// Q returns the abscissa of an energy, counted from 0, in 1/nm.
func (d *Reducer) Q(energy int) []float64 { return d.Abscissa(energy) }
