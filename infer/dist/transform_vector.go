// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// The transforms in this file map the last axis; leading axes are batch axes.

// OrderedTransform maps x to an increasing vector: y1 = x1, y_k = y_(k-1) + exp(x_k).
func OrderedTransform() Transform {
	return Transform{Name: "ordered", Event: 1, Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			rest := ad.Slice(x, -1, 1, last(x))
			return ad.Cumsum(ad.Concat(-1, ad.Slice(x, -1, 0, 1), ad.Exp(rest)), -1), ad.Sum(rest)
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) { return steps(y, false) },
		inside:  func(y []float64, nudge float64, _ ...float64) { spread(y, nudge) },
	}
}

// PositiveOrderedTransform maps x to an increasing vector of positive numbers.
func PositiveOrderedTransform() Transform {
	return Transform{Name: "positive_ordered", Event: 1, Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return ad.Cumsum(ad.Exp(x), -1), ad.Sum(x) },
		Inverse:   func(y []float64, _ ...float64) ([]float64, error) { return steps(y, true) },
		inside: func(y []float64, nudge float64, _ ...float64) {
			if len(y) > 0 {
				y[0] = max(y[0], nudge)
			}
			spread(y, nudge)
		},
	}
}

// steps returns the logarithms of the differences of y.
func steps(y []float64, positive bool) ([]float64, error) {
	x := append([]float64{}, y...)
	for i := range x {
		if i == 0 && !positive {
			continue
		}
		d := y[i]
		if i > 0 {
			d -= y[i-1]
		}
		if !(d > 0) {
			return nil, fmt.Errorf("dist: element %d is %g, which is not above the one before: want strictly ascending numbers", i, y[i])
		}
		x[i] = math.Log(d)
	}
	return x, nil
}

// spread moves elements that are not above their predecessor just above it.
func spread(y []float64, nudge float64) {
	for i := 1; i < len(y); i++ {
		y[i] = max(y[i], above(y[i-1], nudge))
	}
}

func oneLess(n int) int { return n - 1 }

// last returns the length of the last axis, or 0 if there is none.
func last(x *ad.Node) int {
	s := x.Shape()
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1]
}

// sumLast sums over the last axis and keeps it with length 1.
func sumLast(x *ad.Node) *ad.Node {
	s := x.Shape().Clone()
	if len(s) == 0 {
		return ad.SumAxes(x, -1) // a Node with the error
	}
	s[len(s)-1] = 1
	return ad.Reshape(ad.SumAxes(x, -1), s...)
}

// SimplexTransform is stick breaking: it maps K-1 numbers to K positive numbers that sum
// to 1. The shift log(K-k) makes 0 map to the uniform point.
func SimplexTransform() Transform {
	return Transform{Name: "simplex_stick_breaking", Event: 1, Free: oneLess,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			k := last(x) + 1
			shift := make([]float64, k-1)
			for i := range shift {
				shift[i] = -math.Log(float64(k - 1 - i))
			}
			u := ad.Add(x, ad.Const(shift))
			// Logarithms of the fractions taken and left.
			logZ, logRest := ad.LogSigmoid(u), ad.LogSigmoid(ad.Neg(u))
			left := ad.CumsumWith(logRest, -1, true, false)
			y = ad.Exp(ad.Concat(-1, ad.Add(left, logZ), sumLast(logRest)))
			return y, ad.Sum(ad.Add(ad.Add(logZ, logRest), left))
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			if err := onSimplex(y); err != nil {
				return nil, err
			}
			x, rest := make([]float64, len(y)-1), 0.0
			for i := len(y) - 1; i > 0; i-- {
				rest += y[i]
				x[i-1] = math.Log(y[i-1]) - math.Log(rest) + math.Log(float64(len(y)-i))
			}
			return x, nil
		},
		inside: intoSimplex,
	}
}

