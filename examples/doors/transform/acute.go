// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package acute adds a transform to models, from all numbers to angles between 0 and a right angle, and a distribution that
// uses it: that of the tilt of directions spread evenly over a hemisphere. Its command, in cmd, is euryale with this prior:
//
//	acute sample expr --problem tilt.json    # with "priors": {"angle": "tilt()"}
package acute

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Transform maps x to the angle atan(exp(x)), between 0 and pi/2, so that samplers move without bounds.
//
//	log dy/dx = log(sin y cos y) = -log(2 cosh x)
func Transform() dist.Transform {
	return dist.Transform{Name: "acute",
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			log := ad.Add(x, ad.Softplus(ad.Scale(-2, x))) // log(2 cosh x), without overflow and without a kink at 0
			// atan(exp x) = pi/4 + atan(tanh(x/2))
			y = ad.Shift(ad.Atan(ad.Tanh(ad.Scale(0.5, x))), math.Pi/4)
			return y, ad.Neg(ad.Sum(log))
		},
		Free: func(n int) int { return n },
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			x := make([]float64, len(y))
			for i, v := range y {
				if !(v > 0 && v < math.Pi/2) {
					return nil, fmt.Errorf("acute: angle %d is %g: want one between 0 and pi/2", i, v)
				}
				x[i] = math.Log(math.Tan(v))
			}
			return x, nil
		},
	}
}

// Tilt is the distribution of the angle between a direction, spread evenly over a hemisphere, and its axis.
//
//	p = sin y, 0 < y < pi/2
func Tilt() dist.Dist {
	return dist.Dist{Name: "tilt", Params: nil, Support: dist.Support{Lower: ad.Scalar(0), Upper: ad.Scalar(math.Pi / 2), Open: true},
		LogProbOf:   func(y *ad.Node) *ad.Node { return ad.Log(ad.Sin(y)) },
		RandOf:      func(src dist.Source, _ []float64) float64 { return math.Acos(src.Float64()) },
		CDFOf:       func(y float64, _ []float64) float64 { return 1 - math.Cos(min(max(y, 0), math.Pi/2)) },
		QuantileOf:  func(u float64, _ []float64) float64 { return math.Acos(1 - u) },
		TransformOf: Transform,
	}
}

// Family makes the distribution known by its name, also on the command line.
var Family = dist.Family{Name: "tilt", Make: func(...any) dist.Dist { return Tilt() }, At: [][]float64{{}}}

func init() { dist.Register(Family) }
