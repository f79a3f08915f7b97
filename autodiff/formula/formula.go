// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package formula parses mathematical formulas and turns them into graphs, for people who fit
// models without writing Go.
//
//	f, err := formula.Parse("b1*(1-exp(-b2*x))")
//	y, err := f.Node(map[string]*autodiff.Node{"b1": b1, "b2": b2, "x": x})
//
// The language has numbers, names, + - * / ^ (or **), parentheses, the constant pi, and the
// functions listed by Functions. ^ binds tightest and from the right; a minus before it applies to
// the power: -x^2 is -(x^2). theta[school] is, for every row, the element of the vector theta whose
// index is in the integer column school. Peaks, steps and backgrounds are components, whose parameters get their names from a prefix: gaussian(x, p1_)
// is gaussian(x, p1_amplitude, p1_center, p1_sigma); see [Component].
package formula

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Formula is a parsed formula.
type Formula struct {
	text    string
	root    *term
	names   []string
	indices map[string]string
	parts   []Part
}

// term is a node of the syntax tree.
type term struct {
	op    string // "number", "name", "+", "-", "*", "/", "^", "neg" or the name of a function
	num   float64
	name  string
	index string // index of a name, such as school in theta[school]; "" for none
	in    []*term
}

// Names returns the names used in the formula, without pi, in order of appearance.
func (f *Formula) Names() []string { return slices.Clone(f.names) }

// Indices returns, for every name that has an index, the name of that index.
func (f *Formula) Indices() map[string]string { return maps.Clone(f.indices) }

// Functions returns the names of the functions that the formula calls, in order of appearance.
func (f *Formula) Functions() (names []string) {
	var visit func(t *term)
	visit = func(t *term) {
		if _, is := functions[t.op]; is && !slices.Contains(names, t.op) {
			names = append(names, t.op)
		}
		for _, x := range t.in {
			visit(x)
		}
	}
	visit(f.root)
	return names
}

// String returns the text of the formula.
func (f *Formula) String() string { return f.text }

// Node makes the graph of the formula. values holds a Node for every name; that of an index must
// hold integers (autodiff.Ints).
func (f *Formula) Node(values map[string]*ad.Node) (*ad.Node, error) {
	for _, n := range f.names {
		if values[n] == nil {
			return nil, fmt.Errorf("formula: %q uses %s, which is neither a parameter nor a column: correct the name, or declare it", f.text, n)
		}
	}
	m := &maker{values: values}
	y, err := m.node(f.root)
	if err == nil && y.Err() != nil {
		err = y.Err()
		if m.odd != "" {
			err = fmt.Errorf("%w (%s)", err, m.odd)
		}
	}
	return y, err
}

// maker makes the graph of a formula.
type maker struct {
	values map[string]*ad.Node
	odd    string // describes a function whose result has not the shape of its arguments
}

func (m *maker) node(t *term) (*ad.Node, error) {
	switch t.op {
	case "number":
		return ad.Scalar(t.num), nil
	case "name":
		if t.index != "" {
			return ad.Gather(m.values[t.name], m.values[t.index], 0), nil
		}
		return m.values[t.name], nil
	}
	in := make([]*ad.Node, len(t.in))
	for i, x := range t.in {
		var err error
		if in[i], err = m.node(x); err != nil {
			return nil, err
		}
	}
	switch t.op {
	case "+":
		return ad.Add(in[0], in[1]), nil
	case "-":
		return ad.Sub(in[0], in[1]), nil
	case "*":
		return ad.Mul(in[0], in[1]), nil
	case "/":
		return ad.Div(in[0], in[1]), nil
	case "^":
		return power(in[0], in[1]), nil
	case "neg":
		return ad.Neg(in[0]), nil
	}
	return m.call(t.op, in)
}

