// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// Polarization returns the polarization that a field of amplitude 1 along e induces in every voxel,
//
//	p = (eps - 1) e/(4 pi)
//
// as its x, y and z components in complex128 [Z,Y,X]; constants has one entry per material. It is
// meant for inspection: Simulator never stores it.
//
// Reference: Mukherjee et al., doi:10.1107/S1600576723002790.
func (m *Morphology) Polarization(constants []Constants, e [3]float64) (p [3]*tensor.Tensor, err error) {
	if err := m.inspect(); err != nil {
		return p, err
	}
	if len(constants) != len(m.Materials) {
		return p, fmt.Errorf("rsoxs: there are constants of %d materials: want %d", len(constants), len(m.Materials))
	}
	n := m.Shape()
	var out [3][]complex128
	for i := range p {
		p[i] = tensor.New(tensor.Complex128, n[:]...)
		out[i] = p[i].Data().([]complex128)
	}
	slice := n[1] * n[2]
	for k := range m.Materials {
		c, fields := constants[k].contrast(), newProducts[float64](&m.Materials[k], 0, 0, n[0])
		w := &scratch[float64]{n: slice}
		w.makeFields()
		for z := range n[0] {
			if fields.make(w, z) {
				continue
			}
			for v := range slice {
				b := fields.tensor(w, &c, v).times(e)
				for i := range out {
					out[i][z*slice+v] += b[i]
				}
			}
		}
	}
	return p, nil
}

// tensor returns eps - 1 of voxel v of the slice in w.fields.
func (p *products[T]) tensor(w *scratch[T], c *contrast, v int) *symmetric {
	f := func(k int) complex128 { return complex(float64(w.fields[k][v]), 0) }
	iso := c.iso * f(fieldV)
	if p.count == 1 {
		return &symmetric{0: iso, 3: iso, 5: iso}
	}
	pa, xx, yy := f(fieldPA), f(fieldXX), f(fieldYY)
	iso += c.axial * pa
	return &symmetric{iso + c.tensor*xx, c.tensor * f(fieldXY), c.tensor * f(fieldXZ), iso + c.tensor*yy, c.tensor * f(fieldYZ), iso + c.tensor*(pa-xx-yy)}
}

// FieldAt returns the direction of the electric field of a beam along +Z at an
// angle in degrees.
func FieldAt(degrees float64) [3]float64 {
	s, c := math.Sincos(degrees * math.Pi / 180)
	return [3]float64{c, s, 0}
}
