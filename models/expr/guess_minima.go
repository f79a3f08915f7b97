// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"cmp"
	"math"
	"slices"
)

// simplest returns the one of equally good minima whose parameters are least, each beside its largest among them: of the frequencies that data at even distances
// do not tell apart it is the lowest.
func (w *guesser) simplest(equal []candidate) candidate {
	largest := make([]float64, len(equal[0].at))
	for _, m := range equal {
		for i, x := range m.at {
			largest[i] = max(largest[i], math.Abs(x))
		}
	}
	size := func(m candidate) (sum float64) {
		for i, x := range m.at {
			if largest[i] > 0 {
				sum += math.Abs(x) / largest[i]
			}
		}
		return sum
	}
	least := math.Inf(1)
	for _, m := range equal {
		least = min(least, size(m))
	}
	return slices.MinFunc(equal, func(a, b candidate) int {
		if x, y := size(a), size(b); max(x, y) > least+aliasPart {
			return cmp.Compare(x, y)
		}
		return w.inOrder(a, b)
	})
}

// aliases returns the parameters that have other magnitudes at other minima than at the best, but for those in which the formula is linear and for phases, which
// differ by a part of a turn.
func (w *guesser) aliases(best candidate, others []candidate) (out []Alias) {
	others = slices.DeleteFunc(slices.Clone(others), func(m candidate) bool { return exchanged(m.at, best.at) })
	for _, i := range w.free {
		x := math.Abs(best.at[i])
		turned := func(m candidate) bool { // by halves of turns, perhaps in the other direction
			for _, way := range []float64{best.at[i], -best.at[i]} {
				if half := (m.at[i] - way) / math.Pi; math.Abs(half-math.Round(half)) < 1e-3 {
					return true
				}
			}
			return false
		}
		if slices.Contains(w.linear, i) || !slices.ContainsFunc(others, func(m candidate) bool {
			return math.Abs(math.Abs(m.at[i])-x) > aliasPart*max(math.Abs(m.at[i]), x) && !turned(m)
		}) {
			continue
		}
		values := []float64{x}
		for _, m := range others {
			if !slices.ContainsFunc(values, func(v float64) bool { return math.Abs(v-math.Abs(m.at[i])) <= aliasPart*v }) {
				values = append(values, math.Abs(m.at[i]))
			}
		}
		slices.Sort(values)
		out = append(out, Alias{w.problem.Names[i], values})
	}
	return out
}

// inOrder compares minima that differ by signs, or by which term is which: first comes the one with fewer parameters below 0, and of these the one in which
// the first parameters that the formula is not linear in are least. Groups of rows so have the same terms in the same places.
func (w *guesser) inOrder(a, b candidate) int {
	negative := func(m candidate) (n int) {
		for _, i := range w.free {
			if m.at[i] < 0 {
				n++
			}
		}
		return n
	}
	if c := cmp.Compare(negative(a), negative(b)); c != 0 {
		return c
	}
	for _, i := range w.free {
		if x, y := a.at[i], b.at[i]; !slices.Contains(w.linear, i) && math.Abs(x-y) > aliasPart*max(math.Abs(x), math.Abs(y)) {
			return cmp.Compare(x, y)
		}
	}
	return 0
}

// undistinguished reports whether the data cannot tell two minima apart: their costs are equal but for rounding, or their curves at the rows are closer to each other
// than the scatter of the rows lets anyone see. Frequencies that places at even distances do not tell apart stay so when these places are rounded.
func (w *guesser) undistinguished(best, m candidate) bool {
	if m.cost <= best.cost*(1+sameMinimum)+1e-300 {
		return true
	}
	if w.problem.Residual(w.r, best.at) != nil {
		return false
	}
	first := slices.Clone(w.r)
	if w.problem.Residual(w.r, m.at) != nil {
		return false
	}
	square := 0.0
	for i, v := range w.r {
		square += (v - first[i]) * (v - first[i])
	}
	return square <= sameCurve*sameCurve*w.variance(best)
}

// variance is that of a row about the curve; 0 without degrees of freedom.
func (w *guesser) variance(m candidate) float64 {
	if w.problem.M <= w.problem.N {
		return 0
	}
	return 2 * m.cost / float64(w.problem.M-w.problem.N)
}

// exchanged reports whether parameters have the same magnitudes in another order, such as those of two peaks.
func exchanged(a, b []float64) bool {
	sorted := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = math.Abs(v)
		}
		slices.Sort(out)
		return out
	}
	p, q := sorted(a), sorted(b)
	for i, v := range p {
		if math.Abs(v-q[i]) > aliasPart*max(v, q[i]) {
			return false
		}
	}
	return true
}
