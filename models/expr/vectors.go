// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
)

// vector is a parameter of a fit with one value for each label of a column, written a[run].
type vector struct {
	over   string
	labels []string
}

// vectors are the parameters that the formula writes with an index.
func (p *Problem) vectors(f *formula.Formula) (map[string]vector, error) {
	out := map[string]vector{}
	for name, over := range f.Indices() {
		c, column := p.Data[over]
		switch {
		case !column:
			return nil, fmt.Errorf("%q has the index %s, which is not a column%s", p.Expr, over, meant(over, sortedKeys(p.Data)))
		case p.Tied[name] != "":
			return nil, fmt.Errorf("tied %s: it has a value for each %s: tie parameters without an index", name, over)
		case usedAsNumber(f.String(), over):
			return nil, fmt.Errorf("%q uses the column %s both as an index and as numbers: give the data a copy of it under another name for one of the two", p.Expr, over)
		}
		labels, _ := c.levels()
		out[name] = vector{over, labels}
	}
	for name, g := range p.Groups {
		if v, ok := out[name]; !ok || v.over != g.Over {
			return nil, fmt.Errorf("groups: %s is over %s, but %q does not write it %s[%s]", name, g.Over, p.Expr, name, g.Over)
		}
	}
	return out, nil
}

// elements are the names of the values of a parameter: its own, or one for each label.
func (v vector) elements(name string) []string {
	if v.labels == nil {
		return []string{name}
	}
	var out []string
	for _, l := range v.labels {
		out = append(out, name+"["+l+"]")
	}
	return out
}

// codes are the numbers of the labels of rows.
func (v vector) codes(rows map[string]Column) ([]int, error) {
	c, ok := rows[v.over]
	if !ok {
		return nil, fmt.Errorf("the rows have no column %s, which the formula uses as an index", v.over)
	}
	labels, code := c.levels()
	for i, k := range code {
		at := slices.Index(v.labels, labels[k])
		if at < 0 {
			return nil, fmt.Errorf("%s is %s in row %d, which no row of the fit has: there are %d labels such as %s", v.over, labels[k], i+1, len(v.labels), v.labels[0])
		}
		code[i] = at
	}
	return code, nil
}

// assemble puts the nodes of parameters, given by the names of their elements, and the codes of their indices into values.
func (p *Problem) assemble(values map[string]*ad.Node, f *formula.Formula, rows map[string]Column, element func(name string) *ad.Node) error {
	vectors, err := p.vectors(f)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(vectors) {
		v := vectors[name]
		code, err := v.codes(rows)
		if err != nil {
			return err
		}
		var all []*ad.Node
		for _, e := range v.elements(name) {
			n := element(e)
			if n == nil {
				return fmt.Errorf("%q uses %s, which has no value: give it a start", p.Expr, e)
			}
			all = append(all, n)
		}
		values[name], values[v.over] = ad.Stack(0, all...), ad.Ints(code)
	}
	return nil
}

// whole is the name of the parameter to which an element belongs.
func whole(element string, vectors map[string]vector) string {
	for name, v := range vectors {
		if slices.Contains(v.elements(name), element) {
			return name
		}
	}
	return element
}
