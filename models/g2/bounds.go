// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/optim"
)

// otherTerm is what to do where the data take a parameter beyond what it can be.
const otherTerm = "check the normalisation, the mask and the errors, or use another model, as the parameter can be no more or less"

// bounded drops the warnings of parameters on bounds where the curve has rounding errors only, and gives those on the bounds of what a parameter can be
// another remedy.
func (f *Fit) bounded() {
	const at = " is at its bound "
	if f.Cost <= f.Curve.rounding() {
		f.Warnings = slices.DeleteFunc(f.Warnings, func(text string) bool { return strings.Contains(text, at) })
	}
	for i, text := range f.Warnings {
		if name, _, ok := strings.Cut(text, at); ok && f.physical(name, f.X[f.Model.index(name)]) {
			f.Warnings[i] = strings.Replace(text, optim.WidenBound, otherTerm, 1)
		}
	}
}

// physical reports whether a bound of a parameter is that of what it can be.
func (f *Fit) physical(name string, bound float64) bool {
	i := f.Model.index(name)
	return i >= 0 && slices.Contains(f.Model.Params[i].ends, bound)
}

// release corrects how far the data would take parameters beyond their bounds, which the derivatives at the bounds exaggerate where the curve
// bends, as it does with exponents: a parameter can go no farther than chi-square falls when the fit is repeated without its bound.
func (s Settings) release(ctx context.Context, p *optim.Problem, r *optim.Result, bounds []check.Bound) {
	if s.Loss != "" && s.Loss != optim.Linear && s.Loss != "linear" {
		return
	}
	for i := range bounds {
		k := slices.Index(r.Names, bounds[i].Name)
		if !(bounds[i].Pull > leastPull) || k < 0 {
			continue
		}
		lower, upper := p.Lower, p.Upper
		p.Lower, p.Upper, p.Start = slices.Clone(lower), slices.Clone(upper), slices.Clone(r.X)
		if r.Active[k] > 0 {
			p.Upper[k] = math.Inf(1)
		} else if p.Lower[k] = math.Inf(-1); lower[k] > 0 { // such as a relaxation time
			p.Lower[k] = 0
		}
		o := s.optimiser()
		o.NoPolish = true
		if free, err := optim.LeastSquares(ctx, p, o); err == nil && (free.Status.Converged() || free.Cost < r.Cost) { // an exponent may grow without end
			fall := 2 * max(r.Cost-free.Cost, 0)
			if !r.Absolute && r.Scale > 0 {
				fall /= r.Scale
			}
			bounds[i].Pull = min(bounds[i].Pull, math.Sqrt(fall))
		}
		p.Lower, p.Upper = lower, upper
	}
}

// leastPull is the number of standard deviations beyond a bound from which on it is worth a fit to know it exactly.
const leastPull = 2
