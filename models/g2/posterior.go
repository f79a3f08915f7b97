// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Posterior returns the Bayesian model of one curve: the mean of the model, normal errors
// (given, or one sampled sigma ~ HalfNormal(0.1)) and the priors of the model
// where the settings have no others. If the errors have a covariance, the observations "y" are the product of the inverse
// of its Cholesky factor with g2, whose errors are independent and of size 1.
func Posterior(model Model, c Curve, s Settings) (*infer.Model, error) {
	if err := model.wrong(); err != nil {
		return nil, err
	}
	if s.DropInvalid {
		c, _ = c.valid()
	}
	if err := c.check(1, model.Of); err != nil {
		return nil, err
	}
	c = c.repaired(model.Of)
	params, mean := model.sampledForm()
	if err := s.checkSampled(model, params, c); err != nil {
		return nil, err
	}
	if err := s.checkBounds(params); err != nil {
		return nil, err
	}
	if err := s.checkPriors(params); err != nil {
		return nil, err
	}
	if err := model.ranged(params, c, s); err != nil {
		return nil, err
	}
	if c.unknown() && model.index(noise) >= 0 {
		return nil, fmt.Errorf("g2: the model %q has a parameter called %q, as has the standard deviation of data without errors: rename it, or give the errors", model.Name, noise)
	}
	m := infer.NewModel("g2 " + model.Name)
	x := m.Data("x", c.X)
	p := make([]*ad.Node, len(params))
	for i, q := range params {
		if v, ok := s.Fixed[q.Name]; ok {
			p[i] = ad.Scalar(v)
			continue
		}
		if b, ok := s.Bounds[q.Name]; ok {
			q.Range = func(Curve) (start, lo, hi float64) { return b[0], b[0], b[1] }
		}
		d, err := s.within(q.Name, s.belief(q.Name, q.prior(c)))
		if err != nil {
			return nil, err
		}
		if _, own := s.Priors[q.Name]; own {
			p[i] = m.Param(q.Name, d)
		} else {
			p[i] = m.Param(q.Name, d, infer.Weak())
		}
	}
	if r := model.sampled; r != nil && r.derived != nil {
		for name, n := range r.derived(p) {
			m.Deterministic(name, n)
		}
	}
	y, err := model.at(mean, p, x)
	if err != nil {
		return nil, err
	}
	if c.white != nil {
		whiten := m.Data("whitening", c.white.inverse, infer.Shape(len(c.X), len(c.X)))
		m.Observe("y", dist.Normal(ad.MatMul(whiten, y), ad.Scalar(1)), c.white.apply(c.white.inverse, c.target()))
		return m, nil
	}
	var sigma *ad.Node
	if c.Err != nil {
		sigma = m.Data("yerr", c.Err)
	} else {
		sigma = s.declare(m, noise, dist.HalfNormal(0.1))
	}
	m.Observe("y", dist.Normal(y, sigma), c.Y)
	return m, nil
}

// sampledForm returns the parameters and the mean of the Bayesian model.
func (m Model) sampledForm() ([]Param, func(p []*ad.Node, x *ad.Node) *ad.Node) {
	if m.sampled != nil {
		return m.sampled.params, m.sampled.mean
	}
	return m.Params, m.Mean
}

// Sampled returns the names of the parameters of the Bayesian model of a curve.
func (m Model) Sampled(c Curve) []string {
	c = c.repaired(m.Of)
	params, _ := m.sampledForm()
	var out []string
	for _, p := range params {
		out = append(out, p.Name)
	}
	if c.unknown() {
		out = append(out, noise)
	}
	return out
}

// Units returns the units of the model's parameters and of the parameters derived from them, by name.
// Those without a unit are left out.
func (m Model) Units() map[string]string {
	out := map[string]string{}
	sampled, _ := m.sampledForm()
	for _, p := range slices.Concat(m.Params, sampled) {
		if p.Unit != "" {
			out[p.Name] = p.Unit
		}
	}
	return out
}

// belief is the prior of the settings, or the usual one.
func (s Settings) belief(name string, usual dist.Dist) dist.Dist {
	if own, ok := s.Priors[name]; ok {
		return own
	}
	return usual
}

