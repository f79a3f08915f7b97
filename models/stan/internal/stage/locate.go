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
	Log        bool
	Loc, Scale *ad.Node
}

// locationScale lists the distributions with a location and a scale by the place of the location among their arguments.
var locationScale = map[string]int{"normal": 0, "cauchy": 0, "double_exponential": 0, "logistic": 0, "gumbel": 0, "student_t": 1, "lognormal": 0}

// locate notes what a statement or a density says of a whole parameter: x ~ normal(mu, sigma), or normal_lpdf(x | mu, sigma). It is a hint for samplers, so
// that it may stand anywhere.
func (m *Machine) locate(x syntax.Expr, family string, args []value.Value) {
	name, ok := x.(*syntax.Name)
	at, known := locationScale[family]
	if !ok || !known || !m.graph || m.inFunction() || args[0].Known() || len(args) != at+3 {
		return
	}
	loc, scale, n := args[at+1], args[at+2], args[0].Size()
	if loc.Known() && scale.Known() || loc.Lanes+scale.Lanes+args[0].Lanes > 0 || loc.Size() != 1 && loc.Size() != n || scale.Size() != 1 && scale.Size() != n {
		return
	}
	m.priors = append(m.priors, Prior{Param: name.Name, Log: family == "lognormal", Loc: flatOr1(loc), Scale: flatOr1(scale)})
}

// flatOr1 returns a number, or the elements of an array in a row.
func flatOr1(v value.Value) *ad.Node {
	if v.Size() == 1 {
		return ad.Reshape(v.Node())
	}
	return ad.Reshape(v.Node(), v.Size())
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
