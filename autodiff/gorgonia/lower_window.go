// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"math"
	"reflect"
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// window slides over images: arrays of batch, channel, height and width.
type window struct {
	h, w        int // height and width of the window
	north, west int // padding above and to the left
	down, right int // strides down and to the right
	// distances between elements within the window (dilations), down and to the right
	downApart, sideApart int
	outH, outW           int // number of windows down and to the right
}

// windowOf reads the fields that poolings have in common. With padding for each
// side Gorgonia starts by that of the far sides.
func windowOf(l *lowering, out gt.Shape) window {
	k := window{
		h: l.int("h"), w: l.int("w"), north: l.int("padNorth"), west: l.int("padWest"),
		down: l.int("strideH"), right: l.int("strideW"), downApart: 1, sideApart: 1, outH: out[2], outW: out[3],
	}
	if l.bool("explicitPadding") {
		k.north, k.west = l.int("padSouth"), l.int("padEast")
	}
	return k
}

// place is where in an image of the given size element j of window i lies, or
// outside.
func (k window) place(i, j, height, width, outside int) int {
	y := i/k.outW*k.down - k.north + j/k.w*k.downApart
	x := i%k.outW*k.right - k.west + j%k.w*k.sideApart
	if y < 0 || y >= height || x < 0 || x >= width {
		return outside
	}
	return y*width + x
}

// stacked returns the elements of all windows of x: element j of each along a
// new axis 2, shape (batch, channel, h*w, outH, outW). Outside the images it
// finds fill.
func (k window) stacked(x *ad.Node, fill float64) *ad.Node {
	s := x.Shape()
	var at []int
	for j := range k.h * k.w {
		for i := range k.outH * k.outW {
			at = append(at, k.place(i, j, s[2], s[3], s[2]*s[3]))
		}
	}
	images := ad.Pad(ad.Reshape(x, s[0]*s[1], s[2]*s[3]), []int{0, 0}, []int{0, 1}, fill)
	return ad.Reshape(ad.Gather(images, ad.Ints(at), 1), s[0], s[1], k.h*k.w, k.outH, k.outW)
}

func lowerMaxPool(l *lowering) *ad.Node { return l.maxPool(l.n.Shape()) }

// lowerMaxPoolDiff is its gradient: images, their pools, gradient of these.
func lowerMaxPoolDiff(l *lowering) *ad.Node {
	return ad.VJP(l.maxPool(l.kids[1].Shape()), l.x[2], l.x[0])[0]
}

// pooling returns the windows as those of our operations, if these are the same places.
func (k window) pooling(x *ad.Node) (s ad.Pooling, ok bool) {
	s = ad.Pooling{Size: [2]int{k.h, k.w}, Stride: [2]int{k.down, k.right}, Pad: [2]int{k.north, k.west}}
	inside := func(size, pad, by, places, length int) bool { // no window reaches beyond the padding, or lies in it
		return by > 0 && size > 0 && 2*pad <= size && places > 0 && (length+2*pad-size)/by+1 == places && length+2*pad >= size
	}
	im := x.Shape()
	return s, inside(k.h, k.north, k.down, k.outH, im[2]) && inside(k.w, k.west, k.right, k.outW, im[3])
}

// maxPool takes the largest of each window. Outside the images lies the least
// number there is, which Gorgonia starts from.
func (l *lowering) maxPool(out gt.Shape) *ad.Node {
	if s, ok := windowOf(l, out).pooling(l.x[0]); ok {
		return ad.MaxPool2D(l.x[0], s)
	}
	least := -math.MaxFloat64
	if l.n.Dtype() == gt.Float32 {
		least = -math.MaxFloat32
	}
	return ad.MaxAxes(windowOf(l, out).stacked(l.x[0], least), 2)
}

func lowerAveragePool(l *lowering) *ad.Node { return l.averagePool(l.n.Shape()) }

// lowerAveragePoolDiff is its gradient: images, their pools, gradient of these.
func lowerAveragePoolDiff(l *lowering) *ad.Node {
	return ad.VJP(l.averagePool(l.kids[1].Shape()), l.x[2], l.x[0])[0]
}

