// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// latentSuffix makes the name of the sampled true values of a column from that of the column.
const latentSuffix = "_true"

// checkLatent returns an error if columns have errors that cannot be sampled.
func (p *Problem) checkLatent() error {
	if len(p.SigmaX) == 0 {
		return p.checkImplicit()
	}
	f, err := p.formula()
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(p.SigmaX) {
		c, ok := p.Data[name]
		switch {
		case !ok || c.Labels != nil:
			return fmt.Errorf("sigma_x: there is no column of numbers %s%s", name, meant(name, p.Numeric()))
		case !slices.Contains(f.Names(), name):
			return fmt.Errorf("sigma_x: the formula %q does not use the column %s", p.Expr, name)
		case f.OfRows():
			return fmt.Errorf("sigma_x: %q has a function of all rows together, such as a spline or a convolution, which needs columns without errors: leave sigma_x out", p.Expr)
		}
		if _, taken := p.Data[name+latentSuffix]; taken || slices.Contains(p.parameters(), name+latentSuffix) {
			return fmt.Errorf("sigma_x: the true values of %s are called %s, and this name is taken: rename the other", name, name+latentSuffix)
		}
	}
	if len(p.CorrelationXY) > 0 && p.Likelihood != "" {
		return fmt.Errorf("correlation_xy is only for normal errors of %s: leave the likelihood out", p.Y)
	}
	return nil
}

// latent declares the true values of a column with errors as sampled values. With a flat prior they are normal about what was measured, which is a posterior of x alone; otherwise
// they have the prior of the column, and what was measured is normal about them.
func (b *builder) latent(name string) (*ad.Node, error) {
	p := b.p
	sigma, err := p.latentErrors(name)
	if err != nil {
		return nil, err
	}
	list := []infer.Option{infer.Over(b.model.DimLen(name+"_row", b.n))}
	measured := p.Data[name].Values
	text := p.Priors[name]
	if text == "" {
		return b.model.Param(name+latentSuffix, dist.Normal(ad.Const(measured), ad.Const(sigma)), append(list, infer.NonCentred())...), nil
	}
	d, err := b.distribution("prior of "+name, text, nil, true)
	if err != nil {
		return nil, ofPrior(name, err)
	}
	truth := b.model.Param(name+latentSuffix, d, list...)
	b.model.AddLogProb(name, ad.Sum(dist.Normal(truth, ad.Const(sigma)).LogProb(ad.Const(measured))))
	return truth, nil
}

// latentErrors are the standard errors of a column, row by row, all above 0.
func (p *Problem) latentErrors(name string) ([]float64, error) {
	sigma, err := p.errorsOf(name, p.SigmaX[name])
	if err != nil {
		return nil, fmt.Errorf("sigma_x: %w", err)
	}
	n := p.Data[name].Len()
	if len(sigma) == 1 {
		sigma = slices.Repeat(sigma, n)
	}
	for i, s := range sigma {
		if !(s > 0) {
			return nil, fmt.Errorf("sigma_x: the error of %s is %g in %s: samplers want errors above 0", name, s, p.Row(i))
		}
	}
	return sigma, nil
}

// correlate moves and narrows the distribution of Y by what the errors of columns tell of its error: at a correlation r, y is normal about f + r sy (x - x_true)/sx with the
// standard deviation sy sqrt(1 - r^2).
func (b *builder) correlate(special map[string]*ad.Node) error {
	p := b.p
	if len(p.CorrelationXY) == 0 {
		return nil
	}
	if special["sigma"] == nil {
		return fmt.Errorf("correlation_xy needs the errors of %s: give sigma", p.Y)
	}
	all, rest, err := p.correlations(b.n)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(all) {
		sigma, err := p.latentErrors(name)
		if err != nil {
			return err
		}
		weight := make([]float64, b.n)
		for i, r := range all[name] {
			weight[i] = r / sigma[i]
		}
		off := ad.Mul(ad.Const(weight), ad.Sub(ad.Const(p.Data[name].Values), b.nodes[name]))
		special["mu"] = ad.Add(special["mu"], ad.Mul(special["sigma"], off))
	}
	for i, v := range rest {
		rest[i] = math.Sqrt(v)
	}
	special["sigma"] = ad.Mul(special["sigma"], ad.Const(rest))
	return nil
}

// latents are the measured values of columns with errors by the names of their true values.
func (p *Problem) latents() map[string][]float64 {
	out := map[string][]float64{}
	for name := range p.SigmaX {
		out[name+latentSuffix] = p.Data[name].Values
	}
	return out
}
