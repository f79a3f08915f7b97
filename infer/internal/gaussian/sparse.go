// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"errors"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/elimination"
	"github.com/euryale-dev/euryale/tensor"
)

// sparse is a precision of which few entries count, in the places of the entries of its Cholesky factor L. The order in which elements are eliminated is fixed by
// counts alone.
type sparse struct {
	order   []int // element of each column
	start   []int // where each column begins, with its diagonal, and where the last one ends
	row     []int // element of each entry
	updates []int // for every pair of entries below the diagonal of a column, the place of the entry from which their product is taken
	values  *ad.Node
	factor  *ad.Node

	factored, solved *ad.Custom
}

// mostUpdates is the number of products that a factor may take.
const mostUpdates = 3_000_000

// newSparse returns the precision, nil where its factor takes too many products.
func newSparse(c *curvatures) *sparse {
	neighbours := c.neighbours()
	if neighbours == nil {
		return nil
	}
	order, columns := elimination.Order(neighbours, mostUpdates, mostUpdates)
	if order == nil {
		return nil
	}
	p := &sparse{order: order}
	place := map[[2]int]int{} // of the entry of an element in the column of another
	for k, i := range order {
		p.start = append(p.start, len(p.row))
		for _, r := range append([]int{i}, columns[k]...) {
			place[[2]int{r, i}] = len(p.row)
			p.row = append(p.row, r)
		}
	}
	p.start = append(p.start, len(p.row))
	at := func(i, j int) int {
		if k, known := place[[2]int{i, j}]; known {
			return k
		}
		return place[[2]int{j, i}]
	}
	for k := range order {
		for a, i := range columns[k] {
			for _, j := range columns[k][:a+1] {
				p.updates = append(p.updates, at(i, j))
			}
		}
	}
	p.values = c.precision(len(p.row), func(i, j int) []int { return []int{at(i, j)} })
	p.operations()
	p.factor = ad.Call(p.factored, p.values)
	return p
}

// operations makes those of the graph.
func (p *sparse) operations() {
	p.factored = &ad.Custom{Name: "sparse_cholesky",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) {
			if in[0].Size() != len(p.row) {
				return nil, errors.New("infer: the sparse matrix has another number of entries than its factor")
			}
			return in[0], nil
		},
		Forward: func(out []float64, in ...[]float64) error {
			copy(out, in[0])
			if !p.decompose(out) {
				fill(out)
			}
			return nil
		},
		Adjoint: func(dIn [][]float64, g, out []float64, in ...[]float64) error {
			copy(dIn[0], g)
			p.backward(dIn[0], out)
			return nil
		}}
	// The mean needs no gradient: that of the density at it is 0.
	p.solved = &ad.Custom{Name: "sparse_solve", Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[1], nil },
		Forward: func(out []float64, in ...[]float64) error {
			copy(out, in[1])
			for k, i := range p.order {
				from, to := p.start[k], p.start[k+1]
				out[i] /= in[0][from]
				for e := from + 1; e < to; e++ {
					out[p.row[e]] -= in[0][e] * out[i]
				}
			}
			p.back(out, in[0])
			return nil
		}}
}

// decompose replaces the entries of a matrix by those of its factor, and reports whether it is positive definite.
func (p *sparse) decompose(l []float64) bool {
	u := 0
	for k := range p.order {
		from, to := p.start[k], p.start[k+1]
		if !(l[from] > 0) {
			return false
		}
		d := math.Sqrt(l[from])
		l[from] = d
		for a := from + 1; a < to; a++ {
			l[a] /= d
			for b := from + 1; b <= a; b++ {
				l[p.updates[u]] -= l[a] * l[b]
				u++
			}
		}
	}
	return true
}

// backward replaces derivatives along the entries of the factor l by those along the entries of the lower triangle of the matrix, by the steps of decompose in reverse.
func (p *sparse) backward(g, l []float64) {
	u := len(p.updates)
	for k := len(p.order) - 1; k >= 0; k-- {
		from, to := p.start[k], p.start[k+1]
		for a := to - 1; a > from; a-- {
			for b := a; b > from; b-- {
				u--
				v := g[p.updates[u]]
				g[a] -= v * l[b]
				g[b] -= v * l[a]
			}
		}
		for a := from + 1; a < to; a++ {
			g[a] /= l[from]
			g[from] -= g[a] * l[a]
		}
		g[from] /= 2 * l[from]
	}
}

// back solves with L^T in place.
func (p *sparse) back(x, l []float64) {
	for k := len(p.order) - 1; k >= 0; k-- {
		from, to := p.start[k], p.start[k+1]
		i := p.order[k]
		for e := from + 1; e < to; e++ {
			x[i] -= l[e] * x[p.row[e]]
		}
		x[i] /= l[from]
	}
}

func (p *sparse) damped(by *ad.Node) Precision {
	c, on := *p, make([]float64, len(p.row))
	for _, k := range p.start[:len(p.order)] {
		on[k] = 1
	}
	c.values = ad.Add(p.values, ad.Mul(by, ad.Const(on)))
	c.factor = ad.Call(p.factored, c.values)
	return &c
}

func (p *sparse) Nodes() []*ad.Node { return []*ad.Node{p.factor} }
func (p *sparse) logDet() *ad.Node {
	return ad.Scale(2, ad.Sum(ad.Log(gathered(p.factor, p.start[:len(p.order)]))))
}
func (p *sparse) solve(v *ad.Node) *ad.Node { return ad.Call(p.solved, p.factor, v) }
func (p *sparse) cost() float64             { return 3*float64(len(p.updates)) + 10*float64(len(p.row)) }

func (p *sparse) product(v *ad.Node) *ad.Node {
	var entries, from, to []int
	for k, i := range p.order {
		for e := p.start[k]; e < p.start[k+1]; e++ {
			entries, from, to = append(entries, e), append(from, p.row[e]), append(to, i)
			if p.row[e] != i {
				entries, from, to = append(entries, e), append(from, i), append(to, p.row[e])
			}
		}
	}
	return ad.ScatterAdd(ad.Mul(gathered(p.values, entries), gathered(v, from)), ad.Ints(to), 0, v.Size())
}

// Root solves with the transposed factor.
func (p *sparse) Root(x []float64, values [][]float64) (half float64) {
	p.back(x, values[0])
	for k := range p.order {
		half += math.Log(values[0][p.start[k]])
	}
	return half
}
