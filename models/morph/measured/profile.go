// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"
)

// Profile is what the frames of an energy and an angle of the field show along q, all exposures together.
type Profile struct {
	Energy, Angle float64   // photon energy in eV and angle of the electric field in degrees
	Q             []float64 // middles of the bins in 1/nm
	// A and Model are the anisotropies (a - b)/(a + b) of the data and of the model in the same numbers, where a and b are the means in wedges
	// along and across the field; NaN where there are none, nil for data of all directions together.
	A, Model []float64
	// Residual is the sum of the residuals in each bin of q over its standard deviation, the root of their number; NaN for none.
	Residual []float64
}

// profileBins is the number of bins of q of frames that have no q of their own.
const profileBins = 40

// Profiles returns those of the frames at x, in the order of Names, given their images.
func (t *Task) Profiles(x []float64, images []Image) (list []Profile, err error) {
	for _, m := range t.models() {
		n := len(m.Data.Frames)
		var l *layout
		most := 0.0
		if m.Data.Fan == nil && m.Data.Frames[0].Bins == nil {
			if l, most, err = t.centred(m, x); err != nil {
				return nil, err
			}
		}
		sights, of := m.Data.sights(0)
		for s, sight := range sights {
			var seen []Image
			for i := range of {
				if of[i] == s {
					seen = append(seen, images[i])
				}
			}
			list = append(list, m.Data.profile(sight.frame, seen, l, most))
		}
		images = images[n:]
	}
	return list, nil
}

// profile adds up the frames of one sight. l says where pixels are, up to q = most in 1/nm; nil for numbers of bins, which know.
func (d *Data) profile(f *Frame, images []Image, l *layout, most float64) Profile {
	p := Profile{Energy: f.Energy, Angle: f.Angle}
	bins := min(profileBins, d.ringsOf())
	where := func(i int) (bin int, chi float64) { return min(int(l.q[i]/most*float64(bins)), bins-1), l.chi[i] }
	if l != nil {
		l.at(f.Energy)
		for b := range bins {
			p.Q = append(p.Q, (float64(b)+0.5)*most/float64(bins))
		}
	} else {
		bins = f.Bins.length() / max(1, f.Bins.Rows)
		p.Q = f.Bins.Q[:bins]
		where = func(i int) (int, float64) { return i % bins, f.Bins.Chi[i] }
	}
	if f.Bins != nil && f.Bins.Interpolated {
		return d.mapProfile(f, images)
	}
	sum, number := make([]float64, bins), make([]float64, bins)
	wedges := make([][2][3]float64, bins)
	directed := f.Bins == nil || f.Bins.Rows > 2
	for _, im := range images {
		for i := range im.Rows * im.Columns {
			y, c := i/im.Columns, i%im.Columns
			z := im.Residual[y][c]
			if math.IsNaN(z) {
				continue
			}
			b, chi := where(i)
			sum[b], number[b] = sum[b]+z, number[b]+1
			side := sideOf(chi, f.Angle)
			if !directed || side < 0 {
				continue
			}
			weight := at(im.Frame.Gains, i, im.Frame.Exposure)
			if l != nil {
				weight *= l.weight[i]
			}
			w := &wedges[b][side]
			w[0], w[1], w[2] = w[0]+im.Counts[y][c], w[1]+im.Mean[y][c], w[2]+weight
		}
	}
	for b := range bins {
		p.Residual = append(p.Residual, sum[b]/math.Sqrt(number[b]))
	}
	switch {
	case f.Bins != nil && f.Bins.Less != nil:
		p.A, p.Model = images[0].Counts[0], images[0].Mean[0]
	case directed:
		for _, w := range wedges {
			contrast := func(k int) float64 {
				a, b := w[0][k]/w[0][2], w[1][k]/w[1][2]
				return (a - b) / (a + b)
			}
			p.A, p.Model = append(p.A, contrast(0)), append(p.Model, contrast(1))
		}
	}
	return p
}

// sideOf returns 0 for a direction in degrees in the wedges along the field, 1 across it, and -1 for neither.
func sideOf(chi, field float64) int {
	angle := math.Abs(turn(chi, field))
	switch angle = min(angle, 180-angle); {
	case angle <= wedgeWidth:
		return 0
	case angle >= 90-wedgeWidth:
		return 1
	}
	return -1
}

// mapProfile is the profile of a map of qx and qy, without anisotropy.
func (d *Data) mapProfile(f *Frame, images []Image) Profile {
	p := Profile{Energy: f.Energy, Angle: f.Angle}
	most := slices.Max(f.Bins.Q)
	sum, number := make([]float64, profileBins), make([]float64, profileBins)
	for _, im := range images {
		for i, q := range f.Bins.Q {
			if z := im.Residual[i/im.Columns][i%im.Columns]; !math.IsNaN(z) {
				b := min(int(q/most*profileBins), profileBins-1)
				sum[b], number[b] = sum[b]+z, number[b]+1
			}
		}
	}
	for b := range sum {
		p.Q, p.Residual = append(p.Q, (float64(b)+0.5)*most/profileBins), append(p.Residual, sum[b]/math.Sqrt(number[b]))
	}
	return p
}
