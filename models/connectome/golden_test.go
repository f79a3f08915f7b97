// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/sim/assembly"
)

var kinds = map[string]KCap{
	"sigmoid_exact_sum": {Kind: Sigmoid}, "capped_simplex": {Kind: CappedSimplex}, "dftopk": {Kind: Threshold},
	"straight_through_sigmoid": {Kind: Sigmoid, Straight: true},
}

func eval(t *testing.T, nodes ...*ad.Node) (out [][]float64) {
	t.Helper()
	v, err := ad.Eval(nodes...)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range v {
		out = append(out, x.Float64s())
	}
	return out
}

func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	top := 0.0
	for _, w := range want {
		top = math.Max(top, math.Abs(w))
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol*math.Max(top, 1e-3)) {
			t.Errorf("%s: element %d is %.12g, want %.12g", what, i, got[i], w)
			return
		}
	}
}

func TestOperators(t *testing.T) {
	var f struct {
		Operators []struct {
			N, K         int
			T            float64
			X, Cotangent []float64
			Ops          map[string]struct{ Y, VJP []float64 }
		}
	}
	golden.JSON(t, &f, "assemblies", "differentiable_goldens.json")
	for _, c := range f.Operators {
		for name, want := range c.Ops {
			cap := kinds[name]
			cap.Temperature = c.T
			x := ad.Const(c.X, c.N)
			y := cap.Of(x, ad.Scalar(float64(c.K)))
			v := eval(t, y, ad.VJP(y, ad.Const(c.Cotangent, c.N), x)[0])
			id := fmt.Sprintf("%s of %d, T %g", name, c.N, c.T)
			near(t, id, v[0], want.Y, 1e-9)
			near(t, id+" gradient", v[1], want.VJP, 1e-7)
		}
	}
}

// Gradients of soft caps, and of their gradients, agree with differences.
func TestCapGradients(t *testing.T) {
	x, k := ad.Input("x", 2, 5), ad.Input("k")
	values := [][]float64{{0.3, -0.4, 1.2, 0.9, -1.1, 0.2, 0.25, -0.7, 0.6, 1.4}, {2.3}}
	w := ad.Const([]float64{1, -2, 0.5, 3, 0.7, -1, 2, 0.3, -0.6, 1.1}, 2, 5)
	gradtest.Check(t, "sigmoid", ad.Sum(ad.Mul(w, KCap{Temperature: 0.4}.Of(x, k))), []*ad.Node{x, k}, values, true)
	two := ad.Scalar(2)
	for _, kind := range []Relaxation{CappedSimplex, Threshold} {
		y := KCap{Kind: kind, Temperature: 0.9}.Of(x, two)
		gradtest.Check(t, fmt.Sprint("kind ", kind), ad.Sum(ad.Mul(w, ad.Square(y))), []*ad.Node{x}, values[:1], kind == Threshold)
	}
}

type unrolled struct {
	Seed        uint64
	M, N, K, T  int
	Beta        float64
	Temperature float64
	Op, Loss    string
	Stimulus    []float64
	Normalize   bool    `json:"normalize_columns_before_input"`
	PStim       float64 `json:"p_stim"`
	PRec        float64 `json:"p_rec"`
	Targets     []int
	Classes     [][]int `json:"class_assemblies"`
	ClassScale  float64 `json:"class_scale"`
	L           float64
	Steps       []struct{ H, Y []float64 }
	GradBeta    float64      `json:"grad_beta"`
	GradS       []float64    `json:"grad_s"`
	GradWs      [][3]float64 `json:"grad_Ws_on_edges"`
	GradWr      [][3]float64 `json:"grad_Wr_on_edges"`
}

// weights returns the dense matrix of fibre f: 1 + 0.1 jitter where there is a synapse.
func (c *unrolled) weights(f uint64, sources int, p float64) *ad.Node {
	connect := assembly.Hashed(c.Seed, func(string, string) uint64 { return f })
	w := make([]float64, sources*c.N)
	for i := range sources {
		for _, j := range connect(nil, assembly.Fibre{P: p, N: c.N}, i) {
			w[i*c.N+int(j)] = 1 + 0.1*assembly.Jitter(c.Seed, f+1000, i, int(j))
		}
	}
	return ad.Const(w, sources, c.N)
}

func (c *unrolled) loss(y *ad.Node) *ad.Node {
	switch c.Loss {
	case "bce":
		return CrossEntropy(y, c.Targets)
	case "class_ce":
		return Classification(y, c.Classes, 0, c.ClassScale)
	}
	return Overlap(y, c.Targets)
}

func TestUnrolledAssemblies(t *testing.T) {
	var f struct{ Unrolled []*unrolled }
	golden.JSON(t, &f, "assemblies", "differentiable_goldens.json")
	for _, c := range f.Unrolled {
		t.Run(fmt.Sprintf("%d/%s/%s", c.Seed, c.Op, c.Loss), func(t *testing.T) {
			cap := kinds[c.Op]
			cap.Temperature = c.Temperature
			s, ws, wr, beta := ad.Const(c.Stimulus, c.M), c.weights(1, c.M, c.PStim), c.weights(2, c.N, c.PRec), ad.Scalar(c.Beta)
			run := Unroll(s, ws, wr, beta, Dynamics{Steps: c.T, K: ad.Scalar(float64(c.K)), Cap: cap, Normalize: c.Normalize})
			for i, step := range c.Steps {
				v := eval(t, run.Inputs[i], run.Activities[i])
				near(t, fmt.Sprint("input ", i), v[0], step.H, 1e-9)
				near(t, fmt.Sprint("activity ", i), v[1], step.Y, 1e-9)
			}
			l := c.loss(run.Last())
			g := ad.Grad(l, s, ws, wr, beta)
			v := eval(t, append([]*ad.Node{l}, g...)...)
			near(t, "loss", v[0], []float64{c.L}, 1e-9)
			near(t, "gradient by the stimulus", v[1], c.GradS, 1e-7)
			near(t, "gradient by beta", v[4], []float64{c.GradBeta}, 1e-7)
			edges(t, "stimulus weights", v[2], c.GradWs, c.N)
			edges(t, "recurrent weights", v[3], c.GradWr, c.N)
		})
	}
}

func edges(t *testing.T, what string, got []float64, want [][3]float64, n int) {
	t.Helper()
	var a, b []float64
	for _, e := range want {
		a, b = append(a, got[int(e[0])*n+int(e[1])]), append(b, e[2])
	}
	near(t, "gradient by "+what, a, b, 1e-7)
}
