// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// condensable is a sum over many elements, and the largest number of elements that a condensed form may compute at once.
type condensable struct {
	name  string
	most  int
	build func(a, b, s *ad.Node) *ad.Node // of a vector of 5, one of 3 and a number
}

// waves makes data.
func waves(n int, step float64) *ad.Node {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Cos(step * float64(i))
	}
	return ad.Const(x)
}

// cycle makes indices that run through 0..k-1 again and again.
func cycle(n, k int) *ad.Node {
	idx := make([]int, n)
	for i := range idx {
		idx[i] = i * 7 % k
	}
	return ad.Ints(idx)
}

// few makes data of few different numbers.
func few(n, k int) *ad.Node { return ad.Gather(waves(k, 0.3), cycle(n, k), 0) }

// known computes a constant.
func known(n *ad.Node) *ad.Node {
	d, err := ad.Eval(n)
	if err != nil {
		panic(err)
	}
	return ad.Const(d[0].Float64s(), n.Shape()...)
}

func condensables() []condensable {
	const n = 200
	design := known(ad.Stack(1, waves(n, 0.2), waves(n, 0.5), waves(n, 1.1)))
	y, x := waves(n, 0.9), waves(n, 0.4)
	return []condensable{
		{"linear", 5, func(a, b, s *ad.Node) *ad.Node {
			return ad.Sum(ad.Mul(y, ad.Add(ad.Gather(a, cycle(n, 5), 0), ad.Mul(s, x))))
		}},
		{"linear of a product", 3, func(a, b, s *ad.Node) *ad.Node { return ad.Dot(y, ad.MatMul(design, b)) }},
		{"squares of a product", 5, func(a, b, s *ad.Node) *ad.Node {
			return ad.Div(ad.Sum(ad.Square(ad.Sub(y, ad.Add(s, ad.MatMul(design, b))))), ad.Exp(s))
		}},
		{"squares of elements", 4, func(a, b, s *ad.Node) *ad.Node {
			mu := ad.Add(ad.Index(b, 0, 0), ad.Add(ad.Mul(ad.Index(b, 0, 2), x), ad.Mul(y, s)))
			return ad.Sum(ad.Scale(-0.5, ad.Square(ad.Div(ad.Sub(x, mu), s))))
		}},
		{"squares of gathered", 20, func(a, b, s *ad.Node) *ad.Node {
			mu := ad.Add(ad.Gather(ad.Mul(s, a), cycle(n, 5), 0), ad.Add(ad.Mul(x, ad.Gather(a, cycle(n, 5), 0)), ad.Mul(s, waves(n, 0.7))))
			return ad.Sum(ad.Square(ad.Sub(mu, y)))
		}},
		{"equal terms", 15, func(a, b, s *ad.Node) *ad.Node {
			return ad.Sum(ad.Softplus(ad.Add(ad.Gather(a, cycle(n, 5), 0), ad.Mul(s, few(n, 3)))))
		}},
		{"equal rows", 24, func(a, b, s *ad.Node) *ad.Node {
			rows := ad.Reshape(ad.Gather(few(9, 8), cycle(3*n, 9), 0), n, 3)
			d := ad.SumAxes(ad.Sin(ad.Mul(known(rows), b)), 1)
			return ad.Sum(ad.LogAddExp(d, s))
		}},
		{"equal rows of a matrix", 20, func(a, b, s *ad.Node) *ad.Node {
			rows := known(ad.Gather(ad.Reshape(waves(12, 0.8), 4, 3), cycle(n, 4), 0))
			return ad.Sum(ad.Mul(few(n, 4), ad.Softplus(ad.MatMul(rows, b))))
		}},
		{"logarithms", 5, func(a, b, s *ad.Node) *ad.Node {
			p := ad.Sigmoid(a)
			return ad.Sum(ad.Add(ad.Log(ad.Gather(p, cycle(n, 5), 0)), ad.Sub(ad.Log1p(ad.Neg(ad.Gather(p, cycle(n, 5), 0))), ad.Log(ad.Exp(s)))))
		}},
		{"functions of gathered", 5, func(a, b, s *ad.Node) *ad.Node {
			i := cycle(n, 5)
			return ad.Sum(ad.Mul(y, ad.Exp(ad.Mul(s, ad.Sin(ad.Gather(a, i, 0))))))
		}},
		{"powers", n, func(a, b, s *ad.Node) *ad.Node {
			p := ad.Mul(ad.Pow(ad.Sigmoid(s), x), ad.Pow(ad.Add(ad.Scalar(0.5), ad.Exp(s)), y))
			return ad.Add(ad.Sum(ad.Log(p)), ad.Sum(ad.Sin(p)))
		}},
		{"columns that count for nothing", n, func(a, b, s *ad.Node) *ad.Node {
			some := ad.MatMul(design, ad.Mul(b, ad.Const([]float64{2, 0, -1})))
			none := ad.MatMul(design, ad.Mul(ad.Const([]float64{0, 0, 0}), b))
			return ad.Add(ad.Sum(ad.Sin(some)), ad.Sum(ad.Exp(none)))
		}},
		{"shared parts", n, func(a, b, s *ad.Node) *ad.Node {
			d := ad.Sub(y, ad.Mul(s, x))
			v := ad.Sum(ad.Exp(d))
			return ad.Add(ad.Mul(v, ad.Log(v)), ad.Sum(ad.Mul(d, ad.Square(d))))
		}},
		{"views", n, func(a, b, s *ad.Node) *ad.Node {
			m := ad.Reshape(ad.Gather(a, cycle(6, 5), 0), 2, 3)
			return ad.Add(ad.Sum(ad.Mul(ad.Const([]float64{1, 2, 3}), ad.Sub(m, ad.Broadcast(b, 2, 3)))), ad.Sum(ad.Concat(0, a, ad.Slice(b, 0, 1, 3))))
		}},
	}
}

