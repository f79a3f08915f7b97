// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package phasing

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Agreeing is the value of the transfer function from which on starts have their phases in common.
const Agreeing = 0.5

// asGood is how much larger than the best a free residual may be for a start to count, and than what noise makes, or than exact, below which
// starts differ in how far they have converged.
const asGood, exact = 1.5, 1e-3

// muchSpread is the spread of the starts relative to their mean from which on they are different samples. Noise that is larger makes one sample
// spread by up to twice as much as the magnitudes. leastApart is the difference of two groups of starts, relative to their mean, from which on
// they are two samples.
const muchSpread, leastApart = 0.15, 0.01

// sureLeftOver is how many standard errors a constant in the intensities has at least that is told, and leastLeftOver its share of their mean;
// numbers below 0 that were cut leave up to about four times the square of the noise.
const sureLeftOver, leastLeftOver = 5, 1e-3

// leftOver returns the constant that intensities have above those of the sample, relative to their mean, and how many of its standard errors it
// is: the mean over cells with weights as of counts, where the sample scatters least.
func (r *run) leftOver() (share, z float64) {
	r.transform()
	sum, weight, square, n, total := 0.0, 0.0, 0.0, 0.0, 0.0
	for p := range r.Patterns {
		for _, y := range r.used[p] {
			if y == y {
				total, n = total+y, n+1
			}
		}
	}
	mean := total / max(n, 1)
	for p, x := range r.Patterns {
		for i, y := range r.used[p] {
			if y != y {
				continue
			}
			have := r.intensity(x, i)
			w := 1 / (have + 1e-4*mean)
			sum, weight, square = sum+w*(y-have), weight+w, square+w*w*(y-have)*(y-have)
		}
	}
	if !(square > 0) {
		return 0, 0
	}
	return sum / weight / mean, sum / math.Sqrt(square)
}

// spread is the root mean square of the standard deviations of the volume fractions relative to that of the means.
func (r *Result) spread() float64 {
	return linalg.Norm(r.Spread[0]) / max(linalg.Norm(r.Mean[0]), 1e-300)
}

// score is what starts are compared by.
func (r *run) score() float64 {
	if r.left > 0 {
		return r.left
	}
	return r.residual
}

// asNear returns the starts that come as near to the data as the best, moved and turned to match it.
func (v *solver) asNear(runs []*run, best *run) (kept []*run) {
	for _, r := range runs {
		if r.score() <= asGood*max(best.score(), v.Noise, exact) {
			if r != best {
				r.align(best)
			}
			kept = append(kept, r)
		}
	}
	return kept
}

