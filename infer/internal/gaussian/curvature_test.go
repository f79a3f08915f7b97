// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/tensor"
)

// graphs are quadratic functions of x, of size elements, that depend on two positive numbers h as well.
var graphs = map[string]struct {
	size  int
	shape []int
	of    func(x, h *ad.Node) *ad.Node
}{
	"weights": {5, nil, func(x, h *ad.Node) *ad.Node {
		return ad.Sum(ad.Mul(ad.Index(h, 0, 0), ad.Square(ad.Sub(x, ad.Index(h, 0, 1)))))
	}},
	"differences": {6, nil, func(x, h *ad.Node) *ad.Node {
		steps := ad.Sub(ad.Slice(x, 0, 1, 6), ad.Mul(ad.Index(h, 0, 0), ad.Slice(x, 0, 0, 5)))
		return ad.Add(ad.Sum(ad.Square(steps)), ad.Sum(ad.Div(ad.Square(x), ad.Scalar(3))))
	}},
	"groups": {6, []int{3, 2}, func(x, h *ad.Node) *ad.Node {
		factor := ad.Mul(ad.Reshape(h, 2, 1), ad.Const([]float64{1, 0, 0.4, 0.8}, 2, 2))
		b := ad.MatMul(x, ad.T(factor))
		of := ad.Ints([]int{0, 1, 2, 0, 1, 2, 0})
		eta := ad.Add(ad.Gather(ad.Index(b, 1, 0), of, 0), ad.Mul(ad.Gather(ad.Index(b, 1, 1), of, 0), ad.Const([]float64{1, 2, -1, 0.5, 3, 0.1, -2})))
		return ad.Add(ad.Sum(ad.Square(ad.Div(eta, ad.Index(h, 0, 1)))), ad.Sum(ad.Square(x)))
	}},
	"solved": {4, nil, func(x, h *ad.Node) *ad.Node {
		l := ad.Tril(ad.Add(ad.Outer(ad.Const([]float64{1, 2, 3, 4}), ad.Const([]float64{0.1, -0.2, 0.3, 0.1})), ad.Mul(ad.Index(h, 0, 0), ad.Eye(4))), 0)
		return ad.Add(ad.Sum(ad.Square(ad.SolveTriangular(l, x, true, false))), ad.Sum(ad.Square(ad.SolveTriangular(l, x, true, true))))
	}},
	"sums": {5, nil, func(x, h *ad.Node) *ad.Node {
		sums := ad.ScatterAdd(x, ad.Ints([]int{0, 1, 0, 1, 1}), 0, 2)
		return ad.AddN(ad.Sum(ad.Mul(h, ad.Square(sums))), ad.Mul(ad.Sum(x), ad.Index(x, 0, 2)), ad.Scale(5, ad.Sum(ad.Square(x))))
	}},
	"cumulated": {5, nil, func(x, h *ad.Node) *ad.Node {
		y := ad.Cumsum(ad.Mul(ad.Index(h, 0, 0), x), 0)
		chosen := ad.Where(ad.Const([]float64{1, 0, 1, 1, 0}), y, ad.Neg(x))
		return ad.Add(ad.Sum(ad.Mul(chosen, ad.Concat(0, ad.Slice(x, 0, 2, 5), ad.Slice(y, 0, 0, 2)))), ad.Sum(ad.Scale(9, ad.Square(x))))
	}},
	"crossed": {14, nil, func(x, h *ad.Node) *ad.Node { // of which the first ten could be eliminated
		var a, b []int
		for i := range 60 {
			a, b = append(a, i%10), append(b, 10+(i/7+i)%4)
		}
		eta := ad.Add(ad.Gather(x, ad.Ints(a), 0), ad.Gather(x, ad.Ints(b), 0))
		scale := ad.Gather(h, ad.Ints([]int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}), 0)
		return ad.Add(ad.Sum(ad.Square(ad.Sub(eta, ad.Index(h, 0, 1)))), ad.Sum(ad.Square(ad.Div(x, scale))))
	}},
	"factors of rows and columns": {12, nil, func(x, h *ad.Node) *ad.Node { // of which each pair of a row and a column has its own
		known, rows := make([]float64, 60*12), make([]float64, 60)
		for i := range known {
			known[i] = math.Sin(float64(i * i))
			rows[i/12] = math.Cos(float64(i / 12))
		}
		size := ad.Exp(ad.Mul(ad.Index(h, 0, 1), ad.Const(rows)))
		spread := ad.Exp(ad.Mul(ad.Index(h, 0, 0), ad.Const(rows[:12])))
		residual := ad.Div(ad.Sub(ad.Const(rows), ad.MatMul(ad.Const(known, 60, 12), ad.Mul(spread, x))), size)
		return ad.Add(ad.Sum(ad.Square(residual)), ad.Sum(ad.Square(x)))
	}},
	"products of matrices": {4, []int{2, 2}, func(x, h *ad.Node) *ad.Node {
		return ad.Add(ad.Sum(ad.Mul(ad.MatMul(x, ad.T(x)), ad.Reshape(ad.Concat(0, h, h), 2, 2))), ad.Scale(5, ad.Sum(ad.Square(x))))
	}},
}

