// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"
)

// Kinds of flags about parameters.
const (
	KindBound   = "parameter at a bound"
	KindPrior   = "conflict of prior and data"
	KindUnknown = "undetermined parameters"
	// KindRange is the flag of priors that lead parameters of distributions out of their ranges.
	KindRange = "prior out of range"
)

// test asks whether the data pull beyond the bound by more than chance.
func (b Bound) test() test {
	return test{kind: KindBound, of: b.Name, p: min(1, normalTail(b.Pull)), effect: b.Pull, always: true, say: func(*test) Flag {
		return Flag{Where: b.Name, Text: fmt.Sprintf("%s = %.4g lies on its bound, and the data would take it %s standard deviations beyond it", b.Name, b.Value, size(b.Pull)),
			Remedy: "widen the bound if it is not physical; if it is physical, another term of the model is probably wrong"}
	}}
}

// absurd is the tail probability below which a prior that was chosen must have been meant for
// another parameter, or for other units, even if it moves nothing. A value beyond all of at least
// manyRanks draws from a prior counts as such, too.
const (
	absurd    = 1e-6
	manyRanks = 9999
)

// tailed is the tail probability from which a value is no longer said to lie in a tail of its prior.
const tailed = 0.01

// test asks whether the value is plausible under the prior. A prior under which it is not, but which
// moved the estimate by less than a fifth of its standard deviation, is harmless unless the chosen
// prior is absurd.
func (p Prior) test() test {
	value := p.P
	if !math.IsNaN(p.together) {
		value = p.together
	}
	silly := value <= absurd || p.beyond() && p.Draws >= manyRanks
	return test{kind: KindPrior, of: p.Name, p: value, effect: math.Abs(p.Shift), harmless: math.Abs(p.Shift) < 0.2 && (p.Weak || !silly), say: func(*test) Flag {
		f := Flag{Where: p.Name, Text: p.words(), Remedy: "check the units of the prior and of the data, or widen the prior if it was a guess"}
		if math.IsInf(p.Shift, 0) {
			f.Text += "; the prior ends there and cuts off values that the data allow"
		} else if math.Abs(p.Shift) >= 0.2 {
			f.Text += fmt.Sprintf("; the prior moves the result by %s standard deviations", size(p.Shift))
		}
		return f
	}}
}

// beyond reports whether Value lies beyond all draws among which it was ranked.
func (p Prior) beyond() bool { return p.Draws > 0 && p.P < 2.5/float64(p.Draws+1) }

// words says where the value lies in the prior. The p-value of prior and data together is another number than the
// tail probability: it also counts how far the data by themselves are from the prior.
func (p Prior) words() string {
	tail := "two-sided tail probability " + tiny(p.P)
	if p.P < 1e-15 { // upper tails are differences from 1
		tail = "two-sided tail probability below 1e-15"
	}
	switch {
	case p.beyond():
		tail = fmt.Sprintf("two-sided tail probability of at most %s: it lies beyond all of %d draws from the prior", tiny(p.P), p.Draws)
	case p.Draws > 0:
		tail += fmt.Sprintf(" among %d draws from the prior", p.Draws)
	}
	if math.IsNaN(p.together) {
		return fmt.Sprintf("%s = %.4g lies far out in a tail of its prior %s (%s)", p.Name, p.Value, p.Distribution, tail)
	}
	both := "p-value of prior and data together " + tiny(p.together)
	if p.P > tailed {
		return fmt.Sprintf("%s = %.4g lies inside its prior %s, but the data by themselves lie far from it (%s)", p.Name, p.Value, p.Distribution, both)
	}
	return fmt.Sprintf("%s = %.4g lies far out in a tail of its prior %s (%s; %s)", p.Name, p.Value, p.Distribution, tail, both)
}

// tiny writes a small probability with one digit.
func tiny(p float64) string {
	if p < 1e-300 {
		return "< 1e-300"
	}
	return fmt.Sprintf("%.1g", p)
}

// tooWide is the reduced chi-square above which large residuals are attributed no longer to errors
// that are too small, which make the data pull too, but to a prior that keeps the model from the
// data.
const tooWide = 25

// conflict returns the p-value of a prior against the data, NaN where there is nothing to compare: the distance between the
// prior's centre and what the data alone say, in units of both widths together. At a
// draw from the posterior of a right model, the parameter's normal score a in its prior
// and the distance b of the data's estimate in its standard deviations s are independent
// and standard normal, and so is
//
//	(tau a + s b)/sqrt(tau^2 + s^2),
//
// tau the prior's width.
func (w *residuals) conflict(p Prior) float64 {
	at := slices.Index(w.d.Names, p.Coordinate)
	column := slices.Index(w.kept, at)
	if !w.d.Drawn || w.d.Partly || at < 0 || column < 0 || !(p.Scale > 0) {
		return math.NaN()
	}
	own := 0 // columns of parameters
	for _, k := range w.kept {
		own += int(truth(k >= 0))
	}
	gain := make([]float64, own)
	for i := range gain {
		gain[i] = dot(w.base.q[i], w.d.Z)
	}
	b, s := backward(w.r[:own], 0, gain)[column], math.Sqrt(inverseRow(w.r[:own], 0, column))
	t := (p.Scale*p.Score + b) / math.Hypot(p.Scale, s)
	if math.IsNaN(t) {
		return math.NaN()
	}
	if wide := w.square / w.dof(); wide > 1 && wide < tooWide && s > 0 {
		t = (p.Scale*p.Score + b) / math.Hypot(p.Scale, s*math.Sqrt(wide))
	}
	return min(1, 2*normalTail(math.Abs(t)))
}

// pullTest compares what the data would still gain by moving the parameters,
//
//	|Q' z|^2 with Q an orthonormal basis of the Jacobian's columns,
//
// with chi-square: at a draw from the posterior of a right model it has as many degrees
// of freedom as there are parameters. It is larger where a prior, or the end of its
// support, keeps the parameters away from what the data say.
func (w *residuals) pullTest() test {
	t := test{kind: KindPrior, p: 1}
	if !w.d.Drawn || w.d.Partly || len(w.kept) == 0 {
		return t
	}
	square, k := w.alongSquare()
	_, t.p = chiSquaredTails(square, k)
	if wide := w.square / w.dof(); wide > 1 && wide < tooWide {
		t.p = max(t.p, betaTail(k/2, w.dof()/2, square/(square+w.square)))
	}
	t.effect = math.Sqrt(square)
	t.say = func(*test) Flag {
		name, pull := "", 0.0
		for k, n := range w.d.Names {
			j := w.d.Jacobian[k*w.n : (k+1)*w.n]
			if s := dot(j, w.d.Z) / norm(j); math.Abs(s) > math.Abs(pull) {
				name, pull = n, s
			}
		}
		return Flag{Where: name, Text: fmt.Sprintf("the priors hold the parameters away from the values that the data prefer: the data pull most strongly on %s, by %s of the standard deviations that the data alone would give it", name, size(pull)),
			Remedy: "check the units and the limits of the priors, and whether the model can describe the data at all"}
	}
	return t
}
