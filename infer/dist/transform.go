package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Transform is a smooth map from unconstrained numbers to a constrained set.
type Transform struct {
	Name string
	// Constrain returns y and the log of the Jacobian's absolute determinant, a
	// scalar.
	Constrain func(x *ad.Node) (y, logJ *ad.Node)
	// Free is the length of x for an output of n elements in all.
	Free func(n int) int
	// Inverse returns x for y; the values of the bounds stand in bounds. An
	// error names the element that is not inside.
	Inverse func(y []float64, bounds ...float64) ([]float64, error)
	// Bounds are the Nodes whose values Inverse wants.
	Bounds []*ad.Node
}

func sameLength(n int) int { return n }

// IdentityTransform maps x to itself.
func IdentityTransform() Transform {
	return Transform{Name: "identity", Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return x, ad.Scalar(0) },
		Inverse:   func(y []float64, _ ...float64) ([]float64, error) { return append([]float64{}, y...), nil },
	}
}

// AffineTransform maps x to offset + multiplier x.
func AffineTransform(offset, multiplier any) Transform {
	p := nodes(offset, multiplier)
	return Transform{Name: "affine", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			m := ad.Broadcast(p[1], x.Shape()...)
			return ad.Add(p[0], ad.Mul(m, x)), ad.Sum(ad.Log(ad.Abs(m)))
		},
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			return each(y, func(v float64) float64 { return (v - b[0]) / b[1] }), nil
		},
	}
}

// LowerTransform maps x to lower + exp(x).
func LowerTransform(lower any) Transform {
	p := nodes(lower)
	return Transform{Name: "lower", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return ad.Add(p[0], ad.Exp(x)), ad.Sum(x) },
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			return inside(y, b[0], math.Inf(1), func(v float64) float64 { return math.Log(v - b[0]) })
		},
	}
}

// UpperTransform maps x to upper - exp(x).
func UpperTransform(upper any) Transform {
	p := nodes(upper)
	return Transform{Name: "upper", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return ad.Sub(p[0], ad.Exp(x)), ad.Sum(x) },
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			return inside(y, math.Inf(-1), b[0], func(v float64) float64 { return math.Log(b[0] - v) })
		},
	}
}

// IntervalTransform maps x to lower + (upper - lower) sigmoid(x).
//
//	log J = sum log(upper - lower) - softplus(x) - softplus(-x)
func IntervalTransform(lower, upper any) Transform {
	p := nodes(lower, upper)
	return Transform{Name: "interval", Free: sameLength, Bounds: p,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			width := ad.Broadcast(ad.Sub(p[1], p[0]), x.Shape()...)
			y = ad.Add(p[0], ad.Mul(width, ad.Sigmoid(x)))
			return y, ad.Sum(ad.Sub(ad.Log(width), ad.Add(ad.Softplus(x), ad.Softplus(ad.Neg(x)))))
		},
		Inverse: func(y []float64, b ...float64) ([]float64, error) {
			return inside(y, b[0], b[1], func(v float64) float64 { return math.Log(v-b[0]) - math.Log(b[1]-v) })
		},
	}
}

// SoftplusTransform maps x to log(1 + exp(x)).
func SoftplusTransform() Transform {
	return Transform{Name: "softplus", Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return ad.Softplus(x), ad.Neg(ad.Sum(ad.Softplus(ad.Neg(x)))) },
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			return inside(y, 0, math.Inf(1), func(v float64) float64 { return v + math.Log(-math.Expm1(-v)) })
		},
	}
}

func each(y []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = f(v)
	}
	return out
}

// inside applies f to elements strictly between lo and hi.
func inside(y []float64, lo, hi float64, f func(float64) float64) ([]float64, error) {
	for i, v := range y {
		if !(v > lo && v < hi) {
			return nil, fmt.Errorf("dist: element %d is %g, want it strictly between %g and %g: nudge it inside", i, v, lo, hi)
		}
	}
	return each(y, f), nil
}
