// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// The functions that Settings.Continuum asks for leave a part of continua that bend otherwise, as the radial basis does of a
// cubic. A fit therefore tests whether Chebyshev polynomials beside them explain more of the residuals than noise would, and
// is made again with the polynomials if they do.

// polynomialSteps are the numbers of polynomials that a continuum may have beside the functions that were asked for.
var polynomialSteps = []int{0, 4, 10}

// polynomialLevel is the share of stars that get polynomials although their continuum needs none. What these do to the other
// parameters is small beside their errors; what a missing one does need not be.
const polynomialLevel = 0.1

// fewAtATime is the number of stars that are fitted side by side on a CPU when they are fitted again: there are few of them, and
// places without a star take as long as those with one.
const fewAtATime = 4

// like returns a fitter with the same settings and a number of polynomials, for fits that are made again.
func (f *Fitter) like(step int) *Fitter {
	s := f.s
	if s.Batch > 0 {
		s.Batch = min(s.Batch, fewAtATime)
	}
	return &Fitter{library: f.library, s: s, names: f.names, fixed: f.fixed, values: f.values, step: step, arms: map[string]*spectra.Arm{}, layouts: map[string]*layout{}}
}

// forFew returns the fitter for fits that are made again with the same continuum.
func (f *Fitter) forFew() *Fitter {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.s.Batch <= fewAtATime { // also on GPUs, which choose by themselves
		return f
	}
	if f.few == nil {
		f.few = f.like(f.step)
	}
	return f.few
}

// wider returns the fitter whose continua have the next number of polynomials, or nil.
func (f *Fitter) wider() *Fitter {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil && !f.s.FixedContinuum && f.step+1 < len(polynomialSteps) {
		f.next = f.like(f.step + 1)
	}
	return f.next
}

// of returns the fitter with the continuum of a fit.
func (f *Fitter) of(fit *Fit) *Fitter {
	for f.polynomials() < fit.Polynomials {
		next := f.wider()
		if next == nil {
			break
		}
		f = next
	}
	return f
}

// polynomials is the number of polynomials beside the functions of the continuum, and functions that of all.
func (f *Fitter) polynomials() int { return polynomialSteps[f.step] }
func (f *Fitter) functions() int   { return f.s.Continuum + f.polynomials() }

// further returns columns for the polynomials that the continua lack, in standard deviations of the pixels: the first of
// each spectrum, then the others.
func (l *layout) further(r *remains) (columns [][]float64) {
	const most = 4
	var made [][]float64 // by spectrum
	for _, x := range l.spectra {
		made = append(made, spectra.Polynomials(x.Lam, l.f.s.Continuum, l.f.s.Chebyshev, l.f.polynomials()+most)[l.f.polynomials()*len(x.Lam):])
	}
	for d := range most {
		for k, x := range l.spectra {
			c, n := make([]float64, len(r.z)), len(x.Lam)
			for i, p := range r.used[k] {
				c[r.first[k]+i] = made[k][d*n+p] * r.scaled[k][p]
			}
			columns = append(columns, c)
		}
	}
	return columns
}

// needsPolynomials reports whether polynomials explain more of the residuals than noise would: the first of each spectrum, or
// all of them. Residuals that are larger than their errors count as their own noise.
func (l *layout) needsPolynomials(r *remains) bool {
	extra := l.further(r)
	own, n := len(r.names), len(r.z)
	all := own + len(extra)
	if n-all < 10 {
		return false
	}
	a := mat.NewDense(all, n, nil)
	for k := range own {
		a.SetRow(k, r.columns[k*n:(k+1)*n])
	}
	for k, c := range extra {
		a.SetRow(own+k, c)
	}
	var normal mat.SymDense
	normal.SymOuterK(1, a)
	var factor mat.Cholesky
	if !factor.Factorize(&normal) {
		return false
	}
	right, square := mat.NewVecDense(all, nil), 0.0
	right.MulVec(a, mat.NewVecDense(n, r.z))
	for _, z := range r.z {
		square += z * z
	}
	var lower mat.TriDense
	factor.LTo(&lower)
	var gains mat.VecDense
	if gains.SolveVec(&lower, right) != nil {
		return false
	}
	first, whole := 0.0, 0.0
	for k := range extra {
		g := gains.AtVec(own+k) * gains.AtVec(own+k)
		if whole += g; k < len(l.spectra) {
			first += g
		}
	}
	scale := max(1, square/float64(n-own))
	rare := func(gain float64, count int) bool {
		return distuv.ChiSquared{K: float64(count)}.Survival(gain/scale) < polynomialLevel/2
	}
	return rare(first, len(l.spectra)) || rare(whole, len(extra))
}

// KindContinuum is the flag of a continuum that bends more than the functions of the fit can.
const KindContinuum = "continuum"

// continuumDirection is the departure of continua that bend more.
func (l *layout) continuumDirection(r *remains) check.Direction {
	return check.Direction{Kind: KindContinuum, Columns: l.further(r), Say: func(_, _ []float64) (string, string) {
		return "the continuum bends in ways that its functions cannot follow", "use more functions for the continuum (npoly), or cut the spectrum where its calibration is poor"
	}}
}
