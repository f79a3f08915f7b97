// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/internal/golden"
)

// Functions that are not linear in a factor have second derivatives too.
func TestSecondDerivativesThroughCholesky(t *testing.T) {
	x := ad.Input("x", 2, 2)
	l := ad.Cholesky(x)
	for name, y := range map[string]*ad.Node{
		"log det":  ad.Sum(ad.Log(ad.Diag(l))),
		"solution": ad.Sum(ad.Square(ad.SolveTriangular(l, ad.Const([]float64{1, 2}, 2, 1), true, false))),
		"inverse":  ad.Sum(ad.Square(ad.CholeskySolve(l, ad.Eye(2)))),
		"exp":      ad.Sum(ad.Exp(l)),
	} {
		gradtest.Check(t, name, y, []*ad.Node{x}, [][]float64{{1, 0.2, 0.2, 0.7}}, true)
	}
}

func TestLinalgGoldens(t *testing.T) { check(t, linalgGoldens(t)) }

func linalgGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "ops_linalg.json") {
		spd, gen, rhs := ad.Input("spd", c.Inputs["spd"].Shape...), ad.Input("general", c.Inputs["general"].Shape...), ad.Input("rhs", c.Inputs["rhs"].Shape...)
		inputs := []*ad.Node{spd, gen, rhs}
		values := [][]float64{c.Inputs["spd"].Values(), c.Inputs["general"].Values(), c.Inputs["rhs"].Values()}
		cond := 1.0
		for _, v := range c.Outputs["cond_general"].Data {
			cond = max(cond, float64(v))
		}
		l := ad.Cholesky(spd)
		sign, log := ad.SignLogDet(gen)
		q, r := ad.QR(gen)
		s := ad.SingularValues(gen)
		n := s.Shape()[1]
		list = append(list, goldenCase{c, map[string]*ad.Node{
			"cholesky": l, "solve_spd": ad.CholeskySolve(l, rhs), "inverse_spd": ad.CholeskySolve(l, ad.Eye(n)),
			"solve_general": ad.Solve(gen, rhs), "det_general": ad.Det(gen), "slogdet_sign": sign, "slogdet_log": log,
			"qr_q": q, "qr_r": r, "eigvalsh": ad.EigenvaluesSymmetric(spd), "singular_values": s, "tri_solve_lower": ad.SolveTriangular(l, rhs, true, false),
			"cond_general": ad.Div(ad.Index(s, 1, 0), ad.Index(s, 1, n-1)),
		}, inputs, values, func(name string) (float64, float64) {
			switch name {
			case "solve_general", "qr_q", "cond_general":
				return 1e-13 * cond, 2e-6 * cond
			}
			return 1e-13, 2e-6
		}})
	}
	return list
}

// Determinants are those of any square matrix, and so are the gradients of first and
// second order: 2x2 by hand, 3x3 by the permanent of its six products.
func TestLogDetOfAnyMatrix(t *testing.T) {
	for _, c := range []struct {
		a    []float64
		sign float64
		log  float64
	}{
		{[]float64{4, 3, 1, 5}, 1, math.Log(17)},
		{[]float64{1, 5, 4, 3}, -1, math.Log(17)},
		{[]float64{-2, 0, 0, -3}, 1, math.Log(6)},
		{[]float64{0, 2, 0, 0, 0, 3, 4, 0, 0}, 1, math.Log(24)},
		{[]float64{1, 2, 3, 0, 1, 4, 5, 6, 0}, 1, 0},
	} {
		n := int(math.Sqrt(float64(len(c.a))))
		a := ad.Input("a", n, n)
		sign, log := ad.SignLogDet(a)
		got := results(t, way{64, ""}, []*ad.Node{ad.LogDet(a), sign, log, ad.Det(a)}, []*ad.Node{a}, [][]float64{c.a})
		if !near(got[0][0], c.log, 1e-14) || got[1][0] != c.sign || got[2][0] != got[0][0] || !near(got[3][0], c.sign*math.Exp(c.log), 1e-13) {
			t.Errorf("log |det %v| = %g, sign %g, det %g, want %g and %g", c.a, got[0], got[1], got[3], c.log, c.sign)
		}
		gradtest.Check(t, "log det", ad.LogDet(a), []*ad.Node{a}, [][]float64{c.a}, true)
	}
	spd := ad.Const([]float64{4, 1, 1, 5}, 2, 2)
	v, err := ad.Eval(ad.LogDet(spd), ad.CholeskyLogDet(ad.Cholesky(spd)))
	if err != nil || !near(v[0].Data().(float64), math.Log(19), 1e-15) || !near(v[1].Data().(float64), math.Log(19), 1e-15) {
		t.Errorf("log det of a positive definite matrix: %v, %v, want %g twice", v, err, math.Log(19))
	}
}

