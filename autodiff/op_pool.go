// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Pooling says how a window slides over images. In all pairs the first number is for the vertical
// and the second for the horizontal direction.
type Pooling struct {
	Size     [2]int // height and width of the window
	Stride   [2]int // distance between neighbouring windows. Default: the size
	Pad      [2]int // padding at each side of the image, at most half of the window
	Dilation [2]int // distance between neighbouring elements of a window in the image. Default 1
	// Ceil also counts a last window that is partly outside, if it begins inside the image or its
	// padding.
	Ceil bool
}

func (s Pooling) defaults() Pooling {
	for i := range 2 {
		if s.Stride[i] == 0 {
			s.Stride[i] = s.Size[i]
		}
		s.Dilation[i] = orOne(s.Dilation[i])
	}
	return s
}

// places returns the number of windows along an axis of an image.
func (s Pooling) places(axis, length int) int {
	room := length + 2*s.Pad[axis] - s.Dilation[axis]*(s.Size[axis]-1) - 1
	if room < 0 {
		return 0
	}
	n := room/s.Stride[axis] + 1
	if s.Ceil && room%s.Stride[axis] != 0 && n*s.Stride[axis] < length+s.Pad[axis] {
		n++
	}
	return n
}

// of returns the shape of the pools of images, or what is wrong.
func (s Pooling) of(op string, x *Node) (tensor.Shape, *Node) {
	if bad := notReal(op, x); bad != nil {
		return nil, bad
	}
	for i := range 2 {
		if min(s.Size[i], s.Stride[i], s.Dilation[i]) < 1 || max(s.Size[i], s.Stride[i], s.Dilation[i]) > mostSlide || s.Pad[i] < 0 || s.Pad[i] > s.Size[i]/2 {
			return nil, mistake(op, "the settings are %+v: want sizes, strides and dilations of 1 to %d, and padding of at most half a window, so that no window lies outside the image", s, mostSlide)
		}
	}
	if len(x.shape) != 4 {
		return nil, mistake(op, "the images have shape %v: want (batch, channels, height, width)", x.shape)
	}
	shape := tensor.Shape{x.shape[0], x.shape[1], s.places(0, x.shape[2]), s.places(1, x.shape[3])}
	if x.Size() > 0 && shape.Valid() && shape[2]*shape[3] == 0 {
		return nil, mistake(op, "with %+v and images of shape %v, the window reaches beyond the images: use a smaller one, or more padding", s, x.shape)
	}
	if !shape.Valid() {
		return nil, failed(&tensor.ShapeError{Op: op, Got: []tensor.Shape{shape}, Want: countable})
	}
	for i := range 2 { // of each window an element must be inside, which those between have
		last := shape[2+i] - 1
		for k := 0; k <= last; k++ {
			if k*s.Stride[i] >= s.Pad[i] {
				k = last
			}
			if first, end := s.inside(i, k, x.shape[2+i]); first >= end {
				return nil, mistake(op, "with %+v and images of shape %v, window %d along axis %d lies outside the image: use less padding or dilation", s, x.shape, k, 2+i)
			}
		}
	}
	return shape, nil
}

// inside returns the elements of window k along an axis that are in an image of some length: first to end-1.
func (s Pooling) inside(axis, k, length int) (first, end int) {
	at, by := k*s.Stride[axis]-s.Pad[axis], s.Dilation[axis]
	if at < 0 {
		first = (-at + by - 1) / by
	}
	if at < length {
		end = min(s.Size[axis], (length-1-at)/by+1)
	}
	return first, end
}

// node makes an operation on images, whose elements have so many lanes side by side.
func (s Pooling) node(op *Op, shape tensor.Shape, lanes int, x *Node) *Node {
	n := newNode(op, shape, x)
	n.attr = []int{s.Size[0], s.Size[1], s.Stride[0], s.Stride[1], s.Pad[0], s.Pad[1], s.Dilation[0], s.Dilation[1], lanes}
	return n
}

// MaxPool2DIndices returns the position of the largest element of each window of images (batch,
// channels, height, width), as an index into the image with height and width as one axis. The
// result has the shape (batch, channels, rows, columns). Of equal elements the first counts, and a
// NaN counts as the largest.
func MaxPool2DIndices(x *Node, s Pooling) *Node {
	s = s.defaults()
	shape, bad := s.of("max_pool2d", x)
	if bad != nil {
		return bad
	}
	n := s.node(poolIndicesOp, shape, 1, x)
	n.isInt = true
	return n
}

// MaxPool2D returns the largest element of each window of images (batch, channels, height, width).
// Gradient: to that element; see MaxPool2DIndices.
func MaxPool2D(x *Node, s Pooling) *Node {
	at := MaxPool2DIndices(x, s)
	if at.err != nil {
		return at
	}
	n, c, p, q := at.shape[0], at.shape[1], at.shape[2], at.shape[3]
	return Reshape(TakeAlong(Reshape(x, n, c, x.shape[2]*x.shape[3]), Reshape(at, n, c, p*q), 2), n, c, p, q)
}

// SumPool2D returns the sum of each window of images (batch, channels, height, width); elements
// outside count as 0. Gradient: the sum of the gradients of the windows that hold an element.
func SumPool2D(x *Node, s Pooling) *Node {
	s = s.defaults()
	shape, bad := s.of("sum_pool2d", x)
	if bad != nil {
		return bad
	}
	return s.node(poolSumOp, shape, 1, x)
}

