// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import gt "gorgonia.org/tensor"

// The interfaces by which Gorgonia finds the operations on elements.
var (
	_ gt.Neger        = (*Engine)(nil)
	_ gt.Inver        = (*Engine)(nil)
	_ gt.Squarer      = (*Engine)(nil)
	_ gt.Cuber        = (*Engine)(nil)
	_ gt.Exper        = (*Engine)(nil)
	_ gt.Tanher       = (*Engine)(nil)
	_ gt.Loger        = (*Engine)(nil)
	_ gt.Log2er       = (*Engine)(nil)
	_ gt.Log10er      = (*Engine)(nil)
	_ gt.Sqrter       = (*Engine)(nil)
	_ gt.Cbrter       = (*Engine)(nil)
	_ gt.InvSqrter    = (*Engine)(nil)
	_ gt.Signer       = (*Engine)(nil)
	_ gt.Abser        = (*Engine)(nil)
	_ gt.Adder        = (*Engine)(nil)
	_ gt.Suber        = (*Engine)(nil)
	_ gt.Muler        = (*Engine)(nil)
	_ gt.Diver        = (*Engine)(nil)
	_ gt.Power        = (*Engine)(nil)
	_ gt.Moder        = (*Engine)(nil)
	_ gt.MinBetweener = (*Engine)(nil)
	_ gt.MaxBetweener = (*Engine)(nil)
	_ gt.Lter         = (*Engine)(nil)
	_ gt.Lteer        = (*Engine)(nil)
	_ gt.Gter         = (*Engine)(nil)
	_ gt.Gteer        = (*Engine)(nil)
	_ gt.ElEqer       = (*Engine)(nil)
	_ gt.Clamper      = (*Engine)(nil)
	_ gt.Mapper       = (*Engine)(nil)
)

// Neg computes -x of every element.
func (e *Engine) Neg(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("neg", a, opts)
}

// Inv computes 1/x of every element.
func (e *Engine) Inv(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("inv", a, opts)
}

// Square computes x^2 of every element.
func (e *Engine) Square(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("square", a, opts)
}

// Cube computes x^3 of every element.
func (e *Engine) Cube(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("cube", a, opts)
}

// Exp computes exp(x) of every element.
func (e *Engine) Exp(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("exp", a, opts)
}

// Tanh computes tanh(x) of every element.
func (e *Engine) Tanh(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("tanh", a, opts)
}

// Log computes log(x) of every element.
func (e *Engine) Log(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("log", a, opts)
}

// Log2 computes the base-2 logarithm of every element.
func (e *Engine) Log2(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("log2", a, opts)
}

// Log10 computes the base-10 logarithm of every element.
func (e *Engine) Log10(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("log10", a, opts)
}

// Sqrt computes the square root of every element.
func (e *Engine) Sqrt(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("sqrt", a, opts)
}

// Cbrt computes the cube root of every element.
func (e *Engine) Cbrt(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("cbrt", a, opts)
}

// InvSqrt computes 1/sqrt(x) of every element.
func (e *Engine) InvSqrt(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("invsqrt", a, opts)
}

// Sign computes the sign of every element: -1, 0 or 1.
func (e *Engine) Sign(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("sign", a, opts)
}

// Abs computes |x| of every element.
func (e *Engine) Abs(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.unary("abs", a, opts)
}

// Add computes a + b element by element.
func (e *Engine) Add(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.binary("add", a, b, opts)
}

// AddScalar is Add of an array and a number b, which stands on the right if left is true.
func (e *Engine) AddScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("add", false, a, b, left, opts)
}

// Sub computes a - b element by element.
func (e *Engine) Sub(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.binary("sub", a, b, opts)
}

// SubScalar is Sub of an array and a number b, which stands on the right if left is true.
func (e *Engine) SubScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("sub", false, a, b, left, opts)
}

// Mul computes a b element by element.
func (e *Engine) Mul(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.binary("mul", a, b, opts)
}

// MulScalar is Mul of an array and a number b, which stands on the right if left is true.
func (e *Engine) MulScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("mul", false, a, b, left, opts)
}

