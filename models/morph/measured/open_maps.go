// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

func init() { kinds[scatter.Maps] = remeshed }

// usualDistance in mm is that of the detector of a map whose distance is not known: maps say directions, which do not depend on it.
const usualDistance = 100

// remeshed makes data of maps of qx and qy, as PyHyperScattering interpolates images: at the small-angle q of the middle frame, between
// the four pixels about each place. Their noise is correlated, so they are compared by a variance in proportion to the mean that the
// residuals say.
func remeshed(set *scatter.Set, r Reading) (*Data, []string, error) {
	if r.Loss == "poisson" || r.Loss == "negative_binomial" {
		return nil, nil, errors.New(`measured: maps of qx and qy were interpolated and hold no counts: leave "loss" out, or give the images`)
	}
	m := set.Maps[len(set.Maps)/2]
	k := rsoxs.Wavenumber(m.Energy)
	g := Geometry{Distance: cmp.Or(set.Geometry.Distance, usualDistance)}
	perQ := g.Distance / k // mm on the detector for q of 1/nm
	step := func(q []float64) float64 { return (q[len(q)-1] - q[0]) / float64(len(q)-1) }
	if len(m.QY) < 2 || len(m.QX) < 2 || !(step(m.QY) > 0) || !(step(m.QX) > 0) {
		return nil, nil, fmt.Errorf("measured: the map has %d qy and %d qx: want at least 2 of each, which rise", len(m.QY), len(m.QX))
	}
	d := &Data{Keep: set.Keep, Detector: farfield.Detector{Rows: len(m.QY), Columns: len(m.QX), PixelY: perQ * step(m.QY), PixelX: perQ * step(m.QX)}}
	g.PoniY, g.PoniX = -perQ*m.QY[0]+d.Detector.PixelY/2, -perQ*m.QX[0]+d.Detector.PixelX/2
	d.Geometry = g
	bins := map[float64]*Bins{}
	for _, x := range set.Maps {
		if bins[x.Energy] == nil {
			bins[x.Energy] = d.interpolated(x, k/rsoxs.Wavenumber(x.Energy))
		}
		d.Frames = append(d.Frames, Frame{Energy: x.Energy, Angle: x.Polarization, Exposure: cmp.Or(x.Exposure, 1), Bins: bins[x.Energy], Counts: x.I, Noise: cmp.Or(r.Loss, "quasi")})
	}
	return d, []string{"the map was interpolated: errors estimated from the residuals, with a variance in proportion to the mean"}, nil
}

// interpolated returns the places of a map between the pixels of the detector, on which it takes a number of a pixel further out for its
// energy than at that of the middle frame. Numbers that follow from a pixel that is masked or beyond the edge are left out.
func (d *Data) interpolated(m scatter.Map, further float64) *Bins {
	b := &Bins{From: []int{0}, Rows: len(m.QY), Interpolated: true}
	g, det := d.Geometry, d.Detector
	place := func(i, n int, pixel, poni float64) (first int, share float64, ok bool) {
		at := (((float64(i)+0.5)*pixel-poni)*further+poni)/pixel - 0.5
		if r := math.Round(at); math.Abs(at-r) < 1e-9 {
			at = r
		}
		first = int(math.Floor(at))
		return first, at - float64(first), at >= 0 && at <= float64(n-1)
	}
	for i, qy := range m.QY {
		y, v, okY := place(i, det.Rows, det.PixelY, g.PoniY)
		for j, qx := range m.QX {
			x, u, okX := place(j, det.Columns, det.PixelX, g.PoniX)
			var pixels []int
			var weights []float64
			whole := okY && okX
			for _, c := range []struct {
				y, x int
				w    float64
			}{{y, x, (1 - v) * (1 - u)}, {y, x + 1, (1 - v) * u}, {y + 1, x, v * (1 - u)}, {y + 1, x + 1, v * u}} {
				if !whole || c.w < 1e-12 {
					continue
				}
				p := c.y*det.Columns + c.x
				whole = d.Keep == nil || d.Keep[p]
				pixels, weights = append(pixels, p), append(weights, c.w)
			}
			if whole {
				b.Pixel, b.Weight = append(b.Pixel, pixels...), append(b.Weight, weights...)
			}
			b.From = append(b.From, len(b.Pixel))
			b.Q, b.Chi = append(b.Q, math.Hypot(qx, qy)), append(b.Chi, 180/math.Pi*math.Atan2(qy, qx))
		}
	}
	return b
}
