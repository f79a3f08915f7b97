// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"cmp"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

const (
	pointsEach = 1024 // points of the screening for each start
	lanes      = 64   // points that are computed at once
	agesOfLag  = 4
	lagsEach   = 2 // bins in which a lag doubles
)

// cells are means of c2 over ranges of lags, which grow with the lag, and of ages.
type cells struct {
	first, second []int       // frames in the middle of each
	weight, mean  [][]float64 // of each angle; of c2-1
}

// newCells averages the data.
func newCells(d *Data) *cells {
	n := len(d.Setup.Times)
	c := &cells{weight: make([][]float64, len(d.C2)), mean: make([][]float64, len(d.C2))}
	for _, of := range (Binning{Octave: lagsEach, Ages: agesOfLag}).cells(n, d.Band) {
		lag := (of.Shortest + of.Longest) / 2
		middle := min((of.From+of.To-1)/2, n-1-lag)
		c.first, c.second = append(c.first, middle), append(c.second, middle+lag)
		for angle := range d.C2 {
			weight, sum := 0.0, 0.0
			of.Pairs(n, d.used(angle), func(i, j int) {
				w := d.weight(angle, i, j)
				weight, sum = weight+w*w, sum+w*w*(d.C2[angle][i*n+j]-1)
			})
			c.weight[angle] = append(c.weight[angle], weight)
			c.mean[angle] = append(c.mean[angle], sum/max(weight, math.SmallestNonzeroFloat64))
		}
	}
	return c
}

// squares returns the sum of squares at values of g in cells, those of one point for each lane.
func (c *cells) squares(f *fitter, angle int, g []float64, lane int) float64 {
	var one, of, gg, ofY, gy, yy float64 // of 1, g, g^2, y, g y and y^2
	for k, w := range c.weight[angle] {
		x, y := g[k*lanes+lane], c.mean[angle][k]
		one, of, gg, ofY, gy, yy = one+w, of+w*x, gg+w*x*x, ofY+w*y, gy+w*x*y, yy+w*y*y
	}
	if f.basis == nil {
		a, b := f.scales(angle, nil)
		return yy + a*a*gg + b*b*one + 2*a*b*of - 2*a*gy - 2*b*ofY
	}
	varied, along := gg-of*of/one, gy-of*ofY/one
	rest := yy - ofY*ofY/one
	if varied > 1e-12*gg && along > 0 { // a contrast below 0 is none
		rest -= along * along / varied
	}
	return rest
}

// screen returns the best of many points of a box of coordinates, not all of one place.
func (f *fitter) screen(c *coordinates, lower, upper []float64) ([][]float64, error) {
	count := pointsEach * f.s.Starts
	unit, err := optim.Sobol.Points(count, len(lower), f.s.Seed)
	if err != nil {
		return nil, err
	}
	d := f.data
	all := newCells(d)
	setup := d.Setup
	first, second := all.first, all.second
	if !setup.Customary { // no other frames are needed
		frames := slices.Concat(first, second)
		slices.Sort(frames)
		frames = slices.Compact(frames)
		setup.Times = nil
		for _, i := range frames {
			setup.Times = append(setup.Times, d.Setup.Times[i])
		}
		at := func(list []int) (out []int) {
			for _, i := range list {
				k, _ := slices.BinarySearch(frames, i)
				out = append(out, k)
			}
			return out
		}
		first, second = at(first), at(second)
	}
	in, err := setup.Inputs()
	if err != nil {
		return nil, err
	}
	p, err := ad.Compile(setup.Pairs(in, transport.Listed(first, second, len(first))), ad.Settings{Inputs: in, Batch: lanes, Batched: in,
		Backend: ad.CPU{Threads: max(1, f.s.Threads)}})
	if err != nil {
		return nil, err
	}
	st := p.NewState()
	point := func(i int) []float64 {
		x := make([]float64, len(lower))
		for k := range x {
			x[k] = lower[k] + unit[i*len(x)+k]*(upper[k]-lower[k])
		}
		return x
	}
	squares, order := make([]float64, count), make([]int, count)
	for from := 0; from < count; from += lanes {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		for lane := range lanes {
			for k, v := range c.theta(point(from + lane)) {
				st.Input(k)[lane] = v
			}
		}
		if err := st.Run(); err != nil {
			return nil, err
		}
		for lane := range lanes {
			i := from + lane
			order[i] = i
			for angle := range d.C2 {
				squares[i] += all.squares(f, angle, st.Output(angle), lane)
			}
			if math.IsNaN(squares[i]) || d.Setup.Domain(c.theta(point(i))) != nil {
				squares[i] = math.Inf(1)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(squares[a], squares[b]) })
	var best []int
	for _, i := range order {
		isClose := func(j int) bool {
			for k := range lower {
				if math.Abs(unit[i*len(lower)+k]-unit[j*len(lower)+k]) > 0.1 {
					return false
				}
			}
			return true
		}
		if !slices.ContainsFunc(best, isClose) {
			best = append(best, i)
		}
		if len(best) == f.s.Starts {
			break
		}
	}
	var out [][]float64
	for _, i := range best {
		out = append(out, c.theta(point(i)))
	}
	return out, nil
}
