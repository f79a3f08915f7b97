// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A sampler may move in other coordinates z than the unconstrained parameters q. The map from z to q leaves the log density, and therefore
// all draws in the long run, as they are:
//
//	q = mu + sigma^(1-c) (z - c mu)	of a parameter with a location mu and a scale sigma that are not known; c = 1 is q itself, c = 0 the non-centred form
//	q = log(log(1 + exp(k z))/k)	of a positive parameter exp(q), whose density then ends at 0 instead of going on without end
//
// Reference: Papaspiliopoulos, Roberts and Skold, doi:10.1214/088342307000000014; Gorinova, Moore and Hoffman, arXiv:1906.03028.

// located is a parameter whose prior has a location and a scale that depend on other parameters.
type located struct {
	param int // number of the parameter
	// loc and scale are those of its unconstrained form, as functions of the unconstrained parameters.
	loc, scale *ad.Node
	parents    []int // numbers of the parameters on which they depend
}

// choice says in which coordinates a sampler moves: the exponents c of the located parameters, and the k of the positive ones, where 0 stands for q
// itself.
type choice struct{ c, k []float64 }

func (h choice) clone() choice { return choice{slices.Clone(h.c), slices.Clone(h.k)} }

// declared reports whether the coordinates are the unconstrained parameters themselves.
func (h choice) declared() bool {
	return !slices.ContainsFunc(h.c, func(c float64) bool { return c != 1 }) && !slices.ContainsFunc(h.k, func(k float64) bool { return k != 0 })
}

// family is what can be chosen for a posterior.
type family struct {
	p        *Posterior
	located  []located
	positive []int // numbers of the parameters
	order    []int // parameters, each after those on which its location and scale depend
	first    []int // place of each parameter among the unconstrained ones
}

// locations lists by the name of a distribution whether a location and a scale stand first among its parameters, and what its logarithm has.
var locations = map[string]struct {
	at  int
	log bool
}{"normal": {0, false}, "cauchy": {0, false}, "laplace": {0, false}, "logistic": {0, false}, "gumbel": {0, false}, "studentt": {1, false}, "lognormal": {0, true}}

// coordinatesOf returns what can be chosen for a posterior, or nil if there is nothing.
func coordinatesOf(p *Posterior) *family {
	f := &family{p: p}
	at := 0
	leaves := make([]*ad.Node, len(p.model.params))
	for i, q := range p.model.params {
		leaves[i] = q.node
		f.first = append(f.first, at)
		at += p.inputs[i].Size()
	}
	for i, q := range p.model.params {
		loc, scale := q.location()
		if loc == nil {
			continue
		}
		l := located{param: i}
		nodes := ad.Substitute([]*ad.Node{loc, scale}, leaves, p.derived[:len(leaves)])
		l.loc, l.scale = nodes[0], nodes[1]
		for k, u := range p.inputs[:len(leaves)] {
			if k != i && (reads(l.loc, u) || reads(l.scale, u)) {
				l.parents = append(l.parents, k)
			}
		}
		if len(l.parents) > 0 && !reads(l.loc, p.inputs[i]) && !reads(l.scale, p.inputs[i]) {
			f.located = append(f.located, l)
		}
	}
	for i, q := range p.model.params {
		if q.transform.Name == "lower" && len(q.transform.Bounds) == 1 && q.transform.Bounds[0].IsConst() && p.inputs[i].Size() == 1 && q.base == nil {
			f.positive = append(f.positive, i)
		}
	}
	if len(f.located)+len(f.positive) == 0 || !f.sort() {
		return nil
	}
	return f
}

// location returns location and scale of the unconstrained form of a parameter, or nil if it has none.
func (p *param) location() (loc, scale *ad.Node) {
	if p.located[0] != nil {
		return p.located[0], p.located[1]
	}
	if p.base != nil || p.flat {
		return nil, nil
	}
	of, known := locations[p.prior.Name]
	if !known || len(p.prior.Params) < of.at+2 || p.transform.Name != map[bool]string{true: "lower", false: "identity"}[of.log] {
		return nil, nil
	}
	return p.prior.Params[of.at], p.prior.Params[of.at+1]
}

// Located says that a parameter without bounds has a prior with a location and a scale, where terms of the log density say so that the model itself
// cannot look into.
func (m *Model) Located(node, loc, scale *ad.Node) {
	for _, p := range m.params {
		if p.node == node && p.transform.Name == "identity" {
			p.located = [2]*ad.Node{loc, scale}
		}
	}
}

// reads reports whether a node depends on another.
func reads(n, on *ad.Node) bool {
	seen := map[*ad.Node]bool{}
	var visit func(n *ad.Node) bool
	visit = func(n *ad.Node) bool {
		if n == on {
			return true
		}
		if seen[n] {
			return false
		}
		seen[n] = true
		return slices.ContainsFunc(n.In(), visit)
	}
	return visit(n)
}

