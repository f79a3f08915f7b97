package dist_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// Every continuous distribution: exp(LogProb) is the derivative of CDF, which is LogCDF's
// exponential and goes from 0 to 1, Quantile inverts it, and Mean and Var are the
// integrals over quantiles.
func TestEveryContinuousLaw(t *testing.T) {
	for _, l := range numbersOf() {
		if l.New(l.At[0]...).Discrete {
			continue
		}
		f := evaluator(t, l, logProb)
		lower, upper := tails(t, l)
		for _, p := range l.At {
			d := l.New(p...)
			for u := 0.017; u < 1; u += 0.06 {
				x := d.Quantile(u, p)
				h := 1e-4 * min(d.Quantile(0.75, p)-d.Quantile(0.25, p), x-d.Quantile(0, p), d.Quantile(1, p)-x)
				if got := d.CDF(x, p); math.Abs(got-u) > 1e-9 {
					t.Errorf("%s%v: CDF(Quantile(%g)) = %g", l.Name, p, u, got)
				}
				slope := (8*(d.CDF(x+h, p)-d.CDF(x-h, p)) - (d.CDF(x+2*h, p) - d.CDF(x-2*h, p))) / (12 * h)
				if pdf := math.Exp(f(x, p)[0]); math.Abs(pdf-slope) > 1e-5*math.Max(1, pdf) {
					t.Errorf("%s%v at %g: density %g, slope of CDF %g", l.Name, p, x, pdf, slope)
				}
				lower(x, p, math.Log(d.CDF(x, p)), h)
				upper(x, p, math.Log1p(-d.CDF(x, p)), h)
			}
			moments(t, l, d, p)
		}
	}
}

// tails returns checks of LogCDF and LogCCDF and of their derivatives, by
// differences; they do nothing where a distribution has none.
func tails(t *testing.T, l dist.Family) (lower, upper func(x float64, p []float64, want, h float64)) {
	one := func(name string, f func(d dist.Dist, x *ad.Node) *ad.Node) func(x float64, p []float64, want, h float64) {
		if !has(l, f) {
			return func(float64, []float64, float64, float64) {}
		}
		eval := evaluator(t, l, f)
		return func(x float64, p []float64, want, h float64) {
			got := append([]float64{}, eval(x, p)...)
			if !near(got[0], want, 1e-8) {
				t.Errorf("%s%v: %s(%g) = %.12g, want %.12g", l.Name, p, name, x, got[0], want)
			}
			at := append([]float64{x}, p...)
			whole := l.New(p...).Discrete
			for i := range at {
				if whole && (i == 0 || at[i] == math.Floor(at[i])) {
					continue
				}
				h := h
				if i > 0 {
					h = min(2e-5*math.Max(1e-2, math.Abs(at[i])), 30*h)
				}
				value := func(step float64) float64 {
					q := append([]float64{}, at...)
					q[i] += step
					return eval(q[0], q[1:])[0]
				}
				slope := (8*(value(h)-value(-h)) - (value(2*h) - value(-2*h))) / (12 * h)
				if !near(got[1+i], slope, 1e-6) && math.Abs(got[1+i]-slope) > 1e-7+1e-12/h { // rounding

					t.Errorf("%s%v: derivative %d of %s at %g is %.10g, by differences %.10g", l.Name, p, i, name, x, got[1+i], slope)
				}
			}
		}
	}
	return one("LogCDF", logCDF), one("LogCCDF", logCCDF)
}

