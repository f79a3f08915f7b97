// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Convolution says how filters slide over images. In all pairs the first number is for the vertical
// and the second for the horizontal direction. The zero value is the default.
type Convolution struct {
	Stride   [2]int // distance between neighbouring positions of a filter. Default 1
	Pad      [2]int // number of zeros added at each side of the image
	Dilation [2]int // distance between neighbouring elements of a filter in the image. Default 1
	Groups   int    // number of groups of channels that are kept apart. Default 1
}

func (s Convolution) defaults() Convolution {
	for i := range 2 {
		s.Stride[i], s.Dilation[i] = orOne(s.Stride[i]), orOne(s.Dilation[i])
	}
	s.Groups = orOne(s.Groups)
	return s
}

func orOne(n int) int {
	if n == 0 {
		return 1
	}
	return n
}

// places returns the number of places of a filter of some length along an axis of an image.
func (s Convolution) places(axis, length, filter int) int {
	room := length + 2*s.Pad[axis] - s.Dilation[axis]*(filter-1) - 1
	if room < 0 {
		return 0
	}
	return room/s.Stride[axis] + 1
}

// mostSlide is the largest stride, padding, dilation and number of groups, whose products with lengths are numbers of 64 bits.
const mostSlide = 1 << 21

func (s Convolution) wrong() bool {
	return min(s.Stride[0], s.Stride[1], s.Dilation[0], s.Dilation[1], s.Groups) < 1 || min(s.Pad[0], s.Pad[1]) < 0 ||
		max(s.Stride[0], s.Stride[1], s.Dilation[0], s.Dilation[1], s.Pad[0], s.Pad[1], s.Groups) > mostSlide
}

// Conv2D correlates images (batch, channels, height, width) with filters (results, channels/groups,
// height, width),
//
//	y[n, o, i, j] = sum_c,a,b w[o, c, a, b] x[n, c, i stride + a dilation - pad, j ...]
//
// where x is 0 outside the image. Gradient: by convolutions of the same kind, of any order.
func Conv2D(x, w *Node, s Convolution) *Node {
	if bad := notReal("conv2d", x, w); bad != nil {
		return bad
	}
	s = s.defaults()
	if s.wrong() || len(x.shape) != 4 || len(w.shape) != 4 || w.shape[0]%s.Groups != 0 || x.shape[1] != w.shape[1]*s.Groups || w.shape[2]*w.shape[3] == 0 {
		return mistake("conv2d", "the images have shape %v, the filters %v, and the settings are %+v: want images (batch, channels, height, width) and filters (results, channels/groups, height, width) that are not empty, groups that divide the results, and positive strides and dilations, with none of the settings above %d", x.shape, w.shape, s, mostSlide)
	}
	y := tensor.Shape{x.shape[0], w.shape[0], s.places(0, x.shape[2], w.shape[2]), s.places(1, x.shape[3], w.shape[3])}
	if x.Size() > 0 && y[2]*y[3] == 0 {
		return mistake("conv2d", "filters of shape %v with settings %+v reach beyond images of shape %v: use smaller filters, or more padding", w.shape, s, x.shape)
	}
	return s.node(conv2dOp, y, x, w)
}

// ConvTranspose2D is the adjoint of Conv2D by its images: it adds up filters (channels,
// results/groups, height, width), times the elements of images (batch, channels, height, width).
// The height and the width of the result are (length-1) stride - 2 pad + dilation (filter-1) + 1 +
// more; more chooses between the image sizes from which Conv2D makes the same size.
func ConvTranspose2D(x, w *Node, s Convolution, more [2]int) *Node {
	if bad := notReal("conv_transpose2d", x, w); bad != nil {
		return bad
	}
	s = s.defaults()
	if s.wrong() || len(x.shape) != 4 || len(w.shape) != 4 || x.shape[1]%s.Groups != 0 || x.shape[1] != w.shape[0] || w.shape[2]*w.shape[3] == 0 {
		return mistake("conv_transpose2d", "the images have shape %v, the filters %v, and the settings are %+v: want images (batch, channels, height, width) and filters (channels, results/groups, height, width) that are not empty, groups that divide the channels, and positive strides and dilations, with none of the settings above %d", x.shape, w.shape, s, mostSlide)
	}
	y := tensor.Shape{x.shape[0], w.shape[1] * s.Groups, 0, 0}
	for i := range 2 {
		if more[i] < 0 || more[i] >= s.Stride[i] {
			return mistake("conv_transpose2d", "more is %d along axis %d: want 0 to %d", more[i], 2+i, s.Stride[i]-1)
		}
		y[2+i] = (x.shape[2+i]-1)*s.Stride[i] - 2*s.Pad[i] + s.Dilation[i]*(w.shape[2+i]-1) + 1 + more[i]
		if y[2+i] < 0 || s.places(i, y[2+i], w.shape[2+i]) != x.shape[2+i] {
			return mistake("conv_transpose2d", "the result would have length %d along axis %d, with more = %d, and Conv2D does not turn that length into %d: set more from 0 to %d, and less padding than the filter reaches", y[2+i], 2+i, more[i], x.shape[2+i], s.Stride[i]-1)
		}
	}
	return s.node(convImagesOp, y, x, w)
}

// node makes an operation on images and filters.
func (s Convolution) node(op *Op, shape tensor.Shape, in ...*Node) *Node {
	if !shape.Valid() {
		return failed(&tensor.ShapeError{Op: op.Name, Got: []tensor.Shape{shape}, Want: countable})
	}
	n := newNode(op, shape, in...)
	n.attr = []int{s.Stride[0], s.Stride[1], s.Pad[0], s.Pad[1], s.Dilation[0], s.Dilation[1], s.Groups}
	return n
}