// Div computes a / b element by element.
func (e *Engine) Div(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.binary("div", a, b, opts)
}

// DivScalar is Div of an array and a number b, which stands on the right if left is true.
func (e *Engine) DivScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("div", false, a, b, left, opts)
}

// Pow computes a to the power b element by element.
func (e *Engine) Pow(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.binary("pow", a, b, opts)
}

// PowScalar is Pow of an array and a number b, which stands on the right if left is true.
func (e *Engine) PowScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("pow", false, a, b, left, opts)
}

// Mod computes the remainder of a / b element by element; it has the sign of a.
func (e *Engine) Mod(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.binary("mod", a, b, opts)
}

// ModScalar is Mod of an array and a number b, which stands on the right if left is true.
func (e *Engine) ModScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("mod", false, a, b, left, opts)
}

// MinBetween computes the smaller of a and b element by element, or NaN if either is NaN.
func (e *Engine) MinBetween(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.binary("minbetween", a, b, opts)
}

// MinBetweenScalar is MinBetween of an array and a number b, which stands on the right if left is true.
func (e *Engine) MinBetweenScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("minbetween", false, a, b, left, opts)
}

// MaxBetween computes the larger of a and b element by element, or NaN if either is NaN.
func (e *Engine) MaxBetween(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.binary("maxbetween", a, b, opts)
}

// MaxBetweenScalar is MaxBetween of an array and a number b, which stands on the right if left is true.
func (e *Engine) MaxBetweenScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("maxbetween", false, a, b, left, opts)
}

// Lt compares a < b element by element. The result is bool, or 0 and 1 in the type of the arrays
// with tensor.AsSameType.
func (e *Engine) Lt(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.elementwise("lt", true, []gt.Tensor{a, b}, nil, opts)
}

// LtScalar is Lt of an array and a number b, which stands on the right if left is true.
func (e *Engine) LtScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("lt", true, a, b, left, opts)
}

// Lte compares a <= b element by element. The result is bool, or 0 and 1 in the type of the arrays
// with tensor.AsSameType.
func (e *Engine) Lte(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.elementwise("lte", true, []gt.Tensor{a, b}, nil, opts)
}

// LteScalar is Lte of an array and a number b, which stands on the right if left is true.
func (e *Engine) LteScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("lte", true, a, b, left, opts)
}

// Gt compares a > b element by element. The result is bool, or 0 and 1 in the type of the arrays
// with tensor.AsSameType.
func (e *Engine) Gt(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.elementwise("gt", true, []gt.Tensor{a, b}, nil, opts)
}

// GtScalar is Gt of an array and a number b, which stands on the right if left is true.
func (e *Engine) GtScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("gt", true, a, b, left, opts)
}

// Gte compares a >= b element by element. The result is bool, or 0 and 1 in the type of the arrays
// with tensor.AsSameType.
func (e *Engine) Gte(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.elementwise("gte", true, []gt.Tensor{a, b}, nil, opts)
}

// GteScalar is Gte of an array and a number b, which stands on the right if left is true.
func (e *Engine) GteScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("gte", true, a, b, left, opts)
}

// ElEq compares a == b element by element. The result is bool, or 0 and 1 in the type of the arrays
// with tensor.AsSameType.
func (e *Engine) ElEq(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.elementwise("eq", true, []gt.Tensor{a, b}, nil, opts)
}

// EqScalar is ElEq of an array and a number b, which stands on the right if left is true.
func (e *Engine) EqScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("eq", true, a, b, left, opts)
}

// ElNe compares a != b element by element. The result is bool, or 0 and 1 in the type of the arrays
// with tensor.AsSameType.
func (e *Engine) ElNe(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.elementwise("ne", true, []gt.Tensor{a, b}, nil, opts)
}

// NeScalar is ElNe of an array and a number b, which stands on the right if left is true.
func (e *Engine) NeScalar(a gt.Tensor, b interface{}, left bool, opts ...gt.FuncOpt) (gt.Tensor, error) {
	return e.scalar("ne", true, a, b, left, opts)
}
