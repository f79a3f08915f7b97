// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"context"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/optim"
)

// Posterior compiles the posterior of the parameters: the likelihood of the data, whose exposures are joined, the priors of the parameters
// that have one, and flat ones within the bounds of the others.
func (t *Task) Posterior() (*infer.Posterior, error) {
	if err := t.prepare(); err != nil { // finds what is wrong with the parameters
		return nil, err
	}
	m := infer.NewModel("measured pattern")
	nodes := map[string]*ad.Node{}
	for name, x := range t.Fixed {
		nodes[name] = ad.Scalar(x)
	}
	for i, p := range t.Params {
		var by []infer.Option
		if t.cuts != nil && t.cuts[i].scale > 0 {
			by = append(by, infer.By(t.cuts[i].transform(p.ends())))
		}
		nodes[p.Name] = p.declare(m, by...)
	}
	rates, err := t.build(nodes)
	if err != nil {
		return nil, err
	}
	blocks := t.blocks()
	for i, p := range t.joined.parts {
		name := partName(i)
		var scale *ad.Node
		if s := p.scaleName(t.models()); s != "" {
			if scale = nodes[s]; scale == nil {
				scale = ad.Scalar(1)
			}
		}
		p.declare(m, name, p.expected(rates), scale, blocks)
	}
	if t.Backend == nil {
		return m.Compile()
	}
	return m.CompileOn(t.Backend)
}

// PosteriorAbout is Posterior with coordinates of the sampler that suit a posterior about a solution: parameters whose bounds cut it have others.
func (t *Task) PosteriorAbout(s *Solution) (*infer.Posterior, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	if err := t.cutAt(s); err != nil {
		return nil, err
	}
	return t.Posterior()
}

// partName is the name of the observation of a part.
func partName(i int) string {
	if i == 0 {
		return "counts"
	}
	return fmt.Sprintf("counts_%d", i+1)
}

// declare adds the parameter to a model.
func (p *Param) declare(m *infer.Model, by ...infer.Option) *ad.Node {
	low, high := math.Inf(-1), math.Inf(1)
	if p.Bounds != nil {
		low, high = p.Bounds[0], p.Bounds[1]
	}
	bounded := !math.IsInf(low, -1) || !math.IsInf(high, 1)
	switch {
	case p.Prior != nil:
		if a, b, err := dist.Range(*p.Prior); bounded && err == nil && (a < low || b > high) {
			return m.Param(p.Name, dist.Truncate(*p.Prior, limit(low), limit(high)), by...)
		}
		return m.Param(p.Name, *p.Prior, by...)
	case p.SD > 0 && bounded:
		return m.Param(p.Name, dist.Truncate(dist.Normal(ad.Scalar(p.Mean), ad.Scalar(p.SD)), limit(low), limit(high)), by...)
	case p.SD > 0:
		return m.Param(p.Name, dist.Normal(ad.Scalar(p.Mean), ad.Scalar(p.SD)))
	case !bounded:
		return m.Flat(p.Name, dist.IdentityTransform())
	case math.IsInf(high, 1):
		return m.Flat(p.Name, dist.LowerTransform(low), by...)
	case math.IsInf(low, -1):
		return m.Flat(p.Name, dist.UpperTransform(high), by...)
	}
	return m.Param(p.Name, dist.Uniform(low, high), by...)
}

// limit is a bound of a truncated distribution, nil where there is none.
func limit(x float64) any {
	if math.IsInf(x, 0) {
		return nil
	}
	return x
}

// Sample draws from the posterior, from starts around the fit that s has, or around one of its own if it is nil. The metric is that of the
// Fisher information at the fit, so that a short warm-up finds the step size: by default UsualWarmup draws, before UsualDraws that are kept.
func (t *Task) Sample(ctx context.Context, s *Solution, set infer.Settings) (*infer.Fit, error) {
	if s == nil {
		var err error
		if s, err = t.Fit(ctx, optim.Settings{}); err != nil {
			return nil, err
		}
	}
	post, err := t.PosteriorAbout(s)
	if err != nil {
		return nil, err
	}
	set.Warmup, set.Draws, set.TargetAccept = cmp.Or(set.Warmup, UsualWarmup), cmp.Or(set.Draws, UsualDraws), cmp.Or(set.TargetAccept, UsualAccept)
	if m, err := t.Metric(s); err == nil && set.StartMetric == nil {
		set.StartMetric, set.Metric, set.StepSize = m, infer.FixedMetric, cmp.Or(set.StepSize, firstStep)
	}
	if set.Init == nil && set.Resume == "" {
		if set.Init, err = post.WarmStart(s.Names, s.X, s.Cov, cmp.Or(set.Chains, 4), set.Seed); err != nil {
			return nil, err
		}
	}
	return infer.Sample(ctx, post, set)
}

// UsualWarmup and UsualDraws are how many draws of a chain adapt and are kept, since the posterior of a measured pattern is close to the
// normal distribution that its metric comes from: draws are nearly independent.
const UsualWarmup, UsualDraws = 60, 300

// UsualAccept is the target acceptance rate.
const UsualAccept = 0.8

// firstStep is the step size at which a warm-up with a metric from the Fisher information begins.
const firstStep = 0.7

// Metric returns the covariance of a solution in the coordinates of the sampler.
func (t *Task) Metric(s *Solution) (*infer.Metric, error) {
	cov, err := t.cutCov(s)
	if err != nil {
		return nil, err
	}
	n := len(s.X)
	for i := range n {
		if len(cov) == n {
			break
		}
		var row []float64
		for k := range n {
			row = append(row, t.rate(i, s.X[i])*t.rate(k, s.X[k])*s.Cov[i*n+k])
		}
		cov = append(cov, row)
	}
	m, err := infer.DenseMetric(cov)
	return &m, err
}

// rate is the derivative of the sampler's coordinate by the parameter.
func (p *Param) rate(x float64) float64 {
	low, high := p.ends()
	below, above := x-low, high-x
	if math.IsInf(below, 1) && math.IsInf(above, 1) {
		return 1
	}
	return 1/below + 1/above // 0 for an infinite one
}
