// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// LinearMarginal is a Gaussian likelihood in which coefficients a of a linear model are integrated
// out under a flat prior. The model of the data d_k, whose errors are 1, is
//
//	d_k = t_k sum_i a_i P_ik + noise
//
// with a constant basis P and a factor t that depends on the other parameters: with S_ik = P_ik t_k
// and M = S S^T, minus twice the logarithm of the likelihood is, up to K log 2 pi,
//
//	chi2 = log det M + |d - S^T a|^2,   a = M^-1 S d
//
// Its gradient is that of variable projection, because a is optimal, plus that of log det M. All
// methods can be differentiated any number of times with respect to t and d, but not with respect
// to P. M is summed, factored and inverted in float64 in every precision, and in twice that where
// it is so ill-conditioned that float64 would lose more than a third of its digits. A row whose M
// has no inverse gives NaN.
//
// Reference: Golub and Pereyra, doi:10.1137/0710036.
type LinearMarginal struct {
	t, d, basis *Node
	rest        *Node // what rounding of the basis to float32 leaves out
	record      *Node // chi2, a and the rows of L^-1, as two numbers each whose sum is more accurate than either
	lead        tensor.Shape
}

// NewLinearMarginal makes the likelihood of rows, the last axes of t and of d, whose leading axes broadcast. basis is
// a constant of shape (K, N).
func NewLinearMarginal(t, d, basis *Node) *LinearMarginal {
	m := &LinearMarginal{t: t, d: d, basis: basis}
	bad := notReal("linear_marginal", t, d, basis)
	if bad == nil {
		switch {
		case len(t.shape) == 0 || len(d.shape) == 0 || len(basis.shape) != 2 || last(t.shape) != last(basis.shape) || last(d.shape) != last(basis.shape):
			bad = failed(&tensor.ShapeError{Op: "linear_marginal", Got: shapesOf([]*Node{t, d, basis}), Want: "rows as long as those of the basis"})
		case !basis.IsConst():
			bad = mistake("linear_marginal", "the basis is %v: want a constant, made by Const", basis)
		default:
			m.rest = Const(roundingOf(basis.data), basis.shape...)
			m.lead, bad = marginalRows.lead("linear_marginal", t, d, basis, m.rest)
		}
	}
	if m.record = bad; bad == nil {
		m.record = newNode(marginalOp, withTail(m.lead, 2*recordSize(basis.shape[0])), t, d, basis, m.rest)
	}
	return m
}

// roundingOf returns what rounding to float32 takes from numbers.
func roundingOf(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v - float64(float32(v))
	}
	return out
}

// recordSize returns the number of numbers in a record of K coefficients.
func recordSize(k int) int { return 1 + k + k*(k+1)/2 }

// ChiSquare returns chi2 of each row, without the axis of the rows.
func (m *LinearMarginal) ChiSquare() *Node { return m.part(marginalChiOp, m.lead) }

// ChiSquareRest returns the part that ChiSquare loses to rounding in programs in float32; it is a
// constant in gradients. The sum of both is right to some 14 digits.
func (m *LinearMarginal) ChiSquareRest() *Node {
	if m.record.err != nil {
		return m.record
	}
	return StopGradient(Index(m.record, -1, recordSize(m.basis.shape[0])))
}

// Coefficients returns the coefficients a of each row; their axis takes the place of the row.
func (m *LinearMarginal) Coefficients() *Node {
	return m.part(marginalFitOp, withTail(m.lead, m.basis.shape[0]))
}

func (m *LinearMarginal) part(op *Op, shape tensor.Shape) *Node {
	if m.record.err != nil {
		return m.record
	}
	y := newNode(op, shape, m.record, m.t, m.d, m.basis)
	y.obj = m
	return y
}

// Solve returns M^-1 h for vectors h in the last axis. The leading axes of h broadcast with those
// of the rows.
func (m *LinearMarginal) Solve(h *Node) *Node {
	if bad := notReal("linear_marginal", m.record, h); bad != nil {
		return bad
	}
	if len(h.shape) == 0 || last(h.shape) != m.basis.shape[0] {
		return failed(&tensor.ShapeError{Op: "linear_marginal", Got: shapesOf([]*Node{h, m.basis}), Want: "vectors with as many elements as the basis has rows"})
	}
	return m.solve(m.record, m.t, h)
}

// solve takes the record and t with further axes of length 1, so that h can have several vectors for each row.
func (m *LinearMarginal) solve(record, t, h *Node) *Node {
	lead, bad := marginalSolveRows.lead("linear_marginal", record, t, h, m.basis)
	if bad != nil {
		return bad
	}
	y := newNode(marginalSolveOp, withTail(lead, m.basis.shape[0]), record, t, h, m.basis)
	y.obj = m
	return y
}

