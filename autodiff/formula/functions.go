// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
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
		"atan2": ad.Atan2, "min": ad.Minimum, "max": ad.Maximum, "pow": ad.Pow,
	} {
		Register(name, 2, func(in []*ad.Node) *ad.Node { return f(in[0], in[1]) })
	}
}

// Register adds a function of arity arguments, at least one, to the language, and so to the formulas of the
// command line. It is meant for init functions, and panics if the name is not one or is taken.
func Register(name string, arity int, node func(in []*ad.Node) *ad.Node) {
	p := &parser{text: name}
	if name == "" || !letter(name[0]) || p.name() != name || name == "pi" {
		panic(fmt.Sprintf("formula: %q cannot name a function: use letters, digits and underscores, and begin with a letter", name))
	}
	if _, taken := functions[name]; taken {
		panic(fmt.Sprintf("formula: a function called %q exists already: choose another name", name))
	}
	if arity < 1 || node == nil {
		panic(fmt.Sprintf("formula: the function %q has %d arguments: give it at least one, and the function that makes its Node", name, arity))
	}
	functions[name] = function{arity, node}
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
		return nil, p.fail("%s takes %d arguments, but was given %d", name, want, len(in))
	}
	return in, nil
}
