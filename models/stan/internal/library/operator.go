// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// Operator applies a binary operator. The type is that of the result.
func Operator(op string, a, b value.Value, t typing.Type) (value.Value, error) {
	if a.Type.Kind.IsComplex() || b.Type.Kind.IsComplex() {
		return complexOperator(op, a, b, t)
	}
	v, err := operator(op, a, b, t)
	if err != nil {
		return v, fmt.Errorf("%s: %w", op, err)
	}
	if t.Kind == typing.Int && t.Dims == 0 && v.Known() {
		for i, x := range v.F {
			v.F[i] = wrapped(x)
		}
	}
	return v, nil
}

// wrapped is an integer in 32 bits, as integers of the language are.
func wrapped(x float64) float64 { return float64(int32(int64(x))) }

func operator(op string, a, b value.Value, t typing.Type) (value.Value, error) {
	switch op {
	case "+":
		return combine(a, b, t, func(x, y float64) float64 { return x + y }, ad.Add)
	case "-":
		return combine(a, b, t, func(x, y float64) float64 { return x - y }, ad.Sub)
	case ".*":
		return combine(a, b, t, func(x, y float64) float64 { return x * y }, ad.Mul)
	case "./":
		return combine(a, b, t, func(x, y float64) float64 { return x / y }, ad.Div)
	case "^", ".^":
		return combine(a, b, t, math.Pow, power)
	case "%":
		if err := divisor(b); err != nil {
			return b, err
		}
		return combine(a, b, t, math.Mod, nil)
	case "%/%":
		if err := divisor(b); err != nil {
			return b, err
		}
		return combine(a, b, t, func(x, y float64) float64 { return math.Trunc(x / y) }, nil)
	case "*":
		if len(a.Shape) == 0 || len(b.Shape) == 0 {
			return combine(a, b, t, func(x, y float64) float64 { return x * y }, ad.Mul)
		}
		return product(a, b, t)
	case "/":
		if t.Is(typing.Int) {
			return operator("%/%", a, b, t)
		}
		if b.Type.Kind == typing.Matrix {
			return rightDivide(a, b, t)
		}
		return combine(a, b, t, func(x, y float64) float64 { return x / y }, ad.Div)
	case "\\":
		return leftDivide(a, b, t)
	}
	f, ok := comparisons[op]
	if !ok {
		return a, fmt.Errorf("no such operator")
	}
	return combine(a, b, t, f.native, f.graph)
}

// power is x^y. A known whole exponent makes a product, whose derivative exists where x is 0 or negative.
func power(x, y *ad.Node) *ad.Node {
	if y.IsConst() && y.Size() == 1 {
		if d, err := ad.Numbers(y); err == nil {
			switch d[0][0] {
			case 1:
				return x
			case 2:
				return ad.Square(x)
			case 0.5:
				return ad.Sqrt(x)
			case -1:
				return ad.Reciprocal(x)
			}
		}
	}
	return ad.Pow(x, y)
}

func divisor(b value.Value) error {
	for _, x := range b.F {
		if x == 0 {
			return fmt.Errorf("division of integers by 0: check the divisor first, or divide real numbers")
		}
	}
	return nil
}

type comparison struct {
	native func(x, y float64) float64
	graph  func(x, y *ad.Node) *ad.Node
}

var comparisons = map[string]comparison{
	"==": {func(x, y float64) float64 { return b2f(x == y) }, ad.Equal},
	"!=": {func(x, y float64) float64 { return b2f(x != y) }, ad.NotEqual},
	"<":  {func(x, y float64) float64 { return b2f(x < y) }, ad.Less},
	"<=": {func(x, y float64) float64 { return b2f(x <= y) }, ad.LessEqual},
	">":  {func(x, y float64) float64 { return b2f(x > y) }, ad.Greater},
	">=": {func(x, y float64) float64 { return b2f(x >= y) }, ad.GreaterEqual},
	"&&": {func(x, y float64) float64 { return b2f(x != 0 && y != 0) }, func(x, y *ad.Node) *ad.Node { return ad.Mul(truth(x), truth(y)) }},
	"||": {func(x, y float64) float64 { return b2f(x != 0 || y != 0) }, func(x, y *ad.Node) *ad.Node { return ad.Maximum(truth(x), truth(y)) }},
}

func truth(x *ad.Node) *ad.Node { return ad.NotEqual(x, ad.Scalar(0)) }

