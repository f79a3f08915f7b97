// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
)

// mostWindows is the largest number of places at which jumps and losses of contrast are looked for. Those that move a parameter are longer than
// a part of the measurement.
const mostWindows = 11

// shapes holds means over the cells of an angle, (cells), of what departures do to g.
type shapes struct {
	jumps   [][]float64 // g of pairs on both sides of the start of a frame
	windows [][]float64 // g times the number of its frames that lie in a window
	drift   []float64   // g times the square of the lag
	square  []float64   // square of g
	near    []float64   // of each frame: what g lacks of 1 beside the diagonal
}

// jumpFrames returns the frames, counted from 0, before which jumps are looked for: not in the first and last tenth of the measurement, because
// few pairs lie across a jump there.
func jumpFrames(n int) (all []int) {
	edge := max(2, n/10)
	m := min(mostWindows, n-2*edge+1)
	for k := range m {
		all = append(all, edge+k*(n-2*edge)/max(1, m-1))
	}
	return all
}

// windowEnds returns the first frames of windows, and the end of the last one.
func windowEnds(n int) (all []int) {
	m := max(1, min(mostWindows, n/3))
	for k := range m + 1 {
		all = append(all, k*n/m)
	}
	return all
}

// shapes returns those of an angle with g of all pairs.
func (b *byCells) shapes(angle int, g []float64) shapes {
	t := b.d.Setup.Times
	n, cells := len(t), len(b.blocks.cells)
	var s shapes
	jumps, ends := jumpFrames(n), windowEnds(n)
	s.drift, s.square = make([]float64, cells), make([]float64, cells)
	for range jumps {
		s.jumps = append(s.jumps, make([]float64, cells))
	}
	for range len(ends) - 1 {
		s.windows = append(s.windows, make([]float64, cells))
	}
	if step := b.d.Band + 1; n > 2*step {
		for i := range n {
			s.near = append(s.near, 1-beside(g, n, i, step))
		}
	}
	whole := t[n-1] - t[0]
	for c, of := range b.blocks.cells {
		if b.blocks.count[angle][c] == 0 {
			continue
		}
		first, last := make([]float64, n+1), make([]float64, n+1) // sums of g by frame
		of.Pairs(n, b.d.used(angle), func(i, j int) {
			v := g[i*n+j] / float64(b.blocks.count[angle][c])
			first[i], last[j] = first[i]+v, last[j]+v
			lag := (t[j] - t[i]) / whole
			s.drift[c] += v * lag * lag
			s.square[c] += v * g[i*n+j]
		})
		across, at := 0., 0 // of pairs with the first frame before a frame, and the second from it on
		for frame := 1; at < len(jumps); frame++ {
			across += first[frame-1] - last[frame-1]
			if jumps[at] == frame {
				s.jumps[at][c] = across
				at++
			}
		}
		for k := range s.windows {
			for frame := ends[k]; frame < ends[k+1]; frame++ {
				s.windows[k][c] += first[frame] + last[frame]
			}
		}
	}
	return s
}

