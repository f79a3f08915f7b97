package dist_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// evaluator returns the density of a law as a function of x and its parameters,
// and its derivatives.
func evaluator(t *testing.T, l dist.Law) func(x float64, p []float64) []float64 {
	t.Helper()
	x := ad.Input("x")
	var inputs []*ad.Node
	proto := l.New(l.At[0]...)
	for _, name := range l.Params {
		inputs = append(inputs, ad.Input(name))
	}
	// The law of numbers, its numbers replaced by inputs.
	lp := ad.Substitute([]*ad.Node{proto.LogProb(x)}, proto.Params, inputs)[0]
	inputs = append([]*ad.Node{x}, inputs...)
	prog, err := ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, inputs...)...), ad.Settings{Inputs: inputs})
	if err != nil {
		t.Fatalf("%s: %v", l.Name, err)
	}
	s := prog.NewState()
	return func(x float64, p []float64) []float64 {
		s.Input(0)[0] = x
		for i, v := range p {
			s.Input(1 + i)[0] = v
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		return s.OutputSpan(0, len(p)+2)
	}
}

func TestLawsAgainstGoldens(t *testing.T) {
	var all map[string]struct {
		Cases []struct {
			Params []golden.Float
			X      golden.Float
			LogPDF golden.Float   `json:"logpdf"`
			DX     golden.Float   `json:"dlogpdf_dx"`
			DP     []golden.Float `json:"dlogpdf_dparams"`
			CDF    *golden.Float  `json:"cdf"`
		}
	}
	golden.JSON(t, &all, "inference", "distributions", "univariate.json")
	for _, l := range dist.All() {
		f := evaluator(t, l)
		for name, g := range all {
			if strings.ToLower(name) != l.Name {
				continue
			}
			for _, c := range g.Cases {
				p := make([]float64, len(c.Params))
				for i, v := range c.Params {
					p[i] = float64(v)
				}
				got := f(float64(c.X), p)
				want := append([]golden.Float{c.LogPDF, c.DX}, c.DP...)
				for i, w := range want {
					w, tol := float64(w), 1e-9
					if i == 0 {
						tol = 1e-12
					}
					if math.IsInf(w, 0) && got[i] == w {
						continue
					}
					if !(math.Abs(got[i]-w) <= tol*max(1e-3, math.Abs(w))) {
						t.Errorf("%s(%v) at %g: value %d is %.17g, want %.17g", name, p, float64(c.X), i, got[i], w)
					}
				}
				if c.CDF != nil && float64(*c.CDF) > 1e-10 {
					if got, w := l.New(p...).CDF(float64(c.X), p), float64(*c.CDF); !(math.Abs(got-w) <= 1e-9*max(1e-3, w)) {
						t.Errorf("%s(%v): CDF(%g) = %g, want %g", name, p, float64(c.X), got, w)
					}
				}
			}
		}
	}
}

// Every law: exp(LogProb) is the derivative of CDF, Quantile inverts CDF, and
// draws fall evenly under CDF (Kolmogorov-Smirnov at 4000 draws; the threshold
// 2.2/sqrt(n) is passed by chance once in 1e4 laws).
func TestEveryLaw(t *testing.T) {
	const draws = 4000
	for i, l := range dist.All() {
		f := evaluator(t, l)
		for _, p := range l.At {
			d := l.New(p...)
			for u := 0.02; u < 1; u += 0.06 {
				x := d.Quantile(u, p)
				if got := d.CDF(x, p); math.Abs(got-u) > 1e-8 {
					t.Errorf("%s%v: CDF(Quantile(%g)) = %g", l.Name, p, u, got)
				}
				h := 1e-5 * math.Max(1e-2, math.Abs(x))
				slope := (8*(d.CDF(x+h, p)-d.CDF(x-h, p)) - (d.CDF(x+2*h, p) - d.CDF(x-2*h, p))) / (12 * h)
				if pdf := math.Exp(f(x, p)[0]); math.Abs(pdf-slope) > 1e-5*math.Max(1, pdf) {
					t.Errorf("%s%v at %g: density %g, slope of CDF %g", l.Name, p, x, pdf, slope)
				}
			}
			stream := tensor.NewStream(7, 99, uint32(i))
			src := &stream
			worst := 0.0
			u := make([]float64, draws)
			for k := range u {
				u[k] = d.CDF(d.Rand(src, p), p)
			}
			for _, x := range []float64{.05, .1, .25, .5, .75, .9, .95} {
				n := 0.0
				for _, v := range u {
					if v <= x {
						n++
					}
				}
				worst = math.Max(worst, math.Abs(n/draws-x))
			}
			if worst > 2.2/math.Sqrt(draws) {
				t.Errorf("%s%v: draws leave their distribution function by %g", l.Name, p, worst)
			}
		}
	}
}

// On the ends of the support, and where draws round onto them, there is a
// density or none, but never NaN.
func TestEndsOfSupport(t *testing.T) {
	for _, l := range dist.All() {
		f := evaluator(t, l)
		for _, p := range append(l.At, ascending(len(l.Params))) {
			for _, x := range []float64{0, 1, 5e-324, math.Nextafter(1, 0), math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1)} {
				if got := f(x, p); math.IsNaN(got[0]) {
					t.Errorf("%s%v at %g: %v", l.Name, p, x, got)
				}
			}
		}
	}
}

func ascending(n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = float64(i + 1)
	}
	return p
}

// StirlingError against mpmath at 50 digits.
func TestStirlingError(t *testing.T) {
	for _, c := range [][2]float64{{1e-3, 2.5422704679670945}, {0.5, 0.15342640972002735}, {1, 0.081061466795327258}, {10, 0.0083305634333628713},
		{25, 0.0033331556367280929}, {1e5, 8.3333333333055556e-07}} {
		d, err := ad.Eval(ad.StirlingError(ad.Scalar(c[0])))
		if err != nil {
			t.Fatal(err)
		}
		if got := d[0].ScalarValue().(float64); math.Abs(got/c[1]-1) > 1e-13 {
			t.Errorf("at %g: %.17g, want %.17g", c[0], got, c[1])
		}
	}
}

func TestOutsideIsMinusInfinity(t *testing.T) {
	for _, l := range dist.All() {
		d := l.New(l.At[0]...)
		f := evaluator(t, l)
		if d.Support.Lower != nil {
			got := f(-5, l.At[0])
			if !math.IsInf(got[0], -1) || got[1] != 0 {
				t.Errorf("%s at -5: %v, want -Inf with gradient 0", l.Name, got)
			}
		}
	}
	if _, err := dist.ByName("norml", 1); err == nil {
		t.Error("unknown law: no error")
	}
	if _, err := dist.ByName("normal", 1); err == nil {
		t.Error("missing parameter: no error")
	}
}

func TestImpossibleConstantsAreErrors(t *testing.T) {
	for _, d := range []dist.Dist{dist.HalfNormal(-1), dist.Uniform(2, 1), dist.Normal(0, 0), dist.Beta(-1, 2), dist.Normal(math.NaN(), 1), dist.StudentT(0, 0, 1)} {
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
