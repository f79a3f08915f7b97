// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/tensor"
)

// part is a sparse matrix, of which each entry is a coefficient.
type part struct {
	row, col []int
	coefficients
}

// linear is the matrix of derivatives of a node that depends on x linearly, as a sum. Rows are the elements of the node, and columns those of x in a row.
type linear []part

// mostLinear is the number of entries of a matrix up to which nodes are looked at.
const mostLinear = 400_000

// sight finds the derivatives of the nodes of a graph that depend on x linearly.
type sight struct {
	x     []*ad.Node
	first []int // place of each x in the row
	size  int
	on    map[*ad.Node]bool // nodes that depend on x
	known map[*ad.Node]linear
	coefs map[*ad.Node]*coefficients
}

func newSight(readers map[*ad.Node][]*ad.Node, x []*ad.Node) *sight {
	s := &sight{x: x, on: map[*ad.Node]bool{}, known: map[*ad.Node]linear{}, coefs: map[*ad.Node]*coefficients{}}
	for _, u := range x {
		s.first = append(s.first, s.size)
		s.size += u.Size()
		for n := range graph.Closure(readers, u) {
			s.on[n] = true
		}
	}
	return s
}

// derivatives returns the matrix of a node, nil where the node is not seen to be linear or has none.
func (s *sight) derivatives(n *ad.Node) linear {
	if d, known := s.known[n]; known {
		return d
	}
	d := s.look(n)
	entries := 0
	for _, p := range d {
		entries += len(p.row)
	}
	if entries > mostLinear {
		d = nil
	}
	s.known[n] = d
	return d
}

func (s *sight) look(n *ad.Node) linear {
	if i := slices.Index(s.x, n); i >= 0 {
		p := part{numbers(n.Size()), numbers(n.Size()), coefficients{number: ones(n.Size())}}
		for k := range p.col {
			p.col[k] += s.first[i]
		}
		return linear{p}
	}
	in := n.In()
	switch n.Op().Name {
	case "reshape", "permute", "broadcast", "slice", "gather", "concat", "embed":
		return s.joined(n, func(k int) (linear, bool) {
			to, ok := taken(n, k)
			return s.derivatives(in[k]).selected(to), ok
		})
	case "sum", "scatter_add":
		to, ok := added(n)
		if d := s.derivatives(in[0]); ok && d != nil {
			return d.moved(to)
		}
	case "cumsum":
		if d := s.derivatives(in[0]); d != nil && fromFirst(n) {
			return d.cumulated(n.Size())
		}
	case "add", "sub", "neg":
		return s.joined(n, func(k int) (linear, bool) {
			d := s.derivatives(in[k]).selected(spread(in[k].Shape(), n.Shape()))
			if n.Op().Name == "neg" || n.Op().Name == "sub" && k == 1 {
				d = d.negated()
			}
			return d, true
		})
	case "mul", "div":
		k := 0
		if !s.on[in[0]] {
			k = 1
		}
		if other := in[1-k]; !s.on[other] {
			if n.Op().Name == "div" {
				other = ad.Div(ad.Scalar(1), other)
			}
			return s.derivatives(in[k]).selected(spread(in[k].Shape(), n.Shape())).scaled(s.coefficients(other).selected(spread(other.Shape(), n.Shape())))
		}
	case "where":
		return s.joined(n, func(k int) (linear, bool) {
			share := ad.Where(in[0], ad.Scalar(float64(k%2)), ad.Scalar(1-float64(k%2)))
			return s.derivatives(in[k]).selected(spread(in[k].Shape(), n.Shape())).scaled(s.coefficients(share).selected(spread(share.Shape(), n.Shape()))), k > 0
		})
	case "matmul":
		return s.product(n, in[0], in[1])
	case "solve_triangular":
		if inverse := inverted(n); inverse != nil && !s.on[in[0]] {
			return s.product(n, inverse, in[1])
		}
	}
	return nil
}

// joined sums the matrices of the inputs that depend on x, and returns nil where one is not known.
func (s *sight) joined(n *ad.Node, of func(k int) (linear, bool)) (out linear) {
	for k, x := range n.In() {
		if !s.on[x] {
			continue
		}
		d, ok := of(k)
		if !ok || d == nil {
			return nil
		}
		out = append(out, d...)
	}
	return out
}

// product returns the matrix of a product of which one factor depends on x.
func (s *sight) product(n, left, right *ad.Node) linear {
	rows, inner := left.Shape()[len(left.Shape())-2], left.Shape()[len(left.Shape())-1]
	columns := right.Shape()[len(right.Shape())-1]
	k, of := 0, left
	if !s.on[left] {
		k, of = 1, right
	}
	other := [2]*ad.Node{right, left}[k]
	d := s.derivatives(of)
	if d == nil || s.on[other] || n.Size()*inner > mostLinear {
		return nil
	}
	a, b := spreadBatch(left.Shape(), n.Shape()), spreadBatch(right.Shape(), n.Shape())
	var from, with, to []int // elements of both factors whose product is added to an element of the result
	for batch := range n.Size() / max(rows*columns, 1) {
		for i := range rows {
			for j := range columns {
				for l := range inner {
					pair := [2]int{a[batch]*rows*inner + i*inner + l, b[batch]*inner*columns + l*columns + j}
					from, with, to = append(from, pair[k]), append(with, pair[1-k]), append(to, (batch*rows+i)*columns+j)
				}
			}
		}
	}
	return d.selected(from).scaled(s.coefficients(other).selected(with)).moved(to)
}

