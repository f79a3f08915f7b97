// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// Transform is a smooth map from unconstrained numbers to a constrained set. Constrain, Free and Inverse must be set.
// Apply, FreeShape and Unconstrain, which samplers call, check the shapes and lengths that they return;
// disttest.Transform also checks the values.
type Transform struct {
	Name string
	// Event is the number of trailing axes of y that are mapped together: 0 for element
	// by element, 1 for vectors, 2 for matrices. Constrain takes these axes flattened to
	// one, of length Free(n) in x and n in y; leading axes are batch axes. See Apply for
	// arrays in their own shape.
	Event int
	// Constrain returns y, with Free(n) numbers on the last axis replaced by n if Event is above 0 and otherwise with
	// the shape of x, and the logarithm of the absolute determinant of the Jacobian dy/dx,
	// a scalar: the sum over all elements and batch axes.
	Constrain func(x *ad.Node) (y, logJ *ad.Node)
	// Free returns the length of x for a y of n elements that are mapped together; it is
	// n if Event is 0.
	Free func(n int) int
	// Inverse returns the Free(n) numbers of x for the n numbers of one y; bounds are the values of Bounds, one of each.
	// If Event is 0, y has one number. The error for an element outside the set names it.
	Inverse func(y []float64, bounds ...float64) ([]float64, error)
	// Bounds are the Nodes whose values Inverse needs.
	Bounds []*ad.Node
	// oblong marks transforms of matrices that need not be square.
	oblong bool
	// inside moves y into the open set if it lies on or beyond the boundary.
	inside func(y []float64, nudge float64, bounds ...float64)
}

// FreeShape returns the shape of the unconstrained x for a y of the given shape: the
// batch axes, and one axis in place of those that are mapped together.
func (t Transform) FreeShape(shape ...int) ([]int, error) {
	k := len(shape) - t.Event
	if k < 0 {
		return nil, fmt.Errorf("dist: %s: the shape is %v: want at least %d axes", t.Name, shape, t.Event)
	}
	n := tensor.Shape(shape[k:]).Size()
	switch {
	case t.Event == 0:
		return slices.Clone(shape), nil
	case n == 0:
		return nil, fmt.Errorf("dist: %s: shape %v has no elements: want at least one", t.Name, shape)
	case t.Event == 2 && !t.oblong && shape[k] != shape[k+1]:
		return nil, fmt.Errorf("dist: %s: the shape is %v: want square matrices", t.Name, shape)
	}
	if t.Free == nil {
		return nil, fmt.Errorf("dist: the transform %q has no Free: set it to the number of free numbers of a value", t.Name)
	}
	free := t.Free(n)
	if free < 0 {
		return nil, fmt.Errorf("dist: Free of the transform %q returned %d for a value of %d elements: want at least 0", t.Name, free, n)
	}
	return append(slices.Clone(shape[:k]), free), nil
}

// Apply is Constrain for a y of the given shape; x has the shape that FreeShape returns
// for it.
func (t Transform) Apply(x *ad.Node, shape ...int) (y, logJ *ad.Node) {
	if t.Constrain == nil {
		err := fmt.Errorf("dist: the transform %q has no Constrain: set Constrain, Inverse and Free", t.Name)
		return failed(x, err), failed(x, err)
	}
	if y, logJ = t.Constrain(x); y == nil || logJ == nil {
		err := fmt.Errorf("dist: Constrain of the transform %q returned nil: want y and its log Jacobian", t.Name)
		return failed(x, err), failed(x, err)
	}
	var err error
	switch want := tensor.Shape(shape).Size(); {
	case y.Err() != nil || logJ.Err() != nil || x.Err() != nil:
		return y, logJ
	case y.Size() != want:
		err = fmt.Errorf("dist: Constrain of the transform %q returned y of the shape %v for x of the shape %v: want %d elements, for values of the shape %v", t.Name, y.Shape(), x.Shape(), want, shape)
	case len(logJ.Shape()) > 0:
		err = fmt.Errorf("dist: Constrain of the transform %q returned a log Jacobian of the shape %v: want a scalar, so add its elements with Sum", t.Name, logJ.Shape())
	case !y.Shape().Equal(shape):
		y = ad.Reshape(y, shape...)
	}
	if err != nil {
		return failed(x, err), failed(x, err)
	}
	return y, logJ
}

