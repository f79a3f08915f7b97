// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// nonCentred lists the distributions of a location and a scale by their standard forms.
var nonCentred = map[string]dist.Dist{
	"normal": dist.Normal(0, 1), "lognormal": dist.Normal(0, 1), "cauchy": dist.Cauchy(0, 1), "laplace": dist.Laplace(0, 1),
	"logistic": dist.Logistic(0, 1), "gumbel": dist.Gumbel(0, 1), "studentt": {},
}

// standardised splits a distribution of a location and a scale into its standard form and
// the map from it.
func standardised(d dist.Dist) (standard dist.Dist, t dist.Transform, err error) {
	standard, known := nonCentred[d.Name]
	p := d.Params
	switch {
	case !known:
		return standard, t, fmt.Errorf("%s has no non-centred form: use Reparam, or one of normal, lognormal, studentt, cauchy, laplace, logistic and gumbel", d.Name)
	case d.Name == "studentt":
		standard, p = dist.StudentT(p[0], 0, 1), p[1:]
	}
	if t = dist.AffineTransform(p[0], p[1]); d.Name == "lognormal" {
		t = exponential(t)
	}
	return standard, t, nil
}

// exponential follows a transform by exp.
func exponential(t dist.Transform) dist.Transform {
	inner := t
	t.Name = "exp of " + inner.Name
	t.Constrain = func(x *ad.Node) (y, logJ *ad.Node) {
		v, j := inner.Constrain(x)
		return ad.Exp(v), ad.Add(j, ad.Sum(v))
	}
	t.Inverse = func(y []float64, bounds ...float64) ([]float64, error) {
		v := slices.Clone(y)
		for i, x := range y {
			if !(x > 0) {
				return nil, fmt.Errorf("the value is %g: want a number above 0", x)
			}
			v[i] = math.Log(x)
		}
		return inner.Inverse(v, bounds...)
	}
	return t
}

// linked maps the unconstrained form of z ~ base to link(z).
func linked(base dist.Dist, link func(z *ad.Node) *ad.Node) dist.Transform {
	t := base.Transform()
	inner := t.Constrain
	t.Name = "reparam"
	t.Constrain = func(x *ad.Node) (y, logJ *ad.Node) {
		z, j := inner(x)
		return link(z), j
	}
	t.Inverse = func([]float64, ...float64) ([]float64, error) {
		return nil, errors.New("it was reparametrised by a function without an inverse: give an unconstrained start instead")
	}
	return t
}

// freePrior returns the log density of the sampled form x.
func (p *param) freePrior(x *ad.Node) *ad.Node {
	z, j := p.base.Transform().Apply(x, p.node.Shape()...)
	return ad.Add(ad.Sum(p.base.LogProbInside(z)), j)
}
