// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// combined are distributions made of others, as scalar distributions, for the checks that every
// distribution passes. Weights are numbers here.
func combined() []dist.Family {
	family := func(name string, make func(p ...any) dist.Dist, at ...[]float64) dist.Family {
		params := strings.Fields("p0 p1 p2 p3 p4 p5 p6 p7")[:len(at[0])]
		return dist.Family{Name: name, Params: params, Make: make, At: at}
	}
	pair := func(a, b any) *ad.Node {
		x, y := ad.Of(a), ad.Of(b) // of equal shapes
		return ad.Stack(-1, ad.Add(x, ad.Scale(0, y)), ad.Add(y, ad.Scale(0, x)))
	}
	return []dist.Family{
		family("gamma 1..3", func(p ...any) dist.Dist { return dist.Truncate(dist.Gamma(p[0], p[1]), p[2], p[3]) }, []float64{2, 1, 1, 3}, []float64{25, 4, 9, 20}),
		family("normal 5..", func(p ...any) dist.Dist { return dist.Truncate(dist.Normal(p[0], p[1]), p[2], nil) }, []float64{0, 1, 5}, []float64{0, 1, -1}),
		family("student ..-4", func(p ...any) dist.Dist { return dist.Truncate(dist.StudentT(p[0], p[1], p[2]), nil, p[3]) }, []float64{3, 0, 1, -4}),
		family("normal 8..9", func(p ...any) dist.Dist { return dist.Truncate(dist.Normal(p[0], p[1]), p[2], p[3]) }, []float64{0, 1, 8, 9}),
		family("laplace -9..-8", func(p ...any) dist.Dist { return dist.Truncate(dist.Laplace(p[0], p[1]), p[2], p[3]) }, []float64{0, 1, -9, -8}),
		family("poisson 3..7", func(p ...any) dist.Dist { return dist.Truncate(dist.Poisson(p[0]), p[1], p[2]) }, []float64{4, 3, 7}, []float64{0.5, 4, 6}, []float64{3.5, 2.5, 7.5}),
		family("poisson 1..", func(p ...any) dist.Dist { return dist.Truncate(dist.Poisson(p[0]), p[1], nil) }, []float64{0.7, 1}),
		family("two normals", func(p ...any) dist.Dist {
			return dist.Mixture(pair(p[0], p[1]), dist.Normal(p[2], p[3]), dist.Normal(p[4], p[5]))
		}, []float64{0.3, 0.7, -1, 0.5, 2, 1}),
		family("normal and gamma", func(p ...any) dist.Dist {
			return dist.MixtureLogits(pair(p[0], p[1]), dist.Normal(p[2], p[3]), dist.Gamma(p[4], p[5]))
		}, []float64{0.3, 1, -1, 0.5, 2, 1}),
		family("commonFamily of gammas", func(p ...any) dist.Dist {
			return dist.MixtureSameFamily(pair(p[0], p[1]), dist.Gamma(pair(p[2], p[3]), p[4]))
		}, []float64{0.3, 0.7, 2, 9, 1.5}),
		family("commonFamily of uniforms and gaps", func(p ...any) dist.Dist {
			return dist.MixtureSameFamilyLogits(pair(p[0], p[1]), dist.Uniform(pair(p[2], p[3]), pair(p[4], p[5])))
		}, []float64{0.3, 0.7, 0, 1, 2, 4}),
		family("zero-inflated binomial", func(p ...any) dist.Dist {
			return dist.Mixture(pair(p[0], p[1]), dist.PointMass(0), dist.Binomial(p[3], p[4]))
		}, []float64{0.3, 0.7, 0, 6, 0.4}),
		family("truncated mixture", func(p ...any) dist.Dist {
			return dist.Truncate(dist.Mixture(pair(p[0], p[1]), dist.Normal(p[2], p[3]), dist.Logistic(p[4], p[5])), p[6], nil)
		}, []float64{0.3, 0.7, -1, 0.5, 2, 1, 1.5}),
	}
}

func value(t testing.TB, n *ad.Node) []float64 {
	t.Helper()
	d, err := ad.Eval(n)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := d[0].Data().(float64); ok {
		return []float64{v}
	}
	return d[0].Data().([]float64)
}

