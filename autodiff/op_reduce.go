// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/tensor"
)

// Sum returns the sum of all elements. The order of the additions is fixed: it is a tree over
// blocks and tiles. The partial sums of tiles are float64 in every precision. The error is at most
// a few units of the last place of the sum of |x|. Gradient: 1.
func Sum(x *Node) *Node { return reduce(sumOp, x) }

// SumAxes returns the sums along the given axes, which are dropped. Without axes it returns x.
// Gradient: repeated along the axes.
func SumAxes(x *Node, axes ...int) *Node { return over(sumOp, x, axes) }

// Max returns the largest element, or NaN if there is a NaN. Gradient: shared equally by the largest
// elements.
func Max(x *Node) *Node { return reduce(maxOp, x) }

// MaxAxes returns the largest elements along the given axes, which are dropped.
func MaxAxes(x *Node, axes ...int) *Node { return over(maxOp, x, axes) }

// Min returns the smallest element, or NaN if there is a NaN. Gradient: shared equally by the
// smallest elements.
func Min(x *Node) *Node { return reduce(minOp, x) }

// MinAxes returns the smallest elements along the given axes, which are dropped.
func MinAxes(x *Node, axes ...int) *Node { return over(minOp, x, axes) }

// reduce reduces over all axes.
func reduce(op *Op, x *Node) *Node {
	if bad := notReal(op.Name, x); bad != nil {
		return bad
	}
	all := make([]int, len(x.shape))
	for i := range all {
		all[i] = i
	}
	return over(op, x, all)
}

func over(op *Op, x *Node, axes []int) *Node {
	if bad := notReal(op.Name, x); bad != nil {
		return bad
	}
	axes, err := sortedAxes(axes, len(x.shape))
	if err != nil {
		return mistake(op.Name, "%v of shape %v repeat or do not exist: name each axis once, from 0 or from the end by negative numbers", err, x.shape)
	}
	if len(axes) == 0 {
		return x
	}
	for _, a := range axes {
		if op != sumOp && x.shape[a] == 0 {
			return mistake(op.Name, "there are no elements along axis %d of shape %v: want at least one", a, x.shape)
		}
	}
	n := newNode(op, compiler.WithoutAxes(x.shape, axes), x)
	n.attr = axes
	return n
}

// sortedAxes resolves negative axes and refuses repeated or absent ones.
func sortedAxes(axes []int, rank int) ([]int, error) {
	out := make([]int, 0, len(axes))
	for _, a := range axes {
		ax, ok := axisOf(a, rank)
		if !ok || slices.Contains(out, ax) {
			return nil, fmt.Errorf("axes %v", axes)
		}
		out = append(out, ax)
	}
	slices.Sort(out)
	return out, nil
}

// restored returns y, a reduction of x over axes, with those axes restored at length 1.
func restored(y *Node, x tensor.Shape, axes []int) *Node {
	s := x.Clone()
	for _, a := range axes {
		s[a] = 1
	}
	return Reshape(y, s...)
}

var sumOp, maxOp, minOp *Op

func init() {
	samples := func(op **Op) func(in Source) []*Node {
		return func(in Source) []*Node {
			x := in(-2, 2, 2, 3, 2)
			return []*Node{reduce(*op, x), over(*op, x, []int{1}), over(*op, x, []int{0, 2}), over(*op, in(-2, 2, 4, 3), []int{0})}
		}
	}
	sumOp = register(&Op{Name: "sum", kernel: "sum", code: compiler.Sum, Arity: 1, kind: compiler.Reduction, Smooth: true,
		vjp: func(g, y *Node, x []*Node) []*Node {
			return []*Node{Broadcast(restored(g, x[0].shape, y.attr), x[0].shape...)}
		},
		f2:     func(x, y float64) float64 { return x + y },
		Sample: samples(&sumOp)})
	extreme := func(name string, code compiler.Code, f func(x, y float64) float64, self **Op) *Op {
		return register(&Op{Name: name, kernel: name, code: code, Arity: 1, kind: compiler.Reduction, Smooth: true, f2: f,
			vjp: func(g, y *Node, x []*Node) []*Node {
				hit := Equal(x[0], restored(y, x[0].shape, y.attr))
				ties := over(sumOp, hit, y.attr)
				return []*Node{Mul(hit, restored(Div(g, ties), x[0].shape, y.attr))}
			},
			Sample: samples(self)})
	}
	maxOp = extreme("max", compiler.Max, largest, &maxOp)
	minOp = extreme("min", compiler.Min, smallest, &minOp)
}
