// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// matrixOf registers a function of nodes of matrices, without lanes. shape returns the shape of the result.
func matrixOf(name string, graph func(x []*ad.Node) *ad.Node, shape func(a []value.Value) ([]int, error), signatures ...string) {
	register(name, false, func(c *Call) (value.Value, error) {
		s, err := shape(c.Args)
		if err != nil {
			return value.Value{}, err
		}
		if value.Size(s) == 0 {
			return value.Known(c.Result, nil, s...), nil
		}
		var in []*ad.Node
		for _, a := range c.Args {
			in = append(in, a.Node())
		}
		return result(c, graph(in), 0, s...)
	}, signatures...)
}

func squareOf(a []value.Value) ([]int, error) {
	return a[0].Shape, square(a[0], "this function")
}

func scalarOfSquare(a []value.Value) ([]int, error) {
	return nil, square(a[0], "this function")
}

// symmetric is the mean of a matrix and its transpose, whose derivative is that with respect to a symmetric matrix.
func symmetric(x *ad.Node) *ad.Node { return ad.Scale(0.5, ad.Add(x, ad.T(x))) }

// matrixFunctions registers them.
func matrixFunctions() {
	matrixOf("cholesky_decompose", func(x []*ad.Node) *ad.Node { return ad.CholeskyOrNaN(x[0]) }, squareOf, "matrix => matrix")
	matrixOf("inverse", func(x []*ad.Node) *ad.Node { return ad.Inverse(x[0]) }, squareOf, "matrix => matrix")
	matrixOf("inverse_spd", func(x []*ad.Node) *ad.Node { return ad.Inverse(symmetric(x[0])) }, squareOf, "matrix => matrix")
	matrixOf("chol2inv", func(x []*ad.Node) *ad.Node {
		return ad.CholeskySolve(x[0], ad.Eye(x[0].Shape()[0]))
	}, squareOf, "matrix => matrix")
	matrixOf("determinant", func(x []*ad.Node) *ad.Node { return ad.Det(x[0]) }, scalarOfSquare, "matrix => real")
	matrixOf("log_determinant", func(x []*ad.Node) *ad.Node { return ad.LogDet(x[0]) }, scalarOfSquare, "matrix => real")
	matrixOf("log_determinant_spd", func(x []*ad.Node) *ad.Node { return ad.CholeskyLogDet(ad.CholeskyOrNaN(symmetric(x[0]))) }, scalarOfSquare, "matrix => real")
	matrixOf("trace", func(x []*ad.Node) *ad.Node { return ad.Sum(ad.Diag(x[0])) }, func(a []value.Value) ([]int, error) { return nil, nil }, "matrix => real")
	matrixOf("trace_dot", func(x []*ad.Node) *ad.Node { return ad.Sum(ad.Mul(x[0], ad.T(x[1]))) }, func(a []value.Value) ([]int, error) {
		return nil, fits(a[0].Shape[0] == a[1].Shape[1] && a[0].Shape[1] == a[1].Shape[0], a)
	}, "matrix matrix => real")
	matrixOf("diagonal", func(x []*ad.Node) *ad.Node { return ad.Diag(x[0]) }, func(a []value.Value) ([]int, error) { return a[0].Shape[:1], nil }, "matrix => vector")
	matrixOf("diag_matrix", func(x []*ad.Node) *ad.Node { return ad.DiagMatrix(x[0]) }, func(a []value.Value) ([]int, error) {
		return []int{a[0].Shape[0], a[0].Shape[0]}, nil
	}, "vector => matrix")
	matrixOf("add_diag", func(x []*ad.Node) *ad.Node {
		n := x[0].Shape()[0]
		d := x[1]
		if d.Size() == 1 && len(d.Shape()) == 0 {
			d = ad.Broadcast(d, n)
		}
		return ad.Add(x[0], ad.DiagMatrix(d))
	}, squareOf, "matrix real|vector|row_vector => matrix")
	matrixOf("diag_pre_multiply", func(x []*ad.Node) *ad.Node { return ad.Mul(ad.Reshape(x[0], x[0].Size(), 1), x[1]) }, func(a []value.Value) ([]int, error) {
		return a[1].Shape, fits(a[0].Size() == a[1].Shape[0], a)
	}, "vector|row_vector matrix => matrix")
	matrixOf("diag_post_multiply", func(x []*ad.Node) *ad.Node { return ad.Mul(x[0], ad.Reshape(x[1], 1, x[1].Size())) }, func(a []value.Value) ([]int, error) {
		return a[0].Shape, fits(a[1].Size() == a[0].Shape[1], a)
	}, "matrix vector|row_vector => matrix")
	matrixOf("tcrossprod", func(x []*ad.Node) *ad.Node { return ad.MatMul(x[0], ad.T(x[0])) }, func(a []value.Value) ([]int, error) {
		return []int{a[0].Shape[0], a[0].Shape[0]}, nil
	}, "matrix => matrix")
	matrixOf("crossprod", func(x []*ad.Node) *ad.Node { return ad.MatMul(ad.T(x[0]), x[0]) }, func(a []value.Value) ([]int, error) {
		return []int{a[0].Shape[1], a[0].Shape[1]}, nil
	}, "matrix => matrix")
	matrixOf("multiply_lower_tri_self_transpose", func(x []*ad.Node) *ad.Node {
		l := ad.Tril(x[0], 0)
		return ad.MatMul(l, ad.T(l))
	}, func(a []value.Value) ([]int, error) { return []int{a[0].Shape[0], a[0].Shape[0]}, nil }, "matrix => matrix")
	matrixOf("symmetrize_from_lower_tri", func(x []*ad.Node) *ad.Node {
		return ad.Add(ad.Tril(x[0], 0), ad.T(ad.Tril(x[0], -1)))
	}, squareOf, "matrix => matrix")
	register("transpose", true, func(c *Call) (value.Value, error) { return Transpose(c.Args[0], c.Result) }, "vector => row_vector", "row_vector => vector", "matrix => matrix")
	register("elt_multiply", true, func(c *Call) (value.Value, error) { return Operator(".*", c.Args[0], c.Args[1], c.Result) }, "vector vector => vector", "row_vector row_vector => row_vector", "matrix matrix => matrix")
	register("elt_divide", true, func(c *Call) (value.Value, error) { return Operator("./", c.Args[0], c.Args[1], c.Result) },
		"vector vector|real => vector", "row_vector row_vector|real => row_vector", "matrix matrix|real => matrix")
	solves()
	forms()
	byRow()
	spectra()
	decompositions()
	sparse()
}

