// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A sampler may move in other coordinates than the unconstrained parameters q. The map between them leaves the log density, and therefore all draws in the
// long run, as they are. Three kinds of parameters have other coordinates:
//
//	q = loc + scale (mean + P^(-1/2) x)	of a parameter whose prior has a location and a scale: mean and precision P are those of its conditional
//		distribution, where observations tell about it as a normal distribution does; x is then independent of location and scale. With P = 1 this is the
//		non-centred form.
//	q = log(log(1 + exp(k x))/k)	of a positive parameter exp(q), whose density then ends at 0 instead of going on without end
//	q = center + width (x + x^3/3)	of a parameter with a heavy-tailed prior: those of a Cauchy distribution become as heavy as Student's t with 3 degrees of freedom
//
// Reference: Papaspiliopoulos, Roberts and Skold, doi:10.1214/088342307000000014; Christensen, Roberts and Skold, doi:10.1198/106186006X100470.

// Movement describes the log density of a Target as a graph, so that chains can move in other coordinates.
type Movement struct {
	LogProb *ad.Node   // a scalar, with the Jacobians of the transforms
	Inputs  []*ad.Node // unconstrained parameters, in the order of the Target
	Names   []string   // names of the parameters
	// Given are the other inputs of the graph, with their values.
	Given       []*ad.Node
	GivenValues [][]float64
	// Backend runs the density, nil for the processor.
	Backend  ad.Backend
	Located  []Located
	Positive []int // numbers of the Inputs that are the logarithm of one positive number
	Heavy    []int // numbers of the Inputs whose priors have heavy tails
	// elements is the number of elements of other parameters whose conditional distribution each input decides on, and that are integrated out; nil for none.
	elements []int
}

// Located is a parameter whose prior has a location and a scale that depend on other parameters.
type Located struct {
	Input int // number of the parameter among the Inputs
	// Loc and Scale are those of its unconstrained form, as functions of the Inputs: one number, or one for each element. Scale is above 0.
	Loc, Scale *ad.Node
	// Factor is the lower Cholesky factor of the covariance of elements that are correlated, in place of Scale, which is nil then.
	Factor *ad.Node
}

// nodes are those that depend on other parameters.
func (l Located) nodes() []*ad.Node {
	if l.Factor != nil {
		return []*ad.Node{l.Loc, l.Factor}
	}
	return []*ad.Node{l.Loc, l.Scale}
}

// pull returns minus the gradient of the logarithm of a normal prior along q.
func (l Located) pull(q *ad.Node) *ad.Node {
	away := ad.Sub(q, l.Loc)
	if l.Factor != nil {
		return ad.CholeskySolve(l.Factor, away)
	}
	return ad.Div(away, ad.Square(l.Scale))
}

// Movable is implemented by a Target whose chains can move in other coordinates; a Posterior is one.
type Movable interface {
	Target
	// Movement returns nil where there is nothing to choose.
	Movement() *Movement
}

// movement returns that of a target whose density runs on the processor, nil for others: chains on devices move in the coordinates of the model.
func movement(t Movable) *Movement {
	if d, ok := t.(interface{ Device() string }); ok && d.Device() != "cpu" {
		return nil
	}
	return t.Movement()
}

// locations lists by the name of a distribution whether a location and a scale stand first among its parameters, and what its logarithm has.
var locations = map[string]struct {
	at  int
	log bool
}{"normal": {0, false}, "cauchy": {0, false}, "laplace": {0, false}, "logistic": {0, false}, "gumbel": {0, false}, "studentt": {1, false}, "lognormal": {0, true}}

// Movement describes the log density.
func (p *Posterior) Movement() *Movement {
	n := len(p.model.params)
	if n == 0 {
		return nil
	}
	m := &Movement{Backend: p.model.backend, LogProb: p.whole[0], Inputs: p.inputs[:n], Given: append(slices.Clone(p.inputs[n:]), p.places()...), GivenValues: p.givenValues()}
	var leaves []*ad.Node
	for _, q := range p.model.params {
		leaves, m.Names = append(leaves, q.node), append(m.Names, q.name)
	}
	for i, q := range p.model.params {
		if loc, scale := q.location(); loc != nil {
			nodes := ad.Substitute([]*ad.Node{loc, scale}, leaves, p.derived[:n])
			l := Located{Input: i, Loc: nodes[0], Scale: nodes[1]}
			if q.correlated() {
				l.Scale, l.Factor = nil, nodes[1]
			}
			m.Located = append(m.Located, l)
		}
		if q.base == nil && !q.flat && q.transform.Name == "identity" && (q.prior.Name == "cauchy" || q.prior.Name == "studentt") {
			m.Heavy = append(m.Heavy, i)
		}
		if q.transform.Name == "lower" && len(q.transform.Bounds) == 1 && q.transform.Bounds[0].IsConst() && p.inputs[i].Size() == 1 && q.base == nil {
			m.Positive = append(m.Positive, i)
		}
	}
	return m
}

// correlated reports whether a parameter is a vector with a multivariate normal prior.
func (p *param) correlated() bool {
	if p.base != nil || p.flat || p.prior.Name != "multivariatenormalcholesky" || p.transform.Name != "identity" {
		return false
	}
	return len(p.node.Shape()) == 1 && len(p.prior.Params[1].Shape()) == 2
}

// location returns location and scale of the unconstrained form of a parameter, or the factor of a correlated one, and nil if it has none.
func (p *param) location() (loc, scale *ad.Node) {
	if p.base != nil || p.flat {
		return nil, nil
	}
	if p.correlated() {
		return p.prior.Params[0], p.prior.Params[1]
	}
	of, known := locations[p.prior.Name]
	if !known || len(p.prior.Params) < of.at+2 || p.transform.Name != map[bool]string{true: "lower", false: "identity"}[of.log] {
		return nil, nil
	}
	return p.prior.Params[of.at], p.prior.Params[of.at+1]
}
