// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"cmp"
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
	"github.com/euryale-dev/euryale/tensor"
)

// pairs of real and imaginary parts as complex numbers, and back
func complexFrom(x []float64) []complex128 {
	out := make([]complex128, len(x)/2)
	for i := range out {
		out[i] = complex(x[2*i], x[2*i+1])
	}
	return out
}

func complexInto(out []float64, x []complex128) {
	for i, v := range x {
		out[2*i], out[2*i+1] = real(v), imag(v)
	}
}

// eigenOf is the decomposition a = v diag(w) v^-1 of complex matrices. Arrays: (n, n, 2) to (n+1, n, 2), with w first and then v, whose columns
// have length 1 and a largest element that is positive. The derivative is that of this choice. The order is that of the Schur decomposition,
// or ascending real parts if sorted is set.
func eigenOf(sorted bool) *ad.Custom {
	return &ad.Custom{Name: "eigendecompose",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) {
			n := in[0][0]
			return tensor.Shape{n + 1, n, 2}, nil
		},
		Forward: func(out []float64, in ...[]float64) error {
			n := int(math.Round(math.Sqrt(float64(len(in[0]) / 2))))
			u, t, ok := schur(complexSquare{n, complexFrom(in[0])})
			if !ok {
				for i := range out {
					out[i] = math.NaN()
				}
				return nil
			}
			v := eigenvectorsOf(u, t)
			order := make([]int, n)
			for i := range order {
				order[i] = i
			}
			if sorted {
				slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(real(*t.at(i, i)), real(*t.at(j, j))) })
			}
			y := make([]complex128, (n+1)*n)
			for k, from := range order {
				y[k] = *t.at(from, from)
				for i := range n {
					y[(i+1)*n+k] = *v.at(i, from)
				}
			}
			complexInto(out, y)
			return nil
		},
		Adjoint: func(dIn [][]float64, g, out []float64, in ...[]float64) error {
			n := int(math.Round(math.Sqrt(float64(len(in[0]) / 2))))
			complexInto(dIn[0], eigenAdjoint(n, complexFrom(g), complexFrom(out)).a)
			return nil
		}}
}

// eigenAdjoint returns the gradient with respect to the matrix. With P = v^-1 da v the eigenvalues move by dw = diag P and the vectors by
// dv = Y + v diag(d), Y = v (F o P), F_ij = 1/(w_j - w_i), F_ii = 0, where d keeps length and phase of the columns:
// Re d_j = -Re(v_j^H y_j), Im d_j = -Im(y_mj)/v_mj for the largest element m.
func eigenAdjoint(n int, g, out []complex128) complexSquare {
	w, v := out[:n], complexSquare{n, out[n:]}
	gv := newComplexSquare(n)
	copy(gv.a, g[n:])
	for j := range n {
		h := complex128(0)
		for i := range n {
			h += cmplx.Conj(*gv.at(i, j)) * *v.at(i, j)
		}
		m := v.largest(j)
		for i := range n {
			*gv.at(i, j) -= complex(real(h), 0) * *v.at(i, j)
		}
		*gv.at(m, j) += complex(0, imag(h)/real(*v.at(m, j)))
	}
	q := v.adjoint().times(gv)
	for i := range n {
		for j := range n {
			if i == j {
				*q.at(i, i) = g[i]
				continue
			}
			if *q.at(i, j) != 0 {
				*q.at(i, j) /= cmplx.Conj(w[j] - w[i])
			}
		}
	}
	return v.adjoint().solve(q.times(v.adjoint()))
}

// hermitian is the mean of a complex matrix and its conjugate transpose.
func hermitian(re, im *ad.Node) *ad.Node {
	return ad.Complex(symmetric(re), ad.Scale(0.5, ad.Sub(im, ad.T(im))))
}

// eigen returns eigenvalues and eigenvectors of a matrix.
func eigen(c *Call, symmetrical bool) (w, v value.Value, err error) {
	a := c.Args[0]
	if err := square(a, "the decomposition"); err != nil {
		return a, a, err
	}
	n := a.Shape[0]
	values, vectors := typing.Of(typing.ComplexVector), typing.Of(typing.ComplexMatrix)
	if n == 0 {
		return value.Unset(values, 0), value.Unset(vectors, 0, 0), nil
	}
	re, im := a.Parts()
	z := ad.Complex(re.Node(), im.Node())
	if symmetrical {
		z = hermitian(re.Node(), im.Node())
	}
	y := ad.Call(eigenOf(symmetrical), z)
	own := *c
	own.Result = values
	first := ad.Index(y, 0, 0)
	if w, err = own.complexOf(ad.Real(first), ad.Imag(first), n); err != nil {
		return w, w, err
	}
	own.Result = vectors
	rest := ad.Slice(y, 0, 1, n+1)
	v, err = own.complexOf(ad.Real(rest), ad.Imag(rest), n, n)
	c.Evaluated = own.Evaluated
	return w, v, err
}

