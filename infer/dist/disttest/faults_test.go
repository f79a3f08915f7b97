// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package disttest_test

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
)

// rate is an exponential distribution, changed by a fault.
func rate(fault func(d *dist.Dist, b *ad.Node)) dist.Family {
	return dist.Family{Name: "rate", Params: []string{"b"}, Want: []dist.Support{dist.Positive}, At: [][]float64{{1}, {2.5}},
		Make: func(p ...any) dist.Dist {
			b := dist.Nodes(p...)
			d := dist.Dist{Name: "rate", Params: b, Support: dist.Positive,
				LogProbOf:  func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(b[0]), ad.Mul(b[0], x)) },
				RandOf:     func(src dist.Source, p []float64) float64 { return -math.Log1p(-src.Float64()) / p[0] },
				CDFOf:      func(x float64, p []float64) float64 { return -math.Expm1(-p[0] * max(x, 0)) },
				QuantileOf: func(u float64, p []float64) float64 { return -math.Log1p(-u) / p[0] },
				MeanOf:     func(p []float64) float64 { return 1 / p[0] },
				VarianceOf: func(p []float64) float64 { return 1 / p[0] / p[0] },
			}
			fault(&d, b[0])
			return d
		}}
}

// alone leaves nothing but the log density.
func alone(logProb func(x, b *ad.Node) *ad.Node) func(d *dist.Dist, b *ad.Node) {
	return func(d *dist.Dist, b *ad.Node) {
		d.LogProbOf = func(x *ad.Node) *ad.Node { return logProb(x, b) }
		d.RandOf, d.CDFOf, d.QuantileOf, d.MeanOf, d.VarianceOf = nil, nil, nil, nil, nil
	}
}

func right(x, b *ad.Node) *ad.Node { return ad.Sub(ad.Log(b), ad.Mul(b, x)) }