// Prefix applies - + or !.
func Prefix(op string, v value.Value, t typing.Type) (value.Value, error) {
	if v.Type.Kind.IsComplex() {
		if op == "+" {
			return v, nil
		}
		re, im := v.Parts()
		re, _ = Prefix(op, re, re.Type)
		im, _ = Prefix(op, im, im.Type)
		return value.Complex(t, re, im), nil
	}
	switch op {
	case "-":
		if t.Kind == typing.Int && t.Dims == 0 {
			return elementwise(v, t, func(x float64) float64 { return wrapped(-x) }, ad.Neg)
		}
		return elementwise(v, t, func(x float64) float64 { return -x }, ad.Neg)
	case "!":
		return elementwise(v, t, func(x float64) float64 { return b2f(x == 0) }, func(x *ad.Node) *ad.Node { return ad.Equal(x, ad.Scalar(0)) })
	}
	return v, nil
}

// Transpose transposes.
func Transpose(v value.Value, t typing.Type) (value.Value, error) {
	if v.Type.Kind.IsComplex() {
		re, im := v.Parts()
		r := t
		r.Kind = r.Kind.Realed()
		re, _ = Transpose(re, r)
		im, _ = Transpose(im, r)
		return value.Complex(t, re, im), nil
	}
	if len(v.Shape) == 1 {
		return v.Reshape(t, v.Shape...), nil
	}
	rows, cols := v.Shape[0], v.Shape[1]
	lanes := max(1, v.Lanes)
	if v.N != nil && v.Lanes == 0 {
		return value.Of(t, ad.T(v.N), cols, rows), nil
	}
	index := make([]int, 0, lanes*rows*cols)
	for l := range lanes {
		for j := range cols {
			for i := range rows {
				index = append(index, (l*rows+i)*cols+j)
			}
		}
	}
	return v.Take(index, t, v.Lanes, cols, rows), nil
}

// product multiplies vectors and matrices.
func product(a, b value.Value, t typing.Type) (value.Value, error) {
	ka, kb := a.Type.Kind, b.Type.Kind
	inner := a.Shape[len(a.Shape)-1]
	if ka == typing.Vector {
		inner = 1
	}
	other := b.Shape[0]
	if kb == typing.RowVector {
		other = 1
	}
	if inner != other {
		return a, fmt.Errorf("sizes do not match: %s times %s: the columns of the first must be as many as the rows of the second", sizes(a.Shape), sizes(b.Shape))
	}
	lanes := lanesOf(a, b)
	var shape []int
	switch t.Kind {
	case typing.Matrix:
		shape = []int{a.Shape[0], b.Shape[len(b.Shape)-1]}
	case typing.Vector:
		shape = []int{a.Shape[0]}
	case typing.RowVector:
		shape = []int{b.Shape[1]}
	}
	out := value.Value{Type: t, Shape: shape, Lanes: lanes}
	if a.Known() && b.Known() && lanes == 0 {
		return knownProduct(a, b, out), nil
	}
	if value.Size(shape) == 0 || inner == 0 {
		out.F = make([]float64, max(1, lanes)*value.Size(shape))
		return out, nil
	}
	switch {
	case t.Kind == typing.Real: // row_vector * vector
		switch {
		case lanes == 0:
			out.N = ad.Dot(a.Node(), b.Node())
		case a.ByColumns() || b.ByColumns():
			p, err := combinedColumns(a, b, typing.Of(typing.Vector), inner, ad.Mul)
			if err != nil {
				return p, err
			}
			return foldedColumns(p, t, ad.Add)
		case b.Lanes == 0: // one product for all lanes
			out.N = ad.MatMul(a.Node(), b.Node())
		case a.Lanes == 0:
			out.N = ad.MatMul(b.Node(), a.Node())
		default:
			out.N = ad.SumAxes(ad.Mul(a.Node(), b.Node()), 1)
		}
	case ka == typing.Vector && kb == typing.RowVector:
		if lanes == 0 {
			out.N = ad.Outer(a.Node(), b.Node())
		} else {
			x, y := a.Spread(lanes).Node(), b.Spread(lanes).Node()
			out.N = ad.Mul(ad.Reshape(x, lanes, shape[0], 1), ad.Reshape(y, lanes, 1, shape[1]))
		}
	case lanes > 0 && ka == typing.Matrix && kb == typing.Vector && a.Lanes == 0:
		out.N = ad.MatMul(b.Node(), transposed(a))
	case lanes > 0 && ka == typing.RowVector && kb == typing.Matrix && b.Lanes == 0:
		out.N = ad.MatMul(a.Node(), b.Node())
	case lanes > 0 && ka == typing.Matrix && kb == typing.Vector && b.Lanes == 0:
		out.N = ad.MatMul(a.Node(), b.Node())
	case lanes > 0 && ka == typing.Matrix && kb == typing.Vector:
		out.N = ad.Reshape(ad.MatMul(a.Node(), ad.Reshape(b.Node(), lanes, inner, 1)), lanes, shape[0])
	case lanes > 0:
		return a, value.ErrUnroll
	default:
		out.N = ad.MatMul(a.Node(), b.Node())
	}
	return out, out.N.Err()
}

