package dist_test

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
)

// The densities of every continuous distribution integrate to 1, and its mean and variance are
// integrals of its density, to ten digits. Kinks are at parameters, where it is cut.
func TestDensitiesIntegrate(t *testing.T) {
	for _, l := range numbersOf() {
		if l.New(l.At[0]...).Discrete {
			continue
		}
		f := evaluator(t, l, logProb)
		for _, p := range l.At {
			d := l.New(p...)
			density := func(x float64) float64 { return math.Exp(f(x, p)[0]) }
			whole := integral(d, p, density)
			if math.Abs(whole-1) > 1e-10 {
				t.Errorf("%s%v: the density integrates to 1 %+.1e", l.Name, p, whole-1)
			}
			mean, variance := d.Mean(p), d.Var(p)
			if !math.IsNaN(mean) && !math.IsInf(mean, 0) {
				spread := math.Max(math.Abs(mean), d.Quantile(0.75, p)-d.Quantile(0.25, p))
				if got := integral(d, p, func(x float64) float64 { return x * density(x) }); math.Abs(got-mean) > 1e-10*spread {
					t.Errorf("%s%v: mean %.15g, by quadrature %.15g", l.Name, p, mean, got)
				}
			}
			tol := 1e-10
			if l.Name == "student ..-4" { // itself a quadrature over probabilities, of a tail that falls as x^-4
				tol = 5e-5
			}
			if !math.IsNaN(variance) && !math.IsInf(variance, 0) {
				if got := integral(d, p, func(x float64) float64 { return (x - mean) * (x - mean) * density(x) }); math.Abs(got-variance) > tol*variance {
					t.Errorf("%s%v: variance %.15g, by quadrature %.15g", l.Name, p, variance, got)
				}
			}
		}
	}
}

// integral is that of f over the support of a distribution, in pieces between its parameters, 0,
// its median and its ends, each by the double exponential rule.
func integral(d dist.Dist, p []float64, f func(x float64) float64) (sum float64) {
	lo, hi, width := d.Quantile(0, p), d.Quantile(1, p), d.Quantile(0.75, p)-d.Quantile(0.25, p)
	cuts := []float64{lo, hi}
	for _, c := range append(slices.Clone(p), 0, d.Quantile(0.5, p)) {
		if c > lo && c < hi {
			cuts = append(cuts, c)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for i := 1; i < len(cuts); i++ {
		a, b := cuts[i-1], cuts[i]
		switch {
		case math.IsInf(a, -1):
			sum += outwards(func(u float64) float64 { return f(b - u) }, width)
		case math.IsInf(b, 1):
			sum += outwards(func(u float64) float64 { return f(a + u) }, width)
		default:
			sum += between(f, a, b)
		}
	}
	return sum
}

const nodeDistance = 1. / 40

// outwards integrates f from 0 to infinity: u = scale exp(pi/2 sinh s).
func outwards(f func(u float64) float64, scale float64) (sum float64) {
	for s := -4.5; s <= 4.5; s += nodeDistance {
		u := scale * math.Exp(math.Pi/2*math.Sinh(s))
		if v := f(u); v != 0 && !math.IsNaN(v) {
			sum += nodeDistance * math.Pi / 2 * math.Cosh(s) * u * v
		}
	}
	return sum
}

// between integrates f from a to b: nodes gather at both ends, where f may be infinite.
func between(f func(x float64) float64, a, b float64) (sum float64) {
	for s := -4.5; s <= 4.5; s += nodeDistance {
		w := math.Pi / 2 * math.Sinh(s)
		x := a + (b-a)/(1+math.Exp(-2*w))
		if w > 0 {
			x = b - (b-a)/(1+math.Exp(2*w))
		}
		if v := f(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum += nodeDistance * math.Pi / 4 * math.Cosh(s) / math.Pow(math.Cosh(w), 2) * (b - a) * v
		}
	}
	return sum
}