// averagePool adds up each window. As Gorgonia does, it divides by the width of
// the image, not by the area of the window.
func (l *lowering) averagePool(out gt.Shape) *ad.Node {
	width := l.kids[0].Shape()[3]
	if s, ok := windowOf(l, out).pooling(l.x[0]); ok {
		return ad.Scale(1/float64(width), ad.SumPool2D(l.x[0], s))
	}
	return ad.Scale(1/float64(width), ad.SumAxes(windowOf(l, out).stacked(l.x[0], 0), 2))
}

func lowerIm2Col(l *lowering) *ad.Node { return l.columns(l.x[0], l.n.Shape()) }

// lowerCol2Im is its gradient: it adds columns up to images.
func lowerCol2Im(l *lowering) *ad.Node {
	x := ad.Input("images", l.n.Shape()...)
	return ad.VJP(l.columns(x, l.kids[0].Shape()), l.x[0], x)[0]
}

// columns arranges windows as (batch, outH, outW, channel*h*w), with 0 outside.
func (l *lowering) columns(x *ad.Node, out gt.Shape) *ad.Node {
	k := window{
		h: l.int("h"), w: l.int("w"), north: l.int("padH"), west: l.int("padW"),
		down: l.int("strideH"), right: l.int("strideW"),
		downApart: l.int("dilationH"), sideApart: l.int("dilationW"), outH: out[1], outW: out[2],
	}
	s := x.Shape()
	size := s[2] * s[3]
	var at []int
	for i := range k.outH * k.outW {
		for c := range s[1] {
			for j := range k.h * k.w {
				at = append(at, min(c*size+k.place(i, j, s[2], s[3], s[1]*size), s[1]*size))
			}
		}
	}
	images := ad.Pad(ad.Reshape(x, s[0], s[1]*size), []int{0, 0}, []int{0, 1}, 0)
	return ad.Reshape(ad.Gather(images, ad.Ints(at), 1), out...)
}

// lowerTranspose reorders axes, and finds convolutions, which Gorgonia makes of columns of images, a product and this.
func lowerTranspose(l *lowering) *ad.Node {
	if y := l.convolution(); y != nil {
		return y
	}
	return ad.Permute(l.x[0], l.ints("pattern")...)
}

// convolution returns a convolution in place of the last operation of Gorgonia's Conv2d; nil if it is not one.
func (l *lowering) convolution() *ad.Node {
	is := func(n *G.Node, op string) bool { return n.Op() != nil && opName(n.Op()) == op }
	reshaped := func(n *G.Node) *G.Node { // what n is another shape of
		for is(n, "reshapeOp") {
			n = children(n)[0]
		}
		return n
	}
	product := reshaped(l.kids[0])
	if !slices.Equal(l.ints("pattern"), []int{0, 3, 1, 2}) || !is(product, "linAlgBinOp") {
		return nil
	}
	of := func(n *G.Node) *lowering {
		return &lowering{n: n, op: n.Op(), v: reflect.Indirect(reflect.ValueOf(n.Op()))}
	}
	factors := children(product)
	if p := of(product); p.bool("transA") || !p.bool("transB") || len(factors) != 2 {
		return nil
	}
	columns, filters := reshaped(factors[0]), factors[1]
	if !is(filters, "reshapeOp") || !is(columns, "im2colOp") {
		return nil
	}
	filters = children(filters)[0]
	c, images := of(columns), children(columns)[0]
	im, w, out := images.Shape(), filters.Shape(), l.n.Shape()
	s := ad.Convolution{Stride: [2]int{c.int("strideH"), c.int("strideW")}, Pad: [2]int{c.int("padH"), c.int("padW")}, Dilation: [2]int{c.int("dilationH"), c.int("dilationW")}}
	if len(im) != 4 || len(w) != 4 || w[1] != im[1] || w[2] != c.int("h") || w[3] != c.int("w") {
		return nil
	}
	y := ad.Conv2D(l.im.of[images], l.im.of[filters], s)
	if y.Err() != nil || !slices.Equal([]int(y.Shape()), []int(out)) {
		return nil
	}
	return y
}