// Precisions that are seen in a graph are minus its second derivatives, in sparse and in dense form; so are their determinants, the gradients of these, solutions and roots.
func TestCurvatures(t *testing.T) {
	for name, c := range graphs {
		shape := c.shape
		if shape == nil {
			shape = []int{c.size}
		}
		x, h, v := ad.Input("x", shape...), ad.Input("h", 2), ad.Input("v", c.size)
		lp := ad.Neg(c.of(x, h))
		seen, ok := curvaturesOf(lp, newSight(graph.Consumers(lp), []*ad.Node{x}))
		if !ok {
			t.Errorf("%s: the second derivatives are not seen", name)
			continue
		}
		forms := []Precision{newDense(seen)}
		if s := newSparse(seen); s != nil {
			forms = append(forms, s)
		}
		want := ad.Cholesky(ad.Reshape(ad.Neg(ad.Hessian(lp, x)), c.size, c.size))
		logDet := ad.CholeskyLogDet(want)
		outputs := []*ad.Node{want, logDet, ad.Grad(logDet, h)[0], ad.CholeskySolve(want, v), ad.MatMul(want, ad.MatMul(ad.T(want), v))}
		for _, p := range forms {
			outputs = append(outputs, append([]*ad.Node{p.logDet(), ad.Grad(p.logDet(), h)[0], p.solve(v), p.product(v)}, p.Nodes()...)...)
		}
		prog, err := ad.Compile(outputs, ad.Settings{Inputs: []*ad.Node{x, h, v}})
		if err != nil {
			t.Fatal(name, err)
		}
		s := prog.NewState()
		src := tensor.NewStream(5, 0, 0)
		src.NormalTo(s.Input(0))
		copy(s.Input(1), []float64{0.7, 1.3})
		src.NormalTo(s.Input(2))
		if err := s.Run(); err != nil {
			t.Fatal(name, err)
		}
		for k, p := range forms {
			for j := range 4 {
				for i, got := range s.Output(5*(k+1) + j) {
					if w := s.Output(1 + j)[i]; math.Abs(got-w) > 1e-11*(1+math.Abs(w)) {
						t.Errorf("%s, form %d: result %d has %.14g at %d, want %.14g", name, k, j, got, i, w)
					}
				}
			}
			z := src.NormalTo(make([]float64, c.size))
			r := append([]float64(nil), z...)
			if half := p.Root(r, [][]float64{s.Output(5*(k+1) + 4)}); math.Abs(2*half-s.Output(1)[0]) > 1e-11 {
				t.Errorf("%s, form %d: half of the logarithm of the determinant is %g, want %g", name, k, half, s.Output(1)[0]/2)
			}
			// r^T P r = z^T z
			sum, norm := 0.0, 0.0
			for j := range c.size {
				y := 0.0
				for i := j; i < c.size; i++ {
					y += s.Output(0)[i*c.size+j] * r[i]
				}
				sum, norm = sum+y*y, norm+z[j]*z[j]
			}
			if math.Abs(sum-norm) > 1e-11*norm {
				t.Errorf("%s, form %d: a root has the square %g, want %g", name, k, sum, norm)
			}
		}
	}
}

// Factors that do not exist are NaN.
func TestNoFactor(t *testing.T) {
	x, h := ad.Input("x", 4), ad.Input("h", 2)
	lp := ad.Sum(ad.Mul(ad.Index(h, 0, 0), ad.Square(x)))
	seen, ok := curvaturesOf(lp, newSight(graph.Consumers(lp), []*ad.Node{x}))
	if !ok {
		t.Fatal("the second derivatives are not seen")
	}
	for _, p := range []Precision{newDense(seen), newSparse(seen)} {
		v, err := ad.Eval(ad.Substitute([]*ad.Node{p.logDet()}, []*ad.Node{h}, []*ad.Node{ad.Const([]float64{1, 1})})[0])
		if err != nil || !math.IsNaN(v[0].Float64s()[0]) {
			t.Errorf("the logarithm of the determinant of a matrix that is not positive definite is %v: %v", v, err)
		}
	}
}

// Functions that are not quadratic in x are not taken for such.
func TestNoCurvatures(t *testing.T) {
	for name, of := range map[string]func(x, h *ad.Node) *ad.Node{
		"weights of x":            func(x, h *ad.Node) *ad.Node { return ad.Sum(ad.Mul(x, ad.Square(x))) },
		"squares of squares":      func(x, h *ad.Node) *ad.Node { return ad.Sum(ad.Square(ad.Square(x))) },
		"nothing but a slope":     func(x, h *ad.Node) *ad.Node { return ad.Sum(x) },
		"exponentials of squares": func(x, h *ad.Node) *ad.Node { return ad.Sum(ad.Exp(ad.Square(x))) },
		"an exponential":          func(x, h *ad.Node) *ad.Node { return ad.Sum(ad.Square(ad.Exp(x))) },
	} {
		x, h := ad.Input("x", 4), ad.Input("h", 2)
		lp := of(x, h)
		if _, ok := curvaturesOf(lp, newSight(graph.Consumers(lp), []*ad.Node{x})); ok {
			t.Errorf("%s: second derivatives are seen that depend on nothing but h", name)
		}
	}
}