// Unconstrain returns x in row-major order with the shape FreeShape for a y of the given
// shape. An element outside its constraint or on a bound gives an error that names it. If
// nudge is above 0, y is first moved inside, away from the ends of an interval by that
// fraction of its width and away from other boundaries by that distance. bounds holds the
// values of Bounds: one number, or one for each element of y.
func (t Transform) Unconstrain(y []float64, shape []int, nudge float64, bounds ...[]float64) ([]float64, error) {
	free, err := t.FreeShape(shape...)
	if err != nil {
		return nil, err
	}
	if len(y) != tensor.Shape(shape).Size() || len(bounds) != len(t.Bounds) {
		return nil, fmt.Errorf("dist: %s: there are %d values and %d bounds: want %d values for shape %v, and %d bounds", t.Name, len(y), len(bounds), tensor.Shape(shape).Size(), shape, len(t.Bounds))
	}
	x := make([]float64, 0, tensor.Shape(free).Size())
	n := max(1, tensor.Shape(shape[len(shape)-t.Event:]).Size())
	if t.Inverse == nil {
		return nil, fmt.Errorf("dist: the transform %q has no Inverse: set it, so that values can be mapped to free numbers", t.Name)
	}
	one := make([]float64, len(bounds))
	for at := 0; at < len(y); at += n {
		for i, b := range bounds {
			if len(b) != 1 && len(b) != len(y) {
				return nil, fmt.Errorf("dist: %s: there are %d bounds for %d values: give one, or one for each", t.Name, len(b), len(y))
			}
			one[i] = b[min(at, len(b)-1)]
		}
		v := slices.Clone(y[at : at+n])
		if nudge > 0 && t.inside != nil {
			t.inside(v, nudge, one...)
		}
		u, err := t.Inverse(v, one...)
		if err != nil {
			return nil, fmt.Errorf("Inverse of the transform %q at %s: %w", t.Name, t.place(y, at, n), errtext.Without("dist: ", err))
		}
		if want := tensor.Shape(free[len(shape)-t.Event:]).Size(); len(u) != want {
			return nil, fmt.Errorf("dist: Inverse of the transform %q returned %d numbers for %d elements: want %d", t.Name, len(u), n, want)
		}
		x = append(x, u...)
	}
	return x, nil
}

// place names the value that begins at element at of y, of n elements.
func (t Transform) place(y []float64, at, n int) string {
	switch {
	case t.Event > 0:
		return fmt.Sprintf("value %d", at/n)
	case len(y) > 1:
		return fmt.Sprintf("element %d, which is %g", at, y[at])
	}
	return fmt.Sprintf("%g", y[at])
}

// within moves elements into lo..hi, away from the ends by the fraction part of its
// width, or by the distance part if the width is infinite.
func within(y []float64, lo, hi, part float64) {
	by := part
	if !math.IsInf(hi-lo, 0) {
		by *= hi - lo
	}
	for i, v := range y {
		y[i] = min(max(v, above(lo, by)), -above(-hi, by))
	}
}

// above returns lo + by, or the next larger number if the sum rounds to lo.
func above(lo, by float64) float64 { return max(lo+by, math.Nextafter(lo, math.Inf(1))) }

func sameLength(n int) int { return n }

// IdentityTransform maps x to itself.
func IdentityTransform() Transform {
	return Transform{Name: "identity", Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return x, ad.Scalar(0) },
		Inverse:   func(y []float64, _ ...float64) ([]float64, error) { return append([]float64{}, y...), nil },
	}
}

// AffineTransform maps x to offset + multiplier x.
func AffineTransform(offset, multiplier any) Transform {
	p := Nodes(offset, multiplier)
	return Transform{Name: "affine", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			m := ad.Broadcast(p[1], x.Shape()...)
			return ad.Add(p[0], ad.Mul(m, x)), ad.Sum(ad.Log(ad.Abs(m)))
		},
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			if b[1] == 0 {
				return nil, fmt.Errorf("dist: an affine transform with multiplier 0 has no inverse: use another multiplier")
			}
			return mapped(y, func(v float64) float64 { return (v - b[0]) / b[1] }), nil
		},
	}
}

