// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A(q) without errors scatters by counting, most where there is little light, and by what counting does not explain. The variance of a
// number is the square of the scale times 1 + r V, over its typical value: V is the variance that counting gives to the expected contrast,
// and the ratio r is found from the residuals in turns with everything else, so that neither part is presumed.

// leastUnequal is the number of numbers from which on widths are told apart, and leastOfTypical the smallest V over the typical one.
const leastUnequal, leastOfTypical = 30, 1e-3

// scatter returns the variance that counting gives to contrasts, up to a factor; nil for bins that are none. The pixels of a fan are not
// those of a detector, on which a bin has about as many as q times its width says.
func (b *Bins) scatter(rates *ad.Node, fan bool) *ad.Node {
	if b.Less == nil {
		return nil
	}
	mean := func(b *Bins, weight []float64) *ad.Node {
		return ad.NewSparseMatrix(rates.Size(), b.From, b.Pixel, weight).Along(rates, 0)
	}
	x, y := mean(b, b.Weight), mean(b.Less, b.Less.Weight)
	vx, vy := mean(b, b.ofCounts(fan)), mean(b.Less, b.Less.ofCounts(fan))
	square := ad.Square(ad.Maximum(ad.Add(x, y), ad.Scalar(1e-150)))
	// The contrast changes by 2 y/(x + y)^2 with x, and by -2 x/(x + y)^2 with y.
	return ad.Scale(4, ad.Div(ad.Add(ad.Mul(ad.Div(ad.Square(y), square), vx), ad.Mul(ad.Div(ad.Square(x), square), vy)), square))
}

// ofCounts returns the weights that make variances of means from rates.
func (b *Bins) ofCounts(fan bool) []float64 {
	out := make([]float64, len(b.Weight))
	limits := edges(b.Q)
	for i := range b.length() {
		pixels := b.Q[i] * (limits[i+1] - limits[i])
		for k := b.From[i]; k < b.From[i+1]; k++ {
			if out[k] = b.Weight[k] * b.Weight[k]; fan {
				out[k] = b.Weight[k] / pixels
			}
		}
	}
	return out
}

// widths is the scale of the noise times the relative widths of the numbers.
func (p *part) widths(scale *ad.Node) *ad.Node {
	if p.relative == nil {
		return scale
	}
	return ad.Mul(scale, ad.Const(p.relative))
}

// restoreWidths gives newly selected parts the widths that were found.
func (t *Task) restoreWidths() {
	for i, p := range t.single.parts {
		if i < len(t.relative) && len(t.relative[i]) == len(p.values) {
			p.relative = t.relative[i]
		}
	}
}

// unequal finds the relative widths of contrasts whose noise the residuals say, at a solution, and returns by how much the logarithm of one
// moved at most.
func (t *Task) unequal(s *Solution, scales map[string]float64) (moved float64, err error) {
	var means, variances []float64
	k := 0
	for i, p := range t.single.parts {
		from := k
		k += len(p.values)
		if p.noise.name != "residuals" || len(p.values) < leastUnequal || !t.contrasts(p) {
			continue
		}
		if means == nil {
			v, err := t.evaluate(s.X, t.mean, t.scatter)
			if err != nil {
				return 0, err
			}
			means, variances = v[0], v[1]
			t.relative = append(slices.Clone(t.relative), make([][]float64, len(t.single.parts)-len(t.relative))...)
		}
		before := p.relative
		p.findWidths(means[from:k], variances, t.scaleAt(p, scales))
		t.relative[i] = p.relative
		for n, w := range p.relative {
			moved = max(moved, math.Abs(math.Log(w/at(before, n, 1))))
		}
	}
	return moved, nil
}

// contrasts reports whether the numbers of a part are contrasts.
func (t *Task) contrasts(p *part) bool {
	return !slices.ContainsFunc(p.from, func(o origin) bool {
		b := t.models()[o.model].Data.Frames[o.frame].Bins
		return b == nil || b.Less == nil
	})
}

// findWidths finds the ratio of the part of the variance that is in proportion to the variances of counting to the part that is the same
// everywhere, by the largest likelihood over it and the scale.
func (p *part) findWidths(means, variances []float64, scale float64) {
	counting := make([]float64, len(p.values))
	for i, place := range p.place {
		counting[i] = variances[place]
	}
	sorted := slices.Clone(counting)
	slices.Sort(sorted)
	typical := sorted[len(sorted)/2]
	if !(typical > 0) || math.IsInf(sorted[len(sorted)-1], 0) {
		return
	}
	set := func(ratio float64) {
		p.relative = make([]float64, len(counting))
		for i, v := range counting {
			p.relative[i] = math.Sqrt((1 + ratio*max(v/typical, leastOfTypical)) / (1 + ratio))
		}
	}
	best := func(ratio float64) float64 {
		set(ratio)
		at := func(scale float64) float64 { return p.likelihood(means, scale) }
		return at(highest(at, scale))
	}
	// The likelihood may have a maximum at either end.
	const end = 1e6
	ratio := 1.0
	for _, r := range []float64{1 / end, 1e-2, 1e2, end} {
		if best(r) > best(ratio) {
			ratio = r
		}
	}
	set(min(max(highest(best, ratio), 1/end), end))
}
