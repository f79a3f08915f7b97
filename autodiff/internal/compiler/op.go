// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

// Op is what the compiler and the executors know about an operation.
type Op struct {
	Name        string
	Arity       int // number of inputs; -1 if it varies
	Kind        Kind
	Code        Code // code of an operation that the compiler itself knows
	Commutative bool
	// The elementwise function, or how a reduction combines two numbers, by arity.
	F1 func(x float64) float64
	F2 func(x, y float64) float64
	F3 func(x, y, z float64) float64
	// Kernel names the form in package kernels, if there is one; ByNumber that with one
	// number as the second operand, NumberBy with one number as the first, which takes
	// the operands exchanged.
	Kernel, ByNumber, NumberBy string
	// Slices holds functions of whole slices of float64 and of float32, such as func(y, x []float64),
	// which a definition brought along and which take the place of Kernel; they may be nil.
	Slices [2]any
	// Truth says that results of the elementwise operation are 0 or 1.
	Truth bool
	// Pure says that calls of the operation with equal attributes, Obj included, and equal inputs are equal.
	Pure bool
	// C is the elementwise function as a C expression of x, y and z, for devices; Helper holds
	// the C functions of double that it calls, which become functions of float in programs in float32.
	C, Helper string
	Double    bool // whether devices compute it in float64 in such programs too
}

// Kind says how an operation works.
type Kind uint8

const (
	Elementwise Kind = iota
	Reduction        // sum, maximum or minimum over axes
	View             // same elements at other places: reshape, permute, slice, broadcast
	Step             // operation that runs alone, on contiguous arrays
	Barrier          // passes its first input on, but not before the second is known
)

// Code names the operations that the compiler rewrites, views and makes itself.
type Code uint8

const (
	NoCode Code = iota
	Add
	Sub
	Mul
	Div
	Pow
	Neg
	Square
	Reciprocal
	Abs
	Exp
	Expm1
	Log
	Log1p
	Sqrt
	Cos
	Cosh
	Stop
	Maximum
	Minimum
	Sum
	Max
	Min
	Reshape
	Permute
	Broadcast
	Slice
	MatMul
	Concat
	Where
	TakeAlong
	ScatterAlong
	Copy // copy that puts the elements of a view in order; only the compiler makes it
	codes
)

// coded holds the operation of each code.
var coded [codes]*Op

func init() {
	coded[Copy] = &Op{Name: "copy", Arity: 1, Code: Copy, F1: func(x float64) float64 { return x }, C: "x"}
}

// Define makes op known by its code.
func (op *Op) Define() *Op {
	if op.Code != NoCode {
		coded[op.Code] = op
	}
	return op
}

// Eval returns the elementwise function at one point.
func (op *Op) Eval(x ...float64) float64 {
	switch op.Arity {
	case 1:
		return op.F1(x[0])
	case 2:
		return op.F2(x[0], x[1])
	}
	return op.F3(x[0], x[1], x[2])
}

// Combines returns the elementwise operation by which two partial results of a
// reduction become one.
func (op *Op) Combines() *Op {
	switch op.Code {
	case Max:
		return coded[Maximum]
	case Min:
		return coded[Minimum]
	}
	return coded[Add]
}
