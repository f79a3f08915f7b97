// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gp_test

import (
	"encoding/json"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/gp"
	"github.com/euryale-dev/euryale/internal/golden"
)

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

func TestMarginalAgainstGolden(t *testing.T) {
	var all map[string]json.RawMessage
	golden.JSON(t, &all, "inference", "distributions", "multivariate.json")
	var family struct {
		Cases []struct {
			Args struct {
				Y, X       []float64
				Alpha, Rho float64
				Noise      float64 `json:"noise_variance"`
			}
			LogPDF float64 `json:"logpdf"`
			Grad   struct {
				Y          []float64
				Alpha, Rho float64
				Noise      float64 `json:"noise_variance"`
			}
		}
	}
	text := all["GaussianProcess_expquad"]
	if text == nil {
		t.Skip("the reference has no Gaussian process")
	}
	if err := json.Unmarshal(text, &family); err != nil {
		t.Fatal(err)
	}
	for i, c := range family.Cases {
		y, alpha, rho, noise := ad.Input("y", len(c.Args.Y)), ad.Input("alpha"), ad.Input("rho"), ad.Input("noise")
		lp := gp.Marginal(gp.SquaredExponential(alpha, rho), c.Args.X, nil, noise).LogProb(y)
		inputs := []*ad.Node{y, alpha, rho, noise}
		prog, err := ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, inputs...)...), ad.Settings{Inputs: inputs})
		if err != nil {
			t.Fatal(err)
		}
		s := prog.NewState()
		copy(s.Input(0), c.Args.Y)
		s.Input(1)[0], s.Input(2)[0], s.Input(3)[0] = c.Args.Alpha, c.Args.Rho, c.Args.Noise
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		want := append([]float64{c.LogPDF}, append(c.Grad.Y, c.Grad.Alpha, c.Grad.Rho, c.Grad.Noise)...)
		got := []float64{s.Output(0)[0]}
		for k := range inputs {
			got = append(got, s.Output(1+k)...)
		}
		for k, w := range want {
			if math.Abs(got[k]-w) > 1e-10*math.Max(1e-3, math.Abs(w)) {
				t.Errorf("case %d: value %d is %.12g, want %.12g", i, k, got[k], w)
			}
		}
	}
}

// kernels makes each of a hyperparameter of two numbers.
var kernels = map[string]func(h *ad.Node) gp.Kernel{
	"squared exponential": func(h *ad.Node) gp.Kernel { return gp.SquaredExponential(ad.Index(h, 0, 0), ad.Index(h, 0, 1)) },
	"matern 1/2":          func(h *ad.Node) gp.Kernel { return gp.Matern12(ad.Index(h, 0, 0), h) },
	"matern 3/2":          func(h *ad.Node) gp.Kernel { return gp.Matern32(1.5, h) },
	"matern 5/2":          func(h *ad.Node) gp.Kernel { return gp.Matern52(ad.Index(h, 0, 0), ad.Index(h, 0, 1)) },
	"periodic":            func(h *ad.Node) gp.Kernel { return gp.Periodic(1.5, ad.Index(h, 0, 0), ad.Index(h, 0, 1)) },
	"linear":              func(h *ad.Node) gp.Kernel { return gp.Linear(h, 0.3) },
	"constant":            func(h *ad.Node) gp.Kernel { return gp.Constant(ad.Index(h, 0, 1)) },
	"sum and product": func(h *ad.Node) gp.Kernel {
		return gp.Add(gp.Mul(gp.SquaredExponential(1, h), gp.Periodic(1, 0.5, 2)), gp.Linear(0.5, h))
	},
}

var points = []float64{0, 0.3, 1.1, -0.4, 2, 0.7, -1.3, 0.2, 0.3, 1.9}