// power is x^y. Where x is 0 and y a parameter, the derivative with respect to x is taken as 0: in (t/tau)^b at t = 0 it would be infinity times 0.
func power(x, y *ad.Node) *ad.Node {
	if x.Err() != nil || y.Err() != nil || x.IsConst() || y.IsConst() {
		return ad.Pow(x, y)
	}
	zero := ad.Equal(x, ad.Scalar(0))
	there := ad.Where(ad.Greater(y, ad.Scalar(0)), ad.Scalar(0), ad.Where(ad.Equal(y, ad.Scalar(0)), ad.Scalar(1), ad.Scalar(math.Inf(1))))
	return ad.Where(zero, there, ad.Pow(ad.Where(zero, ad.Scalar(1), x), y))
}

// mostShown is the largest number of bytes of a formula that a message shows.
const mostShown = 200

// Error is a mistake in a formula, with its position.
type Error struct {
	Text string
	At   int // position of the mistake in Text, in bytes
	What string
}

func (e *Error) Error() string {
	if n := len(e.Text); n > mostShown {
		at := min(max(e.At, 0), n)
		return fmt.Sprintf("formula: %s at position %d of %d, between %q and %q", e.What, e.At+1, n, e.Text[max(0, at-mostShown/2):at], e.Text[at:min(n, at+mostShown/2)])
	}
	return fmt.Sprintf("formula: %s at position %d of %q", e.What, e.At+1, e.Text)
}

// maxDepth bounds nesting, so that no text can exhaust the stack.
const maxDepth = 200

// Parse parses a formula.
func Parse(text string) (*Formula, error) {
	p := &parser{text: text}
	root, err := p.sum()
	if err == nil && p.peek() != 0 {
		err = p.fail("found %q instead of an operator such as + or *", p.text[p.at:p.at+1])
	}
	if err != nil {
		return nil, err
	}
	return &Formula{text: text, root: root, names: p.names, indices: p.indices(), parts: p.parts}, nil
}

type parser struct {
	text  string
	at    int
	depth int
	names []string
	index map[string]string // index of each name; "" for none
	parts []Part
}

// indices returns the names that have an index.
func (p *parser) indices() map[string]string {
	out := map[string]string{}
	for name, i := range p.index {
		if i != "" {
			out[name] = i
		}
	}
	return out
}

func (p *parser) fail(format string, a ...any) error {
	return &Error{p.text, p.at, fmt.Sprintf(format, a...)}
}

// peek skips spaces and returns the next byte, or 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.text) && strings.ContainsRune(" \t\n", rune(p.text[p.at])) {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// accept takes the next operator if it is one of set; "**" is the operator ^.
func (p *parser) accept(set string) byte {
	c, n := p.peek(), 1
	if strings.HasPrefix(p.text[p.at:], "**") {
		c, n = '^', 2
	}
	if c == 0 || !strings.ContainsRune(set, rune(c)) {
		return 0
	}
	p.at += n
	return c
}

func (p *parser) sum() (*term, error) { return p.chain("+-", p.product) }

func (p *parser) product() (*term, error) { return p.chain("*/", p.signed) }

// chain reads operands joined by the operators of set, which associate to the left.
func (p *parser) chain(set string, next func() (*term, error)) (*term, error) {
	a, err := next()
	for err == nil {
		op := p.accept(set)
		if op == 0 {
			return a, nil
		}
		var b *term
		if b, err = next(); err == nil {
			a = &term{op: string(op), in: []*term{a, b}}
		}
	}
	return nil, err
}

func (p *parser) signed() (*term, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail("the formula has more than the %d levels of nesting that are allowed", maxDepth)
	}
	defer func() { p.depth-- }()
	switch p.accept("+-") {
	case '-':
		x, err := p.signed()
		return &term{op: "neg", in: []*term{x}}, err
	case '+':
		return p.signed()
	}
	return p.power()
}

func (p *parser) power() (*term, error) {
	a, err := p.atom()
	if err != nil || p.accept("^") == 0 {
		return a, err
	}
	b, err := p.signed() // from the right, and 2^-x
	return &term{op: "^", in: []*term{a, b}}, err
}