// sort finds an order of the parameters in which locations and scales are known before they are needed; false where there is none.
func (f *family) sort() bool {
	of := map[int]*located{}
	for i := range f.located {
		of[f.located[i].param] = &f.located[i]
	}
	state := make([]int, len(f.p.model.params))
	var visit func(i int) bool
	visit = func(i int) bool {
		switch state[i] {
		case 1:
			return false
		case 2:
			return true
		}
		state[i] = 1
		if l := of[i]; l != nil {
			for _, k := range l.parents {
				if !visit(k) {
					return false
				}
			}
		}
		state[i] = 2
		f.order = append(f.order, i)
		return true
	}
	for i := range f.p.model.params {
		if !visit(i) {
			return false
		}
	}
	return true
}

// asDeclared returns the choice of the unconstrained parameters.
func (f *family) asDeclared() choice {
	h := choice{make([]float64, len(f.located)), make([]float64, len(f.positive))}
	for i := range h.c {
		h.c[i] = 1
	}
	return h
}

// numbers are the nodes of a choice. on says for each positive parameter whether it has other coordinates.
type numbers struct{ c, k, on []*ad.Node }

// constants returns the nodes of a choice that stays.
func (h choice) constants() (n numbers) {
	for _, c := range h.c {
		n.c = append(n.c, ad.Scalar(c))
	}
	for _, k := range h.k {
		n.k = append(n.k, ad.Scalar(k))
	}
	return n
}

// inputs returns nodes for choices that change, in the order of values.
func (f *family) inputs() (n numbers, all []*ad.Node) {
	node := func(list *[]*ad.Node, name string) {
		x := ad.Input(name)
		*list, all = append(*list, x), append(all, x)
	}
	for range f.located {
		node(&n.c, "c")
	}
	for range f.positive {
		node(&n.k, "k")
		node(&n.on, "on")
	}
	return n, all
}

// values are the numbers of a choice for the nodes of inputs.
func (h choice) values() (out []float64) {
	out = append(out, h.c...)
	for _, k := range h.k {
		if k == 0 {
			out = append(out, 1, 0)
		} else {
			out = append(out, k, 1)
		}
	}
	return out
}

// forward returns the unconstrained parameters at the coordinates z, and the logarithm of the determinant.
func (f *family) forward(z []*ad.Node, h choice, n numbers) (q []*ad.Node, logDet *ad.Node) {
	q, logDet = slices.Clone(z), ad.Scalar(0)
	u := f.p.inputs[:len(z)]
	for _, i := range f.order {
		if j := slices.IndexFunc(f.located, func(l located) bool { return l.param == i }); j >= 0 && (n.on != nil || h.c[j] != 1) {
			parts := ad.Substitute([]*ad.Node{f.located[j].loc, f.located[j].scale}, u, q)
			rest := ad.Sub(ad.Scalar(1), n.c[j])
			logScale := ad.Mul(rest, ad.Log(parts[1]))
			q[i] = ad.Add(parts[0], ad.Mul(ad.Exp(logScale), ad.Sub(z[i], ad.Mul(n.c[j], parts[0]))))
			logDet = ad.Add(logDet, ad.Sum(ad.Broadcast(logScale, z[i].Shape()...)))
		}
		if j := slices.Index(f.positive, i); j >= 0 && (n.on != nil || h.k[j] != 0) {
			flat := ad.Mul(n.k[j], z[i])
			soft := ad.Log(ad.Softplus(flat))
			to := ad.Sub(soft, ad.Log(n.k[j]))
			det := ad.Sub(ad.Add(ad.Log(n.k[j]), ad.LogSigmoid(flat)), soft)
			if n.on != nil {
				to = ad.Add(z[i], ad.Mul(n.on[j], ad.Sub(to, z[i])))
				det = ad.Mul(n.on[j], det)
			}
			q[i], logDet = to, ad.Add(logDet, ad.Sum(det))
		}
	}
	return q, logDet
}

// backward returns the coordinates of the unconstrained parameters.
func (f *family) backward(h choice, n numbers) []*ad.Node {
	z := slices.Clone(f.p.inputs[:len(f.p.model.params)])
	for j, l := range f.located {
		if n.on != nil || h.c[j] != 1 {
			less := ad.Exp(ad.Mul(ad.Sub(n.c[j], ad.Scalar(1)), ad.Log(l.scale)))
			z[l.param] = ad.Add(ad.Mul(n.c[j], l.loc), ad.Mul(less, ad.Sub(f.p.inputs[l.param], l.loc)))
		}
	}
	for j, i := range f.positive {
		if n.on == nil && h.k[j] == 0 {
			continue
		}
		y := ad.Mul(n.k[j], ad.Exp(f.p.inputs[i]))
		to := ad.Div(ad.Add(y, ad.Log(ad.Neg(ad.Expm1(ad.Neg(y))))), n.k[j]) // log(exp(y) - 1)/k
		if n.on != nil {
			to = ad.Add(f.p.inputs[i], ad.Mul(n.on[j], ad.Sub(to, f.p.inputs[i])))
		}
		z[i] = to
	}
	return z
}

// moved is a posterior in other coordinates.
type moved struct {
	*Posterior
	of   choice
	prog *ad.Program // log density, its gradient and the logarithm of the determinant
	to   *ad.Program // the unconstrained parameters and the logarithm of the determinant
	back *ad.Program // the coordinates of unconstrained parameters

	runProg, runTo, runBack *ad.State
}

