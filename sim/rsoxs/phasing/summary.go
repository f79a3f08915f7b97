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
// spread by up to twice as much as the magnitudes.
const muchSpread = 0.15

// spread is the root mean square of the standard deviations of the volume fractions relative to that of the means.
func (r *Result) spread() float64 {
	return linalg.Norm(r.Spread[0]) / max(linalg.Norm(r.Mean[0]), 1e-300)
}

// summary compares the starts.
func (v *solver) summary(runs []*run) *Result {
	score := func(r *run) float64 {
		if r.left > 0 {
			return r.left
		}
		return r.residual
	}
	slices.SortStableFunc(runs, func(a, b *run) int {
		switch x, y := score(a), score(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	best := runs[0]
	out := &Result{Best: best.fields, Residual: best.residual, Free: best.left}
	var kept []*run
	for _, r := range runs {
		if score(r) <= asGood*max(score(best), v.Noise, exact) {
			if r != best {
				r.align(best)
			}
			kept = append(kept, r)
		}
	}
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
	return out
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