func (p *parser) atom() (*term, error) {
	c := p.peek()
	switch {
	case c == '(':
		p.at++
		x, err := p.sum()
		if err == nil && p.accept(")") == 0 {
			err = p.fail("a parenthesis is not closed: add a )")
		}
		return x, err
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	case letter(c):
		return p.word()
	case c == 0:
		return nil, p.fail("the formula ends early: expected a number, a name or (")
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	if unicode.IsLetter(r) {
		return nil, p.fail("found %q, which no name may have (only a to z, A to Z, digits and _: spell it out, as alpha)", string(r))
	}
	return nil, p.fail("found %q instead of a number, a name or (", string(r))
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) number() (*term, error) {
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		exponent := (c == '+' || c == '-') && (p.text[p.at-1] == 'e' || p.text[p.at-1] == 'E')
		if !digit(c) && c != '.' && c != 'e' && c != 'E' && !(exponent && p.at > start) {
			break
		}
		p.at++
	}
	v, err := strconv.ParseFloat(p.text[start:p.at], 64)
	if err != nil {
		word := p.text[start:p.at]
		p.at = start
		return nil, p.fail("%q is not a number", word)
	}
	return &term{op: "number", num: v}, nil
}

func (p *parser) word() (*term, error) {
	start := p.at
	name := p.name()
	switch p.peek() {
	case '(':
		if _, known := functions[name]; !known {
			p.at = start
			return nil, p.fail("there is no function %q%s: the functions are %s%s", name, meantFunction(name), strings.Join(shown(), ", "), errtext.OwnPart)
		}
		p.at++
		in, err := p.arguments(name)
		return &term{op: name, in: in}, err
	case '[':
		p.at++
		return p.indexed(name)
	}
	if name == "pi" {
		return &term{op: "number", num: math.Pi}, nil
	}
	return &term{op: "name", name: name}, p.use(name, "")
}

// name reads a name of letters and digits.
func (p *parser) name() string {
	start := p.at
	for p.at < len(p.text) && (letter(p.text[p.at]) || digit(p.text[p.at])) {
		p.at++
	}
	return p.text[start:p.at]
}

// indexed reads the index after the opening bracket behind name.
func (p *parser) indexed(name string) (*term, error) {
	if !letter(p.peek()) {
		return nil, p.fail("the index of %s must be the name of a column", name)
	}
	index := p.name()
	if p.peek() != ']' {
		return nil, p.fail("the index of %s is not closed: write %s[%s]", name, name, index)
	}
	p.at++
	if err := p.use(name, index); err != nil {
		return nil, err
	}
	return &term{op: "name", name: name, index: index}, p.use(index, "")
}

// use records a name, which must have the same index everywhere.
func (p *parser) use(name, index string) error {
	if !slices.Contains(p.names, name) {
		p.names = append(p.names, name)
	}
	if p.index == nil {
		p.index = map[string]string{}
	}
	if old, seen := p.index[name]; seen && old != index {
		return p.fail("%s has the index %q here, but %q earlier: use one of them", name, index, old)
	}
	p.index[name] = index
	return nil
}

// meant suggests the name that was probably meant.
func meant(name string, names []string) string {
	if m := spelling.Meant(name, names); m != "" {
		return fmt.Sprintf("; did you mean %q?", m)
	}
	return ""
}

// meantFunction suggests the function that was probably meant: one with a similar name, or else the only one that begins with what was written.
func meantFunction(name string) string {
	near := spelling.Meant(name, Functions())
	if near == "" && len(name) > 2 {
		begun := slices.DeleteFunc(shown(), func(f string) bool { return !strings.HasPrefix(f, strings.ToLower(name)) })
		if len(begun) == 1 {
			near = begun[0]
		}
	}
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}

func init() { given.BuildsGraphs() }
