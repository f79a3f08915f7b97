// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"errors"
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// describeAll computes what is told of stars at their minima.
func (l *layout) describeAll(ctx context.Context, stars []Star, list []int, best map[int]*job, fits []Fit, last bool) error {
	backends := ad.Spread(l.f.s.Backend)
	batch := l.described()
	parts := slices.Collect(slices.Chunk(list, batch))
	faults := make([]error, len(parts))
	workers := min(max(l.f.s.Threads, len(backends)), len(parts))
	programs := make([]*ad.Program, len(backends))
	for on := range min(workers, len(backends)) {
		var err error
		if programs[on], err = l.describe(on); err != nil {
			return err
		}
	}
	helpers := 1
	if len(parts) > 0 && programs[0].Device() != "cpu" { // a program for each GPU, and scans side by side on streams of their own
		workers = min(workers, len(backends))
		helpers = min(max(1, l.f.s.Threads/workers), mostScans)
	}
	states, scanners := make([]*places, workers), make([]scanner, workers*helpers)
	parallel.Do(workers, len(parts), func(w, p int) {
		on := w % len(backends)
		if states[w] == nil {
			states[w] = l.lent(programs[on])
			for h := range helpers {
				scanners[w*helpers+h].on = on
			}
		}
		if faults[p] = ctx.Err(); faults[p] != nil {
			return
		}
		s := states[w]
		for i := range batch {
			star := parts[p][min(i, len(parts[p])-1)]
			if i < len(parts[p]) || !s.filled[i] {
				if faults[p] = s.fill(i, &stars[star]); faults[p] != nil {
					return
				}
			}
			s.set(i, best[star].d.at)
		}
		if faults[p] = s.run(); faults[p] != nil {
			return
		}
		for k := range programs[on].Outputs() { // fetched before goroutines read them
			s.output(k)
		}
		if faults[p] = s.s.Err(); faults[p] != nil {
			return
		}
		scans := make([]error, len(parts[p]))
		parallel.Do(helpers, len(parts[p]), func(h, i int) {
			star := parts[p][i]
			l.tell(s, i, &scanners[w*helpers+h], &stars[star], best[star], &fits[star], last)
			if fits[star].Err == nil && fits[star].again == nil && !l.f.fixed[0] {
				scans[i] = l.tellVelocities(&scanners[w*helpers+h], &stars[star], &fits[star])
			}
		})
		faults[p] = errors.Join(scans...)
	})
	if err := errors.Join(faults...); err != nil {
		return err
	}
	for _, s := range states {
		if s != nil {
			l.back(s)
		}
	}
	for _, one := range scanners {
		for _, s := range one.states {
			s.l.back(s)
		}
	}
	return nil
}

// tellVelocities fills the posteriors of the velocities of a fit.
func (l *layout) tellVelocities(scanner *scanner, star *Star, fit *Fit) error {
	lower, upper := l.bounds()
	for k := range l.velocities {
		set := scanSettings{lower[k], upper[k], l.f.s.VelStep, l.f.s.LeastVelStep}
		if upper[k] < l.f.s.MaxVel { // that of a prior, at which the fit may be, and grids end below theirs
			set.max += 1e-8 * l.f.s.VelStep
		}
		v, err := scanner.scan(l, k, star, fit.X, fit.X[k], fit.held[k], set)
		if err != nil {
			return err
		}
		if k == 0 {
			fit.Velocity = v
		}
		if l.f.s.PerExposure {
			fit.Velocities = append(fit.Velocities, v)
		}
	}
	return nil
}

// blind says whether the star in place i of the outputs depends on none of the library's parameters that are
// free.
func (l *layout) blind(s *places, i int, d *descent) bool {
	n, some := len(l.names), false
	for _, f := range d.free() {
		if f <= l.velocities {
			continue
		}
		some = true
		for k, x := range l.spectra {
			pixels := len(x.Lam)
			for _, v := range s.output(outSpectra + k*perSpectrum + ofJacobian)[(i*n+f)*pixels : (i*n+f+1)*pixels] {
				if v != 0 {
					return false
				}
			}
		}
	}
	return some
}

// tell fills the fit of a star from place i of the outputs.
func (l *layout) tell(s *places, i int, scanner *scanner, star *Star, j *job, fit *Fit, last bool) {
	n := len(l.names)
	fit.X = slices.Clone(j.d.at)
	fit.Status, fit.Converged = map[searchStatus]string{
		minimum:      "converged",
		kink:         "ended at a kink of the interpolation, from which no step leads down",
		edge:         "ended at the edge of a hole of the library, from which no step leads down",
		tooManySteps: fmt.Sprintf("not converged within %d steps", mostSteps),
		notFinite:    "not finite at the start",
	}[j.d.status], j.d.status == minimum || j.d.status == kink || j.d.status == edge
	if j.d.status == notFinite {
		fit.Err = fmt.Errorf("%s: the likelihood is not finite at the start %v: start within the library", star.Name, j.d.at)
		return
	}
	if l.blind(s, i, j.d) {
		fit.Status, fit.Converged = "ended where the spectra do not depend on the parameters of the library, in a hole of it: the nearest template serves there", false
	}
	fit.ChiSquare, fit.Outside = s.output(outChiSquare)[i], j.d.best.penalty
	fit.LogPosterior = -s.output(outTotal)[i] / 2
	for k, x := range star.Spectra {
		pixels, of := len(x.Lam), func(what int) []float64 { return s.output(outSpectra + k*perSpectrum + what) }
		row := func(what, n int) []float64 { return slices.Clone(of(what)[i*n : (i+1)*n]) }
		one := SpectrumFit{Arm: x.Arm, ChiSquare: of(ofTrue)[i], ContinuumOnly: of(ofContinuumOnly)[i], Pixels: pixels, Model: row(ofFit, pixels), Template: row(ofRaw, pixels), Coefficients: row(ofCoefficients, l.f.functions())}
		for _, bad := range x.Bad {
			if bad {
				one.Pixels--
			}
		}
		fit.Spectra = append(fit.Spectra, one)
	}
	fit.Spikes, fit.Polynomials = star.spikes, l.f.polynomials()
	if !last {
		if fit.again = l.reconsider(s, i, star, j.d, fit); fit.again != nil {
			return
		}
	}
	hessian := s.output(outHessian)[i*n*n : (i+1)*n*n]
	hessian, held := l.atWall(hessian, j.d)
	fit.errors(hessian, held, l.velocities)
	fit.limits(hessian, held)
	if !l.f.s.NoVerdict {
		fit.Verdict, fit.Err = l.judge(s, i, scanner, star, held, fit)
	}
	if l.f.s.PerExposure {
		fit.Exposures, _ = l.f.exposures(star)
		fit.compareVelocities()
	}
}
