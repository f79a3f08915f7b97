// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"cmp"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

const (
	refined      = 4   // best fits of few pairs that go on with all
	mostAbove    = 10  // chi-square of other minima above the best
	fewAbove     = 25  // that of fits of few pairs that go on
	fewPairs     = 2e4 // of all angles
	manyPairs    = 5e5 // of all angles, on which the best of these fits go on before they have all
	screenPasses = 100 // over few pairs for each start
)

// total is the number of pairs, used or not.
func (f *fitter) total() int {
	n := len(f.data.Setup.Times)
	return len(f.data.C2) * n * (n - 1) / 2
}

// several fits from many starts.
func (f *fitter) several() (*Fit, error) {
	found, err := f.screened()
	if err != nil {
		return nil, err
	}
	stages := []*fitter{f}
	few := f.thinned(manyPairs)
	if n := len(few.Setup.Times); n*(n-1)*len(few.C2) < f.total() { // less than half
		part, err := f.over(few, f.s.Backend)
		if err != nil {
			return nil, err
		}
		defer part.release()
		stages = []*fitter{part, f}
	}
	for _, stage := range stages {
		var next []*solution
		for _, one := range found {
			one, err := stage.solve(one.theta)
			if f.ctx.Err() != nil {
				return nil, f.ctx.Err()
			}
			if ad.IsDeviceFault(err) {
				return nil, err
			}
			if err == nil {
				next = append(next, one)
			}
		}
		found = stage.bestOf(next)
	}
	if len(found) == 0 {
		one, err := f.solve(f.s.Start)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	f.withMeaning(found)
	best, err := f.finish(found[0])
	if err != nil {
		return nil, err
	}
	for _, one := range found[1:] {
		if one.ssq-best.SSQ <= mostAbove*f.unit(best.SSQ) && !f.alike(one.theta, best.Theta) && f.data.Setup.Domain(one.theta) == nil {
			best.Others = append(best.Others, Minimum{one.theta, one.ssq})
		}
	}
	return best, nil
}

// withMeaning puts the best solution that has a meaning in the model first, unless it is much worse than the best of all.
func (f *fitter) withMeaning(found []*solution) {
	at := slices.IndexFunc(found, func(one *solution) bool { return f.data.Setup.Domain(one.theta) == nil })
	if at > 0 && found[at].ssq-found[0].ssq <= mostAbove*f.unit(found[0].ssq) {
		one := found[at]
		copy(found[1:], found[:at])
		found[0] = one
	}
}

// screened returns the best fits of few pairs.
func (f *fitter) screened() ([]*solution, error) {
	few, err := f.over(f.thinned(fewPairs), nil)
	if err != nil {
		return nil, err
	}
	few.s.MaxEvaluations = screenPasses
	c := newCoordinates(f.names, f.data.Setup.Times, f.s.Start, f.free)
	c.powers()
	lower, upper := f.box()
	starts, err := f.screen(c, lower, upper)
	if err != nil {
		return nil, err
	}
	var all []*solution
	try := func(starts ...[]float64) {
		for _, start := range starts {
			if one, err := few.search(start, false); err == nil && f.ctx.Err() == nil {
				all = append(all, one)
			}
		}
	}
	try(append(append(starts, f.s.Start), f.s.Near...)...)
	if len(all) > 0 {
		best := slices.MinFunc(all, func(a, b *solution) int { return cmp.Compare(a.ssq, b.ssq) })
		try(f.bentOtherwise(best.theta)...)
	}
	return few.bestOf(all), f.ctx.Err()
}

// bestOf returns a few solutions that are not alike, the best first, and none that is much worse than it.
func (f *fitter) bestOf(all []*solution) (out []*solution) {
	all = slices.DeleteFunc(all, func(one *solution) bool { return math.IsNaN(one.ssq) })
	slices.SortStableFunc(all, func(a, b *solution) int { return cmp.Compare(a.ssq, b.ssq) })
	f.leastFirst(all)
	for _, one := range all {
		f.canonical(one.theta)
		f.order(one.theta)
		hasMeaning := f.data.Setup.Domain(one.theta) == nil
		isKnown := slices.ContainsFunc(out, func(other *solution) bool {
			return f.alike(one.theta, other.theta) && !(hasMeaning && f.data.Setup.Domain(other.theta) != nil)
		})
		if len(out) < refined && !isKnown && one.ssq-all[0].ssq <= fewAbove*f.unit(all[0].ssq) {
			out = append(out, one)
		}
	}
	return out
}

// leastFirst orders solutions that are as good as the best by the size of their parameters: where the data do not tell an amplitude from an
// offset, both grow along a valley, and far out their difference loses its digits.
func (f *fitter) leastFirst(all []*solution) {
	if len(all) == 0 {
		return
	}
	n, most := 0, all[0].ssq+0.01*f.unit(all[0].ssq)
	for n < len(all) && all[n].ssq <= most {
		n++
	}
	size := func(one *solution) (sum float64) {
		for _, k := range f.free {
			sum += math.Abs(one.theta[k])
		}
		return sum
	}
	slices.SortStableFunc(all[:n], func(a, b *solution) int { return cmp.Compare(size(a), size(b)) })
}

// unit is how much of a sum of squares is one of chi-square, given the least sum.
func (f *fitter) unit(ssq float64) float64 {
	if f.hasErrors {
		return 1
	}
	return ssq / float64(max(1, f.data.Points()-f.linear()-len(f.free)))
}

// bentOtherwise returns starts from a motion in which one of the rates rises where it fell, a little, or falls where it rose: in between lies
// a rate that is constant, of whatever exponent, where searches stop.
func (f *fitter) bentOtherwise(theta []float64) (starts [][]float64) {
	c := newCoordinates(f.names, f.data.Setup.Times, f.s.Start, f.free)
	c.powers()
	for _, k := range f.free {
		if !c.power[k] || !slices.Contains(f.free, k+2) {
			continue
		}
		rate := theta[k]*math.Exp(theta[k+1]*c.logG) + theta[k+2]
		start := slices.Clone(theta)
		start[k+1] = math.Copysign(0.5, -theta[k+1])
		start[k], start[k+2] = 0.1*rate*math.Exp(-start[k+1]*c.logG), 0.9*rate
		starts = append(starts, start)
	}
	return starts
}

// alike reports whether motions are the same to a few per cent at the begin, in the middle and at the end of the measurement, and their
// directions to a degree.
func (f *fitter) alike(a, b []float64) bool {
	times := f.data.Setup.Times
	first, last := times[0], times[len(times)-1]
	if first == 0 {
		first = times[1]
	}
	for k, name := range f.names {
		for _, t := range []float64{first, (first + last) / 2, last} {
			var isNear bool
			switch {
			case isRate(name):
				rate := func(v []float64) float64 { return v[k]*math.Pow(t, v[k+1]) + v[k+2] }
				isNear = math.Abs(rate(a)-rate(b)) <= 0.03*max(math.Abs(rate(a)), math.Abs(rate(b)))
			case name == "f0":
				fraction := func(v []float64) float64 { return v[k]*math.Exp(v[k+1]*(t-v[k+2])) + v[k+3] }
				isNear = math.Abs(fraction(a)-fraction(b)) <= 0.003
			case strings.HasPrefix(name, "phi0"):
				isNear = math.Abs(math.Remainder(a[k]-b[k], 180)) <= 1
			default:
				continue
			}
			if !isNear {
				return false
			}
		}
	}
	return true
}

// canonical turns the angle of the motion by half turns to -90 (left out) to 90 degrees: only the size of its cosine matters.
func (f *fitter) canonical(theta []float64) {
	last := len(theta) - 1
	if !strings.HasPrefix(f.names[last], "phi0") || !slices.Contains(f.free, last) {
		return
	}
	if v := theta[last]; v <= -90 || v > 90 {
		theta[last] = v - 180*math.Ceil((v-90)/180)
	}
}

// order names the two components so that the reference is the slower one in the middle of the measurement, if all of their parameters are
// free: the model is the same with them exchanged and f replaced by 1-f.
func (f *fitter) order(theta []float64) {
	if f.data.Setup.Model != transport.TwoComponent {
		return
	}
	for _, k := range []int{0, 1, 2, 3, 4, 5, 9, 12} {
		if !slices.Contains(f.free, k) {
			return
		}
	}
	times := f.data.Setup.Times
	middle := (times[0] + times[len(times)-1]) / 2
	rate := func(k int) float64 { return theta[k]*math.Pow(middle, theta[k+1]) + theta[k+2] }
	if rate(0) <= rate(3) {
		return
	}
	swapped := exchanged(theta)
	if f.s.Bounds != nil {
		for k, b := range f.s.Bounds {
			if swapped[k] < b[0] || swapped[k] > b[1] {
				return
			}
		}
	}
	copy(theta, swapped)
}

// exchanged returns parameters of two components with these exchanged.
func exchanged(theta []float64) []float64 {
	out := slices.Clone(theta)
	copy(out[:3], theta[3:6])
	copy(out[3:6], theta[:3])
	out[9], out[12] = -theta[9], 1-theta[12]
	return out
}

// over is the same fit of other data.
func (f *fitter) over(d *Data, b ad.Backend) (*fitter, error) {
	out := *f
	out.passes = 0
	var err error
	out.sums, err = sumsOn(f.ctx, d, b, max(1, f.s.Threads))
	return &out, err
}

// thinned is a small part of the pairs: those of some frames, which are close to each other and far from each other at all ages.
func (f *fitter) thinned(pairs float64) *Data {
	d := f.data
	n, angles := len(d.Setup.Times), len(d.C2)
	frames := sample(n, int(max(40, math.Sqrt(2*pairs/float64(angles)))))
	few := *d
	if d.Setup.Customary { // whose trapezoids need frames at equal distances
		step := max(1, n/max(40, len(frames)))
		frames = frames[:0]
		for i := 0; i < n; i += step {
			frames = append(frames, i)
		}
		few.Setup.Step *= float64(step)
	}
	few.Band = 0
	few.Setup.Times, few.C2, few.Sigma = nil, nil, nil
	for _, i := range frames {
		few.Setup.Times = append(few.Setup.Times, d.Setup.Times[i])
	}
	for angle := range d.C2 {
		m := len(frames)
		c2, sigma := make([]float64, m*m), make([]float64, m*m)
		for a, i := range frames {
			for b := a + 1; b < m; b++ {
				w := d.weight(angle, i, frames[b])
				c2[a*m+b], sigma[a*m+b] = d.C2[angle][i*n+frames[b]], 1/w
			}
		}
		few.C2, few.Sigma = append(few.C2, c2), append(few.Sigma, sigma)
	}
	return &few
}

// sample returns about count of n frames in ascending order: from ages at equal distances on, those after 0, 1, 2, 4, 8 and so on.
func sample(n, count int) (frames []int) {
	if n <= count {
		for i := range n {
			frames = append(frames, i)
		}
		return frames
	}
	ages := max(2, count/int(2+math.Log2(float64(n)/8)))
	for k := range ages {
		age := k * (n - 1) / ages
		frames = append(frames, age)
		for step := 1; step < n/4 && age+step < n; step *= 2 {
			frames = append(frames, age+step)
		}
	}
	frames = append(frames, n-1)
	slices.Sort(frames)
	return slices.Compact(frames)
}

// box returns where starts are placed: within the bounds, or else where motions can be seen during the measurement.
func (f *fitter) box() (lower, upper []float64) {
	s := &f.data.Setup
	step := (s.Times[len(s.Times)-1] - s.Times[0]) / float64(len(s.Times)-1)
	whole := step * float64(len(s.Times)-1)
	// of rates: what changes g little in the whole measurement, and much from frame to frame
	seen := func(name string) (lo, hi float64) {
		switch scale := s.Q * s.Q; {
		case name == "gamma_dot_t0":
			return 0.6 / (s.Q * s.Gap * whole), 2 / (s.Q * s.Gap * step)
		case name == "v0":
			return 0.3 / (s.Q * whole), 1 / (s.Q * step)
		default:
			return 0.1 / (scale * whole), 1 / (scale * step)
		}
	}
	for _, k := range f.free {
		name := f.names[k]
		var lo, hi float64
		switch {
		case isRate(name):
			lo, hi = seen(name)
		case k > 0 && isRate(f.names[k-1]): // exponents
			lo, hi = -0.9, 1
		case k > 1 && isRate(f.names[k-2]): // offsets
			a, b := seen(f.names[k-2])
			lo, hi = 0, math.Sqrt(a*b)
		case name == "f0":
			lo, hi = 0.05, 0.5
		case name == "f1":
			lo, hi = -1/whole, 0.3/whole
		case name == "f3":
			lo, hi = 0, 0.4
		default: // angles
			lo, hi = -90, 90
		}
		if f.s.Bounds != nil {
			b := f.s.Bounds[k]
			if isRate(name) && !math.IsInf(b[1], 1) {
				b[0] = max(b[0], 1e-6*b[1])
			}
			if l, h := max(lo, b[0]), min(hi, b[1]); l < h {
				lo, hi = l, h
			} else {
				lo, hi = b[0], b[1]
			}
		}
		if isRate(name) {
			lo, hi = math.Log(lo), math.Log(hi)
		}
		lower, upper = append(lower, lo), append(upper, hi)
	}
	return lower, upper
}

// defaultStart is DefaultStart within the bounds.
func (f *fitter) defaultStart(d *Data) []float64 {
	start := DefaultStart(d.Setup.Model)
	for k := range start {
		if f.s.Bounds != nil && k < len(f.s.Bounds) {
			start[k] = min(max(start[k], f.s.Bounds[k][0]), f.s.Bounds[k][1])
		}
	}
	return start
}
