// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// matchRounds bounds the transforms of the draws for one observation.
const matchRounds = 30

// LOO estimates how well each value of an observation, or each block that Together names, is predicted from the others, as diag.LOO does. An empty name
// stands for the values of all observations. Where the importance weights of a value cannot be trusted, the draws are moved towards the posterior without it,
// by matching of means, variances and covariances, which takes some evaluations for each draw and no other fit.
//
// Reference: Paananen, Piironen, Bürkner and Vehtari, doi:10.1007/s11222-020-09982-2.
func (f *Fit) LOO(name string, s diag.LOOSettings) (_ diag.ELPD, err error) {
	defer given.Caught(&err)
	ll, err := f.LogLikTogether(name)
	if err != nil {
		return diag.ELPD{}, err
	}
	e, err := diag.LOO(ll, s)
	if err != nil || len(e.Bad()) == 0 {
		return e, err
	}
	m := &matcher{fit: f, name: name, settings: s}
	m.gather()
	bad := e.Bad()
	points, errs := make([]diag.PointELPD, len(bad)), make([]error, len(bad))
	parallel.Do(runtime.GOMAXPROCS(0), len(bad), func(_, k int) {
		defer given.Caught(&errs[k])
		points[k], errs[k] = m.match(bad[k], e.Points[bad[k]])
	})
	better := map[int]diag.PointELPD{}
	for k, i := range bad {
		if errs[k] != nil {
			return e, errs[k]
		}
		if points[k].K < e.Points[i].K {
			better[i] = points[k]
		}
	}
	return e.With(better, s.Convention), nil
}

// matcher moves the draws of a fit.
type matcher struct {
	fit      *Fit
	name     string
	settings diag.LOOSettings
	draws    *mat.Dense // one row each
	lp       []float64  // their log densities
	tail     int
}

func (m *matcher) gather() {
	var rows []float64
	for c := range m.fit.chains {
		for k := range m.fit.n[c] {
			rows, m.lp = append(rows, m.fit.Unconstrained(c, k)...), append(m.lp, m.fit.chains[c].kept.stats[k].LogProb)
		}
	}
	m.draws = mat.NewDense(len(m.lp), len(rows)/len(m.lp), rows)
	m.tail = m.settings.Convention.TailLength(len(m.lp), 1)
}

// matched are draws with the weights that make them draws of the posterior without an observation.
type matched struct {
	at      *mat.Dense
	weights []float64 // logarithms
	k       float64
	by      affine // from the draws of the fit
}

// affine is the map x -> scale x + shift.
type affine struct {
	scale  *mat.Dense
	shift  []float64
	logDet float64 // of scale
}

// evaluator computes log densities and the log likelihood of one observation.
type evaluator struct {
	target Target
	of     func(q []float64) (float64, error)
	g      []float64
}

func (m *matcher) evaluator(i int) (*evaluator, error) {
	p, err := m.fit.posterior()
	if err != nil {
		return nil, err
	}
	value, err := p.valueOf(m.name)
	if err != nil {
		return nil, err
	}
	return &evaluator{target: declaredOf(m.fit.chains[0].target).Clone(), g: make([]float64, m.draws.RawMatrix().Cols),
		of: func(q []float64) (float64, error) { return value(q, i) }}, nil
}

// at returns log density and log likelihood at a place; the former is minus infinity where either does not exist.
func (e *evaluator) at(q []float64) (lp, ll float64, err error) {
	lp, err = e.target.LogProbGrad(q, e.g)
	if err == nil {
		ll, err = e.of(q)
	}
	if err != nil && !hamiltonian.Recoverable(err) {
		return 0, 0, err
	}
	if err != nil || math.IsNaN(lp) || math.IsNaN(ll) || math.IsInf(ll, 0) {
		return math.Inf(-1), 0, nil
	}
	return lp, ll, nil
}

// match returns the estimate of observation i from draws that are moved as long as that makes their weights better.
func (m *matcher) match(i int, before diag.PointELPD) (diag.PointELPD, error) {
	e, err := m.evaluator(i)
	if err != nil {
		return before, err
	}
	n := m.draws.RawMatrix().Cols
	now := matched{at: m.draws, by: affine{scale: identity(n), shift: make([]float64, n)}}
	if now, err = m.weigh(e, now); err != nil {
		return before, err
	}
	good := diag.GoodK(len(m.lp))
	for range matchRounds {
		if now.k <= good {
			break
		}
		moved := false
		for _, kind := range []int{matchMean, matchVariances, matchCovariances} {
			to, ok := now.towards(kind)
			if !ok {
				continue
			}
			next, err := m.weigh(e, now.mapped(to))
			if err != nil {
				return before, err
			}
			if next.k < now.k {
				now, moved = next, true
				break
			}
		}
		if !moved {
			break
		}
	}
	return m.split(e, now, before)
}

