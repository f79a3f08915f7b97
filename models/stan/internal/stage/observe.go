// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// observation is what one run of a distribution statement says of data.
type observation struct {
	at     *syntax.Tilde
	family string
	y      []float64
	params []*ad.Node // one element, or one row, for each of y
}

// regressions are the distributions of the outcomes of regressions.
var regressions = map[string]string{"normal_id_glm": "normal", "bernoulli_logit_glm": "bernoulli_logit", "binomial_logit_glm": "binomial_logit", "poisson_log_glm": "poisson_log",
	"neg_binomial_2_log_glm": "neg_binomial_2_log"}

// factors turn the last argument of a normal distribution of vectors into the Cholesky factor of the covariance.
var factors = map[string]func(m *ad.Node) *ad.Node{
	"multi_normal":          ad.CholeskyOrNaN,
	"multi_normal_cholesky": func(l *ad.Node) *ad.Node { return l },
	"multi_normal_prec":     func(p *ad.Node) *ad.Node { return ad.CholeskyOrNaN(ad.Inverse(p)) },
}

// singly returns the distribution of single numbers that a statement says of data, and its arguments. An element of a vector has its normal
// distribution given those before it.
func singly(name string, args []value.Value) (family string, own []value.Value) {
	for _, a := range args {
		if a.Lanes > 0 {
			return name, args
		}
	}
	if base := regressions[name]; base != "" {
		first := 1
		if name == "binomial_logit_glm" {
			first = 2
		}
		x, alpha, beta := args[first], args[first+1], args[first+2]
		rows := max(args[0].Size(), alpha.Size())
		if len(x.Shape) == 2 {
			rows = x.Shape[0]
		}
		eta := alpha.Node()
		if beta.Size() > 0 {
			eta = ad.Add(eta, ad.Reshape(ad.MatMul(ad.Reshape(x.Node(), x.Size()/beta.Size(), beta.Size()), ad.Reshape(beta.Node(), beta.Size(), 1)), x.Size()/beta.Size()))
		}
		mean := value.Of(typing.Of(typing.Vector), ad.Broadcast(eta, rows), rows)
		return base, slices.Concat(args[:first], []value.Value{mean}, args[first+3:])
	}
	factor := factors[name]
	if factor == nil || len(args) != 3 || args[0].Size() == 0 {
		return name, args
	}
	k := args[2].Shape[0]
	n := args[0].Size() / k
	if args[0].Shape[len(args[0].Shape)-1] != k || args[1].Size() != k && args[1].Size() != n*k {
		return name, args
	}
	l := factor(args[2].Node())
	mu := ad.Broadcast(ad.Reshape(args[1].Node(), args[1].Size()/k, k), n, k)
	d := ad.Sub(ad.Reshape(args[0].Node(), n, k), mu)
	z := ad.SolveTriangular(l, ad.T(d), true, false)
	before := ad.MatMul(ad.Sub(l, ad.DiagMatrix(ad.Diag(l))), z)
	vector := typing.Of(typing.Vector)
	flat := func(x *ad.Node) value.Value { return value.Of(vector, ad.Reshape(x, n*k), n*k) }
	return "normal", []value.Value{args[0].Reshape(vector, n*k), flat(ad.Add(mu, ad.T(before))), flat(ad.Broadcast(ad.Reshape(ad.Diag(l), 1, k), n, k))}
}

// observe notes a distribution statement whose left side are data, and reports whether that is one that can be judged.
func (m *Machine) observe(s *syntax.Tilde, args []value.Value) bool {
	if !m.graph || s.Truncated || !args[0].Known() || m.inFunction() || args[0].Size() == 0 {
		return false
	}
	unknown := false
	family, args := singly(s.Name, args)
	for _, a := range args[1:] {
		unknown = unknown || !a.Known()
	}
	if !unknown {
		return false
	}
	lanes := 0
	shape := []int{}
	var vector *value.Value // the last parameter, where that is a vector for each number
	if last := len(args) - 1; library.HasVector(family) && last > 0 {
		vector, args = &args[last], args[:last]
	}
	for _, a := range args {
		lanes = max(lanes, a.Lanes)
		if len(a.Shape) > 0 {
			shape = []int{a.Size()}
		}
	}
	full := shape
	if lanes > 0 {
		full = append([]int{lanes}, shape...)
	}
	n := value.Size(full)
	spread := func(v value.Value) *ad.Node {
		x := v.Node()
		own := len(v.Shape)
		if own > 1 || own == 1 && v.Lanes > 0 {
			x = ad.Reshape(x, append(full[:len(full)-len(shape)], v.Size())...)
		} else if v.Lanes > 0 && own == 0 && len(shape) > 0 {
			x = ad.Reshape(x, v.Lanes, 1)
		}
		return ad.Reshape(ad.Broadcast(x, full...), n)
	}
	o := &observation{at: s, family: family}
	y, err := ad.Numbers(spread(args[0]))
	if err != nil {
		return false
	}
	o.y = slices.Clone(y[0])
	for _, a := range args[1:] {
		p := spread(a)
		if p.Err() != nil {
			return false
		}
		o.params = append(o.params, p)
	}
	if vector != nil {
		p := ownVectors(*vector, lanes, n)
		if p == nil || p.Err() != nil {
			return false
		}
		o.params = append(o.params, p)
	}
	m.observed = append(m.observed, o)
	return true
}

// ownVectors returns a vector for each of n numbers, or nil where it is not clear which is whose.
func ownVectors(v value.Value, lanes, n int) *ad.Node {
	k := v.Shape[len(v.Shape)-1]
	switch {
	case v.Lanes == 0 && len(v.Shape) == 1:
		return ad.Broadcast(ad.Reshape(v.Node(), 1, k), n, k)
	case v.Lanes == 0 && lanes == 0 && v.Size() == n*k, v.Lanes > 0 && len(v.Shape) == 1 && v.Lanes == n:
		return ad.Reshape(v.Node(), n, k)
	}
	return nil
}

// Observation is a variable of the data with its distribution.
type Observation struct {
	Name   string
	Y      []float64
	Params []*ad.Node
	family string
}

// With returns the distribution with other nodes as its parameters.
func (o Observation) With(p []*ad.Node) (dist.Dist, bool) { return library.Observed(o.family, p) }

// Observations lists what the program says of data: each distribution statement once.
func (m *Machine) Observations() (list []Observation) {
	var order []*syntax.Tilde
	by := map[*syntax.Tilde][]*observation{}
	for _, o := range m.observed {
		if by[o.at] == nil {
			order = append(order, o.at)
		}
		by[o.at] = append(by[o.at], o)
	}
	for _, s := range order {
		all := by[s]
		var y []float64
		params := make([]*ad.Node, len(all[0].params))
		for k := range params {
			var parts []*ad.Node
			for _, o := range all {
				parts = append(parts, o.params[k])
			}
			params[k] = parts[0]
			if len(parts) > 1 {
				params[k] = ad.Concat(0, parts...)
			}
		}
		for _, o := range all {
			y = append(y, o.y...)
		}
		if _, ok := library.Observed(all[0].family, params); ok {
			list = append(list, Observation{Name: rootName(s.X), Y: y, Params: params, family: all[0].family})
		}
	}
	return list
}

// rootName is the variable of an expression.
func rootName(x syntax.Expr) string {
	name := "observation"
	syntax.Walk(&syntax.Increase{X: x}, func(x syntax.Expr) {
		if n, ok := x.(*syntax.Name); ok && name == "observation" {
			name = n.Name
		}
	})
	return name
}
