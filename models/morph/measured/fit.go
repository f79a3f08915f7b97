// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
)

// Param is a parameter to be found.
type Param struct {
	Name   string
	Start  float64
	Bounds []float64 // lowest and highest value; nil for none
	// Mean and SD are those of a Gaussian prior; an SD of 0 stands for none.
	Mean, SD float64
}

// Task is a fit of a model to its data.
type Task struct {
	Model  *Model
	Params []Param
	// Fixed holds the values of parameters that are not searched for.
	Fixed map[string]float64
	// Backend runs the graph. Default: all processors.
	Backend ad.Backend
	// Read says in one line per file what was read, with notes on what was assumed; Open fills it in.
	Read []string

	in     []*ad.Node
	counts selection
	mean   *ad.Node // expected counts of the selected pixels
}

// Solution is the result of a fit.
type Solution struct {
	Names []string
	X, SD []float64 // the estimates, and standard deviations from the Fisher information and the priors
	Cov   []float64 // covariance of the estimates, row-major
	// Deviance is twice the log likelihood ratio of the data and the model, and Pearson the sum of squared residuals over the expected
	// counts; Pixels is the number of pixels of all frames that were compared.
	Deviance, Pearson float64
	Pixels            int
	NFev              int
	Status            optim.Status
	Warnings          []string
}

// start returns the value at which a parameter starts, or at which it is held.
func (t *Task) start(name string) (float64, bool) {
	for _, p := range t.Params {
		if p.Name == name {
			return p.Start, true
		}
	}
	x, ok := t.Fixed[name]
	return x, ok
}

// prepare builds the graph of the expected counts.
func (t *Task) prepare() error {
	if t.mean != nil {
		return nil
	}
	if len(t.Params) == 0 {
		return errors.New("measured: there are no parameters to search for: give at least one")
	}
	nodes := map[string]*ad.Node{}
	var in []*ad.Node
	for _, p := range t.Params {
		if nodes[p.Name] != nil {
			return fmt.Errorf("measured: the parameter %q is there twice", p.Name)
		}
		x := ad.Input(p.Name)
		nodes[p.Name], in = x, append(in, x)
	}
	for name, x := range t.Fixed {
		if nodes[name] == nil {
			nodes[name] = ad.Scalar(x)
		}
	}
	mean, counts, err := t.build(nodes)
	if err != nil {
		return err
	}
	t.in, t.mean, t.counts = in, mean, counts
	return nil
}

// build returns the expected counts of the pixels that are compared, over nodes by the names of the parameters.
func (t *Task) build(nodes map[string]*ad.Node) (*ad.Node, selection, error) {
	s := t.Model.Data.selected()
	if len(s.index) == 0 {
		return nil, s, fmt.Errorf("measured: no pixel is left to compare (%v left out): widen the mask", s.left)
	}
	rates, err := t.Model.Rates(func(name string) *ad.Node { return nodes[name] }, t.start)
	if err != nil {
		return nil, s, err
	}
	mean := ad.Maximum(ad.Gather(rates, ad.Ints(s.index), 0), ad.Scalar(leastCounts))
	return mean, s, mean.Err()
}

// Means returns the expected counts of the compared pixels at the starting values.
func (t *Task) Means() ([]float64, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	program, err := ad.Compile([]*ad.Node{t.mean}, ad.Settings{Inputs: t.in, Backend: t.Backend})
	if err != nil {
		return nil, err
	}
	state := program.NewState()
	for i, p := range t.Params {
		state.Input(i)[0] = p.Start
	}
	if err := state.Run(); err != nil {
		return nil, err
	}
	return slices.Clone(state.Output(0)), nil
}

// leastCounts keeps the mean of counts above 0. It is too small to matter for any mean that could produce a count.
const leastCounts = 1e-9

// Fit maximises the Poisson likelihood of the counts times the priors. Standard deviations are those of the Fisher information at the
// maximum.
func (t *Task) Fit(ctx context.Context, s optim.Settings) (*Solution, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	backend := t.Backend
	if backend == nil {
		backend = ad.CPU{}
	}
	p, err := optim.FromGraphOn(backend, morph.DevianceResiduals(t.mean, ad.Const(t.counts.counts)), t.in)
	if err != nil {
		return nil, err
	}
	p.Start = make([]float64, len(t.Params))
	for i, q := range t.Params {
		p.Start[i] = q.Start
		if q.Bounds != nil {
			if p.Lower == nil {
				p.Lower, p.Upper = filled(len(t.Params), math.Inf(-1)), filled(len(t.Params), math.Inf(1))
			}
			p.Lower[i], p.Upper[i] = q.Bounds[0], q.Bounds[1]
		}
		if q.SD > 0 {
			s.Priors = append(s.Priors, optim.Gaussian(q.Name, q.Mean, q.SD))
		}
	}
	s.NoPolish = true // what follows is far below the errors
	if s.FTol == 0 {
		s.FTol = 1e-3 / float64(max(1, len(t.counts.counts)))
	}
	r, err := optim.LeastSquares(ctx, p, s)
	if r == nil {
		return nil, err
	}
	out := &Solution{Names: r.Names, X: r.X, Pixels: len(t.counts.index), NFev: r.NFev, Status: r.Status, Warnings: r.Warnings}
	for _, v := range r.Residuals[:out.Pixels] {
		out.Deviance += v * v
	}
	if fail := t.fisher(out, backend); fail != nil && err == nil {
		err = fail
	}
	return out, err
}

func filled(n int, x float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// fisher fills in the covariance, which is the inverse of the Fisher information J^T diag(1/mean) J plus that of the priors, and Pearson's
// sum.
func (t *Task) fisher(s *Solution, backend ad.Backend) error {
	n, m := len(s.X), s.Pixels
	root := ad.Sqrt(t.mean)
	p, err := optim.FromGraphOn(backend, ad.Div(t.mean, ad.StopGradient(root)), t.in)
	if err != nil {
		return err
	}
	roots, j := make([]float64, m), make([]float64, n*m)
	if err := p.Residual(roots, s.X); err != nil {
		return err
	}
	if err := p.Jacobian(j, s.X); err != nil {
		return err
	}
	for i, c := range t.counts.counts {
		d := (c - roots[i]*roots[i]) / roots[i]
		s.Pearson += d * d
	}
	information := make([]float64, n*n)
	for a := range n {
		for b := range a + 1 {
			v := 0.0
			for i := range m {
				v += j[a*m+i] * j[b*m+i]
			}
			information[a*n+b], information[b*n+a] = v, v
		}
		if sd := t.Params[a].SD; sd > 0 {
			information[a*n+a] += 1 / (sd * sd)
		}
	}
	s.Cov = inverse(information, n)
	s.SD = make([]float64, n)
	for i := range s.SD {
		s.SD[i] = math.Sqrt(s.Cov[i*n+i])
	}
	return nil
}

// inverse returns the inverse of an information matrix, with infinite variances if it is singular.
func inverse(a []float64, n int) []float64 {
	scale, l := make([]float64, n), make([]float64, n*n)
	for i := range scale {
		scale[i] = 1 / math.Sqrt(a[i*n+i])
	}
	for i := range n {
		for k := range n {
			l[i*n+k] = a[i*n+k] * scale[i] * scale[k]
		}
	}
	out := filled(n*n, math.Inf(1))
	if row, _ := linalg.Cholesky(l, n); row >= 0 {
		return out
	}
	for i := range n {
		x := make([]float64, n)
		x[i] = 1
		linalg.SolveCholesky(l, x)
		for k, v := range x {
			out[i*n+k] = v * scale[i] * scale[k]
		}
	}
	return out
}
