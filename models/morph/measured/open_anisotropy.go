// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"

	"github.com/euryale-dev/euryale/data/scatter"
)

func init() { kinds[scatter.Anisotropies] = anisotropies }

// usualWedge is the half width of wedges in degrees.
const usualWedge = 10

// anisotropies makes data of A(q) = (a - b)/(a + b), the contrast of the means in wedges along and across the electric field.
func anisotropies(set *scatter.Set, r Reading) (*Data, []string, error) {
	width := cmp.Or(r.Wedges.Width, usualWedge)
	d, l, notes, err := reducer(set, r, width)
	if err != nil {
		return nil, nil, err
	}
	wedges := func(energy, angle float64, q []float64) *Bins {
		along, across := []float64{angle}, []float64{angle - 90}
		if angle != 0 { // the other wedge is again that along +x
			along, across = []float64{-angle}, []float64{-angle + 90}
		}
		if r.Wedges.Both {
			along, across = append(along, along[0]+180), append(across, across[0]+180)
		}
		b := l.wedge(energy, q, width, along)
		b.Less = l.wedge(energy, q, width, across)
		return b
	}
	noise := r.Loss
	for _, c := range set.Curves {
		angles := r.Wedges.Polarizations
		if angles == nil {
			angles = []float64{c.Polarization}
		}
		b := wedges(c.Energy, angles[0], c.Q)
		for _, a := range angles[1:] {
			b.Also = append(b.Also, Sight{Angle: a, Bins: wedges(c.Energy, a, c.Q)})
		}
		f := Frame{Energy: c.Energy, Angle: angles[0], Exposure: 1, Bins: b, Counts: c.I, Errors: c.Errors, Noise: cmp.Or(noise, "residuals"), Gains: ones(len(c.I))}
		if c.Errors != nil && noise == "" {
			f.Noise = "gaussian"
		}
		d.Frames = append(d.Frames, f)
	}
	if d.Frames[0].Noise == "residuals" {
		notes = append(notes, "there are no errors of A(q): errors estimated from the residuals")
	}
	return d, notes, nil
}