// faulty are distributions and transforms that a check must refuse, and what it says; "" where it must pass.
var faulty = map[string]struct {
	want  string
	check func(t *testing.T)
}{
	"whole":         {"", func(t *testing.T) { disttest.Family(t, rate(func(*dist.Dist, *ad.Node) {})) }},
	"density alone": {"", func(t *testing.T) { disttest.Family(t, rate(alone(right))) }},
	"unnormalised, with CDF": {"and ", family1(func(d *dist.Dist, b *ad.Node) {
		d.LogProbOf = func(x *ad.Node) *ad.Node { return ad.Shift(right(x, b), math.Ln2) }
	})},
	"wrong density alone": {"integrates to 0.4", family1(alone(func(x, b *ad.Node) *ad.Node { return ad.Neg(ad.Mul(b, x)) }))},
	"wrong density alone, off centre": {"integrates to 2", func(t *testing.T) {
		l := rate(alone(func(x, b *ad.Node) *ad.Node {
			z := ad.Div(ad.Shift(x, -1234.5), ad.Scale(1e-3, b))
			return ad.Sub(ad.Scale(-0.5, ad.Mul(z, z)), ad.Log(ad.Scale(0.5e-3*math.Sqrt(2*math.Pi), b)))
		}))
		disttest.Family(t, l)
	}},
	"quantile without CDF": {"", family1(func(d *dist.Dist, b *ad.Node) { d.CDFOf = nil })},
	"wrong quantile without CDF": {"slope of Quantile", family1(func(d *dist.Dist, b *ad.Node) {
		d.CDFOf = nil
		d.QuantileOf = func(u float64, p []float64) float64 { return u }
	})},
	"CDF of NaN": {"CDFOf returned NaN at 0.001: want a probability from 0 to 1", family1(func(d *dist.Dist, b *ad.Node) { d.CDFOf = func(float64, []float64) float64 { return math.NaN() } })},
	"sum":        {"want the shape [2", family1(func(d *dist.Dist, b *ad.Node) { d.LogProbOf = func(x *ad.Node) *ad.Node { return ad.Sum(right(x, b)) } })},
	"mean": {"alone", family1(func(d *dist.Dist, b *ad.Node) {
		d.LogProbOf = func(x *ad.Node) *ad.Node { return right(ad.Add(x, ad.Scale(0.1, ad.Sub(x, ad.Mean(x)))), b) }
	})},
	"nil density": {"LogProbOf of rate returned nil", family1(func(d *dist.Dist, b *ad.Node) { d.LogProbOf = func(x *ad.Node) *ad.Node { return nil } })},
	"stopped gradient": {"the derivative of LogProb at 0.", family1(func(d *dist.Dist, b *ad.Node) {
		d.LogProbOf = func(x *ad.Node) *ad.Node { return ad.StopGradient(right(x, b)) }
	})},
	"stopped parameter": {"with respect to b is", family1(func(d *dist.Dist, b *ad.Node) {
		d.LogProbOf = func(x *ad.Node) *ad.Node { return right(x, ad.StopGradient(b)) }
	})},
	"stopped gradient alone": {"with respect to the value is", family1(alone(func(x, b *ad.Node) *ad.Node { return ad.StopGradient(right(x, b)) }))},
	"draws of NaN":           {"RandOf returned NaN", family1(func(d *dist.Dist, b *ad.Node) { d.RandOf = func(dist.Source, []float64) float64 { return math.NaN() } })},
	"draws outside":          {"outside the support from 0", family1(func(d *dist.Dist, b *ad.Node) { d.RandOf = func(dist.Source, []float64) float64 { return -5 } })},
	"wrong draws without CDF": {"differs from its probability", family1(func(d *dist.Dist, b *ad.Node) {
		alone(right)(d, b)
		d.RandOf = func(src dist.Source, p []float64) float64 { return src.Float64() }
	})},
	"right draws without CDF": {"", family1(func(d *dist.Dist, b *ad.Node) {
		rand := d.RandOf
		alone(right)(d, b)
		d.RandOf = rand
	})},
	"event":                 {"Event 1: want 0", family1(func(d *dist.Dist, b *ad.Node) { d.Event = 1 })},
	"discrete":              {"set Support to one with Whole", family1(func(d *dist.Dist, b *ad.Node) { d.Discrete = true; d.CDFOf, d.QuantileOf = nil, nil })},
	"counts, density alone": {"", counts(0)},
	"wrong counts":          {"probabilities sum to 1.5", counts(math.Log(1.5))},
	"density of NaN alone":  {"NaN", family1(alone(func(x, b *ad.Node) *ad.Node { return ad.Scale(math.NaN(), x) }))},
	"transform":             {"", transform(func(tr *dist.Transform) {})},
	"inverse of nothing": {"Inverse of the transform \"exp\" returned 0 numbers for 1 elements: want 1", transform(func(tr *dist.Transform) {
		tr.Inverse = func([]float64, ...float64) ([]float64, error) { return nil, nil }
	})},
	"inverse of NaN": {"is NaN", transform(func(tr *dist.Transform) {
		tr.Inverse = func(y []float64, _ ...float64) ([]float64, error) { return []float64{math.NaN()}, nil }
	})},
	"no free":              {"is incomplete: set Free", transform(func(tr *dist.Transform) { tr.Free = nil })},
	"empty transform":      {"is incomplete: set Constrain, Free, Inverse", transform(func(tr *dist.Transform) { *tr = dist.Transform{} })},
	"transform of vectors": {"has Event 1: want 0", transform(func(tr *dist.Transform) { tr.Event = 1 })},
	"nowhere":              {"pass at least one", func(t *testing.T) { disttest.Transform(t, dist.IdentityTransform()) }},
	"bounds":               {"", func(t *testing.T) { disttest.Transform(t, dist.IntervalTransform(-1, 2), -1, 0.2, 3) }},
	"inverse of several": {"", transform(func(tr *dist.Transform) {
		inverse := tr.Inverse
		tr.Inverse = func(y []float64, b ...float64) ([]float64, error) {
			if len(y) != 1 {
				return nil, errors.New("called with several numbers")
			}
			return inverse(y, b...)
		}
	})},
	"right transform":                   {"", family1(func(d *dist.Dist, b *ad.Node) { d.TransformOf = dist.SoftplusTransform })},
	"transform that leaves the support": {"maps -3 to -3, which is outside the support from 0 to +Inf", family1(func(d *dist.Dist, b *ad.Node) { d.TransformOf = dist.IdentityTransform })},
	"transform onto a part of the support": {"has a density, but no unconstrained number is mapped to it", family1(func(d *dist.Dist, b *ad.Node) {
		d.TransformOf = func() dist.Transform { return dist.IntervalTransform(0, 0.5) }
	})},
	"transform with twice its Jacobian": {"softplus: log Jacobian ", family1(func(d *dist.Dist, b *ad.Node) {
		d.TransformOf = func() dist.Transform {
			tr := dist.SoftplusTransform()
			tr.Constrain = func(x *ad.Node) (y, logJ *ad.Node) {
				y, logJ = dist.SoftplusTransform().Constrain(x)
				return y, ad.Scale(2, logJ)
			}
			return tr
		}
	})},
	"transform without a Jacobian": {"log Jacobian 0, by derivatives ", family1(func(d *dist.Dist, b *ad.Node) {
		d.TransformOf = func() dist.Transform {
			tr := dist.SoftplusTransform()
			tr.Constrain = func(x *ad.Node) (y, logJ *ad.Node) {
				y, _ = dist.SoftplusTransform().Constrain(x)
				return y, ad.Scalar(0)
			}
			return tr
		}
	})},
	"wrong mean":     {"correct MeanOf", family1(func(d *dist.Dist, b *ad.Node) { d.MeanOf = func(p []float64) float64 { return 7 } })},
	"wrong variance": {"correct VarianceOf", family1(func(d *dist.Dist, b *ad.Node) { d.VarianceOf = func(p []float64) float64 { return 7 } })},
	"panic": {"disttest: rate: Make panics at the parameters [1]: runtime error: index out of range", func(t *testing.T) {
		l := rate(func(*dist.Dist, *ad.Node) {})
		l.Make = func(p ...any) dist.Dist { return dist.Normal(p[0], p[1]) }
		disttest.Family(t, l)
	}},
	"no support": {"set Support to where the distribution has values", family1(func(d *dist.Dist, b *ad.Node) {
		alone(func(x, b *ad.Node) *ad.Node { return ad.Add(ad.Scale(0, ad.Log(x)), right(x, b)) })(d, b)
		d.Support = dist.Support{}
	})},
	"unnormalised, with draws": {"so draws cannot be compared with it: normalise it", family1(func(d *dist.Dist, b *ad.Node) {
		rand := d.RandOf
		alone(func(x, b *ad.Node) *ad.Node { return ad.Shift(right(x, b), 2) })(d, b)
		d.RandOf = rand
	})},
	"Jacobian of each": {"a scalar summed", transform(func(tr *dist.Transform) { tr.Constrain = func(x *ad.Node) (y, logJ *ad.Node) { return ad.Exp(x), x } })},
	"no Jacobian":      {"Constrain returned nil", transform(func(tr *dist.Transform) { tr.Constrain = func(x *ad.Node) (y, logJ *ad.Node) { return ad.Exp(x), nil } })},
}

