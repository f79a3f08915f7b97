// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/internal/errtext"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// columns turns the columns of numbers into constants; all must have one length.
func (p *Problem) columns() (values map[string]*ad.Node, n int, err error) {
	values, n = map[string]*ad.Node{}, -1
	for _, name := range sortedKeys(p.Data) {
		c := p.Data[name]
		for i, v := range c.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, 0, fmt.Errorf("%s is %g in %s: leave the row out", name, v, p.Row(i))
			}
		}
		if n >= 0 && c.Len() != n {
			return nil, 0, fmt.Errorf("column %s has %s, but other columns have %d: give all columns the same length", name, errtext.Count(c.Len(), "value"), n)
		}
		n = c.Len()
		if c.Labels == nil {
			values[name] = ad.Const(c.Values)
		}
	}
	if n < 1 {
		return nil, 0, fmt.Errorf("data has no columns with values: give at least one")
	}
	return values, n, nil
}

// Observed returns the values of Y, row by row.
func (p *Problem) Observed() ([]float64, error) {
	columns, n, err := p.columns()
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	y, err := p.observed(columns, n)
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	return y, nil
}

// observed returns the values of Y.
func (p *Problem) observed(columns map[string]*ad.Node, n int) ([]float64, error) {
	f, err := formula.Parse(p.Y)
	if err != nil {
		return nil, fmt.Errorf("y: %w", err)
	}
	for _, name := range f.Names() {
		if err := p.labels(p.Y, name); err != nil {
			return nil, fmt.Errorf("y: %w", err)
		}
		if columns[name] == nil {
			return nil, fmt.Errorf("y: %q uses %s, which is not a column of numbers%s", p.Y, name, meant(name, sortedKeys(columns)))
		}
	}
	y, err := f.Node(columns)
	if err == nil {
		err = perRow(f, y, n)
	}
	if err != nil {
		return nil, fmt.Errorf("y: %w", err)
	}
	v, err := ad.Numbers(ad.Broadcast(y, n))
	if err != nil {
		return nil, fmt.Errorf("y: %w", err)
	}
	out := slices.Clone(v[0])
	for i, x := range out {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("y: %s is %g in %s: leave the row out", p.Y, x, p.Row(i))
		}
	}
	return out, nil
}

// labels returns an error if a name that a formula uses as numbers is that of a column of labels.
func (p *Problem) labels(formula, name string) error {
	c, column := p.Data[name]
	if !column || len(c.Labels) == 0 {
		return nil
	}
	for i, l := range c.Labels { // numbers but for a few texts
		_, first := strconv.ParseFloat(c.Labels[0], 64)
		if _, err := strconv.ParseFloat(l, 64); err != nil && first == nil {
			return fmt.Errorf("%q uses %s, whose value in %s is %q and no number, which makes it a column of labels: correct the value, or use the column only as an index", formula, name, p.Row(i), foreign.Short(l, 40))
		}
	}
	if len(c.Labels) > 1 {
		_, first := strconv.ParseFloat(c.Labels[0], 64)
		if _, err := strconv.ParseFloat(c.Labels[1], 64); err == nil && first != nil {
			return fmt.Errorf("%q uses %s, whose first value, in %s, is %q and no number: if this is a row of units, delete it, or write the units into the header, as %s [%s]",
				formula, name, p.Row(0), foreign.Short(c.Labels[0], 40), name, foreign.Short(c.Labels[0], 40))
		}
	}
	return fmt.Errorf("%q uses %s, which is a column of labels such as %q and not of numbers: write its numbers without quotation marks, or use it only as an index", formula, name, c.Labels[0])
}

// perRow checks that a formula gives a number, or one for each row.
func perRow(f *formula.Formula, y *ad.Node, n int) error {
	if s := y.Shape(); len(s) == 0 || len(s) == 1 && (s[0] == 1 || s[0] == n) {
		return nil
	}
	hint := ""
	if called := f.Functions(); len(called) > 0 {
		hint = ", which is up to the functions " + strings.Join(called, ", ")
	}
	return fmt.Errorf("%q has the shape %v for %s: want a number, or one for each row%s", f, y.Shape(), errtext.Count(n, "row"), hint)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// natural orders b2 before b10.
func natural(a, b string) int {
	if len(a) != len(b) && strings.TrimRight(a, "0123456789") == strings.TrimRight(b, "0123456789") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