// summary compares the starts, which it sorts, the best first.
func (v *solver) summary(runs []*run) (*Result, []*run) {
	slices.SortStableFunc(runs, func(a, b *run) int {
		switch x, y := a.score(), b.score(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	best := runs[0]
	out := &Result{Best: best.fields, Residual: best.residual, Free: best.left}
	kept := v.asNear(runs, best)
	out.Kept = len(kept)
	for k := range v.Fields {
		mean, spread := make([]float64, v.n), make([]float64, v.n)
		for i := range mean {
			for _, r := range kept {
				mean[i] += r.fields[k][i] / float64(len(kept))
			}
			for _, r := range kept {
				d := r.fields[k][i] - mean[i]
				spread[i] += d * d / float64(max(1, len(kept)-1))
			}
			spread[i] = math.Sqrt(spread[i])
		}
		out.Mean, out.Spread = append(out.Mean, mean), append(out.Spread, spread)
	}
	out.Transfer = v.transfer(kept)
	out.Findings = v.findings(out, best)
	out.tellGroups(kept, v.Noise)
	return out, kept
}

// align moves and, if that is nearer, turns r by half a turn to match the volume fraction of to: neither changes a pattern.
func (r *run) align(to *run) {
	to.transform()
	r.transform()
	type match struct {
		value float64
		shift int
	}
	best := [2]match{}
	for turned := range 2 {
		c := make([]complex128, r.n)
		for i := range c {
			f := r.f[0][i]
			if turned == 1 {
				f = cmplx.Conj(f)
			}
			c[i] = to.f[0][i] * cmplx.Conj(f)
		}
		r.fft.Complex128(c, c, false, &r.ws)
		best[turned].value = math.Inf(-1)
		for i, z := range c {
			if real(z) > best[turned].value {
				best[turned] = match{real(z), i}
			}
		}
	}
	turned := best[1].value > best[0].value*(1+1e-9)
	shift := best[0].shift
	if turned {
		shift = best[1].shift
	}
	sy, sx := shift/r.Shape[1], shift%r.Shape[1]
	for k, x := range r.fields {
		moved := make([]float64, r.n)
		for i, v := range x {
			if turned {
				i = r.opposite(i)
			}
			y, x := (i/r.Shape[1]+sy)%r.Shape[0], (i%r.Shape[1]+sx)%r.Shape[1]
			moved[y*r.Shape[1]+x] = v
		}
		r.fields[k] = moved
	}
}

// transfer returns the phase retrieval transfer function by ring.
func (v *solver) transfer(kept []*run) []float64 {
	sum := make([]complex128, v.n)
	for _, r := range kept {
		r.transform()
		for i, z := range r.f[0] {
			if a := cmplx.Abs(z); a > 0 {
				sum[i] += z / complex(a*float64(len(kept)), 0)
			}
		}
	}
	rings := min(v.Shape[0], v.Shape[1])/2 + 1
	out, count := make([]float64, rings), make([]float64, rings)
	step := 2 * math.Pi / float64(min(v.Shape[0], v.Shape[1]))
	for i, z := range sum {
		y, x := v.wave(i)
		if ring := int(math.Round(math.Hypot(y, x) / step)); ring < rings {
			out[ring] += cmplx.Abs(z)
			count[ring]++
		}
	}
	for i := range out {
		out[i] /= max(count[i], 1)
	}
	return out
}

// findings says what keeps a result from being determined.
func (v *solver) findings(r *Result, best *run) (out []string) {
	inside := 0
	for _, in := range best.support {
		if in {
			inside++
		}
	}
	if over := float64(v.n) / float64(inside); over < 4 {
		out = append(out, fmt.Sprintf("the support fills 1/%.2g of the box: magnitudes determine a sample that fills a quarter at most (oversampling 2 along each axis), so give a smaller support, or patterns with finer pixels", over))
	}
	if r.Free > 2*r.Residual && r.Free > 0.05 {
		out = append(out, fmt.Sprintf("pixels that were left out are missed by %.2g of their magnitudes and others by %.2g: the result does not predict what it has not seen", r.Free, r.Residual))
	}
	if r.Residual > max(0.1, 2*v.Noise) {
		out = append(out, fmt.Sprintf("magnitudes differ by %.2g from those measured: no start found a sample inside the support that has them; try more iterations or a larger support", r.Residual))
	}
	if limit := max(muchSpread, 2*v.Noise); r.spread() > limit {
		out = append(out, fmt.Sprintf("starts that come as near to the data as the best differ by %.2g of their volume fractions, more than %.2g: several samples have these patterns; give a smaller support, patterns with a smaller beam stop, or check the background", r.spread(), limit))
	}
	if share, z := best.leftOver(); z > sureLeftOver && share > max(leastLeftOver, 4*v.Noise*v.Noise) {
		out = append(out, fmt.Sprintf("intensities are higher by a constant of %.2g times their mean than those of the sample, %.0f times its standard error: the background that was taken off is too low, so give a higher one", share, z))
	}
	if r.Kept < max(3, v.Restarts/4) {
		out = append(out, fmt.Sprintf("only %d of %d starts came as near to the data as the best: the spread says little, so try more starts", r.Kept, v.Restarts))
	}
	for ring, t := range r.Transfer {
		if ring > 0 && t < Agreeing {
			out = append(out, fmt.Sprintf("from ring %d of %d on the starts have no phases in common: details finer than %.2g voxels are not determined", ring, len(r.Transfer)-1, float64(min(v.Shape[0], v.Shape[1]))/float64(ring)))
			break
		}
	}
	return out
}

// tellGroups adds the finding that starts fall into two groups, unless there are others.
func (r *Result) tellGroups(kept []*run, noise float64) {
	if near, by := groups(kept, max(leastApart, 3*noise)); near > 0 && len(r.Findings) == 0 {
		r.Findings = append(r.Findings, fmt.Sprintf("%d of the %d starts that come as near to the data as the best differ from the others by %.2g of their volume fractions: several samples have these patterns; give a smaller support, another energy or a known part of the sample", len(kept)-near, len(kept), by))
	}
}

// groups tells starts that fall into two groups: how many are near the one that has most of the others near it, and by how much the nearest of
// the rest differs from it, relative to it, at least by what counts. near is 0 if there is one group.
func groups(kept []*run, least float64) (near int, by float64) {
	var middle []float64
	for _, a := range kept {
		var d []float64
		for _, b := range kept {
			d = append(d, a.distance(b))
		}
		if slices.Sort(d); middle == nil || d[len(d)/2] < middle[len(d)/2] {
			middle = d
		}
	}
	for i := 2; i < len(middle); i++ {
		if middle[i] > max(least, 2*middle[i-1]) {
			return i, middle[i]
		}
	}
	return 0, 0
}

// distance is the root mean square difference of the volume fractions of two starts relative to those of the first.
func (r *run) distance(to *run) float64 {
	sum := 0.0
	for i, x := range r.fields[0] {
		sum += (x - to.fields[0][i]) * (x - to.fields[0][i])
	}
	return math.Sqrt(sum) / max(linalg.Norm(r.fields[0]), 1e-300)
}
