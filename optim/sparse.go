// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"slices"
)

// Sparsity says which elements of an M x N Jacobian may differ from 0, row after row: those of row
// i lie in the columns Column[Row[i]:Row[i+1]], in ascending order.
type Sparsity struct {
	// Row holds the M+1 positions in Column at which the rows begin; the last is the end.
	Row    []int
	Column []int
}

func (s *Sparsity) check(m, n int) error {
	if len(s.Row) != m+1 || s.Row[0] != 0 || s.Row[m] != len(s.Column) {
		return fmt.Errorf("optim: the sparsity has %d row starts and %d elements for %d rows: want %d row starts, from 0 to the number of elements", len(s.Row), len(s.Column), m, m+1)
	}
	for i := range m {
		if s.Row[i] > s.Row[i+1] || s.Row[i+1] > len(s.Column) {
			return fmt.Errorf("optim: row %d of the sparsity starts at %d and the next at %d: want row starts in ascending order, up to %d", i, s.Row[i], s.Row[i+1], len(s.Column))
		}
		last := -1
		for _, k := range s.Column[s.Row[i]:s.Row[i+1]] {
			if k <= last || k >= n {
				return fmt.Errorf("optim: row %d of the sparsity has column %d after %d: want columns in ascending order, from 0 to %d", i, k, last, n-1)
			}
			last = k
		}
	}
	return nil
}

// groups partitions the columns so that no two of a group share a row (Curtis,
// Powell & Reid 1974): one difference serves a group.
func (s *Sparsity) groups(n int) [][]int {
	rows := make([][]int32, n)
	for i := range len(s.Row) - 1 {
		for _, k := range s.Column[s.Row[i]:s.Row[i+1]] {
			rows[k] = append(rows[k], int32(i))
		}
	}
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(rows[b]) - len(rows[a]) })
	var out [][]int
	taken := make([][]bool, 0, 8) // by group and row
	for _, k := range order {
		g := 0
		for g < len(out) && slices.ContainsFunc(rows[k], func(i int32) bool { return taken[g][i] }) {
			g++
		}
		if g == len(out) {
			out, taken = append(out, nil), append(taken, make([]bool, len(s.Row)-1))
		}
		out[g] = append(out[g], k)
		for _, i := range rows[k] {
			taken[g][i] = true
		}
	}
	return out
}

// compressed is a sparse Jacobian with values.
type compressed struct {
	*iterate
	s      *Sparsity
	v      []float64
	groups [][]int
	// group is the group of each column.
	group    []int
	vec      []float64
	up, down []float64
	got      [][]float64
}

func newCompressed(w *iterate) *compressed {
	c := &compressed{iterate: w, s: w.p.Sparsity, v: make([]float64, len(w.p.Sparsity.Column))}
	if w.p.SparseJacobian != nil {
		return c
	}
	c.groups, c.group = c.s.groups(w.n), make([]int, w.n)
	for g, cols := range c.groups {
		for _, k := range cols {
			c.group[k] = g
		}
		c.got = append(c.got, make([]float64, w.m))
	}
	c.vec, c.up, c.down = make([]float64, w.n), make([]float64, w.m), make([]float64, w.m)
	return c
}

// fill evaluates the elements at x.
func (c *compressed) fill() error {
	if c.p.SparseJacobian != nil {
		return c.p.SparseJacobian(c.v, c.x)
	}
	for g, cols := range c.groups {
		var err error
		if c.p.JVP != nil {
			clear(c.vec)
			for _, k := range cols {
				c.vec[k] = 1
			}
			err = c.p.JVP(c.got[g], c.x, c.vec)
		} else {
			err = c.difference(c.got[g], c.up, c.down, cols)
		}
		if err != nil {
			return err
		}
	}
	for i := range c.m {
		for e := c.s.Row[i]; e < c.s.Row[i+1]; e++ {
			k := c.s.Column[e]
			c.v[e] = c.got[c.group[k]][i]
			if c.p.JVP == nil && len(c.groups[c.group[k]]) > 1 {
				hi, lo := c.steps2(k)
				c.v[e] /= hi - lo
			}
		}
	}
	return nil
}

// dense writes the matrix out, by columns.
func (c *compressed) dense(j []float64) {
	clear(j)
	for i := range c.m {
		for e := c.s.Row[i]; e < c.s.Row[i+1]; e++ {
			j[c.s.Column[e]*c.m+i] = c.v[e]
		}
	}
}

// apply sets out to the matrix times v.
func (c *compressed) apply(out, v []float64) error {
	for i := range out {
		sum := 0.0
		for e := c.s.Row[i]; e < c.s.Row[i+1]; e++ {
			sum += c.v[e] * v[c.s.Column[e]]
		}
		out[i] = sum
	}
	return nil
}

// transposed sets out to the transpose times u.
func (c *compressed) transposed(out, u []float64) error {
	clear(out)
	for i, a := range u {
		for e := c.s.Row[i]; e < c.s.Row[i+1]; e++ {
			out[c.s.Column[e]] += c.v[e] * a
		}
	}
	return nil
}

// lengths sets out to the lengths of the columns, with rows times weights.
func (c *compressed) lengths(out, weights []float64) {
	clear(out)
	for i := range c.m {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		for e := c.s.Row[i]; e < c.s.Row[i+1]; e++ {
			v := c.v[e] * w
			out[c.s.Column[e]] += v * v
		}
	}
	rootAll(out)
}

// sparseProducts returns products with the sparse Jacobian, which they evaluate
// once for each point.
func (p *Problem) sparseProducts() (forward, backward func(out, x, v []float64) error) {
	w := &iterate{p: p, m: p.M, n: p.N, xNew: make([]float64, p.N)}
	c := newCompressed(w)
	at := func(x []float64) error {
		if w.x != nil && slices.Equal(w.x, x) {
			return nil
		}
		w.x = slices.Clone(x)
		return c.fill()
	}
	product := func(f func(out, v []float64) error) func(out, x, v []float64) error {
		return func(out, x, v []float64) error {
			if err := at(x); err != nil {
				return err
			}
			return f(out, v)
		}
	}
	return product(c.apply), product(c.transposed)
}
