// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/given"
)

// Model returns the inversion as a model for inference. LogLoss observes logarithms of
// intensities with normal errors, SquareLoss observes intensities with normal errors, and
// PoissonLoss observes counts. Curves also observe anisotropies with normal errors. The
// standard deviation is Sigma of the Scene or else of the Inversion.
func (v *Inversion) Model() (*infer.Model, error) {
	m := infer.NewModel("morphology")
	params := make([]*ad.Node, len(v.Params))
	for i := range v.Params {
		params[i] = v.Params[i].declare(m)
	}
	q, err := v.prepareAt(params)
	if err != nil {
		return nil, err
	}
	seen, err := q.flat()
	if err != nil {
		return nil, err
	}
	mean := q.mean(ad.Gather(seen, ad.Ints(q.index), 0))
	if q.scene.Penalty != nil {
		m.AddLogProb("penalty", ad.Neg(q.scene.Penalty))
	}
	if q.Loss == PoissonLoss {
		m.Observe("counts", dist.Poisson(rate(mean)), q.data)
		return m, nil
	}
	sigma := q.scene.Sigma
	if sigma == nil {
		sigma = ad.Scalar(q.sigma())
	}
	if w := q.weights(); w != nil {
		sigma = ad.Div(sigma, w)
	}
	m.Observe(q.observed(), dist.Normal(mean, sigma), q.target())
	return m, nil
}

// observed returns the name of the observed quantity.
func (q *comparison) observed() string {
	switch {
	case q.Curves != nil:
		return "curves"
	case q.Loss == LogLoss:
		return "log_intensity"
	}
	return "intensity"
}

func (p *Param) declare(m *infer.Model) *ad.Node {
	var shape []infer.Option
	if len(p.Start) > 1 {
		shape = append(shape, infer.Shape(len(p.Start)))
	}
	switch {
	case p.Prior != nil:
		return m.Param(p.Name, *p.Prior, shape...)
	case p.Bounds != nil && math.IsInf(p.Bounds[1], 1) && !math.IsInf(p.Bounds[0], -1):
		return m.Flat(p.Name, dist.LowerTransform(p.Bounds[0]), shape...)
	case p.Bounds != nil:
		return m.Param(p.Name, dist.Uniform(p.Bounds[0], p.Bounds[1]), shape...)
	}
	return m.Flat(p.Name, dist.IdentityTransform(), shape...)
}

// Sample draws from the posterior. The chains start around a least-squares fit, spread
// wider than its covariance, unless the settings give starting points, there are array
// parameters, or the Scene has a penalty or an inferred Sigma.
func (v *Inversion) Sample(ctx context.Context, cfg infer.Settings) (*infer.Fit, error) {
	if err := given.Args("morph.Inversion.Sample", "v", v, "ctx", ctx); err != nil {
		return nil, err
	}
	m, err := v.shared(cfg).Model()
	if err != nil {
		return nil, err
	}
	post, err := v.compile(m)
	if err != nil {
		return nil, err
	}
	if cfg.Init == nil && cfg.Resume == "" && v.fits() {
		if cfg.Init, err = v.around(ctx, post, cfg); err != nil {
			return nil, fmt.Errorf("morph: start of the chains: %w", err)
		}
	}
	return infer.Sample(ctx, post, cfg)
}

// compile compiles the density for the backend.
func (v *Inversion) compile(m *infer.Model) (*infer.Posterior, error) {
	if v.Backend == nil {
		return m.Compile()
	}
	return m.CompileOn(v.Backend)
}

// shared returns v with the processors divided among the chains that run concurrently.
func (v *Inversion) shared(cfg infer.Settings) *Inversion {
	if v.Sim == nil {
		return v
	}
	chains, all := cfg.Parallel, runtime.GOMAXPROCS(0)
	if chains == 0 {
		chains = min(cmp.Or(cfg.Chains, 4), all)
	}
	c := *v
	c.Sim = v.Sim.WithWorkers(all / chains)
	return &c
}

// fits reports whether a least-squares fit can provide the starts of chains.
func (v *Inversion) fits() bool {
	for _, p := range v.Params {
		if len(p.Start) > 1 {
			return false
		}
	}
	q, err := v.prepare()
	return err == nil && q.scene.Penalty == nil && q.scene.Sigma == nil
}

// around returns a start for each chain near a least-squares fit.
func (v *Inversion) around(ctx context.Context, post *infer.Posterior, cfg infer.Settings) ([][]float64, error) {
	r, err := v.BestFit(ctx, cfg.Seed, 6)
	if err != nil {
		return nil, err
	}
	return post.WarmStart(r.Names, r.X, r.Cov, cmp.Or(cfg.Chains, 4), cfg.Seed)
}