// What an operation does not read of a matrix changes nothing, and has no gradient.
func TestTrianglesThatAreNotRead(t *testing.T) {
	full, b := ad.Input("a", 3, 3), ad.Const([]float64{1, -2, 0.5})
	l := ad.Cholesky(full)
	w, v := ad.EigenSymmetric(full)
	for name, c := range map[string]struct {
		y     *ad.Node
		lower bool
	}{
		"cholesky": {l, true}, "eigenvalues": {w, true}, "eigenvectors": {v, true},
		"cholesky solve": {ad.CholeskySolve(full, b), true}, "cholesky log det": {ad.CholeskyLogDet(full), true},
		"lower system": {ad.SolveTriangular(full, b, true, false), true}, "upper system": {ad.SolveTriangular(full, b, false, true), false},
	} {
		at := []float64{4, 0.3, -0.2, 0.3, 5, 0.7, -0.2, 0.7, 6}
		odd := slices.Clone(at)
		for i := range 3 {
			for j := range 3 {
				if j > i == c.lower && i != j {
					odd[i*3+j] = 1e3 * float64(1+i+j)
				}
			}
		}
		outs := []*ad.Node{c.y, ad.Grad(ad.Sum(ad.Exp(ad.Scale(0.1, c.y))), full)[0]}
		want := results(t, way{64, ""}, outs, []*ad.Node{full}, [][]float64{at})
		got := results(t, way{64, ""}, outs, []*ad.Node{full}, [][]float64{odd})
		for i := range got {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%s: output %d changes with what is not read: %v, %v", name, i, got[i], want[i])
			}
		}
		for i := range 3 {
			for j := range 3 {
				if g := got[1][i*3+j]; j > i == c.lower && i != j && g != 0 {
					t.Errorf("%s: gradient of element (%d, %d) is %g, want 0", name, i, j, g)
				}
			}
		}
	}
}

func TestNotPositiveDefinite(t *testing.T) {
	a := ad.Const([]float64{1, 0, 0, 1, 4, 2, 2, 1 - 1e-9}, 2, 2, 2)
	_, err := ad.Eval(ad.Cholesky(a))
	var bad *ad.NotPositiveDefiniteError
	if !errors.As(err, &bad) || bad.Matrix != 1 || bad.Pivot != 1 || bad.Size != 2 || !(bad.Value < 0) {
		t.Errorf("got %v, want matrix 1, pivot 1", err)
	}
	v, err := ad.Eval(ad.CholeskyOrNaN(a))
	if err != nil {
		t.Fatal(err)
	}
	if d := v[0].Data().([]float64); d[0] != 1 || d[3] != 1 || !math.IsNaN(d[4]) || !math.IsNaN(d[7]) {
		t.Errorf("CholeskyOrNaN gives %v, want 1 0 0 1 and NaN", d)
	}
	if _, err := ad.Eval(ad.Cholesky(ad.Const([]float64{math.NaN()}, 1, 1))); !errors.As(err, &bad) {
		t.Errorf("a NaN gives %v, want NotPositiveDefiniteError", err)
	}
}

