// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import "slices"

// Call is a name with formulas as arguments, such as a distribution: normal(mu, 2*s).
type Call struct {
	Name string
	Args []*Formula
}

// ParseCall parses a name that is followed by formulas in parentheses, separated by commas.
func ParseCall(text string) (*Call, error) {
	p := &parser{text: text}
	if !letter(p.peek()) {
		return nil, p.fail("expected a name with its arguments, such as normal(0, 1),")
	}
	c := &Call{Name: p.name()}
	if p.accept("(") == 0 {
		return nil, p.fail("expected ( and arguments after %s, as in %s(0, 1),", c.Name, c.Name)
	}
	for p.peek() != ')' {
		p.names, p.index = nil, nil
		p.peek()
		start := p.at
		root, err := p.sum()
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, &Formula{text: text[start:p.at], root: root, names: p.names, indices: p.indices()})
		if p.accept(",") == 0 {
			break
		}
	}
	if p.accept(")") == 0 {
		return nil, p.fail("the arguments of %s are not closed: expected , or )", c.Name)
	}
	if p.peek() != 0 {
		return nil, p.fail("found %q after %s(...) instead of the end", p.text[p.at:p.at+1], c.Name)
	}
	return c, nil
}

// Names returns the names used in the arguments, in order of appearance.
func (c *Call) Names() (all []string) {
	for _, a := range c.Args {
		for _, n := range a.names {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}