// moments compares Mean and Var with integrals of quantiles.
func moments(t *testing.T, l dist.Family, d dist.Dist, p []float64) {
	mean, variance := d.Mean(p), d.Var(p)
	if math.IsInf(variance, 1) || math.IsNaN(variance) {
		return
	}
	// Tanh-sinh nodes gather where a distribution has its tails.
	var m, v float64
	const h = 1. / 16
	var xs, ws []float64
	for k := -55; k <= 55; k++ {
		s := math.Pi / 2 * math.Sinh(float64(k)*h)
		u := 1 / (1 + math.Exp(-2*s))
		if u < 1e-15 || u > 1-1e-15 {
			continue
		}
		x, w := d.Quantile(u, p), h*math.Pi/2*math.Cosh(float64(k)*h)/math.Pow(math.Cosh(s), 2)/2
		xs, ws = append(xs, x), append(ws, w)
		m += w * x
	}
	for i, x := range xs {
		v += ws[i] * (x - m) * (x - m)
	}
	tol := 1e-4
	if strings.Contains(l.Name, " and ") { // the quantiles have a kink
		tol = 2e-3
	}
	if !near(m, mean, tol) && math.Abs(m-mean) > tol*math.Sqrt(variance) || !near(v, variance, 5e-3) {
		t.Errorf("%s%v: mean %g and variance %g, by quantiles %g and %g", l.Name, p, mean, variance, m, v)
	}
}

// Draws fall evenly under the distribution function (Kolmogorov-Smirnov at 4000
// draws; the threshold 2.2/sqrt(n) is passed by chance once in 1e4 distributions), alone
// and as Fill makes them, which gives the same.
func TestDrawsOfEveryLaw(t *testing.T) {
	const draws = 4000
	for i, l := range numbersOf() {
		for _, p := range l.At {
			d := l.New(p...)
			params, at := [][]float64{}, 0
			for _, q := range d.Params {
				params = append(params, p[at:at+q.Size()])
				at += q.Size()
			}
			stream, again := tensor.NewStream(7, 99, uint32(i)), tensor.NewStream(7, 99, uint32(i))
			x := make([]float64, draws)
			if err := d.Fill(&stream, x, []int{draws}, params); err != nil {
				t.Error(err)
				continue
			}
			if first := d.Rand(&again, p); first != x[0] {
				t.Errorf("%s%v: Rand gives %g, Fill %g", l.Name, p, first, x[0])
			}
			if worst := unevenness(d, p, x); worst > 2.2/math.Sqrt(draws) {
				t.Errorf("%s%v: draws leave their distribution function by %g", l.Name, p, worst)
			}
		}
	}
}

// unevenness returns how far the share of x below each of some quantiles is from
// what the distribution says.
func unevenness(d dist.Dist, p, x []float64) (worst float64) {
	for _, u := range []float64{.02, .05, .1, .25, .5, .75, .9, .95, .98} {
		q := d.Quantile(u, p)
		n := 0.0
		for _, v := range x {
			if v <= q {
				n++
			}
		}
		worst = math.Max(worst, math.Abs(n/float64(len(x))-d.CDF(q, p)))
	}
	return worst
}

// Every discrete distribution: probabilities sum to 1 and to CDF and LogCDF, Quantile
// inverts CDF, and Mean and Var are sums. What is not whole has no probability.
func TestEveryDiscreteLaw(t *testing.T) {
	for _, l := range numbersOf() {
		if !l.New(l.At[0]...).Discrete {
			continue
		}
		f := evaluator(t, l, logProb)
		lower, upper := tails(t, l)
		for _, p := range l.At {
			d := l.New(p...)
			sum, mean, square := 0.0, 0.0, 0.0
			from, to := d.Quantile(1e-12, p), d.Quantile(1-1e-13, p)+3
			for k := from - 3; k <= to; k++ {
				prob := math.Exp(f(k, p)[0])
				sum, mean, square = sum+prob, mean+k*prob, square+k*k*prob
				if got := d.CDF(k, p); math.Abs(got-sum) > 1e-9 {
					t.Errorf("%s%v: CDF(%g) = %g, probabilities sum to %g", l.Name, p, k, got, sum)
				}
				if got := d.CDF(k+0.5, p); math.Abs(got-sum) > 1e-9 {
					t.Errorf("%s%v: CDF(%g) = %g, want that of %g", l.Name, p, k+0.5, got, k)
				}
				if sum > 1e-6 && sum < 1-1e-6 {
					if got := d.Quantile(sum-1e-9, p); got != k && prob > 1e-6 {
						t.Errorf("%s%v: Quantile(%g) = %g, want %g", l.Name, p, sum, got, k)
					}
					lower(k, p, math.Log(sum), 1)
					upper(k, p, math.Log1p(-sum), 1)
				}
				if got := f(k+0.5, p); !math.IsInf(got[0], -1) {
					t.Errorf("%s%v at %g: log probability %g", l.Name, p, k+0.5, got[0])
				}
			}
			if math.Abs(sum-1) > 1e-9 || !near(d.Mean(p), mean, 1e-8) || !near(d.Var(p), square-mean*mean, 1e-7) {
				t.Errorf("%s%v: sum %g, mean %g and variance %g, want 1, %g, %g", l.Name, p, sum, d.Mean(p), d.Var(p), mean, square-mean*mean)
			}
		}
	}
}

