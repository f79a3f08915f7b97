// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// infinite reports whether an end is a constant with infinite elements.
func infinite(end *ad.Node) bool {
	v, ok := constant(end)
	return ok && slices.ContainsFunc(v, func(x float64) bool { return math.IsInf(x, 0) })
}

// someEndsTransform is IntervalTransform for ends of which some are infinite. Elements with one finite end are mapped by
// an exponential, and those without are left as they are.
func someEndsTransform(p []*ad.Node) Transform {
	part := func(end *ad.Node) (finite, value *ad.Node) {
		finite = ad.Less(ad.Abs(end), plusInfinity)
		return finite, ad.Where(finite, end, zero)
	}
	low, a := part(p[0])
	high, b := part(p[1])
	both := ad.Mul(low, high)
	pick := func(x, interval, below, above, none *ad.Node) *ad.Node {
		y := ad.Where(both, interval, ad.Where(low, below, ad.Where(high, above, none)))
		return ad.Broadcast(y, x.Shape()...)
	}
	return Transform{Name: "interval", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			e := ad.Exp(ad.Where(both, zero, x))
			width := ad.Where(both, ad.Sub(b, a), one)
			y = pick(x, ad.Add(a, ad.Mul(width, ad.Sigmoid(x))), ad.Add(a, e), ad.Sub(b, e), x)
			interval := ad.Sub(ad.Log(width), ad.Add(x, ad.Scale(2, ad.Softplus(ad.Neg(x)))))
			return y, ad.Sum(pick(x, interval, x, x, zero))
		},
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			return strictly(y, b[0], b[1], func(v float64) float64 {
				switch low, high := !math.IsInf(b[0], 0), !math.IsInf(b[1], 0); {
				case low && high:
					return math.Log(v-b[0]) - math.Log(b[1]-v)
				case low:
					return math.Log(v - b[0])
				case high:
					return math.Log(b[1] - v)
				}
				return v
			})
		},
		inside: func(y []float64, nudge float64, b ...float64) { within(y, b[0], b[1], nudge) },
	}
}
