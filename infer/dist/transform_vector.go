package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// OrderedTransform maps x to an increasing vector: y1 = x1, y_k = y_(k-1) + exp(x_k).
func OrderedTransform() Transform {
	return Transform{Name: "ordered", Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			rest := ad.Slice(x, 0, 1, x.Size())
			return ad.Cumsum(ad.Concat(0, ad.Slice(x, 0, 0, 1), ad.Exp(rest)), 0), ad.Sum(rest)
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) { return steps(y, false) },
	}
}

// PositiveOrderedTransform maps x to an increasing vector above 0.
func PositiveOrderedTransform() Transform {
	return Transform{Name: "positive_ordered", Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return ad.Cumsum(ad.Exp(x), 0), ad.Sum(x) },
		Inverse:   func(y []float64, _ ...float64) ([]float64, error) { return steps(y, true) },
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
			return nil, fmt.Errorf("dist: element %d is %g, not above the one before: order must be strict", i, y[i])
		}
		x[i] = math.Log(d)
	}
	return x, nil
}

func oneLess(n int) int { return n - 1 }

// SimplexTransform is stick breaking: K-1 numbers to K positive ones of sum 1,
// with the shift log(K-k) that takes 0 to the uniform point.
func SimplexTransform() Transform {
	return Transform{Name: "simplex_stick_breaking", Free: oneLess,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			k := x.Size() + 1
			shift := make([]float64, k-1)
			for i := range shift {
				shift[i] = -math.Log(float64(k - 1 - i))
			}
			u := ad.Add(x, ad.Const(shift))
			logZ, logRest := ad.LogSigmoid(u), ad.LogSigmoid(ad.Neg(u)) // of the stick taken and left
			left := ad.CumsumWith(logRest, 0, true, false)
			last := ad.Reshape(ad.Sum(logRest), 1)
			y = ad.Exp(ad.Concat(0, ad.Add(left, logZ), last))
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
	}
}

func onSimplex(y []float64) error {
	s := 0.0
	for i, v := range y {
		if !(v > 0) {
			return fmt.Errorf("dist: element %d of a simplex is %g: want it above 0", i, v)
		}
		s += v
	}
	if math.Abs(s-1) > 1e-8 {
		return fmt.Errorf("dist: a simplex sums to %.12g: want 1", s)
	}
	return nil
}

// ZeroSumTransform maps K-1 numbers to K of sum 0, keeping lengths:
//
//	s = sum x, y_i = x_i - s/(sqrt K + K), y_K = -s/sqrt K
func ZeroSumTransform() Transform {
	return Transform{Name: "zero_sum", Free: oneLess,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return zeroSum(x), ad.Scalar(0) },
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			s := 0.0
			for _, v := range y {
				s += v
			}
			if math.Abs(s) > 1e-8 {
				return nil, fmt.Errorf("dist: a zero-sum vector sums to %g", s)
			}
			return fromZeroSum(y), nil
		},
	}
}

func zeroSum(x *ad.Node) *ad.Node {
	k := float64(x.Size() + 1)
	s := ad.Sum(x)
	return ad.Concat(0, ad.Sub(x, ad.Scale(1/(math.Sqrt(k)+k), s)), ad.Reshape(ad.Scale(-1/math.Sqrt(k), s), 1))
}

func fromZeroSum(y []float64) []float64 {
	n := len(y) - 1
	k := float64(len(y))
	s := -y[n] * math.Sqrt(k)
	return each(y[:n], func(v float64) float64 { return v + s/(math.Sqrt(k)+k) })
}

// SimplexILRTransform maps K-1 numbers to a simplex by an isometric zero-sum
// vector and softmax; log J = sum log y + log(K)/2.
func SimplexILRTransform() Transform {
	return Transform{Name: "simplex_ilr", Free: oneLess,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			logY := ad.LogSoftmax(zeroSum(x), 0)
			return ad.Exp(logY), ad.Shift(ad.Sum(logY), math.Log(float64(x.Size()+1))/2)
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			if err := onSimplex(y); err != nil {
				return nil, err
			}
			z, mean := each(y, math.Log), 0.0
			for _, v := range z {
				mean += v / float64(len(z))
			}
			return fromZeroSum(each(z, func(v float64) float64 { return v - mean })), nil
		},
	}
}

// UnitVectorTransform maps x to x/|x|; the adjustment -|x|^2/2 gives |x| a
// proper law.
func UnitVectorTransform() Transform {
	return Transform{Name: "unit_vector", Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			q := ad.Sum(ad.Square(x))
			return ad.Div(x, ad.Sqrt(q)), ad.Scale(-0.5, q)
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) { return append([]float64{}, y...), nil },
	}
}