// On the ends of the support, and where draws round onto them, there is a
// density or none, but never NaN; at huge arguments it is finite or -Inf, and
// finite where tails are no lighter than exponential.
func TestEndsOfSupport(t *testing.T) {
	heavy := []string{"cauchy", "halfcauchy", "studentt", "laplace", "asymmetriclaplace", "logistic", "exponential", "gamma",
		"inversegamma", "chisquared", "f", "frechet", "pareto", "gumbel", "inversegaussian", "moyal", "lognormal"}
	for _, l := range numbersOf() {
		f := evaluator(t, l, logProb)
		for _, p := range l.At {
			if l.Name == "vonmises" { // an infinite angle is none
				continue
			}
			for _, x := range []float64{0, 1, 5e-324, math.Nextafter(1, 0), 1e200, -1e200, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1)} {
				got := f(x, p)
				if l.New(p...).Discrete && math.Abs(x) > 1e200 {
					continue
				}
				if math.IsNaN(got[0]) || got[0] == math.Inf(1) && x != 0 && x != 1 {
					t.Errorf("%s%v at %g: %v", l.Name, p, x, got)
				}
				if x == 1e200 && contains(heavy, l.Name) {
					for i, v := range got {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Errorf("%s%v at %g: value %d is %g", l.Name, p, x, i, v)
						}
					}
				}
			}
		}
	}
}

func contains(list []string, s string) bool {
	return strings.Contains(" "+strings.Join(list, " ")+" ", " "+s+" ")
}

func TestOutsideIsMinusInfinity(t *testing.T) {
	for _, l := range numbersOf() {
		p := l.At[0]
		d := l.New(p...)
		f := evaluator(t, l, logProb)
		outside := []float64{}
		if lo := d.Quantile(0, p); !math.IsInf(lo, 0) {
			outside = append(outside, lo-1, lo-1e200)
		}
		if hi := d.Quantile(1, p); !math.IsInf(hi, 0) {
			outside = append(outside, hi+1, hi+1e200)
		}
		if l.Name == "vonmises" {
			continue // periodic
		}
		for _, x := range outside {
			got := f(x, p)
			if !math.IsInf(got[0], -1) {
				t.Errorf("%s%v at %g: %v, want -Inf", l.Name, p, x, got)
			}
			for _, g := range got[1:] {
				if g != 0 {
					t.Errorf("%s%v at %g: %v, want gradients of 0", l.Name, p, x, got)
				}
			}
			for _, tail := range []func(d dist.Dist, x *ad.Node) *ad.Node{logCDF, logCCDF} {
				if !has(l, tail) {
					continue
				}
				v := evaluator(t, l, tail)(x, p)
				if !(v[0] == 0 || math.IsInf(v[0], -1)) || v[1] != 0 {
					t.Errorf("%s%v: tail at %g is %v", l.Name, p, x, v)
				}
			}
		}
	}
	if _, err := dist.ByName("norml", 1); err == nil || !strings.Contains(err.Error(), "normal?") {
		t.Errorf("unknown distribution: %v", err)
	}
	if _, err := dist.ByName("normal", 1); err == nil {
		t.Error("missing parameter: no error")
	}
}