// Every kernel is symmetric and positive, has Var on its diagonal, and gradients of
// points and hyperparameters.
func TestKernels(t *testing.T) {
	h, x := ad.Input("h", 2), ad.Input("x", 5, 2)
	for name, make := range kernels {
		k := make(ad.Const([]float64{0.8, 1.3}))
		p := ad.Const(points, 5, 2)
		cov, variance := value(t, k.Cov(p, p)), value(t, k.Var(p))
		for i := range 5 {
			if math.Abs(cov[6*i]-variance[i]) > 1e-14 {
				t.Errorf("%s: variance %g, covariance with itself %g", name, variance[i], cov[6*i])
			}
			for j := range i {
				if math.Abs(cov[5*i+j]-cov[5*j+i]) > 1e-15 {
					t.Errorf("%s: not symmetric at %d, %d", name, i, j)
				}
			}
		}
		if d := value(t, gp.Cholesky(k.Cov(p, p), 1e-6)); math.IsNaN(d[24]) {
			t.Errorf("%s: no factor", name)
		}
		y := ad.Sum(ad.Mul(ad.Sin(make(h).Cov(x, ad.Const([]float64{0.1, 0.2, 1, -1}, 2, 2))), ad.Const([]float64{1, 2})))
		gradtest.Check(t, name, y, []*ad.Node{h, x}, [][]float64{{0.8, 1.3}, points}, true)
		same := ad.Sum(ad.Square(make(h).Cov(x, x))) // through points that are equal
		gradtest.Check(t, name, ad.Substitute([]*ad.Node{same}, []*ad.Node{x}, []*ad.Node{p})[0], []*ad.Node{h}, [][]float64{{0.8, 1.3}}, false)
		for i, g := range value(t, ad.Substitute(ad.Grad(same, x), []*ad.Node{x, h}, []*ad.Node{p, ad.Const([]float64{0.8, 1.3})})[0]) {
			if math.IsNaN(g) {
				t.Errorf("%s: gradient of coordinate %d is NaN", name, i)
			}
		}
	}
	// One length scale for all is one for each.
	a, b := gp.Matern52(1, 0.7), gp.Matern52(1, []float64{0.7, 0.7})
	p := ad.Const(points, 5, 2)
	for i, v := range value(t, a.Cov(p, p)) {
		if w := value(t, b.Cov(p, p))[i]; v != w {
			t.Errorf("element %d: %g, %g", i, v, w)
		}
	}
}

// The distribution of new observations given old ones is that of all over that of the old.
func TestConditionIsTheQuotientOfMarginals(t *testing.T) {
	k := gp.Add(gp.Matern32(1.2, 0.8), gp.Constant(0.5))
	x, at := []float64{0, 0.5, 1.7, 3}, []float64{0.2, 2.5}
	y, next := []float64{0.3, -0.2, 1, 0.4}, []float64{0.1, 0.9}
	all := func(a, b []float64) []float64 { return append(append([]float64{}, a...), b...) }
	p := gp.Condition(k, x, y, 0.2, 0.1, at)
	got := value(t, p.Distribution(0.1).LogProb(ad.Const(next)))[0]
	joint := value(t, gp.Marginal(k, all(x, at), 0.2, 0.1).LogProb(ad.Const(all(y, next))))[0]
	if want := joint - value(t, gp.Marginal(k, x, 0.2, 0.1).LogProb(ad.Const(y)))[0]; math.Abs(got-want) > 1e-8 {
		t.Errorf("%.12g, want %.12g", got, want)
	}
	cov := value(t, p.Cov)
	for i, v := range value(t, p.Var) {
		if math.Abs(v-cov[3*i]) > 1e-14 {
			t.Errorf("variance %d is %g, on the diagonal %g", i, v, cov[3*i])
		}
	}
	// Without noise the process passes through what was seen.
	exact := gp.Condition(k, x, y, nil, nil, x)
	for i, v := range value(t, exact.Mean) {
		if math.Abs(v-y[i]) > 1e-6 {
			t.Errorf("mean at point %d is %g, seen %g", i, v, y[i])
		}
	}
}

// The non-centred form has the prior's covariance.
func TestLatent(t *testing.T) {
	k := gp.SquaredExponential(1, 1)
	x := ad.Const([]float64{0, 1, 2})
	z := ad.Input("z", 3)
	f := gp.Latent(k, x, 0.5, z)
	distribution := gp.Prior(k, x, 0.5)
	for i := range 3 {
		unit := make([]float64, 3)
		unit[i] = 1.3
		at := ad.Substitute([]*ad.Node{f}, []*ad.Node{z}, []*ad.Node{ad.Const(unit)})[0]
		// |L^-1 (f - mean)|^2 = 1.69, wherever z points.
		base := value(t, distribution.LogProb(ad.Const([]float64{0.5, 0.5, 0.5})))[0]
		if got := value(t, distribution.LogProb(at))[0] - base; math.Abs(got+1.69/2) > 1e-8 {
			t.Errorf("direction %d: log density falls by %g, want %g", i, -got, 1.69/2)
		}
	}
}

func TestMistakesStayOnTheNode(t *testing.T) {
	k := gp.SquaredExponential(1, []float64{1, 2})
	for name, n := range map[string]*ad.Node{
		"length scales": k.Cov(ad.Const([]float64{1, 2, 3}), ad.Const([]float64{1, 2, 3})),
		"coordinates":   gp.Matern12(1, 1).Cov(ad.Const([]float64{1, 2}), ad.Const([]float64{1, 2}, 1, 2)),
		"axes":          k.Cov(ad.Scalar(1), ad.Scalar(1)),
		"no kernels":    gp.Add().Cov(ad.Const([]float64{1}), ad.Const([]float64{1})),
		"variance":      gp.Constant(1).Var(ad.Input("x", 1, 2, 3)),
	} {
		if n.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := gp.Marginal(k, []float64{1, 2, 3}, nil, 0.1).Err(); err == nil {
		t.Error("a distribution of them: no error")
	}
	var _ dist.Dist = gp.Prior(gp.Constant(1), []float64{1}, nil)
}
