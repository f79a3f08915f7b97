// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

func identity(in []*ad.Node) *ad.Node { return in[0] }

// Names that formulas could not call, and functions without a Node, are refused.
func TestRegisterRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		arity      int
		node       func(in []*ad.Node) *ad.Node
	}{
		{"_", `"_" cannot name a function: use letters, digits and underscores, begin with a letter`, 1, identity},
		{"theta__", "do not end with two underscores", 1, identity},
		{"", "cannot name a function", 1, identity},
		{"a b", "cannot name a function", 1, identity},
		{"1a", "cannot name a function", 1, identity},
		{"pi", "formulas know it as the constant pi", 1, identity},
		{"exp", "exists already", 1, identity},
		{"mine", `"mine" was given nil as the Go function that makes its Node: pass one`, 1, nil},
		{"mine", `"mine" has 0 arguments: give it at least one`, 0, identity},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, c.want) {
					t.Errorf("%q: want %q: %s", c.name, c.want, said)
				}
			}()
			Register(c.name, c.arity, c.node)
		}()
	}
}

// A function that returns no Node, or one that does not fit, is an error that names it.
func TestFunctionsThatDoNotFit(t *testing.T) {
	values := map[string]*ad.Node{"x": ad.Const([]float64{1, 2, 3}), "c": ad.Input("c")}
	for want, node := range map[string]func(in []*ad.Node) *ad.Node{
		"the function faulty returned nil for arguments of the shapes [[]]":             func([]*ad.Node) *ad.Node { return nil },
		"(the function faulty returned the shape [2] for arguments of the shapes [[]])": func([]*ad.Node) *ad.Node { return ad.Const([]float64{1, 2}) },
		"the function faulty, for arguments of the shapes [[]]: ":                       func(in []*ad.Node) *ad.Node { return ad.Add(in[0], nil) },
		"the function faulty returned whole numbers":                                    func([]*ad.Node) *ad.Node { return ad.Ints([]int{1}) },
	} {
		functions["faulty"] = function{1, node}
		f, err := Parse("c*x + faulty(c)")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.Node(values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	// A sum over its argument is a number for all rows.
	functions["faulty"] = function{1, func(in []*ad.Node) *ad.Node { return ad.Sum(in[0]) }}
	f, err := Parse("exp(c*x) + faulty(x)")
	if err != nil {
		t.Fatal(err)
	}
	if y, err := f.Node(values); err != nil || y.Size() != 3 || !slices.Equal(f.Functions(), []string{"exp", "faulty"}) {
		t.Errorf("%v, %v, %v", y, err, f.Functions())
	}
	delete(functions, "faulty")
}
