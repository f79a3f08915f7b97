// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math/cmplx"
	"testing"

	"pgregory.net/rapid"
)

// The polarization is that of the direct algorithm.
func TestPolarization(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m, o := randomMorphology(r)
		e := FieldAt(rapid.Float64Range(-400, 400).Draw(r, "angle"))
		got, err := m.Polarization(o[0], e)
		if err != nil {
			r.Fatal(err)
		}
		d := direct{m: m, n: m.Shape()}
		for i, want := range d.polarization(o[0], e) {
			for v, w := range want {
				if g := got[i].Data().([]complex128)[v]; cmplx.Abs(g-w) > 1e-15 {
					r.Fatalf("component %d of voxel %d is %v, want %v", i, v, g, w)
				}
			}
		}
	})
}

func TestPatternDataset(t *testing.T) {
	p := &Pattern{Energies: []float64{284.4}, QY: Frequencies(48, 5), QX: Frequencies(48, 5), Intensity: noise(1, 0, 1, 1, 2, 48, 48)}
	d, err := p.Dataset(5, 16)
	if err != nil {
		t.Fatal(err)
	}
	if v := d.Vars()[0]; len(v.Dims) != 4 || v.Dims[1] != "beam" || d.Attrs["z_dim"] != "16" {
		t.Errorf("axes %v, attributes %v", v.Dims, d.Attrs)
	}
	p.Intensity = p.Intensity.Slice(1, 0, 1, 1)
	if d, err = p.Dataset(5, 16); err != nil || len(d.Vars()[0].Dims) != 3 {
		t.Errorf("one beam: %v, %v", d, err)
	}
}