func TestSingular(t *testing.T) {
	a := ad.Const([]float64{1, 2, 2, 4}, 2, 2)
	for _, n := range []*ad.Node{ad.Inverse(a), ad.Solve(a, ad.Const([]float64{1, 1}))} {
		var bad *ad.SingularError
		if _, err := ad.Eval(n); !errors.As(err, &bad) || bad.Matrix != 0 || bad.Size != 2 {
			t.Errorf("%v gives %v, want SingularError", n, err)
		}
	}
	sign, log := ad.SignLogDet(a)
	v, err := ad.Eval(sign, log, ad.Det(a))
	if err != nil || v[0].Data() != 0.0 || v[1].Data() != math.Inf(-1) || v[2].Data() != 0.0 {
		t.Errorf("got %v, %v, want 0, -Inf, 0", v, err)
	}
}

func TestLinalgMistakes(t *testing.T) {
	x, v := ad.Input("x", 2, 3), ad.Input("v", 4)
	q, _ := ad.QR(x)
	for _, n := range []*ad.Node{ad.Cholesky(x), ad.Solve(x, v), ad.SolveTriangular(ad.Input("a", 3, 3), v, true, false),
		ad.Solve(ad.Input("a", 2, 3, 3), ad.Input("b", 5, 3, 1)), q, ad.Diag(x), ad.Det(v), ad.Tril(v, 0), ad.EigenvaluesSymmetric(x), ad.SingularValues(v), ad.LogDet(x)} {
		if n.Err() == nil {
			t.Errorf("%v has no error", n)
		}
	}
}

// spd is a well-conditioned symmetric matrix.
func spd(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			v := rng.NormFloat64() / math.Sqrt(float64(n))
			a[i*n+j], a[j*n+i] = v, v
		}
		a[i*n+i] += 3
	}
	return a
}

// Sizes around the blocks give the products they should, and the gradient of
// blocks is that of the formula: d log det a = a^-1.
func TestCholeskyOfManySizes(t *testing.T) {
	for _, n := range []int{0, 1, 2, 11, 12, 13, 25, 47, 48, 49, 97, 150} {
		a, b := ad.Input("a", n, n), ad.Input("b", n, 9)
		l := ad.Cholesky(a)
		x := ad.CholeskySolve(l, b)
		u := ad.T(l)
		y := ad.SolveTriangular(u, ad.SolveTriangular(u, b, false, true), false, false) // the same with the upper triangle
		g := ad.Grad(ad.CholeskyLogDet(l), a)[0]
		inv := ad.Inverse(a)
		want := ad.Sub(ad.Scale(2, ad.Tril(inv, 0)), ad.DiagMatrix(ad.Diag(inv)))
		h := ad.VJP(l, ad.Cos(ad.MatMul(a, a)), a)[0] // against the formula, below
		phi := ad.Sub(ad.Tril(ad.MatMul(u, ad.Tril(ad.Cos(ad.MatMul(a, a)), 0)), 0), ad.Scale(0.5, ad.DiagMatrix(ad.Diag(ad.MatMul(u, ad.Tril(ad.Cos(ad.MatMul(a, a)), 0))))))
		li := ad.Inverse(l)
		s := ad.MatMul(ad.T(li), ad.MatMul(phi, li))
		s = ad.Add(s, ad.T(s))
		s = ad.Sub(ad.Tril(s, 0), ad.Scale(0.5, ad.DiagMatrix(ad.Diag(s))))
		outs := []*ad.Node{ad.Sub(ad.MatMul(l, u), a), ad.Sub(ad.MatMul(a, x), b), ad.Sub(x, y), ad.Sub(g, want), ad.Sub(h, s), ad.Triu(l, 1)}
		rhs := make([]float64, n*9)
		for i := range rhs {
			rhs[i] = math.Sin(float64(i))
		}
		for i, got := range results(t, way{64, ""}, outs, []*ad.Node{a, b}, [][]float64{spd(n, 5), rhs}) {
			for _, v := range got {
				if !(math.Abs(v) <= 1e-12) {
					t.Fatalf("n = %d, identity %d: off by %g", n, i, v)
				}
			}
		}
	}
}

