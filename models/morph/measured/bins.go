// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// layout places numbers at pixels: where each pixel of a detector is, or each point of a fan, and what a reduction weighs it with.
type layout struct {
	data        *Data
	x, y, z     []float64 // directions less the beam
	weight      []float64
	q, chi      []float64 // of the pixels at an energy, q in 1/nm and chi in degrees
	energy      float64
	solidAngles bool
}

// layOut finds where the pixels of a detector are, by its nominal geometry.
func (d *Data) layOut(solidAngles bool) (*layout, error) {
	dir := d.Detector.Directions(d.pose())
	v, err := ad.Numbers(dir.X, dir.Y, dir.Z, dir.SolidAngle)
	if err != nil {
		return nil, err
	}
	l := &layout{data: d, x: v[0], y: v[1], z: v[2], weight: ones(d.pixels()), solidAngles: solidAngles}
	if solidAngles {
		l.weight = v[3]
	}
	return l, nil
}

// at finds q and the direction of all pixels at an energy.
func (l *layout) at(energy float64) {
	if l.energy == energy || l.data.Fan != nil {
		return
	}
	k := rsoxs.Wavenumber(energy)
	l.energy, l.q, l.chi = energy, make([]float64, len(l.x)), make([]float64, len(l.x))
	for i := range l.x {
		l.q[i] = k * math.Sqrt(l.x[i]*l.x[i]+l.y[i]*l.y[i]+l.z[i]*l.z[i])
		l.chi[i] = 180 / math.Pi * math.Atan2(l.y[i], l.x[i])
	}
}

// edges returns the limits of bins from their middles: half way between neighbours.
func edges(middles []float64) []float64 {
	n := len(middles)
	if n == 1 {
		return []float64{0, math.Inf(1)}
	}
	out := make([]float64, n+1)
	for i := 1; i < n; i++ {
		out[i] = (middles[i-1] + middles[i]) / 2
	}
	out[0], out[n] = middles[0]-(out[1]-middles[0]), middles[n-1]+(middles[n-1]-out[n-1])
	return out
}

// slot returns the bin of a number among edges, or -1.
func slot(edges []float64, x float64) int {
	i, found := slices.BinarySearch(edges, x)
	if !found {
		i--
	}
	if i < 0 || i >= len(edges)-1 {
		return -1
	}
	return i
}

// turn returns the difference of two directions in degrees, from -180 to 180.
func turn(a, b float64) float64 { return math.Mod(math.Mod(a-b+180, 360)+360, 360) - 180 }

// means returns the bins that pixels at an energy are in, by a function that gives the bin of a pixel or -1: means by weight.
func (l *layout) means(energy float64, n int, of func(q, chi float64) int) *Bins {
	l.at(energy)
	list := make([][]int, n)
	for i := range l.x {
		if l.data.Keep != nil && !l.data.Keep[i] {
			continue
		}
		if b := of(l.q[i], l.chi[i]); b >= 0 {
			list[b] = append(list[b], i)
		}
	}
	out := &Bins{From: []int{0}}
	for _, pixels := range list {
		sum := 0.0
		for _, i := range pixels {
			sum += l.weight[i]
		}
		for _, i := range pixels {
			w := 1 / sum // the rates of pixels hold their solid angles
			if l.data.Fan != nil {
				w = l.weight[i] / sum
			}
			out.Pixel, out.Weight = append(out.Pixel, i), append(out.Weight, w)
		}
		out.From = append(out.From, len(out.Pixel))
	}
	return out
}

// grid returns the means over bins of chi (nil for all directions) and q, chi first.
func (l *layout) grid(energy float64, chi, q []float64) *Bins {
	byQ := edges(q)
	rows := max(1, len(chi))
	half := 180.0
	if len(chi) > 1 {
		half = math.Abs(turn(chi[1], chi[0])) / 2
	}
	b := l.means(energy, rows*len(q), func(u, direction float64) int {
		k := slot(byQ, u)
		if k < 0 || chi == nil {
			return k
		}
		for r, c := range chi {
			if d := turn(direction, c); d >= -half && d < half {
				return r*len(q) + k
			}
		}
		return -1
	})
	b.Rows = rows
	for r := range rows {
		for _, u := range q {
			c := math.NaN()
			if chi != nil {
				c = chi[r]
			}
			b.Q, b.Chi = append(b.Q, u), append(b.Chi, c)
		}
	}
	return b
}