// tupleOf is the type of a tuple.
func tupleOf(elems ...typing.Kind) typing.Type {
	t := typing.Type{Kind: typing.Tuple}
	for _, k := range elems {
		t.Elems = append(t.Elems, typing.Of(k))
	}
	return t
}

// returning is an overload that returns a tuple.
func returning(args string, t typing.Type) typing.Overload {
	o := typing.Sig(args + " => real")
	o.Result = func([]typing.Type) (typing.Type, bool) { return t, true }
	return o
}

func tuple(t typing.Type, elems ...value.Value) value.Value {
	return value.Value{Type: t, Elems: elems}
}

// decompositions registers those of general and of complex matrices, and those that return tuples.
func decompositions() {
	for _, symmetrical := range []bool{false, true} {
		suffix := map[bool]string{true: "_sym"}[symmetrical]
		values, vectors := "eigenvalues"+suffix, "eigenvectors"+suffix
		general := func(name string, pick func(w, v value.Value) value.Value, plain func(c *Call) (value.Value, error)) func(c *Call) (value.Value, error) {
			return func(c *Call) (value.Value, error) {
				if plain != nil && !c.Args[0].Type.Kind.IsComplex() {
					return plain(c)
				}
				w, v, err := eigen(c, symmetrical)
				return pick(w, v), err
			}
		}
		plain := func(name string) func(c *Call) (value.Value, error) {
			if f := functions[name]; f != nil {
				return f.Do
			}
			return nil
		}
		more := "matrix|complex_matrix"
		if symmetrical {
			more = "complex_matrix"
		}
		for name, pick := range map[string]func(w, v value.Value) value.Value{
			values:  func(w, _ value.Value) value.Value { return w },
			vectors: func(_, v value.Value) value.Value { return v },
		} {
			do := general(name, pick, plain(name))
			if functions[name] == nil {
				register(name, false, do)
			}
			functions[name].Do = do
			kind := "complex_vector"
			if name == vectors {
				kind = "complex_matrix"
			}
			overload(name, typing.Sig(more+" => "+kind))
		}
		whole := tupleOf(typing.ComplexMatrix, typing.ComplexVector)
		name := "eigendecompose" + suffix
		register(name, false, func(c *Call) (value.Value, error) {
			if symmetrical && !c.Args[0].Type.Kind.IsComplex() {
				return both(c, "eigenvectors_sym", "eigenvalues_sym")
			}
			w, v, err := eigen(c, symmetrical)
			return tuple(whole, v, w), err
		})
		if symmetrical {
			overload(name, returning("matrix", tupleOf(typing.Matrix, typing.Vector)))
			overload(name, returning("complex_matrix", whole))
		} else {
			overload(name, returning("matrix|complex_matrix", whole))
		}
	}
	settings := typing.Type{Kind: typing.Tuple, Elems: []typing.Type{typing.Of(typing.Vector), typing.Of(typing.Real), typing.Of(typing.Int), typing.Of(typing.Int), typing.Of(typing.Int), typing.Of(typing.Int)}}
	register("generate_laplace_options", false, func(c *Call) (value.Value, error) {
		start := c.Args[0]
		if start.Type.Kind == typing.Int {
			start = value.Vector(make([]float64, max(0, start.Integer())))
		}
		return tuple(settings, start, value.Real(0x1p-26), value.Int(500), value.Int(1), value.Int(1000), value.Int(1)), nil
	})
	overload("generate_laplace_options", returning("int|vector", settings))
	schurs()
	singular()
	orthogonal()
}

// both calls functions with the same arguments, and returns their results as a tuple.
func both(c *Call, names ...string) (value.Value, error) {
	out := value.Value{Type: c.Result}
	for i, name := range names {
		own := *c
		own.Name, own.Result = name, c.Result.Elems[i]
		v, err := functions[name].Do(&own)
		if err != nil {
			return v, err
		}
		out.Elems = append(out.Elems, v)
		c.Evaluated = c.Evaluated || own.Evaluated
	}
	return out, nil
}