// fromFirst reports whether cumulative sums of a row begin at its first element and include the present one.
func fromFirst(n *ad.Node) bool {
	x := ad.Const(counted(n.Size()), n.Shape()...)
	return len(n.Shape()) == 1 && slices.Equal(constant(ad.Substitute([]*ad.Node{n}, n.In(), []*ad.Node{x})[0]), constant(ad.Cumsum(x, 0)))
}

// selected returns the matrix whose row i is row from[i], none where that is negative.
func (d linear) selected(from []int) (out linear) {
	for _, p := range d {
		of := map[int][]int{} // entries of each row
		for e, r := range p.row {
			of[r] = append(of[r], e)
		}
		var row, col, entries []int
		for i, r := range from {
			for _, e := range of[r] {
				row, col, entries = append(row, i), append(col, p.col[e]), append(entries, e)
			}
		}
		out = append(out, part{row, col, *p.coefficients.selected(entries)})
	}
	return out
}

// moved returns the matrix in which row i is added to row to[i].
func (d linear) moved(to []int) (out linear) {
	for _, p := range d {
		row := make([]int, len(p.row))
		for e, r := range p.row {
			row[e] = to[r]
		}
		p.row = row
		out = append(out, p)
	}
	return out
}

// cumulated returns the matrix in which each of n rows is the sum of those up to it.
func (d linear) cumulated(n int) linear {
	var from, to []int
	for i := range n {
		for j := range i + 1 {
			from, to = append(from, j), append(to, i)
		}
	}
	return d.selected(from).moved(to)
}

func (d linear) negated() (out linear) {
	for _, p := range d {
		number := make([]float64, len(p.number))
		for e, v := range p.number {
			number[e] = -v
		}
		p.number = number
		out = append(out, p)
	}
	return out
}

// scaled returns the matrix with each row multiplied by a coefficient.
func (d linear) scaled(c *coefficients) (out linear) {
	if c == nil {
		return nil
	}
	for _, p := range d {
		out = append(out, part{p.row, p.col, *p.coefficients.times(c.selected(p.row))})
	}
	return out
}

// taken returns for each element of a node the element of its input number k that stands there, or -1, and false where that is not known.
func taken(n *ad.Node, k int) ([]int, bool) {
	in := slices.Clone(n.In())
	for i, x := range in {
		switch {
		case i == k:
			in[i] = ad.Const(counted(x.Size()), x.Shape()...)
			if len(x.Shape()) == 0 {
				in[i] = ad.Scalar(1)
			}
		case !x.IsInt():
			in[i] = ad.Full(0, x.Shape()...)
		}
	}
	return places(ad.Substitute([]*ad.Node{n}, n.In(), in)[0])
}

// added returns for each element of the first input of a sum the element to which it is added.
func added(n *ad.Node) ([]int, bool) {
	from := n.In()[0]
	x := ad.Input("x", from.Shape()...)
	back := ad.VJP(ad.Substitute([]*ad.Node{n}, []*ad.Node{from}, []*ad.Node{x})[0], graph.Like(n, counted(n.Size())), x)[0]
	return places(back)
}

// places returns the values of a constant node less 1.
func places(n *ad.Node) ([]int, bool) {
	v := constant(n)
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x) - 1
	}
	return out, v != nil
}

// constant returns the elements of a node that depends on no input, nil for another one.
func constant(n *ad.Node) []float64 {
	if v := n.Numbers(); v != nil {
		return v
	}
	if n.Err() != nil || !graph.Constant(n) {
		return nil
	}
	v, err := ad.Numbers(graph.Row(n))
	if err != nil {
		return nil
	}
	return v[0]
}

// counted returns 1 to n.
func counted(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// spread returns for each element of an array the element of another one that is broadcast there.
func spread(from, to tensor.Shape) []int {
	out := make([]int, to.Size())
	lead := len(to) - len(from)
	for i := range out {
		at, left, stride := 0, i, 1
		for a := len(to) - 1; a >= lead; a-- {
			if d := from[a-lead]; d != 1 {
				at += left % to[a] * stride
				stride *= d
			}
			left /= to[a]
		}
		out[i] = at
	}
	return out
}

// spreadBatch does so for the matrices in the last two axes.
func spreadBatch(from, to tensor.Shape) []int { return spread(from[:len(from)-2], to[:len(to)-2]) }

// inverted returns the inverse of the triangular matrix of a solution, nil for another one. The triangle is the one by which it solves an example.
func inverted(n *ad.Node) *ad.Node {
	a, b := n.In()[0], n.In()[1]
	size := a.Shape()[len(a.Shape())-1]
	example := make([]float64, a.Size())
	for i := range example {
		if r, c := i/size%size, i%size; r == c {
			example[i] = 2
		} else {
			example[i] = 1 / float64(2+r+3*c)
		}
	}
	x, y := ad.Const(example, a.Shape()...), ad.Const(counted(b.Size()), b.Shape()...)
	want := constant(ad.Substitute([]*ad.Node{n}, n.In(), []*ad.Node{x, y})[0])
	for k := range 4 {
		lower, transposed := k%2 == 0, k/2 == 1
		if slices.Equal(want, constant(ad.SolveTriangular(x, y, lower, transposed))) {
			return ad.SolveTriangular(a, ad.Eye(size), lower, transposed)
		}
	}
	return nil
}