func transposed(v value.Value) *ad.Node {
	t, err := Transpose(v, v.Type)
	if err != nil {
		return ad.Fail(err)
	}
	return t.Node()
}

// knownProduct multiplies known matrices.
func knownProduct(a, b, out value.Value) value.Value {
	rows, inner, cols := 1, 1, 1
	switch a.Type.Kind {
	case typing.Matrix:
		rows, inner = a.Shape[0], a.Shape[1]
	case typing.RowVector:
		inner = a.Shape[0]
	case typing.Vector:
		rows = a.Shape[0]
	}
	switch b.Type.Kind {
	case typing.Matrix:
		cols = b.Shape[1]
	case typing.RowVector:
		cols = b.Shape[0]
	}
	out.F = make([]float64, rows*cols)
	for i := range rows {
		for k := range inner {
			x := a.F[i*inner+k]
			for j := range cols {
				out.F[i*cols+j] += x * b.F[k*cols+j]
			}
		}
	}
	return out
}

func square(v value.Value, what string) error {
	if len(v.Shape) != 2 || v.Shape[0] != v.Shape[1] {
		return fmt.Errorf("%s needs a square matrix, and this one is %s: use as many rows as columns", what, sizes(v.Shape))
	}
	return nil
}

// leftDivide returns the solution x of a x = b.
func leftDivide(a, b value.Value, t typing.Type) (value.Value, error) {
	if err := square(a, "division"); err != nil {
		return a, err
	}
	if a.Shape[0] != b.Shape[0] {
		return a, fmt.Errorf("sizes do not match: %s divides %s: the rows must be as many", sizes(a.Shape), sizes(b.Shape))
	}
	if lanesOf(a, b) > 0 {
		return a, value.ErrUnroll
	}
	out := value.Of(t, ad.Solve(a.Node(), b.Node()), b.Shape...)
	if a.Known() && b.Known() {
		return evaluate(out)
	}
	return out, out.N.Err()
}

// rightDivide returns a b^-1.
func rightDivide(a, b value.Value, t typing.Type) (value.Value, error) {
	if err := square(b, "division"); err != nil {
		return a, err
	}
	if a.Shape[len(a.Shape)-1] != b.Shape[0] {
		return a, fmt.Errorf("sizes do not match: %s divided by %s: the columns must be as many", sizes(a.Shape), sizes(b.Shape))
	}
	if lanesOf(a, b) > 0 {
		return a, value.ErrUnroll
	}
	x := a.Node()
	if len(a.Shape) == 2 {
		x = ad.T(x)
	}
	n := ad.Solve(ad.T(b.Node()), x)
	if len(a.Shape) == 2 {
		n = ad.T(n)
	}
	out := value.Of(t, n, a.Shape...)
	if a.Known() && b.Known() {
		return evaluate(out)
	}
	return out, n.Err()
}

// complexOperator applies an operator to complex numbers.
func complexOperator(op string, a, b value.Value, t typing.Type) (value.Value, error) {
	ar, ai := a.Parts()
	br, bi := b.Parts()
	r := typing.Of(t.Kind.Realed())
	do := func(op string, x, y value.Value) value.Value {
		v, e := Operator(op, x, y, r)
		if e != nil && v.N == nil {
			return value.Of(r, ad.Fail(e))
		}
		return v
	}
	switch op {
	case "+", "-":
		return value.Complex(t, do(op, ar, br), do(op, ai, bi)), nil
	case "*", ".*":
		return value.Complex(t, do("-", do(op, ar, br), do(op, ai, bi)), do("+", do(op, ar, bi), do(op, ai, br))), nil
	case "/", "./":
		if b.Type.Kind.Rank() == 2 && op == "/" {
			return complexRight(a, b, t)
		}
		m := "*"
		if len(a.Shape) > 0 && len(b.Shape) > 0 {
			m = ".*"
		}
		den := do("+", do(m0(br), br, br), do(m0(bi), bi, bi))
		re := do(op, do("+", do(m, ar, br), do(m, ai, bi)), den)
		im := do(op, do("-", do(m, ai, br), do(m, ar, bi)), den)
		return value.Complex(t, re, im), nil
	case "==", "!=":
		whole := typing.Of(typing.Int)
		x, err := operator("==", ar, br, whole)
		if err != nil {
			return x, err
		}
		y, err := operator("==", ai, bi, whole)
		if err != nil {
			return y, err
		}
		v, err := operator("&&", x, y, whole)
		if err != nil || op == "==" {
			return v, err
		}
		return Prefix("!", v, whole)
	case "^":
		return complexPower(a, b, t)
	}
	return a, fmt.Errorf("the operator %s has no complex form: use the real and imaginary parts", op)
}

// m0 is the product of elements of a value with itself.
func m0(v value.Value) string {
	if len(v.Shape) > 0 {
		return ".*"
	}
	return "*"
}