// Project returns J - S^T M^-1 S J for the rows of j: the part of derivatives of the model that the coefficients cannot
// take up. j has an axis before its last one that t lacks, for several derivatives of each row. With the Jacobian
// J_jk = c_k dt_k/dtheta_j at fixed coefficients, c = P^T a, twice the products of the projected rows are the
// Gauss-Newton approximation of the Hessian.
//
// Reference: Kaufman, doi:10.1007/BF01932995.
func (m *LinearMarginal) Project(j *Node) *Node {
	if bad := notReal("linear_marginal", m.record, j); bad != nil {
		return bad
	}
	if len(j.shape) < 2 {
		return failed(&tensor.ShapeError{Op: "linear_marginal", Got: shapesOf([]*Node{j}), Want: "an axis of derivatives before the rows"})
	}
	return m.project(between(m.record), between(m.t), j)
}

func (m *LinearMarginal) project(record, t, j *Node) *Node {
	lead, bad := marginalProjectRows.lead("linear_marginal", record, t, j, m.basis, m.rest)
	if bad != nil {
		return bad
	}
	y := newNode(marginalProjectOp, withTail(lead, last(m.basis.shape)), record, t, j, m.basis, m.rest)
	y.obj = m
	return y
}

// projected is the formula that runMarginalProject evaluates.
func (m *LinearMarginal) projected(record, t, j *Node) *Node {
	s := MatMul(Mul(t, j), T(m.basis))
	return Sub(j, Mul(t, MatMul(m.solve(record, t, s), m.basis)))
}

// between gives x an axis of length 1 before its last.
func between(x *Node) *Node {
	k := len(x.shape)
	return Reshape(x, append(append(x.shape[:k-1].Clone(), 1), x.shape[k-1])...)
}

// Leverage returns q_k = p_k^T M^-1 p_k of each point, p_k being column k of P: log det M changes by 2 t_k q_k dt_k.
func (m *LinearMarginal) Leverage() *Node {
	if m.record.err != nil {
		return m.record
	}
	y := newNode(marginalLeverageOp, withTail(m.lead, last(m.basis.shape)), m.record, m.t, m.basis, m.rest)
	y.obj = m
	return y
}

// Continuum returns c = P^T a, the sum of the basis with the coefficients, in place of each row. It
// is summed in float64 in every precision, because coefficients that matter little can be large.
func (m *LinearMarginal) Continuum() *Node {
	if m.record.err != nil {
		return m.record
	}
	y := newNode(marginalSumOp, withTail(m.lead, last(m.basis.shape)), m.record, m.t, m.d, m.basis, m.rest)
	y.obj = m
	return y
}

// residual returns c = P^T a and r = d - c t.
func (m *LinearMarginal) residual() (c, r *Node) {
	c = m.Continuum()
	return c, Sub(m.d, Mul(c, m.t))
}

// fitGradient returns the gradients by t and d from that by a.
func (m *LinearMarginal) fitGradient(g *Node) (dt, dd *Node) {
	c, r := m.residual()
	u := MatMul(m.Solve(g), m.basis)
	return Mul(u, Sub(r, Mul(m.t, c))), Mul(m.t, u)
}

// marginalOf returns the likelihood that a Node of it was made by, with what has taken the place of its Nodes since:
// see Substitute.
func marginalOf(y *Node) *LinearMarginal {
	m := *y.obj.(*LinearMarginal)
	m.record = y.in[0]
	for m.record.op != marginalOp { // Project gives it a further axis
		m.record = m.record.in[0]
	}
	m.t, m.d, m.basis, m.rest = m.record.in[0], m.record.in[1], m.record.in[2], m.record.in[3]
	return &m
}

var (
	marginalRows         = rowOp{1, []int{1, 1, 2, 2}}
	marginalChiRows      = rowOp{0, []int{1, 1, 1, 2}}
	marginalFitRows      = rowOp{1, []int{1, 1, 1, 2}}
	marginalSolveRows    = rowOp{1, []int{1, 1, 1, 2}}
	marginalLeverageRows = rowOp{1, []int{1, 1, 2, 2}}
	marginalProjectRows  = rowOp{1, []int{1, 1, 1, 2, 2}}
	marginalSumRows      = rowOp{1, []int{1, 1, 1, 2, 2}}
)

var marginalSumOp, marginalProjectOp, marginalOp, marginalChiOp, marginalFitOp, marginalSolveOp, marginalLeverageOp *Op