func TestImpossibleConstantsAreErrors(t *testing.T) {
	for _, d := range []dist.Dist{dist.HalfNormal(-1), dist.Uniform(2, 1), dist.Normal(0, 0), dist.Beta(-1, 2), dist.Normal(math.NaN(), 1), dist.StudentT(0, 0, 1),
		dist.BetaProportion(1, 2), dist.Triangle(0, 1, 2), dist.TruncatedNormal(0, 1, 3, 2), dist.PERT(0, 5, 4, 4), dist.LogUniform(0, 1), dist.Exponential([]float64{1, -1}),
		dist.Normal(0, []float64{1, math.Inf(1)})} {
		if err := d.Err(); err == nil || !strings.Contains(err.Error(), d.Name) {
			t.Errorf("%v: %v", d, err)
		}
	}
	for _, l := range dist.All() {
		for _, p := range l.At {
			if err := l.New(p...).Err(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := dist.ByName("uniform", 2, 1); err == nil {
		t.Error("uniform(2, 1): no error")
	}
}

// Parameters and values broadcast: a column of one parameter against a row of
// values gives a matrix of densities, each that of its numbers.
func TestNumbersBroadcast(t *testing.T) {
	for _, l := range numbersOf() {
		p := l.At[0]
		d := l.New(p...)
		x := []float64{d.Quantile(0.2, p), d.Quantile(0.5, p), d.Quantile(0.9, p)}
		if l.Name == "pointmass" || strings.Contains(l.Name, "commonFamily") || strings.Contains(l.Name, "zero-inflated") {
			continue // made of numbers in another way
		}
		for k := range p {
			args := make([]any, len(p))
			for i, v := range p {
				args[i] = v
			}
			args[k] = ad.Const([]float64{p[k], p[k]}, 2, 1)
			made := l.Make(args...)
			for name, f := range map[string]func(d dist.Dist, x *ad.Node) *ad.Node{"LogProb": logProb, "LogProbInside": inside, "LogCDF": logCDF, "LogCCDF": logCCDF} {
				if !has(l, f) {
					continue
				}
				got := f(made, ad.Const(x))
				if got.Err() != nil || !got.Shape().Equal(tensor.Shape{2, 3}) {
					t.Errorf("%s: %s with parameter %d as a column has shape %v, %v", l.Name, name, k, got.Shape(), got.Err())
					continue
				}
				for i, v := range value(t, got) {
					if want := value(t, f(d, ad.Scalar(x[i%3])))[0]; !close(v, want, 1e-12) {
						t.Errorf("%s: %s element %d is %.15g, alone %.15g", l.Name, name, i, v, want)
					}
				}
			}
		}
	}
}

func inside(d dist.Dist, x *ad.Node) *ad.Node { return d.LogProbInside(x) }

// The regressions are their distributions at the linear predictor, and draw as such.
func TestRegressions(t *testing.T) {
	x, alpha, beta := ad.Const([]float64{1, 2, -1, 0.5, 3, -2}, 3, 2), 0.3, []float64{0.2, -0.4}
	eta := ad.Const([]float64{0.3 + 0.2 - 0.8, 0.3 - 0.2 - 0.2, 0.3 + 0.6 + 0.8})
	y := ad.Const([]float64{0, 1, 1})
	for _, pair := range [][2]dist.Dist{
		{dist.NormalID(x, alpha, beta, 2), dist.Normal(eta, 2)},
		{dist.BernoulliLogitGLM(x, alpha, beta), dist.BernoulliLogit(eta)},
		{dist.PoissonLogGLM(x, alpha, beta), dist.Poisson(ad.Exp(eta))},
		{dist.NegBinomial2LogGLM(x, alpha, beta, 3), dist.NegBinomial2(ad.Exp(eta), 3)},
	} {
		got, want := value(t, pair[0].LogProb(y)), value(t, pair[1].LogProb(y))
		for i, w := range want {
			if len(got) != 3 || !close(got[i], w, 1e-13) {
				t.Errorf("%s: %v, want %v", pair[0].Name, got, want)
			}
		}
		stream := tensor.NewStream(1, 2, 3)
		theta := [][]float64{value(t, eta), {3}}[:len(pair[0].Params)]
		if err := pair[0].Fill(&stream, make([]float64, 12), []int{4, 3}, theta); err != nil {
			t.Error(err)
		}
	}
}
