// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"slices"
)

// mostAttempts is the largest number of fits of a star: spikes hide each other, and continua get polynomials in steps.
const mostAttempts = 7

// again says why a fit has to be made again.
type again struct {
	spikes []Spike // to be left out
	wider  bool    // whether continua need more polynomials
}

// reconsider returns why a fit has to be made again, nil if it is done.
func (l *layout) reconsider(s *places, i int, star *Star, d *descent, fit *Fit) *again {
	whole := star
	if star.whole != nil {
		whole = star.whole
	}
	if !l.f.s.KeepSpikes {
		if found := l.f.spikes(whole, fit); !sameSpikes(found, star.spikes) {
			return &again{spikes: found}
		}
	}
	if l.f.wider() != nil && l.needsPolynomials(l.remains(s, i, star, d)) {
		return &again{spikes: star.spikes, wider: true}
	}
	return nil
}

// prepare returns the star and the fitter of the next attempt, given the whole star and those of the last.
func (a *again) prepare(whole, last *Star, fit *Fit, f *Fitter) (Star, *Fitter) {
	next := whole.without(a.spikes)
	next.whole = whole
	here := Start{Vel: fit.X[0], Vsini: fit.X[len(fit.X)-len(f.library.Params)-1], Params: fit.X[len(fit.X)-len(f.library.Params):]}
	if f.s.PerExposure {
		here.Vels = fit.X[:len(fit.X)-len(f.library.Params)-1]
	}
	if a.wider {
		next.Starts = []Start{here}
		return next, f.wider()
	}
	anew := here
	anew.Vel, anew.Vels = math.NaN(), nil
	next.Starts = append([]Start{here, anew}, slices.Clone(whole.Starts)...)
	return next, f.forFew()
}