func init() {
	sample := func(f func(m *LinearMarginal, in Source) *Node) func(in Source) []*Node {
		return func(in Source) []*Node {
			basis := Const([]float64{1, 1, 1, 1, 1, -1, -0.5, 0, 0.5, 1, 0.3, -0.2, 0.7, 0.1, -0.6}, 3, 5)
			line := Const([]float64{1, 1, 1, -1, 0.5, 1}, 2, 3)
			return []*Node{f(NewLinearMarginal(in(0.5, 1.5, 2, 5), in(-1, 1, 5), basis), in),
				f(NewLinearMarginal(in(0.5, 1.5, 3), in(-1, 1, 3), line), in)}
		}
	}
	// The record has no gradient of its own: the operations that read it have those of what they return.
	marginalOp = compiled(&Op{Name: "linear_marginal", Arity: 4, kind: compiler.Step, lift: marginalRows.lift,
		run:    func(c *cpu.Call) error { return c.Each(runMarginal[float64], runMarginal[float32]) },
		device: cuda.LinearMarginal})
	marginalChiOp = register(&Op{Name: "linear_marginal_chi", Arity: 4, kind: compiler.Step, pure: true, Smooth: true, lift: marginalChiRows.lift,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			m := marginalOf(y)
			c, r := m.residual()
			g = Reshape(g, append(g.shape.Clone(), 1)...)
			dt := Scale(2, Sub(Mul(m.t, m.Leverage()), Mul(r, c)))
			return []*Node{nil, Mul(g, dt), Mul(g, Scale(2, r)), nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runMarginalPart[float64], runMarginalPart[float32]) },
		device: cuda.LinearMarginalPart,
		Sample: sample(func(m *LinearMarginal, _ Source) *Node { return m.ChiSquare() })})
	marginalSumOp = register(&Op{Name: "linear_marginal_sum", Arity: 5, kind: compiler.Step, pure: true, Smooth: true, lift: marginalSumRows.lift,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			m := marginalOf(y)
			dt, dd := m.fitGradient(MatMul(g, T(m.basis)))
			return []*Node{nil, dt, dd, nil, nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runMarginalSum[float64], runMarginalSum[float32]) },
		device: cuda.LinearMarginalSum,
		Sample: sample(func(m *LinearMarginal, _ Source) *Node { return m.Continuum() })})
	marginalFitOp = register(&Op{Name: "linear_marginal_fit", Arity: 4, kind: compiler.Step, pure: true, Smooth: true, lift: marginalFitRows.lift,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			m := marginalOf(y)
			dt, dd := m.fitGradient(g)
			return []*Node{nil, dt, dd, nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runMarginalPart[float64], runMarginalPart[float32]) },
		device: cuda.LinearMarginalPart,
		Sample: sample(func(m *LinearMarginal, _ Source) *Node { return m.Coefficients() })})
	marginalSolveOp = register(&Op{Name: "linear_marginal_solve", Arity: 4, kind: compiler.Step, pure: true, Smooth: true, lift: marginalSolveRows.lift,
		vjp: func(g, y *Node, x []*Node) []*Node {
			m := marginalOf(y)
			h := m.solve(x[0], x[1], g)
			dt := Scale(-2, Mul(x[1], Mul(MatMul(y, m.basis), MatMul(h, m.basis))))
			return []*Node{nil, dt, h, nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runMarginalSolve[float64], runMarginalSolve[float32]) },
		device: cuda.LinearMarginalSolve,
		Sample: sample(func(m *LinearMarginal, in Source) *Node { return m.Solve(in(-1, 1, m.basis.shape[0])) })})
	marginalLeverageOp = register(&Op{Name: "linear_marginal_leverage", Arity: 4, kind: compiler.Step, pure: true, Smooth: true, lift: marginalLeverageRows.lift,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			return []*Node{nil, marginalOf(y).leverageGradient(g), nil}
		},
		run: func(c *cpu.Call) error {
			return c.Each(runMarginalLeverage[float64], runMarginalLeverage[float32])
		},
		device: cuda.LinearMarginalLeverage,
		Sample: sample(func(m *LinearMarginal, _ Source) *Node { return m.Leverage() })})
	marginalProjectOp = register(&Op{Name: "linear_marginal_project", Arity: 5, kind: compiler.Step, pure: true, Smooth: true, lift: marginalProjectRows.lift,
		vjp: func(g, y *Node, x []*Node) []*Node {
			m := marginalOf(y)
			// Of leaves, since x[2] may depend on x[1].
			t, j := Input("t", x[1].shape...), Input("j", x[2].shape...)
			grads := Substitute(VJP(m.projected(x[0], t, j), g, t), []*Node{t, j}, x[1:3])
			return []*Node{nil, grads[0], m.project(x[0], x[1], g), nil, nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runMarginalProject[float64], runMarginalProject[float32]) },
		device: cuda.LinearMarginalProject,
		Sample: sample(func(m *LinearMarginal, in Source) *Node {
			return m.Project(in(-1, 1, withTail(m.lead, 3, last(m.basis.shape))...))
		})})
}

// leverageGradient returns -2 t_m p_m^T H p_m with H = M^-1 G M^-1 and G = sum_k g_k p_k p_k^T.
func (m *LinearMarginal) leverageGradient(g *Node) *Node {
	k, n := m.basis.shape[0], m.basis.shape[1]
	pairs := Reshape(Mul(Reshape(m.basis, k, 1, n), m.basis), k*k, n)
	sums := Reshape(MatMul(g, T(pairs)), withTail(m.lead, k, k)...)
	inverse := m.solve(between(m.record), between(m.t), Eye(k))
	h := MatMul(MatMul(inverse, sums), inverse)
	return Scale(-2, Mul(m.t, MatMul(Reshape(h, withTail(m.lead, k*k)...), pairs)))
}