func fits(ok bool, a []value.Value) error {
	if ok {
		return nil
	}
	return fmt.Errorf("sizes do not match: %s and %s: give both the same size", sizes(a[0].Shape), sizes(a[1].Shape))
}

// solves are divisions by matrices.
func solves() {
	left := func(a []value.Value) ([]int, error) {
		if err := square(a[0], "division"); err != nil {
			return nil, err
		}
		return a[1].Shape, fits(a[0].Shape[0] == a[1].Shape[0], a)
	}
	right := func(a []value.Value) ([]int, error) {
		if err := square(a[1], "division"); err != nil {
			return nil, err
		}
		return a[0].Shape, fits(a[0].Shape[len(a[0].Shape)-1] == a[1].Shape[0], a)
	}
	flip := func(x *ad.Node) *ad.Node {
		if len(x.Shape()) == 2 {
			return ad.T(x)
		}
		return x
	}
	triangular := func(a, b *ad.Node, lower, transposed bool) *ad.Node {
		return ad.SolveTriangular(a, b, lower, transposed)
	}
	matrixOf("mdivide_left", func(x []*ad.Node) *ad.Node { return ad.Solve(x[0], x[1]) }, left, "matrix matrix => matrix", "matrix vector => vector")
	matrixOf("mdivide_left_spd", func(x []*ad.Node) *ad.Node { return ad.Solve(symmetric(x[0]), x[1]) }, left, "matrix matrix => matrix", "matrix vector => vector")
	matrixOf("mdivide_left_tri_low", func(x []*ad.Node) *ad.Node { return triangular(ad.Tril(x[0], 0), x[1], true, false) }, left, "matrix matrix => matrix", "matrix vector => vector")
	matrixOf("mdivide_right", func(x []*ad.Node) *ad.Node { return flip(ad.Solve(ad.T(x[1]), flip(x[0]))) }, right, "matrix matrix => matrix", "row_vector matrix => row_vector")
	matrixOf("mdivide_right_spd", func(x []*ad.Node) *ad.Node { return flip(ad.Solve(symmetric(x[1]), flip(x[0]))) }, right, "matrix matrix => matrix", "row_vector matrix => row_vector")
	matrixOf("mdivide_right_tri_low", func(x []*ad.Node) *ad.Node { return flip(triangular(ad.Tril(x[1], 0), flip(x[0]), true, true)) }, right, "matrix matrix => matrix", "row_vector matrix => row_vector")
}

