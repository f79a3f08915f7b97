// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
)

// Cumsum returns the running sums along one axis. Gradient: running sums in the other direction.
func Cumsum(x *Node, axis int) *Node { return cumulative(x, axis, false, false) }

// CumsumWith returns running sums that leave out the element itself if exclusive is set, and that
// run from the end if reverse is set.
func CumsumWith(x *Node, axis int, exclusive, reverse bool) *Node {
	return cumulative(x, axis, exclusive, reverse)
}

func cumulative(x *Node, axis int, exclusive, reverse bool) *Node {
	if bad := notReal("cumsum", x); bad != nil {
		return bad
	}
	ax, bad := axisIn("cumsum", x.shape, axis)
	if bad != nil {
		return bad
	}
	n := newNode(cumsumOp, x.shape, x)
	n.attr = []int{ax, int(truth(exclusive)), int(truth(reverse))}
	return n
}

var cumsumOp *Op

func init() {
	cumsumOp = register(&Op{Name: "cumsum", Arity: 1, kind: compiler.Step, Smooth: true,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			return []*Node{cumulative(g, y.attr[0], y.attr[1] == 1, y.attr[2] == 0)}
		},
		run:    func(c *cpu.Call) error { return c.Each(cumsum[float64], cumsum[float32]) },
		device: cuda.Cumsum,
		Sample: func(in Source) []*Node {
			return []*Node{Cumsum(in(-2, 2, 5), 0), CumsumWith(in(-2, 2, 2, 3, 2), 1, true, true)}
		}})
}

// cumsum keeps the running sum in float64.
func cumsum[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	outer, inner, n := around(c.Shape, c.Attr[0])
	exclusive, reverse := c.Attr[1] == 1, c.Attr[2] == 1
	for o := range outer {
		for j := range inner {
			at, by, s := o*n*inner+j, inner, 0.0
			if reverse {
				at, by = at+(n-1)*inner, -inner
			}
			for range n {
				v := float64(in[0][at])
				if exclusive {
					out[at] = T(s)
					s += v
				} else {
					s += v
					out[at] = T(s)
				}
				at += by
			}
		}
	}
	return nil
}
