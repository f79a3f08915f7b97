// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// exposures returns the labels of the exposures of a star that have velocities of their own, in the order in
// which they appear, and which of them each spectrum has. Without Settings.PerExposure there is one.
func (f *Fitter) exposures(star *Star) (labels []string, of []int) {
	for _, x := range star.Spectra {
		label := ""
		if f.s.PerExposure {
			label = x.Exposure
		}
		k := slices.Index(labels, label)
		if k < 0 {
			k, labels = len(labels), append(labels, label)
		}
		of = append(of, k)
	}
	return labels, of
}

// part returns a star with those of the spectra that have velocity k.
func (l *layout) part(star *Star, k int) *Star {
	if l.velocities == 1 {
		return star
	}
	one := &Star{Name: star.Name}
	for i, x := range star.Spectra {
		if l.velocity[i] == k {
			one.Spectra = append(one.Spectra, x)
		}
	}
	return one
}

// scanner scans velocities, and keeps the states of the programs for that. It is not safe for concurrent use.
type scanner struct {
	on     int // the backend
	states map[*layout]*places
}

// scan scans velocity k of a star whose other parameters are x, with the spectra that have it, near a
// velocity. sd is the standard deviation that the fit gives; NaN for a scan without a fit.
func (s *scanner) scan(l *layout, k int, star *Star, x []float64, near, sd float64, set scanSettings) (VelocityPosterior, error) {
	state, err := s.state(l, k, star, x)
	if err != nil {
		return VelocityPosterior{}, err
	}
	chi := func(vel []float64) ([]float64, error) { return l.each[k].chiSquares(state, vel) }
	if math.IsNaN(sd) {
		return set.scan(near, chi)
	}
	return set.about(near, sd, chi)
}

// state returns a state of the program that scans velocity k, with the data of a star and all parameters but
// that velocity.
func (s *scanner) state(l *layout, k int, star *Star, x []float64) (*places, error) {
	one := l.each[k]
	if s.states == nil {
		s.states = map[*layout]*places{}
	}
	state := s.states[one]
	if state == nil {
		p, err := one.scan(s.on)
		if err != nil {
			return nil, err
		}
		state = one.lent(p)
		s.states[one] = state
	}
	state.params[1][0] = x[l.velocities]
	copy(state.params[2], x[l.velocities+1:])
	return state, state.fill(0, l.part(star, k))
}

// chiSquares returns -2 log posterior at velocities, of the star and the other parameters in the state.
func (l *layout) chiSquares(s *places, vel []float64) (chi []float64, err error) {
	for part := range slices.Chunk(vel, l.f.s.Velocities) {
		v := s.params[0]
		for i := range v {
			v[i] = part[min(i, len(part)-1)]
		}
		if err := s.run(); err != nil {
			return nil, err
		}
		chi = append(chi, s.output(0)[:len(part)]...)
	}
	return chi, nil
}

// CommonVelocity compares the velocities of a star's exposures with one velocity for all, by their
// covariance at the fit (a Wald test). Priors on the velocities count as data.
type CommonVelocity struct {
	Vel, SD   float64 // common velocity that is nearest to those of the exposures, in km/s
	ChiSquare float64 // chi-square of the velocities about the common one
	DoF       int
	P         float64 // probability of a chi-square at least as large if the velocity is constant
}

// Agree reports whether the velocities agree at the level of the verdicts, 1 %.
func (c CommonVelocity) Agree() bool { return c.P >= check.Level }

// String says in a sentence whether the velocities agree.
func (c CommonVelocity) String() string {
	verb := "agree"
	if !c.Agree() {
		verb = "differ"
	}
	return fmt.Sprintf("The velocities of %s %s: chi-square %.1f with %s of freedom about %.2f +- %.2f km/s, p = %.2g", errtext.Count(c.DoF+1, "exposure"), verb, c.ChiSquare, errtext.Count(c.DoF, "degree"), c.Vel, c.SD, c.P)
}

// KindVelocities is the kind of the note in a verdict which says that the velocities of exposures
// differ.
const KindVelocities = "velocities of the exposures"

// compareVelocities sets Common, and adds a note to the verdict if the velocities differ.
func (fit *Fit) compareVelocities() {
	m, n := len(fit.Exposures), len(fit.X)
	if m < 2 {
		return
	}
	cov := mat.NewSymDense(m, nil)
	for k := range m {
		if math.IsNaN(fit.SD[k]) {
			return
		}
		for l := range k + 1 {
			cov.SetSym(k, l, fit.Cov[k*n+l])
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(cov) {
		return
	}
	ones, own := mat.NewVecDense(m, slices.Repeat([]float64{1}, m)), mat.NewVecDense(m, slices.Clone(fit.X[:m]))
	var weights, miss mat.VecDense
	if factor.SolveVecTo(&weights, ones) != nil {
		return
	}
	precision := mat.Dot(&weights, ones)
	c := CommonVelocity{Vel: mat.Dot(&weights, own) / precision, SD: 1 / math.Sqrt(precision), DoF: m - 1}
	own.AddScaledVec(own, -c.Vel, ones)
	if factor.SolveVecTo(&miss, own) != nil {
		return
	}
	c.ChiSquare = mat.Dot(own, &miss)
	c.P = distuv.ChiSquared{K: float64(c.DoF)}.Survival(c.ChiSquare)
	fit.Common = &c
	if fit.Verdict != nil && !c.Agree() {
		fit.Verdict.Notes = append(fit.Verdict.Notes, check.Flag{Kind: KindVelocities, Text: c.String(), P: c.P, Note: true})
	}
}