// forms are quadratic forms.
func forms() {
	quad := func(x []*ad.Node) *ad.Node {
		if len(x[1].Shape()) == 1 {
			return ad.Dot(x[1], ad.MatMul(x[0], x[1]))
		}
		return ad.MatMul(ad.T(x[1]), ad.MatMul(x[0], x[1]))
	}
	shape := func(a []value.Value) ([]int, error) {
		err := fits(a[0].Shape[0] == a[0].Shape[1] && a[0].Shape[1] == a[1].Shape[0], a)
		if len(a[1].Shape) == 1 {
			return nil, err
		}
		return []int{a[1].Shape[1], a[1].Shape[1]}, err
	}
	matrixOf("quad_form", quad, shape, "matrix matrix => matrix", "matrix vector => real")
	matrixOf("quad_form_sym", func(x []*ad.Node) *ad.Node {
		q := quad([]*ad.Node{symmetric(x[0]), x[1]})
		if len(q.Shape()) == 2 {
			q = symmetric(q)
		}
		return q
	}, shape, "matrix matrix => matrix", "matrix vector => real")
	matrixOf("trace_quad_form", func(x []*ad.Node) *ad.Node { return ad.Sum(ad.Mul(x[1], ad.MatMul(x[0], x[1]))) }, func(a []value.Value) ([]int, error) {
		_, err := shape(a)
		return nil, err
	}, "matrix matrix|vector => real")
	matrixOf("trace_gen_quad_form", func(x []*ad.Node) *ad.Node {
		return ad.Sum(ad.Diag(ad.MatMul(x[0], ad.MatMul(ad.T(x[2]), ad.MatMul(x[1], x[2])))))
	}, func(a []value.Value) ([]int, error) { return nil, nil }, "matrix matrix matrix => real")
	matrixOf("quad_form_diag", func(x []*ad.Node) *ad.Node {
		n := x[1].Size()
		return ad.Mul(ad.Mul(ad.Reshape(x[1], n, 1), x[0]), ad.Reshape(x[1], 1, n))
	}, func(a []value.Value) ([]int, error) {
		return a[0].Shape, fits(a[0].Shape[0] == a[1].Size() && a[0].Shape[1] == a[1].Size(), a)
	}, "matrix vector|row_vector => matrix")
}

// byRow are sums of products along the rows and the columns of matrices; a vector has one column, and a row vector one row.
func byRow() {
	for name, axis := range map[string]int{"rows": 1, "columns": 0} {
		do := func(c *Call) (value.Value, error) {
			a, b := c.Args[0], c.Args[len(c.Args)-1]
			if err := fits(slices.Equal(a.Shape, b.Shape), []value.Value{a, b}); err != nil {
				return a, err
			}
			shape := a.Shape
			switch a.Type.Kind {
			case typing.Vector:
				shape = []int{a.Size(), 1}
			case typing.RowVector:
				shape = []int{1, a.Size()}
			}
			out := shape[1-axis]
			if a.Size() == 0 {
				return value.Known(c.Result, make([]float64, out), out), nil
			}
			p := ad.Reshape(ad.Mul(a.Node(), b.Node()), shape...)
			return result(c, ad.SumAxes(p, axis), 0, out)
		}
		kind := map[string]string{"rows": "vector", "columns": "row_vector"}[name]
		register(name+"_dot_self", false, do, "matrix|vector|row_vector => "+kind)
		register(name+"_dot_product", false, do, "matrix matrix => "+kind, "vector vector => "+kind, "row_vector row_vector => "+kind)
	}
}