// Rows that another term needs are not computed once more, as of the logarithm of a standard deviation whose exponential scales data.
func TestCondenseShared(t *testing.T) {
	b, n := ad.Input("b", 3), 60
	eta := ad.Add(ad.MatMul(known(ad.Gather(ad.Reshape(waves(12, 0.8), 4, 3), cycle(n, 4), 0)), b), ad.Scalar(2))
	y := ad.Condense(ad.Add(ad.Sum(eta), ad.Dot(waves(n, 0.3), ad.Exp(ad.Neg(eta)))))
	products, seen := 0, map[*ad.Node]bool{}
	var visit func(n *ad.Node)
	visit = func(n *ad.Node) {
		if seen[n] {
			return
		}
		if seen[n] = true; n.Op() != nil && n.Op().Name == "matmul" {
			products++
		}
		for _, x := range n.In() {
			visit(x)
		}
	}
	if visit(y); products != 1 {
		t.Errorf("%d products of matrices are computed, want 1", products)
	}
}

func TestCondense(t *testing.T) {
	for _, c := range condensables() {
		t.Run(c.name, func(t *testing.T) {
			a, b, s := ad.Input("a", 5), ad.Input("b", 3), ad.Input("s")
			x := c.build(a, b, s)
			y := ad.Condense(x)
			if err := y.Err(); err != nil {
				t.Fatal(err)
			}
			in := []*ad.Node{a, b, s}
			p, err := ad.Compile(append(append([]*ad.Node{x, y}, ad.Grad(x, in...)...), ad.Grad(y, in...)...), ad.Settings{Inputs: in})
			if err != nil {
				t.Fatal(err)
			}
			st := p.NewState()
			for i, at := range [][]float64{{0.3, -0.7, 1.1, 0.2, -0.4}, {0.9, -0.2, 0.6}, {0.8}} {
				copy(st.Input(i), at)
			}
			if err := st.Run(); err != nil {
				t.Fatal(err)
			}
			for k := range 4 {
				i, j := 0, 1
				if k > 0 {
					i, j = 1+k, 4+k
				}
				want, got := st.Output(i), st.Output(j)
				for e := range want {
					if math.Abs(got[e]-want[e]) > 1e-12*(1+math.Abs(want[e])) {
						t.Errorf("output %d, element %d is %.16g, want %.16g", k, e, got[e], want[e])
					}
				}
			}
			if n := widest(y); n > c.most {
				t.Errorf("an array of %d elements is computed, want at most %d", n, c.most)
			}
		})
	}
}

// Sums over every operation are condensed without a change of value or gradient.
func TestCondenseOfOperations(t *testing.T) {
	for _, op := range ad.Ops() {
		if op.Sample == nil || !op.Differentiable() {
			continue
		}
		random := tensor.NewStream(7, 0, 0)
		var in []*ad.Node
		var at [][]float64
		nodes := op.Sample(func(lo, hi float64, shape ...int) *ad.Node {
			x := ad.Input(fmt.Sprintf("x%d", len(in)), shape...)
			f := make([]float64, x.Size())
			for i := range f {
				f[i] = lo + (hi-lo)*random.Float64()
			}
			in, at = append(in, x), append(at, f)
			return x
		})
		var terms []*ad.Node
		for i, n := range nodes {
			if !n.IsInt() {
				terms = append(terms, ad.Scale(float64(i+1), ad.Sum(n)), ad.Sum(ad.Square(ad.Sub(n, ad.Scalar(0.3)))))
			}
		}
		x := ad.AddN(terms...)
		y := ad.Condense(x)
		p, err := ad.Compile(append(append([]*ad.Node{x, y}, ad.Grad(x, in...)...), ad.Grad(y, in...)...), ad.Settings{Inputs: in})
		if err != nil {
			t.Fatalf("%s: %v", op.Name, err)
		}
		s := p.NewState()
		for i, f := range at {
			copy(s.Input(i), f)
		}
		if err := s.Run(); err != nil {
			t.Fatalf("%s: %v", op.Name, err)
		}
		for k := range 1 + len(in) {
			i, j := 0, 1
			if k > 0 {
				i, j = 1+k, 1+len(in)+k
			}
			want, got := s.Output(i), s.Output(j)
			for e := range want {
				if !(math.Abs(got[e]-want[e]) <= 1e-9*(1+math.Abs(want[e]))) && !(math.IsNaN(got[e]) && math.IsNaN(want[e])) {
					t.Errorf("%s: output %d, element %d is %.16g, want %.16g", op.Name, k, e, got[e], want[e])
				}
			}
		}
	}
}

// widest is the size of the largest array that is computed.
func widest(y *ad.Node) int {
	seen, size := map[*ad.Node]bool{}, 0
	var visit func(n *ad.Node)
	visit = func(n *ad.Node) {
		if seen[n] || n.Op() == nil {
			return
		}
		seen[n] = true
		size = max(size, n.Size())
		for _, x := range n.In() {
			visit(x)
		}
	}
	visit(y)
	return size
}