func onSimplex(y []float64) error {
	if len(y) == 0 {
		return fmt.Errorf("dist: the simplex has no elements: want at least one")
	}
	s := 0.0
	for i, v := range y {
		if !(v > 0) {
			return fmt.Errorf("dist: element %d of the simplex is %g: want a number above 0", i, v)
		}
		s += v
	}
	if math.Abs(s-1) > 1e-8 {
		return fmt.Errorf("dist: the elements of the simplex sum to %.12g: want 1", s)
	}
	return nil
}

// intoSimplex raises elements to at least nudge and divides them by their sum.
func intoSimplex(y []float64, nudge float64, _ ...float64) {
	s := 0.0
	for i, v := range y {
		y[i] = max(v, nudge)
		s += y[i]
	}
	for i := range y {
		y[i] /= s
	}
}

// ZeroSumTransform maps K-1 numbers to K numbers that sum to 0, preserving lengths:
//
//	s = sum x, y_i = x_i - s/(sqrt K + K), y_K = -s/sqrt K
func ZeroSumTransform() Transform {
	return Transform{Name: "zero_sum", Event: 1, Free: oneLess,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return zeroSum(x), ad.Scalar(0) },
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			if len(y) == 0 {
				return nil, fmt.Errorf("dist: the zero-sum vector has no elements: want at least one")
			}
			s, size := 0.0, 0.0
			for _, v := range y {
				s += v
				size = max(size, math.Abs(v))
			}
			if !(math.Abs(s) <= 1e-8*max(1, size)) {
				return nil, fmt.Errorf("dist: the elements of the zero-sum vector sum to %g: want 0", s)
			}
			return fromZeroSum(y), nil
		},
		inside: func(y []float64, _ float64, _ ...float64) {
			mean := 0.0
			for _, v := range y {
				mean += v / float64(len(y))
			}
			for i := range y {
				y[i] -= mean
			}
		},
	}
}

func zeroSum(x *ad.Node) *ad.Node {
	k := float64(last(x) + 1)
	s := sumLast(x)
	return ad.Concat(-1, ad.Sub(x, ad.Scale(1/(math.Sqrt(k)+k), s)), ad.Scale(-1/math.Sqrt(k), s))
}

func fromZeroSum(y []float64) []float64 {
	n := len(y) - 1
	k := float64(len(y))
	s := -y[n] * math.Sqrt(k)
	return mapped(y[:n], func(v float64) float64 { return v + s/(math.Sqrt(k)+k) })
}

// SimplexILRTransform maps K-1 numbers to a simplex through an isometric zero-sum vector
// and softmax; log J = sum log y + log(K)/2.
func SimplexILRTransform() Transform {
	return Transform{Name: "simplex_ilr", Event: 1, Free: oneLess,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			logY := ad.LogSoftmax(zeroSum(x), -1)
			k := last(x) + 1
			return ad.Exp(logY), ad.Shift(ad.Sum(logY), float64(logY.Size()/k)*math.Log(float64(k))/2)
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			if err := onSimplex(y); err != nil {
				return nil, err
			}
			z, mean := mapped(y, math.Log), 0.0
			for _, v := range z {
				mean += v / float64(len(z))
			}
			return fromZeroSum(mapped(z, func(v float64) float64 { return v - mean })), nil
		},
		inside: intoSimplex,
	}
}

// UnitVectorTransform maps x to x/|x|. The adjustment -|x|^2/2 gives |x| a proper
// distribution.
func UnitVectorTransform() Transform {
	return Transform{Name: "unit_vector", Event: 1, Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			q := sumLast(ad.Square(x))
			return ad.Div(x, ad.Sqrt(q)), ad.Scale(-0.5, ad.Sum(q))
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			if n := length(y); !(math.Abs(n-1) <= 1e-8) {
				return nil, fmt.Errorf("dist: the unit vector has length %.12g: want 1", n)
			}
			return append([]float64{}, y...), nil
		},
		inside: func(y []float64, _ float64, _ ...float64) {
			if n := length(y); n > 0 {
				for i := range y {
					y[i] /= n
				}
			}
		},
	}
}

func length(y []float64) float64 {
	n := 0.0
	for _, v := range y {
		n = math.Hypot(n, v)
	}
	return n
}
