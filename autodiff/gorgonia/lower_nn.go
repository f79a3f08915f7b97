package gorgonia

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// softmaxAxis is the last axis unless the operation names one; it is the first
// of a column.
func (l *lowering) softmaxAxis() int {
	s := l.kids[0].Shape()
	switch axis := l.int("axis"); {
	case axis != -1:
		return axis
	case s.IsColVec() || (s.IsVector() && !s.IsRowVec()):
		return 0
	}
	return len(s) - 1
}

func lowerSoftmax(l *lowering) *ad.Node {
	if l.bool("isLog") {
		return ad.LogSoftmax(l.x[0], l.softmaxAxis())
	}
	return ad.Softmax(l.x[0], l.softmaxAxis())
}

// lowerSoftmaxDiff is the gradient of softmax: input, output y, gradient g.
//
//	softmax: y (g - sum(y g)),  log: g - exp(y) sum(g)
func lowerSoftmaxDiff(l *lowering) *ad.Node {
	y, g, axis := l.x[1], l.x[2], l.softmaxAxis()
	keep := y.Shape().Clone()
	keep[axis] = 1
	sum := func(x *ad.Node) *ad.Node { return ad.Reshape(ad.SumAxes(x, axis), keep...) }
	if l.bool("isLog") {
		return ad.Sub(g, ad.Mul(ad.Exp(y), sum(g)))
	}
	return ad.Mul(y, ad.Sub(g, sum(ad.Mul(y, g))))
}

// lowerDropout multiplies by what Gorgonia draws for an array of ones, so that
// gradient and mode are right: Gorgonia's rule divides by the share that is
// dropped instead of the share that is kept.
func lowerDropout(l *lowering) *ad.Node {
	x := l.x[0]
	l.x = []*ad.Node{ad.Full(1, x.Shape()...)}
	return ad.Mul(x, l.call(l.step()))
}

// lowerAveragePool adds the shifted, strided images of a window. As Gorgonia
// does, it divides by the width of the input, not by the area of the window.
func lowerAveragePool(l *lowering) *ad.Node {
	s, out := l.x[0].Shape(), l.n.Shape()
	north, west := l.int("padNorth"), l.int("padWest")
	if l.bool("explicitPadding") {
		north, west = l.int("padSouth"), l.int("padEast")
	}
	h, w, dy, dx := l.int("h"), l.int("w"), l.int("strideH"), l.int("strideW")
	needH, needW := (out[2]-1)*dy+h, (out[3]-1)*dx+w
	x := ad.Pad(l.x[0], []int{0, 0, north, west}, []int{0, 0, max(0, needH-north-s[2]), max(0, needW-west-s[3])}, 0)
	var terms []*ad.Node
	for i := range h {
		for j := range w {
			row := ad.SliceStep(x, 2, i, i+(out[2]-1)*dy+1, dy)
			terms = append(terms, ad.SliceStep(row, 3, j, j+(out[3]-1)*dx+1, dx))
		}
	}
	return ad.Scale(1/float64(s[3]), ad.AddN(terms...))
}
