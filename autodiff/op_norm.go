// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
)

// Norm returns the Euclidean norm along the given axes, also where squares overflow or underflow; without axes it is that
// of all elements. Gradient: x/norm. At 0, where the norm has a kink, it is the subgradient 0, and so are further
// derivatives there: Hypot, Abs and the distances made of them follow the same rule.
func Norm(x *Node, axes ...int) *Node {
	axes, bad := orAll(x, axes)
	if bad != nil {
		return bad
	}
	s := SumAxes(Square(x), axes...)
	if s.err != nil || x.Size() == 0 {
		return Sqrt(s)
	}
	n := newNode(rootOfSquaresOp, s.shape, s, x)
	n.attr, _ = sortedAxes(axes, len(x.shape))
	return n
}

// rootOfSquaresOp takes the root of a sum of squares. Only where that is so large or so small that squares may have lost digits,
// it sums those of x again, divided by the largest.
var rootOfSquaresOp *Op

func init() {
	rootOfSquaresOp = register(&Op{Name: "root_of_squares", Arity: 2, kind: compiler.Step, Smooth: true,
		vjp: func(g, y *Node, in []*Node) []*Node {
			x, zero := in[1], Equal(y, Scalar(0))
			r := restored(Where(zero, Scalar(1), y), x.shape, y.attr)
			g = restored(Where(zero, Scalar(0), g), x.shape, y.attr)
			return []*Node{nil, Mul(g, Div(x, r))} // the sum moves with x
		},
		run:    func(c *cpu.Call) error { return c.Each(rootOfSquares[float64], rootOfSquares[float32]) },
		device: cuda.RootOfSquares,
		Sample: func(in Source) []*Node {
			x := in(-2, 2, 2, 3, 2)
			return []*Node{Norm(x), Norm(x, 1), Norm(x, 0, 2), Norm(Scale(1e-30, x), 1), Norm(Scale(1e30, x), 0)}
		}})
}

// plainSquares are the ends of the range in which a sum of squares has all digits, whatever it is a sum of.
func plainSquares[T cpu.Real]() (low, high T) {
	if T(1)+1e-10 == 1 {
		return T(cuda.PlainSquares[0][0]), T(cuda.PlainSquares[0][1])
	}
	return T(cuda.PlainSquares[1][0]), T(cuda.PlainSquares[1][1])
}

func rootOfSquares[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	low, high := plainSquares[T]()
	plain := true
	for i, s := range in[0] {
		out[i] = T(math.Sqrt(float64(s)))
		plain = plain && s > low && s < high
	}
	if plain {
		return nil
	}
	kept := compiler.KeptStrides(c.InShape[1], c.Attr)
	most, sum := make([]float64, len(out)), make([]float64, len(out))
	each := func(f func(i int, x float64)) {
		compiler.Walk(c.InShape[1], func(idx []int, flat int) {
			i := 0
			for axis, k := range idx {
				i += k * kept[axis]
			}
			f(i, math.Abs(float64(in[1][flat])))
		})
	}
	each(func(i int, x float64) { most[i] = max(most[i], x) }) // NaN if there is one
	each(func(i int, x float64) {
		if m := most[i]; m > 0 && !math.IsInf(m, 1) {
			sum[i] += x / m * (x / m)
		}
	})
	for i, s := range in[0] {
		if !(s > low && s < high) {
			if out[i] = T(most[i]); sum[i] > 0 {
				out[i] = T(most[i] * math.Sqrt(sum[i]))
			}
		}
	}
	return nil
}
