// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

func init() { kinds[scatter.Maps] = remeshed }

// usualDistance in mm is that of the detector of a map whose distance is not known: maps say directions, which do not depend on it.
const usualDistance = 100

// remeshed makes data of maps of qx and qy, as PyHyperScattering interpolates images: at the small-angle q of one frame, between the four
// pixels about each place. Their noise is correlated, so they are compared by a variance in proportion to the mean that the
// residuals say.
func remeshed(set *scatter.Set, r Reading) (*Data, []string, error) {
	if r.Loss == "poisson" || r.Loss == "negative_binomial" {
		return nil, nil, errors.New(`measured: maps of qx and qy were interpolated and hold no counts: leave "loss" out, or give the images`)
	}
	m, whole := untouched(set.Maps)
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
			bins[x.Energy] = d.interpolated(x, k/rsoxs.Wavenumber(x.Energy), whole)
		}
		d.Frames = append(d.Frames, Frame{Energy: x.Energy, Angle: x.Polarization, Exposure: cmp.Or(x.Exposure, 1), Bins: bins[x.Energy], Counts: x.I, Noise: cmp.Or(r.Loss, "quasi")})
	}
	notes := []string{"the map was interpolated: errors estimated from the residuals, with a variance in proportion to the mean"}
	if !whole && len(set.Energies()) > 1 {
		notes = append(notes, fmt.Sprintf("no energy has whole counts only, by which that is known to whose q the others were interpolated: that of the middle frame is taken, %.6g eV", m.Energy))
	}
	return d, append(notes, d.exchangeAxes(k)...), nil
}

// untouched returns a map at the energy on whose q all were interpolated: that where nearly all numbers are still whole counts. ok is false if
// none stands out, and the middle one is returned.
func untouched(maps []scatter.Map) (m scatter.Map, ok bool) {
	const most = 0.9
	m = maps[len(maps)/2]
	for _, x := range maps {
		whole, n := 0.0, 0.0
		for _, v := range x.I {
			if v != 0 && !math.IsNaN(v) {
				n++
				if v == math.Round(v) {
					whole++
				}
			}
		}
		if !(whole > most*n) || ok && x.Energy == m.Energy {
			continue
		}
		if ok { // counts at several energies: nothing was interpolated, or all are whole for another reason
			return maps[len(maps)/2], false
		}
		m, ok = x, true
	}
	return m, ok
}

// exchangeAxes moves the beam of maps whose qx counts from the beam's y and whose qy counts from its x, as loaders label them that take one
// for the other; k is the wave number in 1/nm at which the axes say q.
func (d *Data) exchangeAxes(k float64) []string {
	g := &guess{Data: d}
	by, ok := g.exchanged()
	if !ok {
		return nil
	}
	x, y := g.foot0()
	det := d.Detector
	toQ := k / d.Geometry.Distance
	d.Geometry.PoniX += by * det.PixelX
	d.Geometry.PoniY -= by * det.PixelY
	moved := map[*Bins]bool{}
	for _, f := range d.Frames {
		if b := f.Bins; !moved[b] {
			moved[b] = true
			for i := range b.Q {
				qx, qy := ((float64(i%det.Columns)+0.5)*det.PixelX-d.Geometry.PoniX)*toQ, ((float64(i/det.Columns)+0.5)*det.PixelY-d.Geometry.PoniY)*toQ
				b.Q[i], b.Chi[i] = math.Hypot(qx, qy), 180/math.Pi*math.Atan2(qy, qx)
			}
		}
	}
	return []string{fmt.Sprintf("the names of the axes are exchanged: qx = 0 and qy = 0 are at column %.4g and row %.4g, and the patterns are symmetric about column %.4g and row %.4g, so the beam is taken to be there, and \"centre_x\" and \"centre_y\" count from there",
		x, y, x+by, y-by)}
}

// interpolated returns the places of a map between the pixels of the detector, on which it takes a number of a pixel further out for its
// energy than at that of the frame whose q the axes say. Numbers that follow from a pixel that is masked or beyond the edge are left out; if
// sure is false, by how much further is not known well, and numbers near a masked pixel are left out, too.
func (d *Data) interpolated(m scatter.Map, further float64, sure bool) *Bins {
	b := &Bins{From: []int{0}, Rows: len(m.QY), Interpolated: true}
	g, det := d.Geometry, d.Detector
	keep := d.Keep
	if !sure {
		keep = d.kept()
	}
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
				whole = keep == nil || keep[p]
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

// kept returns the pixels that count and whose neighbours do; nil for all.
func (d *Data) kept() []bool {
	if d.Keep == nil {
		return nil
	}
	rows, columns := d.Detector.Rows, d.Detector.Columns
	out := slices.Clone(d.Keep)
	for i, k := range d.Keep {
		if k {
			continue
		}
		for y := max(0, i/columns-1); y < min(rows, i/columns+2); y++ {
			for x := max(0, i%columns-1); x < min(columns, i%columns+2); x++ {
				out[y*columns+x] = false
			}
		}
	}
	return out
}