func family1(fault func(d *dist.Dist, b *ad.Node)) func(t *testing.T) {
	return func(t *testing.T) { disttest.Family(t, rate(fault)) }
}

// counts is a geometric distribution with nothing but its log probability, which is too high by shift.
func counts(shift float64) func(t *testing.T) {
	return func(t *testing.T) {
		disttest.Family(t, dist.Family{Name: "counts", Params: []string{"q"}, Want: []dist.Support{dist.Unit}, At: [][]float64{{0.3}, {0.9}},
			Make: func(p ...any) dist.Dist {
				q := dist.Nodes(p...)
				return dist.Dist{Name: "counts", Params: q, Support: dist.Counts, Discrete: true, LogProbOf: func(x *ad.Node) *ad.Node {
					return ad.Add(ad.Shift(ad.Log(q[0]), shift), ad.Mul(x, ad.Log1p(ad.Neg(q[0]))))
				}}
			}})
	}
}

func transform(fault func(tr *dist.Transform)) func(t *testing.T) {
	return func(t *testing.T) {
		tr := dist.Transform{Name: "exp", Free: func(n int) int { return n },
			Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return ad.Exp(x), ad.Sum(x) },
			Inverse: func(y []float64, _ ...float64) ([]float64, error) {
				x := make([]float64, len(y))
				for i, v := range y {
					x[i] = math.Log(v)
				}
				return x, nil
			}}
		fault(&tr)
		disttest.Transform(t, tr, -0.5, 1.5)
	}
}

