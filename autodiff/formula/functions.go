// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// function is a function of the language.
type function struct {
	arity int
	node  func(in []*ad.Node) *ad.Node
}

var functions = map[string]function{}

func init() {
	for name, f := range map[string]func(*ad.Node) *ad.Node{
		"exp": ad.Exp, "log": ad.Log, "ln": ad.Log, "log10": ad.Log10, "log2": ad.Log2, "log1p": ad.Log1p, "expm1": ad.Expm1,
		"sin": ad.Sin, "cos": ad.Cos, "tan": ad.Tan, "sqrt": ad.Sqrt, "atan": ad.Atan, "arctan": ad.Atan, "asin": ad.Asin, "acos": ad.Acos,
		"sinh": ad.Sinh, "cosh": ad.Cosh, "tanh": ad.Tanh, "abs": ad.Abs, "erf": ad.Erf, "erfc": ad.Erfc, "lgamma": ad.Lgamma,
		"sigmoid": ad.Sigmoid, "softplus": ad.Softplus,
	} {
		Register(name, 1, func(in []*ad.Node) *ad.Node { return f(in[0]) })
	}
	for name, f := range map[string]func(x, y *ad.Node) *ad.Node{
		"atan2": ad.Atan2, "min": ad.Minimum, "max": ad.Maximum, "pow": power,
	} {
		Register(name, 2, func(in []*ad.Node) *ad.Node { return f(in[0], in[1]) })
	}
}

// Register adds a function of arity arguments, at least one, to the language, and so to the formulas of the
// command line. What it returns usually has the shape to which its arguments broadcast. It is meant for init functions, and panics if the name is not one or is taken.
func Register(name string, arity int, node func(in []*ad.Node) *ad.Node) {
	p := &parser{text: name}
	switch {
	case name == "pi":
		panic("formula: pi cannot name a function, since formulas know it as the constant pi: choose another name")
	case name == "" || !letter(name[0]) || name[0] == '_' || p.name() != name || strings.HasSuffix(name, "__"):
		panic(fmt.Sprintf("formula: %q cannot name a function: use letters, digits and underscores, begin with a letter, and do not end with two underscores", name))
	}
	if _, taken := functions[name]; taken {
		panic(fmt.Sprintf("formula: a function called %q exists already: choose another name", name))
	}
	if arity < 1 {
		panic(fmt.Sprintf("formula: the function %q has %s: give it at least one", name, errtext.Count(arity, "argument")))
	}
	if node == nil {
		panic(fmt.Sprintf("formula: the function %q was given nil as the Go function that makes its Node: pass one", name))
	}
	functions[name] = function{arity, node}
}

// call calls a function and checks that it returned a Node.
func (m *maker) call(name string, in []*ad.Node) (*ad.Node, error) {
	for _, x := range in {
		if x.Err() != nil {
			return x, nil
		}
	}
	shapes, all, fits := []tensor.Shape{}, tensor.Shape{}, true
	for _, x := range in {
		shapes = append(shapes, x.Shape())
		if fits {
			all, fits = tensor.Broadcast(all, x.Shape())
		}
	}
	y := functions[name].node(in)
	switch {
	case y == nil:
		return nil, fmt.Errorf("formula: the function %s returned nil for arguments of the shapes %v: want a node, such as one of the shape to which they broadcast", name, shapes)
	case y.Err() != nil:
		return nil, fmt.Errorf("formula: the function %s, for arguments of the shapes %v: %w", name, shapes, y.Err())
	case y.IsInt():
		return nil, fmt.Errorf("formula: the function %s returned whole numbers, which have no derivative: convert them with Float", name)
	case fits && !y.Shape().Equal(all):
		m.odd = fmt.Sprintf("the function %s returned the shape %v for arguments of the shapes %v", name, y.Shape(), shapes)
	}
	return y, nil
}

// Functions returns the names of the functions of the language.
func Functions() []string {
	var out []string
	for n := range functions {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// arguments reads the arguments of a function behind its opening parenthesis, and the closing one.
func (p *parser) arguments(name string) ([]*term, error) {
	if c, is := components[name]; is {
		in, expanded, err := p.ofComponent(c)
		switch {
		case err != nil || expanded:
			return in, err
		case p.accept(")") == 0:
			return nil, p.fail("the arguments of %s are not closed: expected )", name)
		case len(in) != functions[name].arity:
			return nil, p.fail("%s was given %s: write %s", name, errtext.Count(len(in), "argument"), c.usage())
		}
		return in, nil
	}
	var in []*term
	for {
		x, err := p.sum()
		if err != nil {
			return nil, err
		}
		if in = append(in, x); p.accept(",") == 0 {
			break
		}
	}
	if p.accept(")") == 0 {
		return nil, p.fail("the arguments of %s are not closed: expected )", name)
	}
	if want := functions[name].arity; len(in) != want {
		return nil, p.fail("%s takes %s, but was given %d", name, errtext.Count(want, "argument"), len(in))
	}
	return in, nil
}
