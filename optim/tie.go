// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// ties computes parameters that are expressions of others, and their slopes.
type ties struct {
	// tied are the numbers of the tied parameters.
	tied []int
	// from are the numbers of the parameters that they depend on.
	from  []int
	state *ad.State
}

// newTies compiles the expressions; those that use tied parameters are put in
// terms of the others.
func newTies(p *Problem, exprs map[string]*ad.Node) (*ties, error) {
	t := &ties{}
	var names []string
	for name, e := range exprs {
		i, err := p.index(name)
		if err != nil {
			return nil, fmt.Errorf("optim: tied parameters: %w", err)
		}
		if e == nil || e.Err() != nil || e.Size() != 1 {
			return nil, fmt.Errorf("optim: %s is tied to %v: want an expression with one element", name, e)
		}
		if p.Lower != nil && (!math.IsInf(p.Lower[i], -1) || !math.IsInf(p.Upper[i], 1)) {
			return nil, fmt.Errorf("optim: %s is tied and has bounds %g..%g: put the bounds on the parameters that it depends on", name, p.Lower[i], p.Upper[i])
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		i, _ := p.index(name)
		t.tied = append(t.tied, i)
	}
	out, err := untangled(names, exprs)
	if err != nil {
		return nil, err
	}
	leaves, err := inputsOf(out)
	if err != nil {
		return nil, err
	}
	for _, x := range leaves {
		i, err := p.index(x.Name())
		if err != nil {
			return nil, fmt.Errorf("optim: the expression of a tied parameter: %w", err)
		}
		t.from = append(t.from, i)
	}
	for _, e := range out[:len(names)] {
		out = append(out, ad.Grad(e, leaves...)...)
	}
	prog, err := ad.Compile(out, ad.Settings{Inputs: leaves, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, fmt.Errorf("optim: tied parameters %v: %w", names, err)
	}
	t.state = prog.NewState()
	return t, nil
}

// untangled returns the expressions, in the order of names, in terms of what is
// not tied. Inputs of one name become one.
func untangled(names []string, exprs map[string]*ad.Node) ([]*ad.Node, error) {
	made, busy := map[string]*ad.Node{}, map[string]bool{}
	leaf := map[string]*ad.Node{}
	var path []string
	var solve func(name string) (*ad.Node, error)
	solve = func(name string) (*ad.Node, error) {
		if made[name] != nil {
			return made[name], nil
		}
		path = append(path, name)
		if busy[name] {
			return nil, fmt.Errorf("optim: tied parameters depend on each other: %s: remove one of the ties", strings.Join(path, " -> "))
		}
		busy[name] = true
		e := ad.Reshape(exprs[name])
		inputs, err := inputsOf([]*ad.Node{e})
		if err != nil {
			return nil, err
		}
		var to []*ad.Node
		for _, x := range inputs {
			if exprs[x.Name()] == nil {
				if leaf[x.Name()] == nil {
					leaf[x.Name()] = x
				}
				to = append(to, leaf[x.Name()])
				continue
			}
			v, err := solve(x.Name())
			if err != nil {
				return nil, err
			}
			to = append(to, v)
		}
		busy[name], path = false, path[:len(path)-1]
		made[name] = ad.Substitute([]*ad.Node{e}, inputs, to)[0]
		return made[name], nil
	}
	var out []*ad.Node
	for _, name := range names {
		e, err := solve(name)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// inputsOf returns the scalar inputs of expressions.
func inputsOf(out []*ad.Node) ([]*ad.Node, error) {
	prog, err := ad.Compile(out, ad.Settings{Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, fmt.Errorf("optim: a tied parameter: %w", err)
	}
	for _, x := range prog.Inputs() {
		if x.Size() != 1 || x.IsInt() {
			return nil, fmt.Errorf("optim: the expression of a tied parameter uses %v: use inputs of one element that have names of parameters", x)
		}
	}
	return prog.Inputs(), nil
}

// apply sets the tied parameters of x.
func (t *ties) apply(x []float64) error {
	for k, i := range t.from {
		t.state.Input(k)[0] = x[i]
	}
	if err := t.state.Run(); err != nil {
		return err
	}
	for k, i := range t.tied {
		x[i] = t.state.Output(k)[0]
	}
	return nil
}

// each calls f for every parameter tied to parameter i, with its slope at the
// last apply.
func (t *ties) each(i int, f func(tied int, slope float64)) {
	if t == nil {
		return
	}
	n := len(t.from)
	for a, from := range t.from {
		if from != i {
			continue
		}
		for k, to := range t.tied {
			if s := t.state.Output(len(t.tied) + k*n + a)[0]; s != 0 {
				f(to, s)
			}
		}
	}
}