// weigh computes the weights of moved draws.
func (m *matcher) weigh(e *evaluator, d matched) (matched, error) {
	ratios := make([]float64, len(m.lp))
	for s := range ratios {
		lp, ll, err := e.at(d.at.RawRowView(s))
		if err != nil {
			return d, err
		}
		ratios[s] = lp - ll - m.lp[s]
	}
	if math.IsInf(slices.Max(ratios), -1) {
		d.k = math.Inf(1)
		return d, nil
	}
	d.weights, d.k = diag.PSIS(ratios, m.tail)
	return d, nil
}

// kinds of moments.
const (
	matchMean = iota
	matchVariances
	matchCovariances
)

// towards returns the map that gives the draws the moments of the weighted ones.
func (d *matched) towards(kind int) (affine, bool) {
	rows, n := d.at.Dims()
	w := make([]float64, rows)
	for s, l := range d.weights {
		w[s] = math.Exp(l) * float64(rows)
	}
	out := affine{scale: identity(n), shift: make([]float64, n)}
	means := [2][]float64{make([]float64, n), make([]float64, n)}
	column := make([]float64, rows)
	for j := range n {
		mat.Col(column, j, d.at)
		plain, plainVar := stat.MeanVariance(column, nil)
		weighted, weightedVar := stat.MeanVariance(column, w)
		means[0][j], means[1][j] = plain, weighted
		if kind == matchVariances {
			r := math.Sqrt(weightedVar / plainVar)
			if !(r > 0) || math.IsInf(r, 1) {
				return out, false
			}
			out.scale.Set(j, j, r)
			out.logDet += math.Log(r)
		}
	}
	if kind == matchCovariances {
		var covs [2]mat.SymDense
		var factors [2]mat.TriDense
		for k, weights := range [][]float64{nil, w} {
			stat.CovarianceMatrix(&covs[k], d.at, weights)
			var chol mat.Cholesky
			if !chol.Factorize(&covs[k]) {
				return out, false
			}
			chol.LTo(&factors[k])
			out.logDet += float64(2*k-1) * chol.LogDet() / 2
		}
		var inverse mat.TriDense
		if err := inverse.InverseTri(&factors[0]); err != nil {
			return out, false
		}
		out.scale.Mul(&factors[1], &inverse)
	}
	moved := out.of(means[0])
	for j := range n {
		out.shift[j] = means[1][j] - moved[j]
	}
	return out, true
}

// mapped returns the draws at other places, without their weights.
func (d *matched) mapped(to affine) matched {
	rows, _ := d.at.Dims()
	out := matched{at: mat.DenseCopyOf(d.at), by: d.by.then(to)}
	for s := range rows {
		out.at.SetRow(s, to.of(d.at.RawRowView(s)))
	}
	return out
}

// of returns the place to which x goes.
func (a *affine) of(x []float64) []float64 {
	out := mat.NewVecDense(len(x), nil)
	out.MulVec(a.scale, mat.NewVecDense(len(x), x))
	for j, s := range a.shift {
		out.SetVec(j, out.AtVec(j)+s)
	}
	return out.RawVector().Data
}

// then returns the map a followed by b.
func (a *affine) then(b affine) affine {
	out := affine{scale: new(mat.Dense), shift: b.of(a.shift), logDet: a.logDet + b.logDet}
	out.scale.Mul(b.scale, a.scale)
	return out
}

// split moves every other draw only, and weighs all of them as draws of a mixture, which estimates both integrals of the predictive density well.
func (m *matcher) split(e *evaluator, d matched, before diag.PointELPD) (diag.PointELPD, error) {
	var inverse mat.Dense
	if inverse.Inverse(d.by.scale) != nil {
		return before, nil
	}
	rows, n := m.draws.Dims()
	ratios, lls := make([]float64, rows), make([]float64, rows)
	back := mat.NewVecDense(n, nil)
	for s := range rows {
		here, there := m.draws.RawRowView(s), []float64(nil)
		lpBack := m.lp[s]
		if s%2 == 0 {
			there = d.by.of(here)
		} else {
			there = here
			from := slices.Clone(here)
			for j := range from {
				from[j] -= d.by.shift[j]
			}
			back.MulVec(&inverse, mat.NewVecDense(n, from))
			var err error
			if lpBack, _, err = e.at(back.RawVector().Data); err != nil {
				return before, err
			}
		}
		lp, ll, err := e.at(there)
		if err != nil {
			return before, err
		}
		other := lpBack - d.by.logDet
		most := max(lp, other)
		if math.IsInf(lp, -1) || math.IsInf(most, -1) {
			ratios[s] = math.Inf(-1)
			continue
		}
		ratios[s], lls[s] = lp-ll-most-math.Log(math.Exp(lp-most)+math.Exp(other-most)), ll
	}
	if math.IsInf(slices.Max(ratios), -1) {
		return before, nil
	}
	lw, _ := diag.PSIS(ratios, m.tail)
	return diag.WeightedPoint(lw, lls, before.LPPD, d.k), nil
}

func identity(n int) *mat.Dense {
	out := mat.NewDense(n, n, nil)
	for i := range n {
		out.Set(i, i, 1)
	}
	return out
}
