// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math"
	"slices"
)

// Shape is the length of each axis, slowest axis first. The empty Shape is that of a scalar.
type Shape []int

// Size returns the number of elements.
func (s Shape) Size() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Valid reports whether no length is negative and the size in bytes, at up to 16 bytes per element,
// fits an int. If an axis is empty, the product of the other lengths must fit too.
func (s Shape) Valid() bool {
	n := 1
	for _, d := range s {
		if d < 0 || d > 0 && n > math.MaxInt/64/d {
			return false
		}
		n *= max(d, 1)
	}
	return true
}

// Equal reports whether both shapes have the same axes.
func (s Shape) Equal(t Shape) bool { return slices.Equal(s, t) }

// Clone returns a copy that shares no memory with s.
func (s Shape) Clone() Shape { return append(Shape{}, s...) }

// Strides returns the row-major (C order) strides of s in elements.
func (s Shape) Strides() []int {
	st := make([]int, len(s))
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		st[i] = n
		n *= s[i]
	}
	return st
}

// Broadcast returns the shape of an elementwise operation on s and t by NumPy's
// rule: axes are matched from the last, and an axis of length 1 stretches. ok is
// false when two axes differ and neither is 1.
func Broadcast(s, t Shape) (r Shape, ok bool) {
	if s.Equal(t) {
		return s, true
	}
	r = make(Shape, max(len(s), len(t)))
	for i := range r {
		a, b := 1, 1
		if j := i - len(r) + len(s); j >= 0 {
			a = s[j]
		}
		if j := i - len(r) + len(t); j >= 0 {
			b = t[j]
		}
		switch {
		case a == b || b == 1:
			r[i] = a
		case a == 1:
			r[i] = b
		default:
			return nil, false
		}
	}
	return r, true
}

// ShapeError reports shapes that an operation cannot combine.
type ShapeError struct {
	Op  string
	Got []Shape
	// Want describes in words the shapes that would have worked.
	Want string
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("%s: shapes %v: want %s", e.Op, e.Got, e.Want)
}
