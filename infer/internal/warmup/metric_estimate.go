// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Estimator gathers draws and their gradients into a metric.
type Estimator interface {
	Add(q, g []float64) // which only a lowRankEstimator keeps
	Count() int
	Reset()
	// metric returns false when the draws do not determine one.
	Metric() (hamiltonian.Metric, bool)
	Save(*checkpoint.Encoder)
	Load(*checkpoint.Decoder)
}

// NewEstimator makes what learns a metric of the kind, other than BlockVariance.
func NewEstimator(kind MetricKind, dim int, stanShrink bool) Estimator {
	switch kind {
	case LowRank:
		if dim <= SmallDim {
			return newSmallEstimator(dim)
		}
		return &lowRankEstimator{dim: dim}
	case DiagFisher:
		return &diagEstimator{q: newMoments(dim), g: newMoments(dim), fisher: true}
	case DiagVariance:
		return &diagEstimator{q: newMoments(dim), g: newMoments(dim), shrink: stanShrink}
	case DenseVariance:
		return newDenseEstimator(dim, stanShrink)
	}
	return &noEstimator{}
}

// moments accumulates mean and sum of squared deviations (Welford).
type moments struct {
	n        int
	mean, m2 []float64
}

func newMoments(dim int) moments {
	return moments{mean: make([]float64, dim), m2: make([]float64, dim)}
}

func (m *moments) add(v []float64) {
	m.n++
	for i, x := range v {
		d := x - m.mean[i]
		m.mean[i] += d / float64(m.n)
		m.m2[i] += d * (x - m.mean[i])
	}
}

func (m *moments) reset() {
	m.n = 0
	clear(m.mean)
	clear(m.m2)
}

func (m *moments) save(w *checkpoint.Encoder) {
	w.Int(m.n)
	w.Floats(m.mean)
	w.Floats(m.m2)
}

func (m *moments) load(r *checkpoint.Decoder) {
	m.n = r.Int()
	r.FloatsInto(m.mean)
	r.FloatsInto(m.m2)
}

type diagEstimator struct {
	q, g   moments
	fisher bool
	shrink bool
}

func (e *diagEstimator) Count() int { return e.q.n }
func (e *diagEstimator) Reset()     { e.q.reset(); e.g.reset() }

func (e *diagEstimator) Add(q, g []float64) {
	e.q.add(q)
	if e.fisher {
		e.g.add(g)
	} else {
		e.g.n++
	}
}

func (e *diagEstimator) Metric() (hamiltonian.Metric, bool) {
	n := float64(e.q.n)
	v := make([]float64, len(e.q.m2))
	for i := range v {
		switch {
		case e.fisher:
			v[i] = math.Sqrt(e.q.m2[i]) / math.Sqrt(e.g.m2[i])
		case e.shrink:
			v[i] = n/(n+5)*e.q.m2[i]/(n-1) + 1e-3*5/(n+5)
		default:
			v[i] = e.q.m2[i] / (n - 1)
		}
	}
	m, err := hamiltonian.DiagMetric(v)
	return m, err == nil
}

func (e *diagEstimator) Save(w *checkpoint.Encoder) { e.q.save(w); e.g.save(w) }
func (e *diagEstimator) Load(r *checkpoint.Decoder) { e.q.load(r); e.g.load(r) }

// denseEstimator learns a full covariance. Its m2 holds sums of products of deviations, the
// lower triangle by rows.
type denseEstimator struct {
	moments
	shrink bool
}

func newDenseEstimator(dim int, shrink bool) *denseEstimator {
	return &denseEstimator{moments: moments{mean: make([]float64, dim), m2: make([]float64, dim*dim)}, shrink: shrink}
}

func (e *denseEstimator) Count() int                 { return e.n }
func (e *denseEstimator) Reset()                     { e.reset() }
func (e *denseEstimator) Save(w *checkpoint.Encoder) { e.save(w) }
func (e *denseEstimator) Load(r *checkpoint.Decoder) { e.load(r) }

func (e *denseEstimator) Add(q, _ []float64) {
	e.n++
	d := make([]float64, len(q))
	for i, x := range q {
		d[i] = x - e.mean[i]
		e.mean[i] += d[i] / float64(e.n)
	}
	for i, x := range q {
		linalg.AddScaled(e.m2[i*len(q):i*len(q)+i+1], x-e.mean[i], d[:i+1])
	}
}

// Metric shrinks towards 1e-3 times the identity (Stan) or, free of scale,
// towards the diagonal.
func (e *denseEstimator) Metric() (hamiltonian.Metric, bool) {
	d, n := len(e.mean), float64(e.n)
	if d == 0 || e.n < 2 {
		return hamiltonian.Metric{}, false
	}
	cov := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			c := e.m2[i*d+j] / (n - 1)
			switch {
			case e.shrink && i == j:
				c = n/(n+5)*c + 1e-3*5/(n+5)
			case e.shrink || i != j:
				c *= n / (n + 5)
			}
			cov.SetSym(i, j, c)
		}
	}
	m, err := hamiltonian.DenseFrom(cov)
	return m, err == nil
}

type lowRankEstimator struct {
	dim  int
	q, g [][]float64
}

func (e *lowRankEstimator) Count() int { return len(e.q) }
func (e *lowRankEstimator) Reset()     { e.q, e.g = nil, nil }

func (e *lowRankEstimator) Add(q, g []float64) {
	e.q, e.g = append(e.q, q), append(e.g, g)
}

func (e *lowRankEstimator) Metric() (hamiltonian.Metric, bool) {
	if len(e.q) < 4 {
		return hamiltonian.Metric{}, false
	}
	f, ok := fitLowRank(e.q, e.g, e.ridge(), fisherCutoff)
	if !ok {
		return hamiltonian.Metric{}, false
	}
	m, err := hamiltonian.LowRankMetric(f.scale, f.vectors, f.lambda)
	return m, err == nil
}

// ridge returns the weight of the identity in the fit. Up to manyParameters the
// draws soon outnumber them, and the fit has no noise to speak of.
func (e *lowRankEstimator) ridge() float64 {
	if e.dim <= manyParameters {
		return fisherGamma
	}
	noise := GradientNoise(e.q, e.g)
	if !(noise < 1) { // all of it, or too large for floating point
		noise = 1
	}
	return fisherGamma + noiseRidge*noise
}

func (e *lowRankEstimator) Save(w *checkpoint.Encoder) {
	w.Int(len(e.q))
	for i := range e.q {
		w.Floats(e.q[i])
		w.Floats(e.g[i])
	}
}

func (e *lowRankEstimator) Load(r *checkpoint.Decoder) {
	e.Reset()
	for range r.Count(2 * (8*e.dim + 8)) {
		q, g := make([]float64, e.dim), make([]float64, e.dim)
		r.FloatsInto(q)
		r.FloatsInto(g)
		e.q, e.g = append(e.q, q), append(e.g, g)
	}
}

// noEstimator learns nothing.
type noEstimator struct{ n int }

func (e *noEstimator) Count() int                         { return e.n }
func (e *noEstimator) Reset()                             { e.n = 0 }
func (e *noEstimator) Add(_, _ []float64)                 { e.n++ }
func (e *noEstimator) Metric() (hamiltonian.Metric, bool) { return hamiltonian.Metric{}, false }
func (e *noEstimator) Save(w *checkpoint.Encoder)         { w.Int(e.n) }
func (e *noEstimator) Load(r *checkpoint.Decoder)         { e.n = r.Int() }
