// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Component is a function of a variable whose further arguments are parameters with names, such as a peak. Formulas call it with all arguments,
// gaussian(x, a, c, s), or with a prefix for the names of its parameters: gaussian(x, p1_) stands for
// gaussian(x, p1_amplitude, p1_center, p1_sigma), and gaussian(p1_) for the same of x.
type Component struct {
	Name string
	// Params are the names of the parameters, without a prefix.
	Params []string
	// Before is the number of arguments before the parameters. Default 1, the variable.
	Before int
	// Positive are parameters that are above 0, such as widths.
	Positive []string
	// Derived are formulas of the parameters that people look for, such as the full width at half maximum. {} stands for the prefix.
	Derived map[string]string
	// Kind says how to find parameters in data: one of the constants below, "" for none.
	Kind Kind
	Node func(in []*ad.Node) *ad.Node
}

// Kind is how the parameters of a component show in data.
type Kind string

// The kinds. A peak has an amplitude, which is its area, a center and a width as its first parameters.
const (
	Peak      Kind = "peak"
	StepKind  Kind = "step"
	DecayKind Kind = "decay"
)

var components = map[string]Component{}

// RegisterComponent adds a component to the language. It is meant for init functions, and panics as Register does.
func RegisterComponent(c Component) {
	if c.Before == 0 {
		c.Before = 1
	}
	Register(c.Name, c.Before+len(c.Params), c.Node)
	components[c.Name] = c
}

// Components returns the names of the components.
func Components() []string {
	var out []string
	for n := range components {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Part is a component that a formula calls with a prefix.
type Part struct {
	Component
	// Prefix begins the names of the parameters, and Variable is the first argument if that is a name, "" if it is a formula.
	Prefix, Variable string
}

// Parameter returns the full name of a parameter.
func (p Part) Parameter(name string) string { return p.Prefix + name }

// DerivedFormulas returns formulas of the quantities that follow from the parameters, by full name.
func (p Part) DerivedFormulas() map[string]string {
	out := map[string]string{}
	for name, text := range p.Derived {
		out[p.Prefix+name] = strings.ReplaceAll(text, "{}", p.Prefix)
	}
	return out
}

// Parts returns the components that the formula calls with a prefix, in order of appearance.
func (f *Formula) Parts() []Part { return slices.Clone(f.parts) }

// prefixed is what stands for the parameters of a component: the end of the arguments, or a prefix before it.
var prefixed = regexp.MustCompile(`^[ \t\n]*([A-Za-z_][A-Za-z0-9_]*_)?[ \t\n]*\)`)

// prefix reads what stands for the parameters of a component, with the closing parenthesis. Without a comma before it, a prefix cannot be given.
func (p *parser) prefix(comma bool) (prefix string, ok bool) {
	m := prefixed.FindStringSubmatch(p.text[p.at:])
	if m == nil || m[1] != "" && !comma || m[1] == "" && comma {
		return "", false
	}
	p.at += len(m[0])
	return m[1], true
}

// expand appends the parameters of a component to its arguments.
func (p *parser) expand(c Component, in []*term, prefix string) ([]*term, error) {
	if len(in) == 0 {
		in = []*term{{op: "name", name: "x"}}
		if err := p.use("x", ""); err != nil {
			return nil, err
		}
	}
	part := Part{Component: c, Prefix: prefix}
	if in[0].op == "name" && in[0].index == "" {
		part.Variable = in[0].name
	}
	for _, name := range c.Params {
		in = append(in, &term{op: "name", name: prefix + name})
		if err := p.use(prefix+name, ""); err != nil {
			return nil, err
		}
	}
	for _, other := range p.parts {
		if other.Prefix == prefix && slices.ContainsFunc(c.Params, func(n string) bool { return slices.Contains(other.Params, n) }) {
			return nil, p.fail("%s and %s have the same prefix %q, so that they would share parameters: give each its own, such as %s(x, p1_) and %s(x, p2_)", other.Name, c.Name, prefix, other.Name, c.Name)
		}
	}
	p.parts = append(p.parts, part)
	return in, nil
}

// ofComponent reads the arguments of a component, which may end in a prefix.
func (p *parser) ofComponent(c Component) (in []*term, expanded bool, err error) {
	if c.Before == 1 {
		if m := prefixed.FindStringSubmatch(p.text[p.at:]); m != nil {
			p.at += len(m[0])
			in, err = p.expand(c, nil, m[1])
			return in, true, err
		}
	}
	for {
		x, err := p.sum()
		if err != nil {
			return nil, false, err
		}
		in = append(in, x)
		comma := p.accept(",") != 0
		if len(in) == c.Before {
			if prefix, ok := p.prefix(comma); ok {
				in, err = p.expand(c, in, prefix)
				return in, true, err
			}
		}
		if !comma {
			return in, false, nil
		}
	}
}

// shown are the names of functions for a message, those that differ by a number as one.
func shown() (out []string) {
	for _, name := range Functions() {
		stem := strings.TrimRight(name, "0123456789")
		if _, is := components[name]; !is || stem == name {
			out = append(out, name)
		} else if all := stem + "N"; !slices.Contains(out, all) {
			out = append(out, all)
		}
	}
	return out
}

// usage shows how a component is called.
func (c Component) usage() string {
	before := "x"
	if c.Before > 1 {
		before = fmt.Sprintf("x, %d more", c.Before-1)
	}
	return fmt.Sprintf("%s(%s, p_) with the parameters p_%s, or %s(%s, %s)", c.Name, before, strings.Join(c.Params, ", p_"), c.Name, before, strings.Join(c.Params, ", "))
}