// AveragePool2D returns the mean of each window of images (batch, channels, height, width).
// Elements of the padding count as zeros if padding is true. Elements beyond it, which windows can
// reach with Ceil, never count. Gradient: see SumPool2D.
func AveragePool2D(x *Node, s Pooling, padding bool) *Node {
	sum := SumPool2D(x, s)
	if sum.err != nil {
		return sum
	}
	s = s.defaults()
	rows, columns := sum.shape[2], sum.shape[3]
	weight := make([]float64, 0, rows*columns)
	of := func(axis, k int) int {
		length, t := x.shape[2+axis], s
		if padding {
			length += 2 * s.Pad[axis]
			t.Pad[axis] = 0
		}
		first, end := t.inside(axis, k, length)
		return end - first
	}
	for i := range rows {
		for j := range columns {
			weight = append(weight, 1/float64(of(0, i)*of(1, j)))
		}
	}
	return Mul(sum, Const(weight, rows, columns))
}

// AdaptiveAveragePool2D returns the means of windows that divide images (batch, channels, height,
// width) into the given number of rows and columns, as evenly as whole elements allow; neighbouring
// windows may share elements. Gradient: the transpose.
func AdaptiveAveragePool2D(x *Node, rows, columns int) *Node {
	if bad := notReal("adaptive_average_pool2d", x); bad != nil {
		return bad
	}
	if len(x.shape) != 4 || rows < 1 || columns < 1 || x.shape[2]*x.shape[3] == 0 {
		return mistake("adaptive_average_pool2d", "images of shape %v cannot be pooled into %d x %d: want non-empty images (batch, channels, height, width), and at least one row and column", x.shape, rows, columns)
	}
	means := func(n, length int) []float64 { // matrix (n, length)
		m := make([]float64, n*length)
		for i := range n {
			from, to := i*length/n, ((i+1)*length+n-1)/n
			for k := from; k < to; k++ {
				m[i*length+k] = 1 / float64(to-from)
			}
		}
		return m
	}
	h, w := x.shape[2], x.shape[3]
	return MatMul(MatMul(Const(means(rows, h), rows, h), x), T(Const(means(columns, w), columns, w)))
}

var poolIndicesOp, poolSumOp, poolSpreadOp *Op

func init() {
	lift := func(b *batcher, n *Node) *Node {
		attr := append([]int{}, n.attr...)
		attr[8] *= b.n
		return b.with(n, attr, b.full(n.in[0]))
	}
	poolIndicesOp = register(&Op{Name: "pool_indices", Arity: 1, kind: compiler.Step, lift: lift,
		run: func(c *cpu.Call) error {
			return c.Each(cpu.PoolIndices[float64], cpu.PoolIndices[float32])
		},
		device: cuda.PoolIndices,
		Sample: func(in Source) []*Node {
			x := in(-1, 1, 2, 2, 5, 6)
			return []*Node{MaxPool2D(x, Pooling{Size: [2]int{2, 3}, Pad: [2]int{1, 1}}),
				MaxPool2D(x, Pooling{Size: [2]int{2, 2}, Stride: [2]int{1, 2}, Dilation: [2]int{2, 1}, Ceil: true})}
		}})
	poolSumOp = register(&Op{Name: "pool_sum", Arity: 1, kind: compiler.Step, Smooth: true, lift: lift,
		vjp: func(g, y *Node, x []*Node) []*Node {
			return []*Node{poolingOf(y.attr).node(poolSpreadOp, x[0].shape, y.attr[8], g)}
		},
		run:    func(c *cpu.Call) error { return c.Each(cpu.PoolSum[float64], cpu.PoolSum[float32]) },
		device: cuda.PoolSum,
		Sample: func(in Source) []*Node {
			x := in(-1, 1, 2, 1, 5, 6)
			return []*Node{SumPool2D(x, Pooling{Size: [2]int{2, 3}, Pad: [2]int{1, 1}}), AveragePool2D(x, Pooling{Size: [2]int{3, 2}, Stride: [2]int{2, 1}, Ceil: true}, true),
				AdaptiveAveragePool2D(x, 3, 4)}
		}})
	poolSpreadOp = register(&Op{Name: "pool_spread", Arity: 1, kind: compiler.Step, Smooth: true, lift: lift,
		vjp: func(g, y *Node, x []*Node) []*Node {
			return []*Node{poolingOf(y.attr).node(poolSumOp, x[0].shape, y.attr[8], g)}
		},
		run:    func(c *cpu.Call) error { return c.Each(cpu.PoolSpread[float64], cpu.PoolSpread[float32]) },
		device: cuda.PoolSpread,
		Sample: func(in Source) []*Node {
			s := Pooling{Size: [2]int{2, 3}, Stride: [2]int{2, 2}}
			return []*Node{s.defaults().node(poolSpreadOp, tensor.Shape{1, 2, 4, 5}, 1, in(-1, 1, 1, 2, 2, 2))}
		}})
}

func poolingOf(attr []int) Pooling {
	return Pooling{Size: [2]int(attr[:2]), Stride: [2]int(attr[2:4]), Pad: [2]int(attr[4:6]), Dilation: [2]int(attr[6:8])}
}