func TestQRAndEigenAndSVDRebuild(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {5, 3}, {40, 40}, {70, 33}} {
		m, n := s[0], s[1]
		a := ad.Input("a", m, n)
		q, r := ad.QR(a)
		u, sv, v := ad.SVD(a)
		p, w, o := ad.SVD(ad.T(a))
		sym := ad.MatMul(ad.T(a), a)
		e, vec := ad.EigenSymmetric(sym)
		k := ad.Eye(n)
		outs := []*ad.Node{ad.Sub(ad.MatMul(q, r), a), ad.Sub(ad.MatMul(ad.T(q), q), k), ad.Tril(r, -1), ad.Minimum(ad.Diag(r), ad.Scalar(0)),
			ad.Sub(ad.MatMul(ad.Mul(u, sv), ad.T(v)), a), ad.Sub(ad.MatMul(ad.Mul(p, w), ad.T(o)), ad.T(a)), ad.Sub(sv, w),
			ad.Sub(ad.MatMul(ad.Mul(vec, e), ad.T(vec)), sym), ad.Sub(ad.MatMul(ad.T(vec), vec), k)}
		rng := rand.New(rand.NewPCG(1, 9))
		data := make([]float64, m*n)
		for i := range data {
			data[i] = rng.NormFloat64()
		}
		for i, got := range results(t, way{64, ""}, outs, []*ad.Node{a}, [][]float64{data}) {
			for _, v := range got {
				if !(math.Abs(v) <= 1e-12*float64(m)) {
					t.Fatalf("%d x %d, identity %d: off by %g", m, n, i, v)
				}
			}
		}
	}
}

// Functions of eigenvalues alone have their gradients where eigenvalues repeat.
func TestRepeatedEigenvalues(t *testing.T) {
	a := ad.Const([]float64{2, 0, 0, 0, 2, 0, 0, 0, 5}, 3, 3)
	v, err := ad.Eval(ad.Grad(ad.Sum(ad.Exp(ad.EigenvaluesSymmetric(a))), a)[0], ad.Grad(ad.Sum(ad.Square(ad.SingularValues(a))), a)[0])
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range []func(x float64) float64{math.Exp, func(x float64) float64 { return 2 * x }} {
		for i, got := range v[k].Data().([]float64) {
			want := 0.0
			if i%4 == 0 {
				want = f([]float64{2, 2, 5}[i/4])
			}
			if !(math.Abs(got-want) < 1e-12*150) {
				t.Errorf("gradient %d, element %d: %g, want %g", k, i, got, want)
			}
		}
	}
}

// mvnProgram is the log density of a multivariate normal distribution and its gradients.
func mvnProgram(n int, s ad.Settings) (*ad.Program, []*ad.Node) {
	a, x := ad.Input("a", n, n), ad.Input("x", n)
	l := ad.Cholesky(a)
	z := ad.SolveTriangular(l, x, true, false)
	lp := ad.Scale(-0.5, ad.Add(ad.Dot(z, z), ad.CholeskyLogDet(l)))
	s.Inputs = []*ad.Node{a, x}
	p, err := ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, a, x)...), s)
	if err != nil {
		panic(err)
	}
	return p, s.Inputs
}

func TestCholeskyDoesNotAllocate(t *testing.T) {
	for _, n := range []int{3, 40, 100} {
		for _, bits := range []int{64, 32} {
			p, _ := mvnProgram(n, ad.Settings{Precision: bits, Backend: ad.CPU{Threads: 1}})
			s := p.NewState()
			if err := s.SetInput(0, spd(n, 3)); err != nil {
				t.Fatal(err)
			}
			run := func() {
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
			}
			run()
			if k := testing.AllocsPerRun(10, run); k > 0 {
				t.Errorf("n = %d, float%d: %g allocations in a run", n, bits, k)
			}
		}
	}
}

