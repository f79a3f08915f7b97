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

// Movement describes the log density of a Target as a graph, so that chains can move in other coordinates.
type Movement struct {
	LogProb *ad.Node   // a scalar, with the Jacobians of the transforms
	Inputs  []*ad.Node // unconstrained parameters, in the order of the Target
	Names   []string   // names of the parameters
	// Given are the other inputs of the graph, with their values.
	Given       []*ad.Node
	GivenValues [][]float64
	Located     []Located
	Positive    []int // numbers of the Inputs that are the logarithm of one positive number
}

// Located is a parameter whose prior has a location and a scale that depend on other parameters.
type Located struct {
	Input int // number of the parameter among the Inputs
	// Loc and Scale are those of its unconstrained form, as functions of the Inputs: one number, or one for each element. Scale is above 0.
	Loc, Scale *ad.Node
}

// Movable is implemented by a Target whose chains can move in other coordinates; a Posterior is one.
type Movable interface {
	Target
	// Movement returns nil where there is nothing to choose.
	Movement() *Movement
}

// located is a parameter of a family.
type located struct {
	Located
	parents []int // numbers of the parameters on which it depends
}

// choice says in which coordinates a sampler moves: the exponents c of the located parameters, and the k of the positive ones, where 0 stands for q
// itself.
type choice struct{ c, k []float64 }

func (h choice) clone() choice { return choice{slices.Clone(h.c), slices.Clone(h.k)} }

// declared reports whether the coordinates are the unconstrained parameters themselves.
func (h choice) declared() bool {
	return !slices.ContainsFunc(h.c, func(c float64) bool { return c != 1 }) && !slices.ContainsFunc(h.k, func(k float64) bool { return k != 0 })
}

// family is what can be chosen for a target.
type family struct {
	*Movement
	target  Target
	located []located
	order   []int // parameters, each after those on which its location and scale depend
	first   []int // place of each parameter among the unconstrained ones
	dim     int
}

// locations lists by the name of a distribution whether a location and a scale stand first among its parameters, and what its logarithm has.
var locations = map[string]struct {
	at  int
	log bool
}{"normal": {0, false}, "cauchy": {0, false}, "laplace": {0, false}, "logistic": {0, false}, "gumbel": {0, false}, "studentt": {1, false}, "lognormal": {0, true}}

// coordinatesOf returns what can be chosen for a target, or nil if there is nothing.
func coordinatesOf(t Target) *family {
	m, ok := t.(Movable)
	if !ok {
		return nil
	}
	f := &family{Movement: m.Movement(), target: t}
	if f.Movement == nil {
		return nil
	}
	for _, u := range f.Inputs {
		f.first = append(f.first, f.dim)
		f.dim += u.Size()
	}
	for _, l := range f.Located {
		own := located{Located: l}
		for k, u := range f.Inputs {
			if k != l.Input && (reads(l.Loc, u) || reads(l.Scale, u)) {
				own.parents = append(own.parents, k)
			}
		}
		if len(own.parents) > 0 && !reads(l.Loc, f.Inputs[l.Input]) && !reads(l.Scale, f.Inputs[l.Input]) {
			f.located = append(f.located, own)
		}
	}
	if len(f.located)+len(f.Positive) == 0 || !f.sort() {
		return nil
	}
	return f
}

// Movement describes the log density.
func (p *Posterior) Movement() *Movement {
	n := len(p.model.params)
	if !p.onProcessor() || n == 0 {
		return nil
	}
	m := &Movement{LogProb: p.whole[0], Inputs: p.inputs[:n], Given: append(slices.Clone(p.inputs[n:]), p.places()...), GivenValues: p.givenValues()}
	var leaves []*ad.Node
	for _, q := range p.model.params {
		leaves, m.Names = append(leaves, q.node), append(m.Names, q.name)
	}
	for i, q := range p.model.params {
		if loc, scale := q.location(); loc != nil {
			nodes := ad.Substitute([]*ad.Node{loc, scale}, leaves, p.derived[:n])
			m.Located = append(m.Located, Located{Input: i, Loc: nodes[0], Scale: nodes[1]})
		}
		if q.transform.Name == "lower" && len(q.transform.Bounds) == 1 && q.transform.Bounds[0].IsConst() && p.inputs[i].Size() == 1 && q.base == nil {
			m.Positive = append(m.Positive, i)
		}
	}
	return m
}

