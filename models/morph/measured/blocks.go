// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// Neighbouring pixels tell of each other, so models are compared by how well they predict blocks of pixels that were left out: the pixels of
// a ring of q, a sector of directions and a photon energy. Blocks are laid out by the geometry that the files say, and so are the same for
// all models of the same data.

// rings returns the number of rings of blocks, and of sectors in each, of an energy and an angle of the field with n numbers: so many that no
// block holds much of what is known of a parameter, without which the draws would not tell how the block is predicted, and so few that a
// block of a detector has tens of pixels.
func rings(n int) int { return min(max(6, int(math.Sqrt(float64(n)/50))), 12) }

// blocks returns the block of each place among the rates of all sights.
func (t *Task) blocks() (out []int) {
	first := 0
	for _, m := range t.models() {
		sights, _ := m.Data.sights(len(out))
		for _, s := range sights {
			q, chi := m.Data.places(s.frame)
			sorted := slices.Clone(q)
			slices.Sort(sorted)
			n := rings(len(q))
			for i := range q {
				rank, _ := slices.BinarySearch(sorted, q[i])
				ring := rank * n / len(q)
				sector := 0
				if !math.IsNaN(chi[i]) {
					sector = min(n-1, int((chi[i]+180)/360*float64(n)))
				}
				out = append(out, first+ring*n+sector)
			}
			first += n * n
		}
	}
	return out
}

// places returns q in 1/nm and the direction in degrees of the numbers of a frame, as the files have the geometry.
func (d *Data) places(f *Frame) (q, chi []float64) {
	switch {
	case f.Bins != nil:
		return f.Bins.Q, f.Bins.Chi
	case d.Fan != nil:
		chi = slices.Clone(d.Fan.Chi)
		for i := range chi {
			chi[i] *= 180 / math.Pi
		}
		return d.Fan.Q, chi
	}
	for i := range d.pixels() {
		a, b := d.place(i, f.Energy, 0, 0)
		q, chi = append(q, a), append(chi, b)
	}
	return q, chi
}

// place returns about where a pixel lies whose beam's foot is off by some pixels: q in 1/nm and the direction in degrees.
func (d *Data) place(i int, energy, offX, offY float64) (q, chi float64) {
	det, g := d.Detector, d.Geometry
	x0, y0 := g.PoniX-g.Distance*math.Tan(g.Rot1), g.PoniY+g.Distance*math.Tan(g.Rot2)
	y := (float64(i/det.Columns)+0.5-offY)*det.PixelY - y0
	x := (float64(i%det.Columns)+0.5-offX)*det.PixelX - x0
	return 2 * rsoxs.Wavenumber(energy) * math.Sin(math.Atan(math.Hypot(x, y)/g.Distance)/2), 180 / math.Pi * math.Atan2(y, x)
}

// together returns the blocks of the numbers of a part, counted from 0 without gaps.
func (p *part) together(blocks []int) []int {
	number := map[int]int{}
	for _, place := range slices.Sorted(slices.Values(p.place)) {
		if _, ok := number[blocks[place]]; !ok {
			number[blocks[place]] = len(number)
		}
	}
	out := make([]int, len(p.place))
	for i, place := range p.place {
		out[i] = number[blocks[place]]
	}
	return out
}