// departures returns what samples and set-ups often do that the model does not have, at means of g over the cells.
func (b *byCells) departures(at Point, g []float64, scaling Scaling, lag, age func(noise.Cell) float64) (all []check.Direction) {
	d, t, cells, angles, of := b.d, b.d.Setup.Times, len(b.blocks.cells), len(b.d.C2), b.column
	whole := t[len(t)-1] - t[0]
	say := func(kind string, what func(coef float64) string, remedy string, columns ...column) {
		direction := check.Direction{Kind: kind, Say: func(coef, sd []float64) (string, string) { return what(coef[0]), remedy }}
		for _, c := range columns {
			direction.Columns = append(direction.Columns, b.whitened(c))
		}
		all = append(all, direction)
	}
	loss := func(kind string, what func(coef float64) string, remedy string, c column) { // of one sign
		say(kind, what, remedy, c)
		all[len(all)-1].Holds = func(coef []float64) bool { return coef[0] > 0 }
	}
	name := func(kind, what, remedy string, columns ...column) {
		say(kind, func(float64) string { return what }, remedy, columns...)
	}
	old := func(i int) float64 { return (age(b.blocks.cells[i]) - t[0]) / whole }
	name("contrast", "a contrast that changes with the age of the sample would fit better", "look for a moving beam or a damaged sample, and leave out the affected frames",
		of(func(k, i int) float64 { return g[k*cells+i] * old(i) }))
	name("offset", "an offset that changes with the age of the sample would fit better", "normalise frames by the incident intensity, or leave out the affected frames",
		of(func(k, i int) float64 { return old(i) }))
	if scaling == Averaged && angles > 1 {
		var each []column // of all angles but one: all together are those of the fit
		for other := 1; other < angles; other++ {
			only := func(f func(i int) float64) column {
				return of(func(k, i int) float64 {
					if k != other {
						return 0
					}
					return f(i)
				})
			}
			each = append(each, only(func(i int) float64 { return g[other*cells+i] }), only(func(int) float64 { return 1 }))
		}
		name("contrasts", "a contrast and an offset that differ from angle to angle would fit better", "the scaling individual, which gives every angle a contrast and an offset of its own", each...)
	}
	name("stretched decay", "stretched or compressed decays would fit better", "a model with flow or with two components: the sample may have more than one rate, or move ballistically",
		of(func(k, i int) float64 {
			v := min(max(g[k*cells+i], 1e-12), 1-1e-12)
			return v * math.Log(v) * math.Log(-math.Log(v))
		}))
	if d.Setup.Model == transport.Static && angles > 2 {
		var twofold []column // of decays of a rate, and of flows
		for _, f := range []func(float64) float64{math.Cos, math.Sin} {
			for power := range 2 {
				twofold = append(twofold, of(func(k, i int) float64 {
					v := max(g[k*cells+i], 1e-12)
					return v * math.Log(v) * math.Pow(lag(b.blocks.cells[i])/whole, float64(power)) * f(2*math.Pi/180*d.Setup.Angles[k])
				}))
			}
		}
		name("direction", "decays that depend on the direction, as in a flow, would fit better", "the model laminar", twofold...)
	}
	n := len(t)
	for k, frame := range jumpFrames(n) {
		when := fmt.Sprintf("at %.4g s (frame %d of %d)", (t[frame-1]+t[frame])/2, frame+1, n)
		loss("jump", func(coef float64) string {
			return fmt.Sprintf("a jump of the sample or the beam %s, across which %s of the correlation is lost, would fit better", when, percent(coef))
		}, "fit the frames before and after it by themselves (--frames)", of(func(a, c int) float64 { return -at.Contrast[a] * b.forms[a].jumps[k][c] }))
	}
	ends := windowEnds(n)
	for k := range len(ends) - 1 {
		when := fmt.Sprintf("of the frames %d to %d of %d (%.4g to %.4g s)", ends[k]+1, ends[k+1], n, t[ends[k]], t[ends[k+1]-1])
		loss("loss of contrast", func(coef float64) string {
			return fmt.Sprintf("a contrast %s that is lower by %s, as where the beam was weak and other light remained, would fit better", when, percent(2*coef))
		}, "look at the intensity of these frames, and leave out those with little", of(func(a, c int) float64 { return -at.Contrast[a] * b.forms[a].windows[k][c] }))
	}
	loss("drift", func(float64) string {
		return "a loss of correlation with the square of the delay and in all directions, as by a beam or a sample that drifts, would fit better"
	}, "look at the position of the beam, and fit shorter parts of the measurement by themselves (--frames)", of(func(a, c int) float64 { return -at.Contrast[a] * b.forms[a].drift[c] }))
	if most := b.mostLost(); most > 0 {
		kappa := make([]float64, angles)
		for k, lost := range d.Lost {
			kappa[k] = correlate.Saturation(at.Contrast[k], lost)
		}
		name("dead time", fmt.Sprintf("the counts of pixels scatter less than those of photons, as of a detector that misses %s of them at the mean counts (dead time), which makes correlations decay too fast and takes contrast from them", percent(most)),
			"attenuate the beam, or correct the dead time in the frames and correlate them again", of(func(a, c int) float64 { return at.Contrast[a] * kappa[a] * b.forms[a].square[c] }))
		all[len(all)-1].Known = true
		return all
	}
	loss("saturation", func(float64) string {
		return "correlations with a part that decays as the square of the others, as of a detector that misses counts at high intensity (dead time, saturation), would fit better"
	}, "look at the highest counts of a pixel, and attenuate the beam or correct the dead time", of(func(a, c int) float64 { return at.Contrast[a] * b.forms[a].square[c] }))
	return all
}

// mostLost is the largest share of photons that the detector misses at an angle, as its counts tell; 0 if they tell nothing.
func (b *byCells) mostLost() (most float64) {
	for _, v := range b.d.Lost {
		most = max(most, v)
	}
	return most
}

// Faults returns what the counts of the frames say against the data, whatever the model.
func (d *Data) Faults() (all []check.Flag) {
	all = slices.Clone(d.Readings)
	if len(d.Blind) == 0 || slices.Max(d.Blind) == 0 {
		return all
	}
	return append(all, check.Flag{Kind: "dead time", Text: fmt.Sprintf("counts lower those of the same pixel in the next frame by %.3g %%, as of a detector with a dead time of about a frame or longer, or one whose pixels are reset after counts: correlations of neighbouring frames are too small", 100*slices.Max(d.Blind)),
		Remedy: "leave out the entries beside the diagonal (--band), attenuate the beam, or take longer frames"})
}

// percent writes a share that is estimated roughly.
func percent(share float64) string {
	return fmt.Sprintf("about %.2g %%", 100*min(max(share, -9.99), 9.99))
}