// SinhTransform maps x to offset + multiplier sinh(x/reach). It is linear for |x| below
// reach, which must be positive, and exponential beyond it on both sides.
//
//	log J = sum log |multiplier/reach| + log cosh(x/reach)
func SinhTransform(offset, multiplier any, reach float64) Transform {
	p := Nodes(offset, multiplier)
	return Transform{Name: "sinh", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			m := ad.Broadcast(p[1], x.Shape()...)
			v := ad.Scale(1/reach, x)
			// log cosh(v) = v + softplus(-2 v) - log 2
			logCosh := ad.Shift(ad.Add(v, ad.Softplus(ad.Scale(-2, v))), -math.Ln2-math.Log(reach))
			return ad.Add(p[0], ad.Mul(m, ad.Sinh(v))), ad.Sum(ad.Add(ad.Log(ad.Abs(m)), logCosh))
		},
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			if b[1] == 0 {
				return nil, fmt.Errorf("dist: a sinh transform with multiplier 0 has no inverse: use another multiplier")
			}
			return mapped(y, func(v float64) float64 { return reach * math.Asinh((v-b[0])/b[1]) }), nil
		},
	}
}

// LowerTransform maps x to lower + exp(x).
func LowerTransform(lower any) Transform {
	p := Nodes(lower)
	return Transform{Name: "lower", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return ad.Add(p[0], ad.Exp(x)), ad.Sum(x) },
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			return strictly(y, b[0], math.Inf(1), func(v float64) float64 { return math.Log(v - b[0]) })
		},
		inside: func(y []float64, nudge float64, b ...float64) { within(y, b[0], math.Inf(1), nudge) },
	}
}

// UpperTransform maps x to upper - exp(x).
func UpperTransform(upper any) Transform {
	p := Nodes(upper)
	return Transform{Name: "upper", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return ad.Sub(p[0], ad.Exp(x)), ad.Sum(x) },
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			return strictly(y, math.Inf(-1), b[0], func(v float64) float64 { return math.Log(b[0] - v) })
		},
		inside: func(y []float64, nudge float64, b ...float64) { within(y, math.Inf(-1), b[0], nudge) },
	}
}

// IntervalTransform maps x to lower + (upper - lower) sigmoid(x).
//
//	log J = sum log(upper - lower) - softplus(x) - softplus(-x)
func IntervalTransform(lower, upper any) Transform {
	p := Nodes(lower, upper)
	if infinite(p[0]) || infinite(p[1]) {
		return someEndsTransform(p)
	}
	return Transform{Name: "interval", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			width := ad.Broadcast(ad.Sub(p[1], p[0]), x.Shape()...)
			y = ad.Add(p[0], ad.Mul(width, ad.Sigmoid(x)))
			// softplus(x) + softplus(-x), by one softplus and without a kink at 0
			return y, ad.Sum(ad.Sub(ad.Log(width), ad.Add(x, ad.Scale(2, ad.Softplus(ad.Neg(x))))))
		},
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			return strictly(y, b[0], b[1], func(v float64) float64 { return math.Log(v-b[0]) - math.Log(b[1]-v) })
		},
		inside: func(y []float64, nudge float64, b ...float64) { within(y, b[0], b[1], nudge) },
	}
}

// SoftplusTransform maps x to log(1 + exp(x)).
func SoftplusTransform() Transform {
	return Transform{Name: "softplus", Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return ad.Softplus(x), ad.Neg(ad.Sum(ad.Softplus(ad.Neg(x)))) },
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			return strictly(y, 0, math.Inf(1), func(v float64) float64 { return v + math.Log(-math.Expm1(-v)) })
		},
		inside: func(y []float64, nudge float64, _ ...float64) { within(y, 0, math.Inf(1), nudge) },
	}
}

func mapped(y []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = f(v)
	}
	return out
}

// strictly applies f to all elements, which must lie strictly between lo and hi.
func strictly(y []float64, lo, hi float64, f func(float64) float64) ([]float64, error) {
	for _, v := range y {
		if !(v > lo && v < hi) {
			return nil, fmt.Errorf("dist: %g is outside the set: want a number strictly between %g and %g, or nudge it inside", v, lo, hi)
		}
	}
	return mapped(y, f), nil
}
