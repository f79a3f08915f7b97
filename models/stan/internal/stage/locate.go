// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// Prior is what a distribution statement says of a whole parameter by a location and a scale that are not known.
type Prior struct {
	Param string
	// Log says that location and scale are those of the logarithm.
	Log bool
	// Heavy says that the tails are those of a Cauchy or of Student's t distribution.
	Heavy      bool
	Loc, Scale *ad.Node
	// Factor is the Cholesky factor of the covariance of a vector, in place of Scale, which is nil then.
	Factor *ad.Node
}

// locationScale lists the distributions with a location and a scale by the place of the location among their arguments.
var locationScale = map[string]int{"normal": 0, "cauchy": 0, "double_exponential": 0, "logistic": 0, "gumbel": 0, "student_t": 1, "lognormal": 0}

// locate notes what a statement or a density says of a whole parameter: x ~ normal(mu, sigma), or normal_lpdf(x | mu, sigma). It is a hint for samplers, so
// that it may stand anywhere.
func (m *Machine) locate(x syntax.Expr, family string, args []value.Value) {
	if factor := factors[family]; factor != nil {
		m.locateVector(x, args, factor)
		return
	}
	at, known := locationScale[family]
	if !known || !m.graph || m.inFunction() || args[0].Known() || len(args) != at+3 {
		return
	}
	name, n := m.wholeParameter(x, args[0])
	loc, scale := args[at+1], args[at+2]
	if name == "" || loc.Known() && scale.Known() || !oneOrAll(loc, n) || !oneOrAll(scale, n) {
		return
	}
	m.priors = append(m.priors, Prior{Param: name, Log: family == "lognormal", Heavy: family == "cauchy" || family == "student_t", Loc: flatOr1(loc), Scale: flatOr1(scale)})
}

// locateVector notes what multi_normal(mu, Sigma) and its kin, whose last argument has a Cholesky factor, say of a whole vector.
func (m *Machine) locateVector(x syntax.Expr, args []value.Value, factor func(*ad.Node) *ad.Node) {
	if !m.graph || m.inFunction() || args[0].Known() || len(args) != 3 || len(args[0].Shape) != 1 {
		return
	}
	name, n := m.wholeParameter(x, args[0])
	loc, last := args[1], args[2]
	if name == "" || loc.Known() && last.Known() || loc.Lanes > 0 || last.Lanes > 0 || loc.Size() != n || !slices.Equal(last.Shape, []int{n, n}) {
		return
	}
	m.priors = append(m.priors, Prior{Param: name, Loc: flatOr1(loc), Factor: factor(last.Node())})
}

// wholeParameter returns the name and the number of elements of a variable that an expression is, or of one whose elements a loop goes through from the first
// to the last; "" for others.
func (m *Machine) wholeParameter(x syntax.Expr, v value.Value) (name string, elements int) {
	switch x := x.(type) {
	case *syntax.Name:
		if v.Lanes == 0 {
			return x.Name, v.Size()
		}
	case *syntax.Index:
		of, ok := x.X.(*syntax.Name)
		if !ok || len(x.List) != 1 || x.List[0].Single == nil || v.Lanes == 0 || len(v.Shape) > 0 {
			return "", 0
		}
		at, err := m.eval(x.List[0].Single)
		if err != nil || !at.Known() || len(at.F) != v.Lanes {
			return "", 0
		}
		for i, k := range at.F {
			if int(k) != i+1 {
				return "", 0
			}
		}
		return of.Name, v.Lanes
	}
	return "", 0
}

// oneOrAll reports whether a value is one number, or one for each of n elements.
func oneOrAll(v value.Value, n int) bool {
	all := v.Size() * max(v.Lanes, 1)
	return all == 1 || all == n
}

// flatOr1 returns a number, or the elements of an array or of the repetitions of a loop in a row.
func flatOr1(v value.Value) *ad.Node {
	n := v.Size() * max(v.Lanes, 1)
	if n == 1 {
		return ad.Reshape(v.Node())
	}
	return ad.Reshape(v.Node(), n)
}

// Priors lists what distribution statements say of parameters.
func (m *Machine) Priors() []Prior { return m.priors }

// ZeroBound reports whether the lower bound of a parameter is 0.
func (m *Machine) ZeroBound(p Param) bool {
	v, err := m.eval(p.Type.Lower)
	return err == nil && v.Known() && !slices.ContainsFunc(v.F, func(f float64) bool { return f != 0 })
}

// Size returns the number of elements of a parameter.
func (p Param) Size() int { return value.Size(p.Shape) }
