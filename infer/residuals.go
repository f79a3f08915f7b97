// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// Residuals returns the least-squares problem of the model: (y - mean)/sd of every
// observation that counts, as a function of the constrained parameters, within
// their supports. Every observation must be Normal with a standard deviation that
// is data. Priors do not count: the solution is the likelihood's, for WarmStart
// and for comparison.
//
//	problem, err := post.Residuals()
//	fit, err := optim.LeastSquares(ctx, problem, optim.Settings{})
//	starts, err := post.WarmStart(fit.Names, fit.X, fit.Cov, 4, 1)
func (p *Posterior) Residuals() (*optim.Problem, error) {
	var parts []*ad.Node
	for _, o := range p.model.observed {
		if o.dist.Name != "normal" || o.missing != nil {
			return nil, fmt.Errorf("infer: residuals: observation %s follows %s%s: want a Normal observation without missing values", o.name, o.dist.Name, map[bool]string{true: " with missing values"}[o.missing != nil])
		}
		mean, sd := o.dist.Params[0], o.dist.Params[1]
		if _, err := p.atData([]*ad.Node{sd}); err != nil {
			return nil, fmt.Errorf("infer: residuals: the standard deviation of %s depends on parameters, so its likelihood is not a sum of squares: Condition on them", o.name)
		}
		r := ad.Div(ad.Sub(o.value, mean), sd)
		r = ad.Reshape(ad.Broadcast(r, o.data.node.Shape()...), o.data.node.Size())
		if o.kept != nil {
			r = ad.Gather(r, ad.Ints(o.kept), 0)
		}
		parts = append(parts, r)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("infer: residuals: model %s has no observations: declare one with Observe", p.model.name)
	}
	var params []*ad.Node
	var data []optim.Data
	for _, q := range p.model.params {
		params = append(params, q.node)
	}
	for i, d := range p.model.data {
		data = append(data, optim.Data{Node: d.node, Values: p.data[i]})
	}
	out, err := optim.FromGraph(ad.Concat(0, parts...), params, data...)
	if err != nil {
		return nil, fmt.Errorf("infer: residuals: %w", err)
	}
	return out, p.bound(out)
}

// bound sets the bounds of a least-squares problem from the supports.
func (p *Posterior) bound(out *optim.Problem) error {
	for _, q := range p.model.params {
		lo, hi := math.Inf(-1), math.Inf(1)
		ends, err := p.atData(q.transform.Bounds)
		if err != nil {
			return fmt.Errorf("infer: residuals: the bounds of %s depend on other parameters: Condition on those", q.name)
		}
		shape := q.transform.Name
		if q.base != nil {
			shape = q.prior.Transform().Name
			if ends, err = p.atData(q.prior.Transform().Bounds); err != nil {
				return fmt.Errorf("infer: residuals: the bounds of %s depend on other parameters: Condition on those", q.name)
			}
		}
		for k := range q.node.Size() {
			end := func(i int) float64 { return ends[i][min(k, len(ends[i])-1)] }
			switch shape {
			case "identity":
			case "lower":
				lo = end(0)
			case "upper":
				hi = end(0)
			case "interval":
				lo, hi = end(0), end(1)
			case "softplus":
				lo = 0
			default:
				return fmt.Errorf("infer: residuals: %s is constrained by %s, which has no bounds for a least-squares fit: Condition on it", q.name, shape)
			}
			out.Lower, out.Upper = append(out.Lower, lo), append(out.Upper, hi)
		}
	}
	return nil
}