// schurs registers the Schur decomposition, of known matrices.
func schurs() {
	of := func(c *Call) (u, t value.Value, err error) {
		a := c.Args[0]
		if err := square(a, "the Schur decomposition"); err != nil {
			return a, a, err
		}
		if !a.Known() {
			return a, a, fmt.Errorf("the Schur decomposition of a matrix that depends on parameters has no derivative, since the phases of its columns are arbitrary: use it in transformed data or generated quantities, or eigendecompose")
		}
		re, im := a.Parts()
		m := newComplexSquare(a.Shape[0])
		for i := range m.a {
			m.a[i] = complex(re.F[i], im.F[i])
		}
		x, y, ok := schur(m)
		if !ok {
			return a, a, ad.ErrNoConvergence
		}
		return knownComplex(x), knownComplex(y), nil
	}
	args := "matrix|complex_matrix"
	whole := tupleOf(typing.ComplexMatrix, typing.ComplexMatrix)
	register("complex_schur_decompose", false, func(c *Call) (value.Value, error) {
		u, t, err := of(c)
		return tuple(whole, u, t), err
	})
	overload("complex_schur_decompose", returning(args, whole))
	register("complex_schur_decompose_u", false, func(c *Call) (value.Value, error) { u, _, err := of(c); return u, err }, args+" => complex_matrix")
	register("complex_schur_decompose_t", false, func(c *Call) (value.Value, error) { _, t, err := of(c); return t, err }, args+" => complex_matrix")
}

func knownComplex(m complexSquare) value.Value { return knownComplexOf(m.a, m.n, m.n) }

func knownComplexOf(a []complex128, shape ...int) value.Value {
	re, im := make([]float64, len(a)), make([]float64, len(a))
	for i, x := range a {
		re[i], im[i] = real(x), imag(x)
	}
	r := typing.Of(typing.Matrix)
	return value.Complex(typing.Of(typing.ComplexMatrix), value.Known(r, re, shape...), value.Known(r, im, shape...))
}

// complexSVD returns the decomposition a = u diag(s) v^H of a (rows, cols) matrix with s descending, by Jacobi's rotations of pairs of columns
// (Golub and Van Loan, Matrix Computations, section 8.6).
func complexSVD(a []complex128, rows, cols int) (u []complex128, s []float64, v []complex128) {
	if rows < cols {
		h := make([]complex128, len(a))
		for i := range rows {
			for j := range cols {
				h[j*rows+i] = cmplx.Conj(a[i*cols+j])
			}
		}
		v, s, u = complexSVD(h, cols, rows)
		return u, s, v
	}
	a = slices.Clone(a)
	v = make([]complex128, cols*cols)
	for i := range cols {
		v[i*cols+i] = 1
	}
	for range 60 {
		if !jacobiSweep(a, v, rows, cols) {
			break
		}
	}
	norms := make([]float64, cols)
	order := make([]int, cols)
	for j := range cols {
		for i := range rows {
			norms[j] = math.Hypot(norms[j], cmplx.Abs(a[i*cols+j]))
		}
		order[j] = j
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(norms[j], norms[i]) })
	u, s = make([]complex128, rows*cols), make([]float64, cols)
	w := make([]complex128, cols*cols)
	for k, from := range order {
		s[k] = norms[from]
		for i := range rows {
			if s[k] > 0 {
				u[i*cols+k] = a[i*cols+from] / complex(s[k], 0)
			}
		}
		for i := range cols {
			w[i*cols+k] = v[i*cols+from]
		}
	}
	return u, s, w
}

// jacobiSweep makes each pair of columns of a orthogonal, and says whether any was not.
func jacobiSweep(a, v []complex128, rows, cols int) (moved bool) {
	for p := range cols {
		for q := p + 1; q < cols; q++ {
			alpha, beta, gamma := 0.0, 0.0, complex128(0)
			for i := range rows {
				x, y := a[i*cols+p], a[i*cols+q]
				alpha += real(x)*real(x) + imag(x)*imag(x)
				beta += real(y)*real(y) + imag(y)*imag(y)
				gamma += cmplx.Conj(x) * y
			}
			size := cmplx.Abs(gamma)
			if size <= 1e-15*math.Sqrt(alpha*beta) {
				continue
			}
			moved = true
			phase := gamma / complex(size, 0)
			zeta := (beta - alpha) / (2 * size)
			t := math.Copysign(1, zeta) / (math.Abs(zeta) + math.Hypot(1, zeta))
			cos := 1 / math.Hypot(1, t)
			sin := complex(cos*t, 0)
			for _, m := range [][]complex128{a, v} {
				for i := 0; i < len(m); i += cols {
					x, y := m[i+p], m[i+q]*cmplx.Conj(phase)
					m[i+p], m[i+q] = complex(cos, 0)*x-sin*y, sin*x+complex(cos, 0)*y
				}
			}
		}
	}
	return moved
}

