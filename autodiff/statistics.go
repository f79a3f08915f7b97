// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Mean returns the mean of all elements.
func Mean(x *Node) *Node {
	if bad := notReal("mean", x); bad != nil {
		return bad
	}
	return Scale(1/float64(x.Size()), Sum(x))
}

// MeanAxes returns the means along the given axes, which are dropped.
func MeanAxes(x *Node, axes ...int) *Node {
	y := SumAxes(x, axes...)
	if y.err != nil {
		return y
	}
	return Scale(float64(y.Size())/float64(x.Size()), y)
}

// Variance returns the mean squared deviation along the given axes, divided by n - ddof; without
// axes it is that of all elements.
func Variance(x *Node, ddof int, axes ...int) *Node {
	axes, bad := orAll(x, axes)
	if bad != nil {
		return bad
	}
	m := restored(MeanAxes(x, axes...), x.shape, axes)
	s := SumAxes(Square(Sub(x, m)), axes...)
	return Scale(1/(float64(x.Size())/float64(s.Size())-float64(ddof)), s)
}

// Prod returns the product along the given axes, or of all elements if there are none. It
// multiplies by halves, so that gradients of every order are right where factors are 0.
func Prod(x *Node, axes ...int) *Node {
	axes, bad := orAll(x, axes)
	if bad != nil {
		return bad
	}
	n := 1
	var perm []int
	for i := range x.shape {
		if !slices.Contains(axes, i) {
			perm = append(perm, i)
		}
	}
	for _, a := range axes {
		n *= x.shape[a]
	}
	out := compiler.WithoutAxes(x.shape, axes)
	if n == 0 {
		return Full(1, out...)
	}
	y := Reshape(Permute(x, append(axes, perm...)...), n, out.Size())
	for n > 1 {
		h := n / 2
		z := Mul(Slice(y, 0, 0, h), Slice(y, 0, h, 2*h))
		if n%2 == 1 {
			z = Concat(0, z, Slice(y, 0, n-1, n))
		}
		y, n = z, n-h
	}
	return Reshape(y, out...)
}

// LogSumExp returns log sum exp along the given axes, or over all elements if there are none,
// without overflow. It is -Inf if every element is, and +Inf if one is. Gradient: softmax, and 0 where the result is
// infinite, which moves with no element.
func LogSumExp(x *Node, axes ...int) *Node {
	axes, bad := orAll(x, axes)
	if bad != nil {
		return bad
	}
	m := StopGradient(over(maxOp, x, axes))
	still := isInfinite(m)
	d := Sub(x, restored(m, x.shape, axes))
	d = Where(restored(still, x.shape, axes), Scalar(0), d) // which would have no number
	return Add(Log(SumAxes(Exp(d), axes...)), m)
}

// Softmax returns exp(x) / sum exp(x) along one axis. Elements of -Inf have 0; a row of nothing but -Inf, or with +Inf,
// has no softmax: it is NaN.
func Softmax(x *Node, axis int) *Node {
	if bad := notReal("softmax", x); bad != nil {
		return bad
	}
	ax, bad := axisIn("softmax", x.shape, axis)
	if bad != nil {
		return bad
	}
	row := []int{ax}
	e := Exp(Sub(x, restored(StopGradient(over(maxOp, x, row)), x.shape, row)))
	return Mul(e, restored(Reciprocal(SumAxes(e, ax)), x.shape, row))
}

// LogSoftmax returns x - LogSumExp(x) along one axis.
func LogSoftmax(x *Node, axis int) *Node {
	if bad := notReal("softmax", x); bad != nil {
		return bad
	}
	ax, bad := axisIn("softmax", x.shape, axis)
	if bad != nil {
		return bad
	}
	return Sub(x, restored(LogSumExp(x, ax), x.shape, []int{ax}))
}

// Dot returns the sum of x*y.
func Dot(x, y *Node) *Node { return Sum(Mul(x, y)) }

// StopGradient returns x, which gradients treat as a constant.
func StopGradient(x *Node) *Node { return apply(stopOp, x) }

var stopOp *Op

func init() {
	stopOp = Unary{Name: "stop_gradient", code: compiler.Stop, CPU: func(x float64) float64 { return x }, CUDA: "x", Domain: Interval{-3, 3}}.Define()
	stopOp.Sample = nil // its gradient is not its derivative
}

// orAll resolves axes, none meaning all of them.
func orAll(x *Node, axes []int) ([]int, *Node) {
	if bad := notReal("reduce", x); bad != nil {
		return nil, bad
	}
	if len(axes) == 0 {
		for i := range x.shape {
			axes = append(axes, i)
		}
	}
	out, err := sortedAxes(axes, len(x.shape))
	if err != nil {
		return nil, mistake("reduce", "%v of shape %v repeat or do not exist: name each axis once, from 0 or from the end by negative numbers", err, x.shape)
	}
	return out, nil
}