// Truncating a normal distribution is TruncatedNormal, in far tails too.
func TestTruncateAgainstTruncatedNormal(t *testing.T) {
	for _, p := range [][4]float64{{0, 1, -1, 2}, {0, 1, 10, 11}, {5, 2, -40, -30}, {1, 0.5, 1, 1.001}} {
		x := ad.Scalar(p[2] + 0.3*(p[3]-p[2]))
		got := value(t, dist.Truncate(dist.Normal(p[0], p[1]), p[2], p[3]).LogProb(x))[0]
		if want := value(t, dist.TruncatedNormal(p[0], p[1], p[2], p[3]).LogProb(x))[0]; !close(got, want, 1e-12) {
			t.Errorf("%v: %.15g, want %.15g", p, got, want)
		}
	}
	// A distribution that is not normal, far out: the exponential distribution forgets.
	for _, lower := range []float64{1, 700, 1e5} {
		got := value(t, dist.Truncate(dist.Exponential(2), lower, lower+3).LogProb(ad.Scalar(lower+1)))[0]
		if want := value(t, dist.Truncate(dist.Exponential(2), 0, 3).LogProb(ad.Scalar(1)))[0]; !close(got, want, 1e-9) {
			t.Errorf("exponential from %g: %.15g, want %.15g", lower, got, want)
		}
	}
}

// A censored distribution has the probability of a tail at its end, and what is left
// between: all together 1.
func TestCensored(t *testing.T) {
	d := dist.Censored(dist.Normal(0.5, 2), -1, 3)
	base := dist.Normal(0.5, 2)
	p := []float64{0.5, 2}
	x := ad.Const([]float64{-7, -1, 0, 2.9, 3, 8})
	got := value(t, d.LogProb(x))
	for i, want := range []float64{math.Log(base.CDF(-1, p)), math.Log(base.CDF(-1, p)), 0, 0, math.Log1p(-base.CDF(3, p)), math.Log1p(-base.CDF(3, p))} {
		if want == 0 {
			want = value(t, base.LogProb(x))[i]
		}
		if !close(got[i], want, 1e-12) {
			t.Errorf("element %d: %.15g, want %.15g", i, got[i], want)
		}
	}
	count := dist.Censored(dist.Poisson(3), nil, 5)
	sum := 0.0
	for k := range 6 {
		sum += math.Exp(value(t, count.LogProb(ad.Scalar(float64(k))))[0])
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("censored counts: probabilities sum to %.15g", sum)
	}
	stream := tensor.NewStream(1, 2, 3)
	draws, atEnd := make([]float64, 4000), 0.0
	if err := count.Fill(&stream, draws, []int{4000}, [][]float64{{3}, {5}}); err != nil {
		t.Fatal(err)
	}
	for _, v := range draws {
		if v == 5 {
			atEnd++
		}
	}
	if want := 1 - dist.Poisson(3).CDF(4, []float64{3}); math.Abs(atEnd/4000-want) > 0.03 {
		t.Errorf("a share of %g at the end, want %g", atEnd/4000, want)
	}
}

// Independent sums over axes, Fill makes arrays of it, and a mixture of vectors is
// one of whole rows.
func TestIndependent(t *testing.T) {
	mu := ad.Const([]float64{1, 2, 3})
	d := dist.Independent(dist.Normal(mu, 2), 1)
	x := ad.Const([]float64{0, 1, 2, 3, 4, 5}, 2, 3)
	got := value(t, d.LogProb(x))
	each := value(t, dist.Normal(mu, 2).LogProb(x))
	if len(got) != 2 || !close(got[0], each[0]+each[1]+each[2], 1e-14) || !close(got[1], each[3]+each[4]+each[5], 1e-14) {
		t.Errorf("%v of %v", got, each)
	}
	positive := dist.Independent(dist.Exponential(ad.Const([]float64{1, 2, 3})), 1)
	y := ad.Input("y", 3)
	lp := positive.LogProb(y)
	prog, err := ad.Compile([]*ad.Node{lp, ad.Grad(lp, y)[0]}, ad.Settings{Inputs: []*ad.Node{y}})
	if err != nil {
		t.Fatal(err)
	}
	s := prog.NewState()
	copy(s.Input(0), []float64{1, -1, 1})
	if err := s.Run(); err != nil || !math.IsInf(s.Output(0)[0], -1) || s.Output(1)[0] != 0 {
		t.Errorf("one outside: %v %v %v", s.Output(0), s.Output(1), err)
	}
	stream := tensor.NewStream(1, 2, 3)
	draws := make([]float64, 6000)
	if err := d.Fill(&stream, draws, []int{2000, 3}, [][]float64{{1, 2, 3}, {2}}); err != nil {
		t.Fatal(err)
	}
	for j := range 3 {
		mean := 0.0
		for i := range 2000 {
			mean += draws[3*i+j] / 2000
		}
		if math.Abs(mean-float64(j+1)) > 0.2 {
			t.Errorf("column %d: mean %g", j, mean)
		}
	}
	rows := dist.Mixture([]float64{0.5, 0.5}, dist.Independent(dist.Normal([]float64{9, 9}, 1), 1), dist.Independent(dist.Normal([]float64{-9, -9}, 1), 1))
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if err := rows.Fill(&stream, draws[:200], []int{100, 2}, [][]float64{{0.5, 0.5}, {9, 9}, {1}, {-9, -9}, {1}}); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if draws[2*i]*draws[2*i+1] < 0 {
			t.Errorf("row %d has elements of different components", i)
		}
	}
}

