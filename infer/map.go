// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// MAPSettings says where to start; its zero value is the default.
type MAPSettings struct {
	// Jacobian asks for the mode of the density in unconstrained space, which Laplace takes.
	// Default: that of the parameters' own density.
	Jacobian bool
	// Init is the unconstrained start. Default: the best of some random starts.
	Init []float64
	// Starts is the number of random starts. Default 4.
	Starts int
	Seed   uint64
}

// Mode is a maximum of a posterior density.
type Mode struct {
	// Values are the constrained parameters by name, row-major.
	Values map[string][]float64
	// LogProb is the log density there, with all constants.
	LogProb       float64
	Unconstrained []float64
	Status        optim.Status
}

const purposeMAP uint32 = 141

// MAP finds the parameters of the highest posterior density, by L-BFGS in
// unconstrained space. The mode is a local one. A density that grows without end,
// as of a hierarchy whose group scale may vanish, has none: the error is then an
// *UnboundedError that names the parameter.
func (p *Posterior) MAP(ctx context.Context, s MAPSettings) (*Mode, error) {
	if p.dim == 0 {
		return nil, errors.New("infer: MAP: the model has no parameters to fit: declare at least one")
	}
	if s.Init != nil && len(s.Init) != p.dim {
		return nil, fmt.Errorf("infer: MAP: Init has %d numbers: want %d, one for each unconstrained parameter", len(s.Init), p.dim)
	}
	f, err := p.negative(s.Jacobian)
	if err != nil {
		return nil, fmt.Errorf("infer: MAP: %w", err)
	}
	starts := [][]float64{s.Init}
	if s.Init == nil {
		starts = p.randomStarts(max(s.Starts, 0), s.Seed)
	}
	var best *optim.Minimum
	var errs []error
	for _, q := range starts {
		f.Start = q
		m, err := optim.Minimize(ctx, f, optim.MinimizeSettings{FTol: 1e-13, GTol: 1e-8})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			errs = append(errs, err)
		} else if best == nil || m.Value < best.Value {
			best = m
		}
	}
	if best == nil {
		return nil, fmt.Errorf("infer: MAP: no start succeeded: %w", errors.Join(errs...))
	}
	if err := p.hasTop(f, best.X); err != nil {
		return nil, fmt.Errorf("infer: MAP: %w", err)
	}
	return p.mode(best)
}

// hasTop returns an error where the search for the maximum of -f ran away.
func (p *Posterior) hasTop(f *optim.Function, q []float64) error {
	slope := func(q, g []float64) (float64, error) {
		v, err := f.Gradient(g, q)
		for i := range g {
			g[i] = -g[i]
		}
		return -v, err
	}
	if i := endless(slope, q); i >= 0 {
		return unboundedAt(p, q, i)
	}
	return nil
}

// negative is minus the log density as a function of the unconstrained parameters.
func (p *Posterior) negative(jacobian bool) (*optim.Function, error) {
	m := p.model
	f := m.constrain()
	var parts []*ad.Node
	for i, q := range m.params {
		switch {
		case jacobian && f.prior[i] != nil:
			parts = append(parts, f.prior[i])
			continue
		case !q.flat:
			parts = append(parts, ad.Sum(q.logPrior()))
		}
		if jacobian {
			parts = append(parts, ad.Sum(f.logJ[i]))
		}
	}
	for _, c := range m.fixed {
		if !c.flat {
			parts = append(parts, ad.Sum(c.prior.LogProb(c.node)))
		}
	}
	for _, t := range m.terms {
		parts = append(parts, ad.Sum(t.node))
	}
	for _, o := range m.observed {
		parts = append(parts, ad.Sum(o.logLik()))
	}
	if p.latent != nil {
		parts = slices.DeleteFunc(parts, func(n *ad.Node) bool { return p.latent.read(n) != nil })
		parts = append(parts, p.latent.total)
	}
	if len(parts) == 0 {
		return nil, errors.New("every parameter is flat and nothing is observed: declare a prior or an observation")
	}
	value := ad.Neg(ad.AddN(ad.Substitute(parts, f.leaves, f.y)...))
	var data []optim.Data
	for i, d := range m.data {
		data = append(data, optim.Data{Node: d.node, Values: p.data[i]})
	}
	return optim.FunctionFromGraph(value, f.u, data...)
}

func (p *Posterior) randomStarts(n int, seed uint64) (all [][]float64) {
	if n == 0 {
		n = 4
	}
	for i := range n {
		src := tensor.NewStream(seed, purposeMAP, uint32(i))
		q := make([]float64, p.dim)
		for k := range q {
			q[k] = 2 * (2*src.Float64() - 1)
		}
		all = append(all, q)
	}
	return all
}

func (p *Posterior) mode(m *optim.Minimum) (*Mode, error) {
	out := &Mode{Values: map[string][]float64{}, LogProb: -m.Value, Unconstrained: m.X, Status: m.Status}
	row := make([]float64, p.Len())
	if err := p.Clone().(*Posterior).Write(m.X, row); err != nil {
		return nil, fmt.Errorf("infer: MAP: %w", err)
	}
	for _, q := range p.model.params {
		out.Values[q.name], row = row[:q.node.Size():q.node.Size()], row[q.node.Size():]
	}
	if !linalg.Finite(out.LogProb) || math.IsNaN(out.LogProb) {
		return nil, fmt.Errorf("infer: MAP: the log density is %g at the end of the search: try another Init", out.LogProb)
	}
	return out, nil
}