// Every operation gives in each lane of a batch what it gives alone, with all
// inputs in the batch and with each one alone.
func TestEveryOpInABatch(t *testing.T) {
	const lanes = 3
	for _, op := range standard {
		if op.Sample == nil {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			var inputs []*ad.Node
			var values [][][]float64 // by input and lane
			source := func(lo, hi float64, shape ...int) *ad.Node {
				x := ad.Input("x", shape...)
				all := make([][]float64, lanes)
				for l := range all {
					for range x.Size() {
						all[l] = append(all[l], lo+rng.Float64()*(hi-lo))
					}
				}
				inputs, values = append(inputs, x), append(values, all)
				return x
			}
			outs := op.Sample(source)
			for _, y := range outs[:len(outs):len(outs)] {
				outs = append(outs, ad.Grad(ad.Sum(ad.Square(y)), inputs...)...)
			}
			sets := [][]*ad.Node{inputs}
			for i := range inputs {
				sets = append(sets, inputs[i:i+1])
			}
			for _, set := range sets {
				sameInLanes(t, outs, inputs, values, set, lanes)
			}
		})
	}
}

func sameInLanes(t *testing.T, outs, inputs []*ad.Node, values [][][]float64, batched []*ad.Node, lanes int) {
	t.Helper()
	p, err := ad.Compile(outs, ad.Settings{Inputs: inputs, Batch: lanes, Batched: batched})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	in := make([][][]float64, lanes)
	for l := range lanes {
		for i, x := range inputs {
			from := 0
			for _, b := range batched {
				if b == x {
					from = l
				}
			}
			in[l] = append(in[l], values[i][from])
			for k, v := range values[i][from] {
				if len(s.Input(i)) == x.Size()*lanes {
					s.Input(i)[k*lanes+l] = v
				} else {
					s.Input(i)[k] = v
				}
			}
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	for l := range lanes {
		for o, want := range results(t, way{64, ""}, outs, inputs, in[l]) {
			for k, v := range want {
				if got := s.Output(o)[k*lanes+l]; !(math.Abs(got-v) <= 1e-11*max(1, math.Abs(v))) {
					t.Fatalf("batch of %v: output %d, element %d, lane %d: %g, alone %g", batched, o, k, l, got, v)
				}
			}
		}
	}
}

// A lane whose matrix has no factor leaves the others alone.
func TestCholeskyOrNaNInABatch(t *testing.T) {
	x := ad.Input("x")
	l := ad.CholeskyOrNaN(ad.Mul(x, ad.Const(spd(4, 1), 4, 4)))
	y := ad.CholeskyLogDet(l)
	for _, bits := range []int{64, 32} {
		p, err := ad.Compile([]*ad.Node{y, ad.Grad(y, x)[0]}, ad.Settings{Precision: bits, Batch: 3, Batched: []*ad.Node{x}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		if err := s.SetInput(0, []float64{2, -1, 4}); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		v, g := s.OutputFloat64(0), s.OutputFloat64(1)
		for i, want := range []float64{2, math.NaN(), 1} { // 4/x
			if !(math.Abs(g[i]-want) < 1e-5) && !(g[i] != g[i] && v[i] != v[i] && want != want) {
				t.Errorf("float%d, lane %d: log det %g, gradient %g, want gradient %g", bits, i, v[i], g[i], want)
			}
		}
	}
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{4, 16, 64, 256, 1024} {
		b.Run(fmt.Sprintf("mvn/%d", n), func(b *testing.B) {
			p, _ := mvnProgram(n, ad.Settings{Backend: ad.CPU{Threads: 1}})
			s := p.NewState()
			if err := s.SetInput(0, spd(n, 3)); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