func TestLogMix(t *testing.T) {
	a, b := ad.Scalar(-1), ad.Scalar(-800)
	want := math.Log(0.3*math.Exp(-1) + 0)
	if got := value(t, dist.LogMix(0.3, a, b))[0]; !close(got, want, 1e-14) {
		t.Errorf("%.15g, want %.15g", got, want)
	}
	if got := value(t, dist.LogMixture([]float64{0.3, 0.7, 0}, a, b, a))[0]; !close(got, want, 1e-14) {
		t.Errorf("%.15g, want %.15g", got, want)
	}
	if err := dist.LogMixture([]float64{1}, a, b).Err(); err == nil {
		t.Error("one weight for two: no error")
	}
}

func TestCombinationsSayWhatIsWrong(t *testing.T) {
	for want, d := range map[string]dist.Dist{
		"no LogCDF":       dist.Truncate(dist.VonMises(0, 1), 0, 1),
		"lower < upper":   dist.Truncate(dist.Normal(0, 1), 2, 1),
		"sigma = -1":      dist.Truncate(dist.Normal(0, -1), 2, 3),
		"weights sum":     dist.Mixture([]float64{0.5, 0.6}, dist.Normal(0, 1), dist.Normal(0, 2)),
		"give one weight": dist.Mixture([]float64{0.5, 0.5}, dist.Normal(0, 1)),
		"component 1":     dist.Mixture([]float64{0.5, 0.5}, dist.Normal(0, 1), dist.Gamma(0, 1)),
		"numbers of axes": dist.Mixture([]float64{0.5, 0.5}, dist.Normal(0, 1), dist.Independent(dist.Normal([]float64{0}, 1), 1)),
		"censored":        dist.Censored(dist.Skellam(1, 2), 0, nil),
	} {
		if err := d.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := dist.Skellam(1, 2).LogCDF(ad.Scalar(1)).Err(); err == nil || !strings.Contains(err.Error(), "skellam") {
		t.Errorf("LogCDF of Skellam: %v", err)
	}
}

// Wrong use gives NaN or an error, never a panic.
func TestMisuse(t *testing.T) {
	var none dist.Dist
	if none.LogProb(ad.Scalar(1)).Err() == nil || none.LogProbInside(ad.Scalar(1)).Err() == nil || none.LogCDF(ad.Scalar(1)).Err() == nil || none.Err() == nil {
		t.Error("a distribution that is none: no error")
	}
	stream := tensor.NewStream(1, 2, 3)
	for _, l := range dist.All() {
		d := l.New(l.At[0]...)
		for _, v := range []float64{d.CDF(1, nil), d.Quantile(0.5, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}), d.Mean(nil), d.Var(nil), d.Rand(&stream, nil)} {
			if !math.IsNaN(v) {
				t.Errorf("%s without its parameters: %g, want NaN", l.Name, v)
			}
		}
		lost := make([]float64, len(l.At[0]))
		for _, v := range []float64{math.NaN(), math.Inf(1), 0, -1, 1e300} { // ends, whatever it gives
			for i := range lost {
				lost[i] = v
			}
			d.Rand(&stream, lost)
			d.Quantile(0.3, lost)
		}
		if l.New().Err() == nil || l.New(make([]float64, 40)...).Err() == nil {
			t.Errorf("%s of no numbers, or 40: no error", l.Name)
		}
		if d.Fill(&stream, make([]float64, 3), []int{2}, nil) == nil || d.Fill(&stream, make([]float64, 2), []int{2}, nil) == nil {
			t.Errorf("%s: Fill of a wrong shape, or without parameters: no error", l.Name)
		}
		bad := make([]any, len(l.Params))
		for i := range bad {
			bad[i] = "text"
		}
		if made := l.Make(bad...); made.Err() == nil || made.LogProb(ad.Scalar(1)).Err() == nil || made.LogProb(ad.Input("x", 2, 2, 2)).Err() == nil {
			t.Errorf("%s of text: no error", l.Name)
		}
	}
}
