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

// lowerDropout lets Gorgonia draw and gives the gradient itself: Gorgonia's
// divides by the share that is dropped instead of the share that is kept.
func lowerDropout(l *lowering) *ad.Node {
	drop, training := l.v.FieldByName("probability"), l.v.FieldByName("isTraining")
	c := l.step()
	c.VJP = func(g, y *ad.Node, x []*ad.Node) []*ad.Node {
		out := make([]*ad.Node, len(x))
		out[0] = g
		if p := drop.Float(); p != 0 && training.Bool() {
			out[0] = ad.Where(ad.Equal(y, ad.Scalar(0)), ad.Scalar(0), ad.Scale(1/(1-p), g))
		}
		return out
	}
	return l.call(c)
}
