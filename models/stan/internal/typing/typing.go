// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package typing holds the types of the Stan language.
package typing

import "strings"

// Kind is what a value without its array dimensions is.
type Kind int

// The kinds of values.
const (
	Void Kind = iota
	Int
	Real
	Complex
	Vector
	RowVector
	Matrix
	ComplexVector
	ComplexRowVector
	ComplexMatrix
	Tuple
	Func
	String
)

var kindNames = [...]string{"void", "int", "real", "complex", "vector", "row_vector", "matrix", "complex_vector", "complex_row_vector", "complex_matrix", "tuple", "function", "string"}

// String is the word of the language.
func (k Kind) String() string { return kindNames[k] }

// Rank is the number of dimensions of a value of the kind: 1 for vectors, 2 for matrices.
func (k Kind) Rank() int {
	switch k {
	case Vector, RowVector, ComplexVector, ComplexRowVector:
		return 1
	case Matrix, ComplexMatrix:
		return 2
	}
	return 0
}

// IsComplex says whether the numbers of a kind are complex.
func (k Kind) IsComplex() bool {
	return k == Complex || k == ComplexVector || k == ComplexRowVector || k == ComplexMatrix
}

// Complexed returns the kind with complex numbers in place of real ones.
func (k Kind) Complexed() Kind {
	switch k {
	case Int, Real:
		return Complex
	case Vector, RowVector, Matrix:
		return k + ComplexVector - Vector
	}
	return k
}

// Realed returns the kind with real numbers in place of complex ones.
func (k Kind) Realed() Kind {
	switch k {
	case Complex:
		return Real
	case ComplexVector, ComplexRowVector, ComplexMatrix:
		return k - ComplexVector + Vector
	}
	return k
}

// Type is the type of a value: an array of Dims dimensions of a Kind.
type Type struct {
	Kind  Kind
	Dims  int
	Elems []Type     // of a tuple
	Fn    *Signature // of a function
	Data  bool       // an argument that may not depend on parameters
}

// Signature is what a function takes and returns.
type Signature struct {
	Name   string
	Args   []Type
	Result Type
}

// Of returns the type of a kind, with so many array dimensions.
func Of(k Kind, dims ...int) Type {
	t := Type{Kind: k}
	for _, d := range dims {
		t.Dims += d
	}
	return t
}

// Element returns the type of the elements of an array.
func (t Type) Element() Type {
	t.Dims--
	return t
}

// Array returns the type of arrays whose elements have type t.
func (t Type) Array(dims int) Type {
	t.Dims += dims
	return t
}

// Rank is the number of all dimensions.
func (t Type) Rank() int { return t.Dims + t.Kind.Rank() }

// Is says whether a type is a kind without array dimensions.
func (t Type) Is(k Kind) bool { return t.Kind == k && t.Dims == 0 }

// Scalar says whether t is int, real or complex.
func (t Type) Scalar() bool {
	return t.Dims == 0 && (t.Kind == Int || t.Kind == Real || t.Kind == Complex)
}

// String writes a type as the language does.
func (t Type) String() string {
	if t.Dims > 0 {
		in := t
		in.Dims = 0
		return "array[" + strings.Repeat(",", t.Dims-1) + "] " + in.String()
	}
	switch t.Kind {
	case Tuple:
		return "tuple(" + list(t.Elems) + ")"
	case Func:
		if t.Fn != nil {
			return t.Fn.String()
		}
	}
	if t.Data {
		return "data " + t.Kind.String()
	}
	return t.Kind.String()
}

func list(ts []Type) string {
	var s []string
	for _, t := range ts {
		s = append(s, t.String())
	}
	return strings.Join(s, ", ")
}

// List writes types as those of arguments.
func List(ts []Type) string { return "(" + list(ts) + ")" }

// String writes a signature as the messages of Stan do.
func (s Signature) String() string {
	var args []string
	for _, a := range s.Args {
		text := a.String()
		if a.Data && a.Dims > 0 {
			text = "data " + text
		}
		args = append(args, text)
	}
	return "(" + strings.Join(args, ", ") + ") => " + s.Result.String()
}

// Equal says whether two types are the same, whatever they may depend on.
func Equal(a, b Type) bool {
	if a.Kind != b.Kind || a.Dims != b.Dims || len(a.Elems) != len(b.Elems) {
		return false
	}
	for i := range a.Elems {
		if !Equal(a.Elems[i], b.Elems[i]) {
			return false
		}
	}
	return true
}

// Fits says whether a value of type from may stand where to is wanted: they are equal, or the numbers are promoted from int to real or
// from real to complex.
func Fits(to, from Type) bool {
	_, ok := Promotions(to, from)
	return ok
}

// Promotions returns how many steps of promotion lead from a type to another.
func Promotions(to, from Type) (steps int, ok bool) {
	if to.Dims != from.Dims {
		return 0, false
	}
	if to.Kind == Tuple && from.Kind == Tuple {
		if len(to.Elems) != len(from.Elems) {
			return 0, false
		}
		for i := range to.Elems {
			n, ok := Promotions(to.Elems[i], from.Elems[i])
			if !ok {
				return 0, false
			}
			steps += n
		}
		return steps, true
	}
	switch {
	case to.Kind == from.Kind:
		return 0, true
	case to.Kind == Real && from.Kind == Int:
		return 1, true
	case to.Kind == Complex && from.Kind == Real:
		return 1, true
	case to.Kind == Complex && from.Kind == Int:
		return 2, true
	case to.Kind.IsComplex() && to.Kind != Complex && to.Kind.Realed() == from.Kind:
		return 1, true
	}
	return 0, false
}

// Common returns the type to which values of two types are promoted, as those of an array literal or of a conditional expression.
func Common(a, b Type) (Type, bool) {
	switch {
	case Fits(a, b):
		return a, true
	case Fits(b, a):
		return b, true
	case a.Kind == Tuple && b.Kind == Tuple && a.Dims == b.Dims && len(a.Elems) == len(b.Elems):
		out := Type{Kind: Tuple, Dims: a.Dims}
		for i := range a.Elems {
			t, ok := Common(a.Elems[i], b.Elems[i])
			if !ok {
				return Type{}, false
			}
			out.Elems = append(out.Elems, t)
		}
		return out, true
	}
	return Type{}, false
}