// spectra are functions of eigenvalues, singular values and powers.
func spectra() {
	vec := func(a []value.Value) ([]int, error) { return a[0].Shape[:1], square(a[0], "this function") }
	matrixOf("eigenvalues_sym", func(x []*ad.Node) *ad.Node { return ad.EigenvaluesSymmetric(x[0]) }, vec, "matrix => vector")
	matrixOf("eigenvectors_sym", func(x []*ad.Node) *ad.Node {
		_, v := ad.EigenSymmetric(x[0])
		return v
	}, squareOf, "matrix => matrix")
	matrixOf("singular_values", func(x []*ad.Node) *ad.Node { return ad.SingularValues(x[0]) }, func(a []value.Value) ([]int, error) {
		return []int{min(a[0].Shape[0], a[0].Shape[1])}, nil
	}, "matrix => vector")
	matrixOf("svd_U", func(x []*ad.Node) *ad.Node { u, _, _ := ad.SVD(x[0]); return u }, func(a []value.Value) ([]int, error) {
		return []int{a[0].Shape[0], min(a[0].Shape[0], a[0].Shape[1])}, nil
	}, "matrix => matrix")
	matrixOf("svd_V", func(x []*ad.Node) *ad.Node { _, _, v := ad.SVD(x[0]); return v }, func(a []value.Value) ([]int, error) {
		return []int{a[0].Shape[1], min(a[0].Shape[0], a[0].Shape[1])}, nil
	}, "matrix => matrix")
	matrixOf("qr_thin_Q", func(x []*ad.Node) *ad.Node { q, _ := positiveQR(x[0]); return q }, func(a []value.Value) ([]int, error) {
		return []int{a[0].Shape[0], min(a[0].Shape[0], a[0].Shape[1])}, nil
	}, "matrix => matrix")
	matrixOf("qr_thin_R", func(x []*ad.Node) *ad.Node { _, r := positiveQR(x[0]); return r }, func(a []value.Value) ([]int, error) {
		return []int{min(a[0].Shape[0], a[0].Shape[1]), a[0].Shape[1]}, nil
	}, "matrix => matrix")
	matrixOf("generalized_inverse", func(x []*ad.Node) *ad.Node {
		a := x[0]
		if a.Shape()[0] >= a.Shape()[1] {
			return ad.Solve(ad.MatMul(ad.T(a), a), ad.T(a))
		}
		return ad.T(ad.Solve(ad.MatMul(a, ad.T(a)), a))
	}, func(a []value.Value) ([]int, error) { return []int{a[0].Shape[1], a[0].Shape[0]}, nil }, "matrix => matrix")
	matrixOf("matrix_exp", func(x []*ad.Node) *ad.Node { return matrixExp(x[0]) }, squareOf, "matrix => matrix")
	matrixOf("matrix_exp_multiply", func(x []*ad.Node) *ad.Node { return ad.MatMul(matrixExp(x[0]), x[1]) }, same1, "matrix matrix => matrix")
	matrixOf("scale_matrix_exp_multiply", func(x []*ad.Node) *ad.Node { return ad.MatMul(matrixExp(ad.Mul(x[0], x[1])), x[2]) }, func(a []value.Value) ([]int, error) { return a[2].Shape, nil }, "real matrix matrix => matrix")
	register("matrix_power", false, func(c *Call) (value.Value, error) {
		v, n := c.Args[0], c.Args[1].Integer()
		if err := square(v, "matrix_power"); err != nil || n < 0 {
			return v, fmt.Errorf("the power is %d: want one of at least 0, of a square matrix", n)
		}
		out, base := ad.Eye(v.Shape[0]), v.Node()
		for ; n > 0; n /= 2 {
			if n%2 == 1 {
				out = ad.MatMul(out, base)
			}
			base = ad.MatMul(base, base)
		}
		return result(c, out, 0, v.Shape...)
	}, "matrix int => matrix")
}

// positiveQR is the QR decomposition with signs that make the diagonal of R positive, as that of Stan is.
func positiveQR(a *ad.Node) (q, r *ad.Node) {
	q, r = ad.QR(a)
	s := ad.Sign(ad.StopGradient(ad.Diag(r)))
	n := s.Size()
	return ad.Mul(q, ad.Reshape(s, 1, n)), ad.Mul(ad.Reshape(s, n, 1), r)
}

func same1(a []value.Value) ([]int, error) { return a[1].Shape, nil }

// matrixExp is the exponential of a matrix: Taylor's series of a part of it, squared back. 2^-16 of the matrix makes 12 terms exact for
// norms up to 10^4.
func matrixExp(a *ad.Node) *ad.Node {
	const halvings, terms = 16, 12
	x := ad.Scale(math.Exp2(-halvings), a)
	e := x // exp(x) - 1, which squaring keeps precise: (1 + e)^2 - 1 = 2 e + e^2
	term := x
	for k := 2; k <= terms; k++ {
		term = ad.Scale(1/float64(k), ad.MatMul(term, x))
		e = ad.Add(e, term)
	}
	for range halvings {
		e = ad.Add(ad.Scale(2, e), ad.MatMul(e, e))
	}
	return ad.Add(ad.Eye(a.Shape()[0]), e)
}