// singular registers singular values of complex matrices, and the decompositions as tuples.
func singular() {
	of := func(c *Call) (u, s, v value.Value, err error) {
		a := c.Args[0]
		rows, cols := a.Shape[0], a.Shape[1]
		if !a.Known() {
			return a, a, a, fmt.Errorf("the singular vectors of a complex matrix that depends on parameters have no derivative here, since their phases are arbitrary: use singular_values, or the function in transformed data or generated quantities")
		}
		re, im := a.Parts()
		z := make([]complex128, rows*cols)
		for i := range z {
			z[i] = complex(re.F[i], im.F[i])
		}
		k := min(rows, cols)
		x, w, y := complexSVD(z, rows, cols)
		return knownComplexOf(x, rows, k), value.Vector(w), knownComplexOf(y, cols, k), nil
	}
	extended := func(name string, do func(c *Call) (value.Value, error), o typing.Overload) {
		plain := functions[name].Do
		functions[name].Do = func(c *Call) (value.Value, error) {
			if c.Args[0].Type.Kind.IsComplex() {
				return do(c)
			}
			return plain(c)
		}
		overload(name, o)
	}
	extended("svd_U", func(c *Call) (value.Value, error) { u, _, _, err := of(c); return u, err }, typing.Sig("complex_matrix => complex_matrix"))
	extended("svd_V", func(c *Call) (value.Value, error) { _, _, v, err := of(c); return v, err }, typing.Sig("complex_matrix => complex_matrix"))
	extended("singular_values", func(c *Call) (value.Value, error) {
		re, im := c.Args[0].Parts()
		rows, cols := re.Shape[0], re.Shape[1]
		return result(c, ad.Call(singularOf(rows, cols), ad.Complex(re.Node(), im.Node())), 0, min(rows, cols))
	}, typing.Sig("complex_matrix => vector"))
	register("svd", false, func(c *Call) (value.Value, error) {
		if !c.Args[0].Type.Kind.IsComplex() {
			return both(c, "svd_U", "singular_values", "svd_V")
		}
		u, s, v, err := of(c)
		return tuple(c.Result, u, s, v), err
	})
	overload("svd", returning("matrix", tupleOf(typing.Matrix, typing.Vector, typing.Matrix)))
	overload("svd", returning("complex_matrix", tupleOf(typing.ComplexMatrix, typing.Vector, typing.ComplexMatrix)))
}

// singularOf computes the singular values s_i of a (rows, cols, 2) array. Gradient: the sum of g_i u_i v_i^H.
func singularOf(rows, cols int) *ad.Custom {
	return &ad.Custom{Name: "singular_values",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{min(rows, cols)}, nil },
		Forward: func(out []float64, in ...[]float64) error {
			_, s, _ := complexSVD(complexFrom(in[0]), rows, cols)
			copy(out, s)
			return nil
		},
		Adjoint: func(dIn [][]float64, g, _ []float64, in ...[]float64) error {
			u, _, v := complexSVD(complexFrom(in[0]), rows, cols)
			k := min(rows, cols)
			d := make([]complex128, rows*cols)
			for i := range rows {
				for j := range cols {
					for l := range k {
						d[i*cols+j] += complex(g[l], 0) * u[i*k+l] * cmplx.Conj(v[j*k+l])
					}
				}
			}
			complexInto(dIn[0], d)
			return nil
		}}
}

// orthogonal registers the QR decomposition as a tuple, and with a square Q.
func orthogonal() {
	register("qr_thin", false, func(c *Call) (value.Value, error) { return both(c, "qr_thin_Q", "qr_thin_R") })
	matrixOf("qr_Q", func(x []*ad.Node) *ad.Node { q, _ := fullQR(x[0]); return q }, func(a []value.Value) ([]int, error) {
		return []int{a[0].Shape[0], a[0].Shape[0]}, nil
	}, "matrix => matrix")
	matrixOf("qr_R", func(x []*ad.Node) *ad.Node { _, r := fullQR(x[0]); return r }, func(a []value.Value) ([]int, error) { return a[0].Shape, nil }, "matrix => matrix")
	register("qr", false, func(c *Call) (value.Value, error) { return both(c, "qr_Q", "qr_R") })
	for _, name := range []string{"qr", "qr_thin"} {
		overload(name, returning("matrix", tupleOf(typing.Matrix, typing.Matrix)))
	}
}

// fullQR is the decomposition with a square Q, whose further columns are those of a decomposition of the projector on what is left.
func fullQR(a *ad.Node) (q, r *ad.Node) {
	rows, cols := a.Shape()[0], a.Shape()[1]
	q, r = positiveQR(a)
	if rows <= cols {
		return q, r
	}
	left := ad.Sub(ad.Eye(rows), ad.MatMul(q, ad.T(q)))
	// a seed that is the same at every call keeps the columns, which are arbitrary, a smooth function of a
	seed := make([]float64, rows*(rows-cols))
	for i := range seed {
		seed[i] = math.Sin(float64(1 + 7*i + i*i%13))
	}
	rest, _ := ad.QR(ad.MatMul(left, ad.Const(seed, rows, rows-cols)))
	return ad.Concat(1, q, rest), ad.Concat(0, r, ad.Full(0, rows-cols, cols))
}