const asFaulty = "EURYALE_TEST_FAULTY"

// TestFaulty fails on purpose, in the process that TestFaultsAreFound starts.
func TestFaulty(t *testing.T) {
	if os.Getenv(asFaulty) == "" {
		return // only TestFaultsAreFound asks for it
	}
	for name, c := range faulty {
		t.Run(name, c.check)
	}
}

// The line that names the cause comes first, and lines of the same kind are counted; a wrong mean does not accuse the
// variance, and a summed density is reported once.
func TestFailuresAreFew(t *testing.T) {
	for name, c := range map[string]struct {
		first, never string
		most         int
	}{
		"unnormalised, with CDF": {"the density integrates to 2, want 1", "mean", 20},
		"wrong mean":             {"mean 7, by quadrature", "variance", 6},
		"CDF of NaN":             {"CDFOf returned NaN", "integrates", 1},
		"wrong variance":         {"variance 7, by quadrature", "mean", 6},
		"sum":                    {"for values of shape [2 5]: want the shape [2 5]", "want the shape [2 5] for", 99},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFaulty$/^"+strings.ReplaceAll(name, " ", "_")+"$")
		cmd.Env = append(os.Environ(), asFaulty+"=1")
		out, _ := cmd.CombinedOutput()
		var lines []string
		for l := range strings.Lines(string(out)) {
			if strings.Contains(l, "_test.go:") {
				lines = append(lines, l)
			}
		}
		if len(lines) == 0 || !strings.Contains(lines[0], c.first) || len(lines) > c.most || c.never != "" && strings.Contains(strings.Join(lines, ""), c.never) || strings.Contains(string(out), "disttest.go:") {
			t.Errorf("%s: %d lines, want %q first, and never %q:\n%s", name, len(lines), c.first, c.never, out)
		}
	}
}

// Every check fails what it is meant to find, and passes what is right.
func TestFaultsAreFound(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestFaulty$", "-test.v")
	cmd.Env = append(os.Environ(), asFaulty+"=1")
	out, _ := cmd.CombinedOutput()
	for name, c := range faulty {
		called := "TestFaulty/" + strings.ReplaceAll(name, " ", "_")
		_, text, _ := strings.Cut(string(out), "=== RUN   "+called+"\n")
		text, _, _ = strings.Cut(text, "=== RUN")
		failed := strings.Contains(string(out), "--- FAIL: "+called+" (")
		switch {
		case !failed && !strings.Contains(string(out), "--- PASS: "+called+" ("):
			t.Fatalf("%s: neither passed nor failed:\n%s", name, out)
		case failed != (c.want != "") || !strings.Contains(text, c.want):
			t.Errorf("%s: failed is %v; want %q in\n%s", name, failed, c.want, text)
		}
	}
}
