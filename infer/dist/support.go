package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Support is an interval of the real line; nil ends are infinite. Ends may be
// Nodes, so a bound may depend on another parameter.
type Support struct {
	Lower, Upper *ad.Node
	Open         bool // the ends do not belong to it: the density there is 0, infinite or no limit
}

// The common supports: all numbers, x > 0, x >= 0, and 0 < x < 1.
var (
	Real        = Support{}
	Positive    = Support{Lower: ad.Scalar(0), Open: true}
	NonNegative = Support{Lower: ad.Scalar(0)}
	Unit        = Support{Lower: ad.Scalar(0), Upper: ad.Scalar(1), Open: true}
)

// Interval is the closed support between two ends, numbers or Nodes.
func Interval(lower, upper any) Support {
	return Support{Lower: ad.Of(lower), Upper: ad.Of(upper)}
}

// Transform returns the map from the whole real line to the support.
func (s Support) Transform() Transform {
	switch {
	case s.Lower != nil && s.Upper != nil:
		return IntervalTransform(s.Lower, s.Upper)
	case s.Lower != nil:
		return LowerTransform(s.Lower)
	case s.Upper != nil:
		return UpperTransform(s.Upper)
	}
	return IdentityTransform()
}

// Constrain maps unconstrained u to the support; logJ is the log of the
// Jacobian's absolute determinant.
func (s Support) Constrain(u *ad.Node) (y, logJ *ad.Node) { return s.Transform().Constrain(u) }

// guard evaluates f inside the support and gives -Inf outside; what f does
// outside cannot leak into a gradient.
func (s Support) guard(x *ad.Node, f func(*ad.Node) *ad.Node) *ad.Node {
	inside := s.Inside(x)
	if inside == nil {
		return f(x)
	}
	return ad.Where(inside, f(ad.Where(inside, x, s.middle())), ad.Scalar(math.Inf(-1)))
}

// Inside returns 1 where x lies in the support and 0 elsewhere; nil stands for 1
// everywhere.
func (s Support) Inside(x *ad.Node) *ad.Node {
	above, below := ad.GreaterEqual, ad.LessEqual
	if s.Open {
		above, below = ad.Greater, ad.Less
	}
	switch {
	case s.Lower != nil && s.Upper != nil:
		return ad.Mul(above(x, s.Lower), below(x, s.Upper))
	case s.Lower != nil:
		return above(x, s.Lower)
	case s.Upper != nil:
		return below(x, s.Upper)
	}
	return nil
}

// middle is a point inside the support.
func (s Support) middle() *ad.Node {
	switch {
	case s.Lower != nil && s.Upper != nil:
		return ad.StopGradient(ad.Scale(0.5, ad.Add(s.Lower, s.Upper)))
	case s.Lower != nil:
		return ad.StopGradient(ad.Shift(s.Lower, 1))
	case s.Upper != nil:
		return ad.StopGradient(ad.Shift(s.Upper, -1))
	}
	return ad.Scalar(0)
}
