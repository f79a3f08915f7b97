// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff"
)

// halfSegment is the integral of sqrt(1 - t^2) from 0 to x, for |x| at most 1:
//
//	(x sqrt(1 - x^2) + asin x)/2
//
// It is an operation, because its slope is sqrt(1 - x^2), while those of the two terms grow beyond bounds towards 1 and
// cancel. Gradient: sqrt(1 - x^2).
var halfSegment *autodiff.Op

func init() {
	halfSegment = autodiff.Unary{
		Name: "half_segment",
		CPU:  func(x float64) float64 { return 0.5 * (x*math.Sqrt(1-x*x) + math.Asin(x)) },
		CUDA: "0.5 * (x * sqrt(1.0 - x * x) + asin(x))",
		VJP: func(g, _, x *autodiff.Node) *autodiff.Node {
			return autodiff.Mul(g, autodiff.Sqrt(autodiff.Sub(autodiff.Scalar(1), autodiff.Square(x))))
		},
		Domain: autodiff.Interval{Lo: -0.9, Hi: 0.9},
	}.Define()
}