// within is a prior between the bounds of the settings, if they have any that it reaches beyond.
func (s Settings) within(name string, d dist.Dist) (dist.Dist, error) {
	b, bounded := s.Bounds[name]
	if !bounded {
		return d, nil
	}
	d, err := dist.Within(d, b[0], b[1])
	if err != nil {
		return d, fmt.Errorf("g2: prior of %s: %w", name, errtext.Without("dist: ", err))
	}
	return d, nil
}

// declare adds a parameter with the prior of the settings, or with the usual one.
func (s Settings) declare(m *infer.Model, name string, usual dist.Dist) *ad.Node {
	if own, ok := s.Priors[name]; ok {
		return m.Param(name, own)
	}
	return m.Param(name, usual, infer.Weak())
}

// checkSampled returns an error for names that the Bayesian model does not have.
func (s Settings) checkSampled(model Model, params []Param, c Curve) error {
	names := model.Sampled(c)
	for _, group := range []struct {
		what string
		has  []string
	}{{"prior", slices.Sorted(maps.Keys(s.Priors))}, {"fixed value", slices.Sorted(maps.Keys(s.Fixed))}} {
		for _, name := range group.has {
			if name == noise && !slices.Contains(names, name) {
				return fmt.Errorf("g2: the %s for %q cannot be used: it is the standard deviation of data without errors, but these data have errors, so leave it out", group.what, name)
			}
			if !slices.Contains(names, name) {
				return fmt.Errorf("g2: the %s for %q cannot be used: name one of the parameters of the Bayesian model %s, which are %s", group.what, name, model.Name, strings.Join(names, ", "))
			}
		}
	}
	for name := range s.Bounds {
		i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
		if i < 0 {
			return fmt.Errorf("g2: the bounds of %q do not apply to the Bayesian model %s: give a prior instead", name, model.Name)
		}
	}
	return nil
}

// Starts returns a dispersed start per chain around a point fit of the same
// curve, for infer.Settings.Init; see infer.Posterior.WarmStart. A sampled sigma
// starts at the root-mean-square residual.
func Starts(post *infer.Posterior, f Fit, s Settings, chains int, seed uint64) ([][]float64, error) {
	fit, n := f.X, len(f.X)
	values, cov := fit, f.Cov
	if f.Status == "failed" {
		return nil, fmt.Errorf("g2: sampling of bin %d has no least-squares fit to start from: %s", f.Curve.Bin, f.Message)
	}
	if r := f.Model.sampled; r != nil {
		values, cov = r.from(fit), changed(r.from, fit, cov)
	}
	params, _ := f.Model.sampledForm()
	var names []string
	var keep []int
	for i, p := range params {
		if _, fixed := s.Fixed[p.Name]; !fixed {
			names, keep = append(names, p.Name), append(keep, i)
		}
	}
	k := len(keep)
	size := k
	if f.Curve.unknown() {
		size++
	}
	v, c := make([]float64, size), make([]float64, size*size)
	scale := 1.0
	if f.Curve.unknown() { // unit weights: the residual gives the scale
		names = append(names, noise)
		v[k] = max(f.rms(), 1e-12)
		c[k*size+k] = v[k] * v[k] / float64(2*len(f.Curve.X))
		scale = v[k] * v[k]
	}
	for i, a := range keep {
		v[i] = values[a]
		for j, b := range keep {
			c[i*size+j] = cov[a*n+b] * scale
		}
	}
	return post.WarmStart(names, v, c, chains, seed)
}

// rms is the root-mean-square residual.
func (f Fit) rms() float64 {
	return math.Sqrt(2 * f.Cost / float64(len(f.Curve.X)))
}

// changed transforms a covariance under a change of parameters, by finite differences.
func changed(g func([]float64) []float64, x, cov []float64) []float64 {
	n := len(x)
	base := g(x)
	j := make([]float64, n*n)
	for k := range n {
		h := 1e-6 * max(math.Abs(x[k]), 1e-12)
		y := slices.Clone(x)
		y[k] += h
		for i, v := range g(y) {
			j[i*n+k] = (v - base[i]) / h
		}
	}
	out := make([]float64, n*n)
	for a := range n {
		for b := range n {
			for p := range n {
				for q := range n {
					out[a*n+b] += j[a*n+p] * cov[p*n+q] * j[b*n+q]
				}
			}
		}
	}
	return out
}