func convolutionOf(attr []int) Convolution {
	return Convolution{[2]int{attr[0], attr[1]}, [2]int{attr[2], attr[3]}, [2]int{attr[4], attr[5]}, attr[6]}
}

// The three operations are the three derivatives of one trilinear form sum y conv(x, w): by y, by the images x, and by the
// filters w.
var conv2dOp, convImagesOp, convFiltersOp *Op

func init() {
	conv2dOp = register(&Op{Name: "conv2d", Arity: 2, kind: compiler.Step, Smooth: true, lift: liftConvolution,
		vjp: func(g, y *Node, x []*Node) []*Node {
			s := convolutionOf(y.attr)
			return []*Node{s.node(convImagesOp, x[0].shape, g, x[1]), s.node(convFiltersOp, x[1].shape, x[0], g)}
		},
		run:    func(c *cpu.Call) error { return c.Each(cpu.Conv2D[float64], cpu.Conv2D[float32]) },
		device: cuda.Conv2D,
		Sample: func(in Source) []*Node {
			return []*Node{Conv2D(in(-1, 1, 2, 2, 4, 3), in(-1, 1, 3, 2, 2, 2), Convolution{}),
				Conv2D(in(-1, 1, 1, 4, 5, 6), in(-1, 1, 2, 2, 3, 2), Convolution{Stride: [2]int{2, 1}, Pad: [2]int{1, 2}, Dilation: [2]int{1, 2}, Groups: 2}),
				Conv2D(in(-1, 1, 1, 2, 3, 3), in(-1, 1, 2, 2, 1, 1), Convolution{}), Conv2D(in(-1, 1, 1, 2, 5, 5), in(-1, 1, 2, 1, 3, 3), Convolution{Pad: [2]int{1, 1}, Groups: 2})}
		}})
	convImagesOp = register(&Op{Name: "conv2d_images", Arity: 2, kind: compiler.Step, Smooth: true, lift: liftConvolution,
		vjp: func(g, y *Node, x []*Node) []*Node {
			s := convolutionOf(y.attr)
			return []*Node{s.node(conv2dOp, x[0].shape, g, x[1]), s.node(convFiltersOp, x[1].shape, g, x[0])}
		},
		run:    func(c *cpu.Call) error { return c.Each(cpu.ConvImages[float64], cpu.ConvImages[float32]) },
		device: cuda.ConvImages,
		Sample: func(in Source) []*Node {
			return []*Node{ConvTranspose2D(in(-1, 1, 2, 2, 3, 2), in(-1, 1, 2, 3, 3, 2), Convolution{Stride: [2]int{2, 1}, Pad: [2]int{1, 0}}, [2]int{1, 0})}
		}})
	convFiltersOp = register(&Op{Name: "conv2d_filters", Arity: 2, kind: compiler.Step, Smooth: true, lift: liftConvolution,
		vjp: func(g, y *Node, x []*Node) []*Node {
			s := convolutionOf(y.attr)
			return []*Node{s.node(convImagesOp, x[0].shape, x[1], g), s.node(conv2dOp, x[1].shape, x[0], g)}
		},
		run:    func(c *cpu.Call) error { return c.Each(cpu.ConvFilters[float64], cpu.ConvFilters[float32]) },
		device: cuda.ConvFilters,
		Sample: func(in Source) []*Node {
			s := Convolution{Stride: [2]int{1, 2}, Pad: [2]int{1, 0}}.defaults()
			return []*Node{s.node(convFiltersOp, tensor.Shape{3, 2, 2, 2}, in(-1, 1, 2, 2, 3, 4), in(-1, 1, 2, 3, 4, 2))}
		}})
}

// liftConvolution returns a convolution in a batch. Lanes of images alone are more images; where filters
// have lanes, these are more groups of channels.
func liftConvolution(b *batcher, n *Node) *Node {
	s := convolutionOf(n.attr)
	filters := n.op == convFiltersOp
	if !filters && b.made[n.in[1]] == nil {
		x := b.toFirst(b.made[n.in[0]])
		y := s.node(n.op, append(tensor.Shape{b.n * n.shape[0]}, n.shape[1:]...), Reshape(x, append([]int{b.n * x.shape[1]}, x.shape[2:]...)...), n.in[1])
		return b.toLast(Reshape(y, append([]int{b.n}, n.shape...)...))
	}
	s.Groups *= b.n
	// images (N, C, H, W) become (N, lanes C, H, W), filters (O, C, H, W) become (lanes O, C, H, W)
	images := func(x *Node) *Node {
		y := Permute(b.full(x), 0, 4, 1, 2, 3)
		return Reshape(y, y.shape[0], y.shape[1]*y.shape[2], y.shape[3], y.shape[4])
	}
	weights := func(x *Node) *Node {
		y := b.toFirst(b.full(x))
		return Reshape(y, append([]int{b.n * y.shape[1]}, y.shape[2:]...)...)
	}
	if filters {
		y := s.node(n.op, append(tensor.Shape{b.n * n.shape[0]}, n.shape[1:]...), images(n.in[0]), images(n.in[1]))
		return b.toLast(Reshape(y, append([]int{b.n}, n.shape...)...))
	}
	y := s.node(n.op, tensor.Shape{n.shape[0], b.n * n.shape[1], n.shape[2], n.shape[3]}, images(n.in[0]), weights(n.in[1]))
	return Permute(Reshape(y, n.shape[0], b.n, n.shape[1], n.shape[2], n.shape[3]), 0, 2, 3, 4, 1)
}