var _ Target = (*moved)(nil)

// in returns the posterior in the coordinates of a choice.
func (f *family) in(h choice) (*moved, error) {
	p := f.p
	n := len(p.model.params)
	z := make([]*ad.Node, n)
	for i, u := range p.inputs[:n] {
		z[i] = ad.Input(fmt.Sprintf("coordinates of %s", p.model.params[i].name), u.Shape()...)
	}
	q, logDet := f.forward(z, h, h.constants())
	lp := ad.Add(ad.Substitute(p.whole[:1], p.inputs[:n], q)[0], logDet)
	given := append(slices.Clone(p.inputs[n:]), p.places()...)
	m := &moved{Posterior: p.Clone().(*Posterior), of: h}
	var errs [3]error
	m.prog, errs[0] = ad.Compile(append(append([]*ad.Node{lp}, ad.Grad(lp, z...)...), logDet), ad.Settings{Inputs: append(slices.Clone(z), given...), Backend: ad.CPU{Threads: 1}})
	m.to, errs[1] = ad.Compile(append(slices.Clone(q), logDet), ad.Settings{Inputs: append(slices.Clone(z), p.inputs[n:]...), Backend: ad.CPU{Threads: 1}})
	m.back, errs[2] = ad.Compile(f.backward(h, h.constants()), ad.Settings{Inputs: p.inputs, Backend: ad.CPU{Threads: 1}})
	return m, errors.Join(errs[:]...)
}

// Clone is the method of Target.
func (m *moved) Clone() Target {
	c := *m
	c.Posterior = m.Posterior.Clone().(*Posterior)
	c.runProg, c.runTo, c.runBack = nil, nil, nil
	return &c
}

// LogProbGrad is the log density of the coordinates.
func (m *moved) LogProbGrad(z, g []float64) (float64, error) {
	if m.runProg == nil {
		m.runProg = m.stateWith(m.prog, m.givenValues())
	}
	k := len(m.model.params)
	copy(m.runProg.InputSpan(0, k), z)
	if err := m.runProg.Run(); err != nil {
		var fault interface{ AtPoint() bool }
		if errors.As(err, &fault) && fault.AtPoint() {
			err = Reject(err)
		}
		return math.NaN(), err
	}
	copy(g, m.runProg.OutputSpan(1, 1+k))
	return m.runProg.Output(0)[0], m.runProg.Err()
}

// stateWith makes a workspace of a program with what it is given after the parameters.
func (p *Posterior) stateWith(prog *ad.Program, given [][]float64) *ad.State {
	s := prog.NewState()
	for i, d := range given {
		if err := s.SetInput(len(p.model.params)+i, d); err != nil {
			panic(err) // the program has these inputs, and reals
		}
	}
	return s
}

// Declared writes the unconstrained parameters at the coordinates z into q, and returns the logarithm of the determinant.
func (m *moved) Declared(z, q []float64) (logDet float64, err error) {
	if m.runTo == nil {
		m.runTo = m.stateWith(m.to, m.data)
	}
	k := len(m.model.params)
	copy(m.runTo.InputSpan(0, k), z)
	if err := m.runTo.Run(); err != nil {
		return math.NaN(), err
	}
	copy(q, m.runTo.OutputSpan(0, k))
	return m.runTo.Output(k)[0], m.runTo.Err()
}

// coordinatesAt writes the coordinates of the unconstrained parameters q into z.
func (m *moved) coordinatesAt(q, z []float64) error {
	if m.runBack == nil {
		m.runBack = m.stateWith(m.back, m.data)
	}
	k := len(m.model.params)
	copy(m.runBack.InputSpan(0, k), q)
	if err := m.runBack.Run(); err != nil {
		return err
	}
	copy(z, m.runBack.OutputSpan(0, k))
	return m.runBack.Err()
}

// Write is the method of Outputs.
func (m *moved) Write(z, out []float64) error {
	q := make([]float64, len(z))
	if _, err := m.Declared(z, q); err != nil {
		return err
	}
	return m.Posterior.Write(q, out)
}

// Explain is the method of Explainer.
func (m *moved) Explain(z []float64) string {
	q := make([]float64, len(z))
	if _, err := m.Declared(z, q); err != nil {
		return err.Error()
	}
	return m.Posterior.Explain(q)
}

// told says in words what was chosen.
func (f *family) told(h choice) []string {
	var out []string
	for j, l := range f.located {
		if c := h.c[j]; c != 1 {
			form := fmt.Sprintf("partly non-centred (exponent %g)", c)
			if c == 0 {
				form = "non-centred"
			}
			out = append(out, f.p.model.params[l.param].name+" is sampled "+form)
		}
	}
	var soft []string
	for j, i := range f.positive {
		if h.k[j] != 0 {
			soft = append(soft, f.p.model.params[i].name)
		}
	}
	if soft != nil {
		out = append(out, strings.Join(soft, ", ")+" by a softplus in place of an exponential function")
	}
	return out
}