// location returns location and scale of the unconstrained form of a parameter, or nil if it has none.
func (p *param) location() (loc, scale *ad.Node) {
	if p.base != nil || p.flat {
		return nil, nil
	}
	of, known := locations[p.prior.Name]
	if !known || len(p.prior.Params) < of.at+2 || p.transform.Name != map[bool]string{true: "lower", false: "identity"}[of.log] {
		return nil, nil
	}
	return p.prior.Params[of.at], p.prior.Params[of.at+1]
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
		of[f.located[i].Input] = &f.located[i]
	}
	state := make([]int, len(f.Inputs))
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
	for i := range f.Inputs {
		if !visit(i) {
			return false
		}
	}
	return true
}

// asDeclared returns the choice of the unconstrained parameters.
func (f *family) asDeclared() choice {
	h := choice{make([]float64, len(f.located)), make([]float64, len(f.Positive))}
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
	for range f.Positive {
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
	u := f.Inputs
	for _, i := range f.order {
		if j := slices.IndexFunc(f.located, func(l located) bool { return l.Input == i }); j >= 0 && (n.on != nil || h.c[j] != 1) {
			parts := ad.Substitute([]*ad.Node{f.located[j].Loc, f.located[j].Scale}, u, q)
			rest := ad.Sub(ad.Scalar(1), n.c[j])
			logScale := ad.Mul(rest, ad.Log(parts[1]))
			q[i] = ad.Add(parts[0], ad.Mul(ad.Exp(logScale), ad.Sub(z[i], ad.Mul(n.c[j], parts[0]))))
			logDet = ad.Add(logDet, ad.Sum(ad.Broadcast(logScale, z[i].Shape()...)))
		}
		if j := slices.Index(f.Positive, i); j >= 0 && (n.on != nil || h.k[j] != 0) {
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
	z := slices.Clone(f.Inputs)
	for j, l := range f.located {
		if n.on != nil || h.c[j] != 1 {
			less := ad.Exp(ad.Mul(ad.Sub(n.c[j], ad.Scalar(1)), ad.Log(l.Scale)))
			z[l.Input] = ad.Add(ad.Mul(n.c[j], l.Loc), ad.Mul(less, ad.Sub(f.Inputs[l.Input], l.Loc)))
		}
	}
	for j, i := range f.Positive {
		if n.on == nil && h.k[j] == 0 {
			continue
		}
		y := ad.Mul(n.k[j], ad.Exp(f.Inputs[i]))
		to := ad.Div(ad.Add(y, ad.Log(ad.Neg(ad.Expm1(ad.Neg(y))))), n.k[j]) // log(exp(y) - 1)/k
		if n.on != nil {
			to = ad.Add(f.Inputs[i], ad.Mul(n.on[j], ad.Sub(to, f.Inputs[i])))
		}
		z[i] = to
	}
	return z
}

// moved is a target in other coordinates.
type moved struct {
	Target // in the unconstrained parameters
	f      *family
	of     choice
	prog   *ad.Program // log density, its gradient and the logarithm of the determinant
	to     *ad.Program // the unconstrained parameters and the logarithm of the determinant
	back   *ad.Program // the coordinates of unconstrained parameters

	runProg, runTo, runBack *ad.State
}

// movedOutputs is a moved target with outputs.
type movedOutputs struct{ *moved }

var (
	_ Target  = (*moved)(nil)
	_ Outputs = movedOutputs{}
)

// in returns the target in the coordinates of a choice.
func (f *family) in(h choice) (*moved, error) {
	z := make([]*ad.Node, len(f.Inputs))
	for i, u := range f.Inputs {
		z[i] = ad.Input("coordinates of "+f.Names[i], u.Shape()...)
	}
	q, logDet := f.forward(z, h, h.constants())
	lp := ad.Add(ad.Substitute([]*ad.Node{f.LogProb}, f.Inputs, q)[0], logDet)
	m := &moved{Target: f.target.Clone(), f: f, of: h}
	program := func(inputs []*ad.Node, outputs ...*ad.Node) (*ad.Program, error) {
		return ad.Compile(outputs, ad.Settings{Inputs: append(slices.Clone(inputs), f.Given...), Backend: ad.CPU{Threads: 1}})
	}
	var errs [3]error
	m.prog, errs[0] = program(z, append(append([]*ad.Node{lp}, ad.Grad(lp, z...)...), logDet)...)
	m.to, errs[1] = program(z, append(slices.Clone(q), logDet)...)
	m.back, errs[2] = program(f.Inputs, f.backward(h, h.constants())...)
	return m, errors.Join(errs[:]...)
}

// ready returns the workspace of a program, with what it is given.
func (m *moved) ready(s **ad.State, prog *ad.Program, q []float64) *ad.State {
	if *s == nil {
		*s = stateWith(prog, len(m.f.Inputs), m.f.GivenValues)
	}
	copy((*s).InputSpan(0, len(m.f.Inputs)), q)
	return *s
}

// stateWith makes a workspace of a program with the values of the inputs from a number on.
func stateWith(prog *ad.Program, from int, given [][]float64) *ad.State {
	s := prog.NewState()
	for i, d := range given {
		if err := s.SetInput(from+i, d); err != nil {
			panic(err) // the program has these inputs, and reals
		}
	}
	return s
}

// Clone is the method of Target.
func (m *moved) Clone() Target { return m.clone() }

func (m *moved) clone() *moved {
	c := *m
	c.Target = m.Target.Clone()
	c.runProg, c.runTo, c.runBack = nil, nil, nil
	return &c
}

// LogProbGrad is the log density of the coordinates.
func (m *moved) LogProbGrad(z, g []float64) (float64, error) {
	s := m.ready(&m.runProg, m.prog, z)
	if err := s.Run(); err != nil {
		var fault interface{ AtPoint() bool }
		if errors.As(err, &fault) && fault.AtPoint() {
			err = Reject(err)
		}
		return math.NaN(), err
	}
	copy(g, s.OutputSpan(1, 1+len(m.f.Inputs)))
	return s.Output(0)[0], s.Err()
}

// Declared writes the unconstrained parameters at the coordinates z into q, and returns the logarithm of the determinant.
func (m *moved) Declared(z, q []float64) (logDet float64, err error) {
	s := m.ready(&m.runTo, m.to, z)
	if err := s.Run(); err != nil {
		return math.NaN(), err
	}
	k := len(m.f.Inputs)
	copy(q, s.OutputSpan(0, k))
	return s.Output(k)[0], s.Err()
}

// coordinatesAt writes the coordinates of the unconstrained parameters q into z.
func (m *moved) coordinatesAt(q, z []float64) error {
	s := m.ready(&m.runBack, m.back, q)
	if err := s.Run(); err != nil {
		return err
	}
	copy(z, s.OutputSpan(0, len(m.f.Inputs)))
	return s.Err()
}

// Explain is the method of Explainer.
func (m *moved) Explain(z []float64) string {
	q := make([]float64, len(z))
	e, ok := m.Target.(Explainer)
	if _, err := m.Declared(z, q); err != nil || !ok {
		return ""
	}
	return e.Explain(q)
}

// Coordinates is the method of Coordinates.
func (m *moved) Coordinates() []string { return coordinates(m.Target) }

func (m *moved) fingerprint() (string, error) {
	f, _, err := fingerprintOf(m.Target)
	return f, err
}

// Clone is the method of Target.
func (m movedOutputs) Clone() Target { return movedOutputs{m.clone()} }

// Names is the method of Outputs.
func (m movedOutputs) Names() []string { return m.Target.(Outputs).Names() }

// Len is the method of Outputs.
func (m movedOutputs) Len() int { return m.Target.(Outputs).Len() }

// Write is the method of Outputs.
func (m movedOutputs) Write(z, out []float64) error {
	q := make([]float64, len(z))
	if _, err := m.Declared(z, q); err != nil {
		return err
	}
	return m.Target.(Outputs).Write(q, out)
}

// outward returns a moved target with the outputs that it has.
func (m *moved) outward() Target {
	if _, ok := m.Target.(Outputs); ok {
		return movedOutputs{m}
	}
	return m
}

// movedOf returns the moved target that a target is, or nil.
func movedOf(t Target) *moved {
	switch t := t.(type) {
	case *moved:
		return t
	case movedOutputs:
		return t.moved
	}
	return nil
}

// declaredOf returns a target in its unconstrained parameters.
func declaredOf(t Target) Target {
	if m := movedOf(t); m != nil {
		return m.Target
	}
	return t
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
			out = append(out, f.Names[l.Input]+" is sampled "+form)
		}
	}
	var soft []string
	for j, i := range f.Positive {
		if h.k[j] != 0 {
			soft = append(soft, f.Names[i])
		}
	}
	if soft != nil {
		out = append(out, strings.Join(soft, ", ")+" by a softplus in place of an exponential function")
	}
	return out
}
