// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// Approximation holds draws from a distribution that is meant to be near the posterior. It is fast to
// compute, but nothing guarantees that it is near. ParetoK says how far its importance weights can be
// trusted: below 0.7 the resampled draws stand for the posterior; above, use them as starts only.
type Approximation struct {
	Method string
	// ELBO is the estimated lower bound of the log evidence, for densities with all
	// constants.
	ELBO float64
	// ParetoK is the Pareto shape of the ratios of the density and the approximation.
	ParetoK float64
	// Gradients is the number of evaluations of the density.
	Gradients int
	// Message says what went wrong. It is empty if nothing did.
	Message string

	names  []string
	q      [][]float64
	rows   [][]float64
	logP   []float64
	logQ   []float64
	target Target
}

// LogEvidence estimates the log evidence of a density with all constants by importance sampling from the approximation, with the standard
// error of the estimate. ParetoK above 0.7 says that neither is to be trusted.
//
//	log Z = log mean(p(x_i)/q(x_i))
func (a *Approximation) LogEvidence() (estimate, se float64) {
	top, n := math.Inf(-1), float64(len(a.logP))
	for i, p := range a.logP {
		top = max(top, p-a.logQ[i])
	}
	sum, square := 0.0, 0.0
	for i, p := range a.logP {
		r := math.Exp(p - a.logQ[i] - top)
		sum, square = sum+r, square+r*r
	}
	mean := sum / n
	return top + math.Log(mean), math.Sqrt(max(0, square/n-mean*mean)/n) / mean
}

// Names returns the names of the columns.
func (a *Approximation) Names() []string { return a.names }

// Len returns the number of draws.
func (a *Approximation) Len() int { return len(a.q) }

// Draws returns the draws of a named column, or nil.
func (a *Approximation) Draws(name string) []float64 {
	for i, n := range a.names {
		if n == name {
			return column(a.rows, i)
		}
	}
	return nil
}

// Unconstrained returns the sampler's coordinates of a draw; do not write to
// them.
func (a *Approximation) Unconstrained(i int) []float64 { return a.q[i] }

// Row returns all columns of a draw; do not write to it.
func (a *Approximation) Row(i int) []float64 { return a.rows[i] }

// LogDensities returns the log density of the target at a draw, and that of the approximation.
func (a *Approximation) LogDensities(i int) (target, approximation float64) {
	return a.logP[i], a.logQ[i]
}

// LogRatios returns the log density less that of the approximation, by draw.
func (a *Approximation) LogRatios() []float64 {
	out := make([]float64, len(a.logP))
	for i := range out {
		out[i] = a.logP[i] - a.logQ[i]
	}
	return out
}

// Starts returns draws, evenly from all there are, for Settings.Init.
func (a *Approximation) Starts(chains int) [][]float64 {
	out := make([][]float64, chains)
	for i := range out {
		out[i] = a.q[i*len(a.q)/chains%len(a.q)]
	}
	return out
}

// Summary describes the columns as one chain: there is no R-hat.
func (a *Approximation) Summary() diag.Summary {
	x := make([][][]float64, len(a.names))
	for i := range x {
		x[i] = [][]float64{column(a.rows, i)}
	}
	s := diag.Summarize(a.names, x, diag.Settings{})
	s.Note = a.String()
	return s
}

// CheckModel judges at the draws whether the model agrees with its data and its priors; see Fit.CheckModel.
func (a *Approximation) CheckModel(s CheckSettings) (check.Verdict, error) {
	r := record{rows: a.q}
	if _, ok := a.target.(Outputs); ok {
		r.outputs = a.rows
	}
	f := &Fit{names: a.names, n: []int{len(a.q)}, chains: []*chain{{target: a.target, kept: r}}}
	return f.CheckModel(s)
}

// String returns one line about the approximation.
func (a *Approximation) String() string {
	s := fmt.Sprintf("%s: %s, %s, ELBO %.4g, Pareto k %.2f.", a.Method, errtext.Count(len(a.q), "draw"), errtext.Count(a.Gradients, "gradient"), a.ELBO, a.ParetoK)
	switch {
	case !(a.ParetoK <= 0.7):
		s += "  The draws do not represent the posterior: use them as starting points for sampling."
	default:
		s += "  The draws are close to the posterior."
	}
	if a.Message != "" {
		s += "  " + a.Message
	}
	return s
}

// newApproximation evaluates columns and weights of draws q with density logQ.
func newApproximation(method string, t Target, q [][]float64, logP, logQ []float64) (*Approximation, error) {
	a := &Approximation{Method: method, target: t, q: q, logP: logP, logQ: logQ}
	r := &run{}
	if err := r.nameColumns(t); err != nil {
		return nil, err
	}
	a.names = r.names
	out, _ := t.(Outputs)
	for _, v := range q {
		row := v
		if out != nil {
			row = make([]float64, out.Len())
			if err := out.Write(v, row); err != nil {
				return nil, fmt.Errorf("infer: %s: %w", method, err)
			}
		}
		a.rows = append(a.rows, row)
	}
	a.ParetoK = math.NaN()
	if n := len(q); n >= 20 {
		_, a.ParetoK = diag.PSIS(a.LogRatios(), diag.ArviZ.TailLength(n, 1))
	}
	return a, nil
}

// resampled draws n of the draws with their smoothed weights, without
// replacement while they last.
func (a *Approximation) resampled(n int, src *tensor.Stream) (*Approximation, error) {
	weights, k := diag.PSIS(a.LogRatios(), diag.ArviZ.TailLength(len(a.q), 1))
	cdf, sum := make([]float64, len(weights)), 0.0
	for i, w := range weights {
		sum += math.Exp(w)
		cdf[i] = sum
	}
	var q [][]float64
	var logP, logQ []float64
	for range n {
		u, i := src.Float64()*sum, 0
		for i < len(cdf)-1 && cdf[i] < u {
			i++
		}
		q, logP, logQ = append(q, a.q[i]), append(logP, a.logP[i]), append(logQ, a.logQ[i])
	}
	out, err := newApproximation(a.Method, a.target, q, logP, logQ)
	if err == nil {
		out.ParetoK, out.ELBO, out.Gradients, out.Message = k, a.ELBO, a.Gradients, a.Message
	}
	return out, err
}

// density counts evaluations; points that the target turns down have -Inf.
type density struct {
	target   Target
	calls    int
	rejected error // why the last point was turned down
}

func (d *density) at(q, g []float64) (float64, error) {
	d.calls++
	lp, err := d.target.LogProbGrad(q, g)
	switch {
	case err != nil && !hamiltonian.Recoverable(err):
		return 0, err
	case err != nil || math.IsNaN(lp):
		d.rejected = err
		return math.Inf(-1), nil
	case math.IsInf(lp, 1):
		return 0, ErrInfinite
	}
	return lp, nil
}