// wedge returns the means over bins of q in wedges about some directions, in degrees.
func (l *layout) wedge(energy float64, q []float64, width float64, directions []float64) *Bins {
	byQ := edges(q)
	b := l.means(energy, len(q), func(u, chi float64) int {
		if !slices.ContainsFunc(directions, func(c float64) bool { d := turn(chi, c); return d >= -width && d < width }) {
			return -1
		}
		return slot(byQ, u)
	})
	b.Q, b.Chi, b.Rows = q, filled(len(q), math.NaN()), 1
	return b
}

const (
	// finePoints is the largest number of points of a fan across a bin of q, and the least across one of chi.
	finePoints = 3
	// wedgePoints is the least number of points of a fan across a wedge of directions.
	wedgePoints = 6
)

// pointsAcross returns how many points a bin of q needs whose width is dq in 1/nm: patterns of samples of sampleSize are straight across
// narrow ones.
func pointsAcross(dq float64) int {
	return min(finePoints, 1+int(dq*sampleSize/0.6))
}

// fanned puts points into bins of q and, if there are any, of chi: the middles of equal parts of each. across is the size of the sample in
// nm, which says how fast patterns vary with the direction; it is 0 for samples whose patterns vary with the direction as the field does.
// wedge is the half width in degrees of wedges whose limits the points respect, 0 for none.
func fanned(q, chi []float64, across, wedge float64) (*Data, *layout) {
	f, w := &Fan{}, []float64(nil)
	byQ := edges(q)
	byQ[0] = max(0, byQ[0])
	first, full, parts, least := -180.0, 360.0, 1.0, 1.0 // the directions have a multiple of parts points, at least least times
	if len(chi) > 1 {
		step := math.Abs(turn(chi[1], chi[0]))
		first, full, parts, least = chi[0]-step/2, step*float64(len(chi)), float64(len(chi)), finePoints
	} else if wedge > 0 {
		parts, least = math.Round(360/wedge), wedgePoints/2
	}
	for k := range q {
		// The harmonics of the direction in intensities end at q times the size.
		n := parts * max(least, math.Ceil((1.2*across*q[k]+8)/parts))
		fine := pointsAcross(byQ[k+1] - byQ[k])
		for i := range fine {
			u := byQ[k] + (byQ[k+1]-byQ[k])*(float64(i)+0.5)/float64(fine)
			for j := range int(n) {
				f.Q, f.Chi, w = append(f.Q, max(u, 1e-9)), append(f.Chi, (first+full*(float64(j)+0.5)/n)*math.Pi/180), append(w, u/n)
			}
		}
	}
	d := &Data{Fan: f}
	l := &layout{data: d, weight: w, x: f.Q, q: f.Q, chi: make([]float64, len(f.Q))}
	for i, c := range f.Chi {
		l.chi[i] = c * 180 / math.Pi
	}
	return d, l
}

// thin leaves out the points of a fan that no number is compared with: those outside of all bins, and those at q where nothing was measured.
func (d *Data) thin() {
	if d.Fan == nil {
		return
	}
	var all []*Bins
	add := func(b *Bins) {
		if b != nil && !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	needed := make([]bool, len(d.Fan.Q))
	for i := range d.Frames {
		f := &d.Frames[i]
		columns := f.Bins.length() / max(1, f.Bins.Rows)
		seen := make([]bool, columns)
		for k, x := range f.Counts {
			seen[k%columns] = seen[k%columns] || !math.IsNaN(x)
		}
		for _, s := range append([]Sight{{Bins: f.Bins}}, f.Bins.Also...) {
			for _, b := range []*Bins{s.Bins, s.Bins.Less} {
				add(b)
				for k := 0; b != nil && k < b.length(); k++ {
					for _, p := range b.Pixel[b.From[k]:b.From[k+1]] {
						needed[p] = needed[p] || seen[k%columns]
					}
				}
			}
		}
	}
	at := make([]int, len(needed))
	kept := &Fan{}
	for p, ok := range needed {
		if at[p] = -1; ok {
			at[p] = len(kept.Q)
			kept.Q, kept.Chi = append(kept.Q, d.Fan.Q[p]), append(kept.Chi, d.Fan.Chi[p])
		}
	}
	for _, b := range all {
		b.renumber(at)
	}
	d.Fan = kept
}

// renumber gives the pixels of bins other numbers; those of -1 are left out.
func (b *Bins) renumber(at []int) {
	from, pixels, weights := []int{0}, []int(nil), []float64(nil)
	for k := range b.length() {
		for i := b.From[k]; i < b.From[k+1]; i++ {
			if p := at[b.Pixel[i]]; p >= 0 {
				pixels, weights = append(pixels, p), append(weights, b.Weight[i])
			}
		}
		from = append(from, len(pixels))
	}
	b.From, b.Pixel, b.Weight = from, pixels, weights
}
