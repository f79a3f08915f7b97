// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/ode"
)

func lotka(_ *ad.Node, y, p []*ad.Node) []*ad.Node {
	return []*ad.Node{
		ad.Mul(ad.Sub(p[0], ad.Mul(p[1], y[1])), y[0]),
		ad.Mul(ad.Sub(ad.Mul(p[3], y[0]), p[2]), y[1]),
	}
}

// oscillator is a damped, driven pendulum: it depends on time.
func oscillator(t *ad.Node, y, p []*ad.Node) []*ad.Node {
	return []*ad.Node{y[1], ad.Sub(ad.Sub(ad.Mul(p[1], ad.Cos(t)), ad.Mul(p[0], y[1])), ad.Sin(y[0]))}
}

// runner compiles the solution and its gradient of a weighted sum.
func runner(t testing.TB, f func(t *ad.Node, y, p []*ad.Node) []*ad.Node, n, k int, times []float64, s ode.Settings) (run func(y0, p []float64) (z, dy, dp []float64, err error)) {
	t.Helper()
	y0, p := ad.Input("y0", n), ad.Input("p", k)
	z := ode.Solve(f, y0, 0, times, p, s)
	w := make([]float64, z.Size())
	for i := range w {
		w[i] = 1 + 0.3*float64(i%5)
	}
	loss := ad.Sum(ad.Mul(ad.Const(w, z.Shape()...), z))
	prog, err := ad.Compile(append([]*ad.Node{z}, ad.Grad(loss, y0, p)...), ad.Settings{Inputs: []*ad.Node{y0, p}})
	if err != nil {
		t.Fatal(err)
	}
	st := prog.NewState()
	return func(a, b []float64) ([]float64, []float64, []float64, error) {
		copy(st.Input(0), a)
		copy(st.Input(1), b)
		err := st.Run()
		return st.Output(0), st.Output(1), st.Output(2), err
	}
}

// Solutions against closed forms: decay, rotation, and a rate that is a function
// of time, by both methods.
func TestClosedForms(t *testing.T) {
	f := func(t *ad.Node, y, p []*ad.Node) []*ad.Node {
		return []*ad.Node{ad.Neg(ad.Mul(p[0], y[0])), ad.Mul(p[1], y[2]), ad.Neg(ad.Mul(p[1], y[1])), ad.Mul(t, ad.Exp(ad.Neg(t)))}
	}
	times := []float64{0, 0.5, 0.5, 2, 7}
	for _, m := range []ode.Method{ode.RK45, ode.Rodas, ode.DOP853} {
		z, _, _, err := runner(t, f, 4, 2, times, ode.Settings{Method: m, RTol: 1e-9, ATol: 1e-10})([]float64{2, 1, 0, 0}, []float64{0.7, 1.3})
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range times {
			want := []float64{2 * math.Exp(-0.7*at), math.Cos(1.3 * at), -math.Sin(1.3 * at), 1 - (1+at)*math.Exp(-at)}
			for j, w := range want {
				if got := z[4*i+j]; math.Abs(got-w) > 3e-8 {
					t.Errorf("method %d, t = %g: component %d is %.12g, want %.12g", m, at, j, got, w)
				}
			}
		}
	}
}

// The error falls with the tolerance as far as the order lets it.
func TestTolerances(t *testing.T) {
	exact, _, _, err := runner(t, oscillator, 2, 2, []float64{10}, ode.Settings{RTol: 1e-13, ATol: 1e-13})([]float64{1, 0}, []float64{0.1, 0.8})
	if err != nil {
		t.Fatal(err)
	}
	want := exact[0]
	for _, m := range []ode.Method{ode.RK45, ode.Rodas, ode.DOP853} {
		for _, tol := range []float64{1e-4, 1e-6, 1e-8, 1e-10} {
			z, _, _, err := runner(t, oscillator, 2, 2, []float64{10}, ode.Settings{Method: m, RTol: tol, ATol: tol})([]float64{1, 0}, []float64{0.1, 0.8})
			if err != nil || math.Abs(z[0]-want) > 60*tol {
				t.Errorf("method %d, tolerance %g: off by %g (%v)", m, tol, z[0]-want, err)
			}
		}
	}
}

// Gradients against central differences of tight solutions.
func TestGradients(t *testing.T) {
	times := []float64{0.3, 1, 1, 4, 9}
	for name, c := range map[string]struct {
		f  func(t *ad.Node, y, p []*ad.Node) []*ad.Node
		y0 []float64
		p  []float64
	}{
		"lotka":      {lotka, []float64{33, 6}, []float64{0.55, 0.028, 0.8, 0.024}},
		"oscillator": {oscillator, []float64{1, 0}, []float64{0.1, 0.8}},
	} {
		for _, m := range []ode.Method{ode.RK45, ode.Rodas, ode.DOP853} {
			run := runner(t, c.f, len(c.y0), len(c.p), times, ode.Settings{Method: m, RTol: 1e-11, ATol: 1e-11})
			loss := func(y0, p []float64) float64 {
				z, _, _, err := run(y0, p)
				if err != nil {
					t.Fatal(err)
				}
				sum := 0.0
				for i, v := range z {
					sum += (1 + 0.3*float64(i%5)) * v
				}
				return sum
			}
			_, dy, dp, err := run(c.y0, c.p)
			if err != nil {
				t.Fatal(err)
			}
			got := append(append([]float64{}, dy...), dp...)
			x := append(append([]float64{}, c.y0...), c.p...)
			for i := range x {
				at, h := x[i], 1e-3*math.Max(math.Abs(x[i]), 0.1)
				v := func(by float64) float64 {
					x[i] = at + by*h
					defer func() { x[i] = at }()
					return loss(x[:len(c.y0)], x[len(c.y0):])
				}
				want := (8*(v(1)-v(-1)) - (v(2) - v(-2))) / (12 * h)
				if math.Abs(got[i]-want) > 2e-6*math.Max(1, math.Abs(want)) {
					t.Errorf("%s, method %d: gradient %d is %.10g, want %.10g", name, m, i, got[i], want)
				}
			}
		}
	}
}

// robertson are kinetics whose rates differ by nine orders of magnitude.
func robertson(_ *ad.Node, y, p []*ad.Node) []*ad.Node {
	a, b, c := ad.Mul(p[0], y[0]), ad.Mul(p[1], ad.Mul(y[1], y[2])), ad.Mul(p[2], ad.Square(y[1]))
	return []*ad.Node{ad.Sub(b, a), ad.Sub(ad.Sub(a, b), c), c}
}

// Robertson's kinetics are stiff: Rodas needs few steps where RK45 gives up.
func TestStiff(t *testing.T) {
	times := []float64{0.4, 40, 4e3, 4e5}
	// Hairer and Wanner's reference values, as of the IVP test set.
	want := []float64{9.8517211386e-1, 3.3863953790e-5, 7.1582706872e-1, 9.1855347646e-6, 1.8320202246e-1, 8.9423e-7, 4.9382741e-3, 1.98500e-8}
	z, _, dp, err := runner(t, robertson, 3, 3, times, ode.Settings{Method: ode.Rodas, RTol: 1e-8, ATol: 1e-12, MaxSteps: 4000})([]float64{1, 0, 0}, []float64{0.04, 1e4, 3e7})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []ode.Method{ode.Auto, ode.Patient} {
		auto, _, dpAuto, err := runner(t, robertson, 3, 3, times, ode.Settings{Method: m, RTol: 1e-8, ATol: 1e-12, MaxSteps: 4000})([]float64{1, 0, 0}, []float64{0.04, 1e4, 3e7})
		if err != nil || !slices.Equal(auto, z) || !slices.Equal(dpAuto, dp) {
			t.Errorf("method %d on a stiff system: %v, %v, %v: want the numbers of Rodas", m, err, auto, dpAuto)
		}
	}
	for i := range times {
		for j := range 2 {
			if got, w := z[3*i+j], want[2*i+j]; math.Abs(got/w-1) > 2e-4 {
				t.Errorf("t = %g: component %d is %.10g, want %.10g", times[i], j, got, w)
			}
		}
		if total := z[3*i] + z[3*i+1] + z[3*i+2]; math.Abs(total-1) > 1e-9 {
			t.Errorf("t = %g: mass %.15g", times[i], total)
		}
	}
	for i, d := range dp {
		if math.IsNaN(d) || d == 0 {
			t.Errorf("gradient %d is %g", i, d)
		}
	}
	_, _, _, err = runner(t, robertson, 3, 3, times, ode.Settings{MaxSteps: 4000})([]float64{1, 0, 0}, []float64{0.04, 1e4, 3e7})
	var e *ode.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "MaxSteps was reached") || !strings.Contains(err.Error(), "Rodas") {
		t.Errorf("RK45 on a stiff system: %v", err)
	}
}

// Systems of up to three numbers, whose linear systems are solved by formulas, and the same as a vector, whose matrix is factored, take the
// same steps: solutions and gradients agree to the rounding errors that the condition of the gradient lets through.
func TestFewStiffStates(t *testing.T) {
	vanDerPol := func(_ *ad.Node, y, p []*ad.Node) []*ad.Node {
		return []*ad.Node{y[1], ad.Mul(p[0], ad.Sub(ad.Mul(ad.Sub(ad.Scalar(1), ad.Square(y[0])), y[1]), ad.Mul(p[1], y[0])))}
	}
	relaxation := func(t *ad.Node, y, p []*ad.Node) []*ad.Node {
		return []*ad.Node{ad.Mul(p[0], ad.Sub(ad.Cos(t), y[0]))}
	}
	for _, c := range []struct {
		f            func(t *ad.Node, y, p []*ad.Node) []*ad.Node
		y0, p, times []float64
	}{{relaxation, []float64{2}, []float64{1e5}, []float64{0, 0.5, 1, 2}}, {vanDerPol, []float64{2, 0}, []float64{1e3, 1}, []float64{0, 0.5, 1, 2}},
		{robertson, []float64{1, 0, 0}, []float64{0.04, 1e4, 3e7}, []float64{0, 0.4, 40, 4e3}}} {
		n, k := len(c.y0), len(c.p)
		y0, p := ad.Const(c.y0, n), ad.Const(c.p, k)
		set := ode.Settings{Method: ode.Rodas, RTol: 1e-7, ATol: 1e-10}
		vector := func(t, y *ad.Node, p []*ad.Node) *ad.Node {
			parts := make([]*ad.Node, n)
			for i := range parts {
				parts[i] = ad.Index(y, 0, i)
			}
			rates := c.f(t, parts, p)
			for i, r := range rates {
				rates[i] = ad.Reshape(r, 1)
			}
			return ad.Concat(0, rates...)
		}
		var got [2][]float64
		for way, z := range []*ad.Node{ode.SolveAt(c.f, y0, ad.Const(c.times), p, set), ode.SolveVector(vector, y0, ad.Const(c.times), p, set)} {
			values, err := ad.Eval(append([]*ad.Node{z}, ad.Grad(ad.Sum(z), y0, p)...)...)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				got[way] = append(got[way], v.Data().([]float64)...)
			}
		}
		for i, x := range got[0] {
			if want := got[1][i]; math.Abs(x-want) > 1e-9*math.Abs(want)+1e-13 {
				t.Errorf("%d states: number %d is %.15g, and %.15g with a factored matrix", n, i, x, want)
			}
		}
	}
}

// A long solution that is not stiff is left to DOP853 where Rodas would need too many steps.
func TestPatient(t *testing.T) {
	run := func(m ode.Method) ([]float64, []float64, error) {
		z, _, dp, err := runner(t, oscillator, 2, 2, []float64{2000}, ode.Settings{Method: m, RTol: 1e-10, ATol: 1e-10, MaxSteps: 1_000_000})([]float64{1, 0}, []float64{0, 1})
		return z, dp, err
	}
	want, dp, err := run(ode.DOP853)
	if err != nil {
		t.Fatal(err)
	}
	got, dpGot, err := run(ode.Patient)
	if err != nil || !slices.Equal(got, want) || !slices.Equal(dpGot, dp) {
		t.Errorf("%v and %v, %v: want the numbers of DOP853, %v and %v", got, dpGot, err, want, dp)
	}
}

// A vector state is the same system.
func TestVector(t *testing.T) {
	const n = 40 // heat in a rod
	rod := func(_, y *ad.Node, p []*ad.Node) *ad.Node {
		in := ad.Pad(y, []int{1}, []int{1}, 0)
		left, right := ad.Slice(in, 0, 0, n), ad.Slice(in, 0, 2, n+2)
		return ad.Mul(p[0], ad.Sub(ad.Add(left, right), ad.Scale(2, y)))
	}
	y0, p := ad.Input("y0", n), ad.Input("p", 1)
	for _, m := range []ode.Method{ode.RK45, ode.Rodas, ode.DOP853} {
		z := ode.SolveVector(rod, y0, ad.Const([]float64{0, 1}), p, ode.Settings{Method: m})
		prog, err := ad.Compile(append([]*ad.Node{z}, ad.Grad(ad.Sum(z), p)...), ad.Settings{Inputs: []*ad.Node{y0, p}})
		if err != nil {
			t.Fatal(err)
		}
		s := prog.NewState()
		s.Input(1)[0] = 2
		for i := range n { // the slowest mode decays by exp(-2 p (1 - cos(pi/(n+1))))
			s.Input(0)[i] = math.Sin(math.Pi * float64(i+1) / (n + 1))
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		rate := 2 * (1 - math.Cos(math.Pi/(n+1)))
		decay, total := math.Exp(-2*rate), 0.0
		for i, v := range s.Output(0) {
			if want := s.Input(0)[i] * decay; math.Abs(v-want) > 1e-7 {
				t.Fatalf("method %d: place %d is %.10g, want %.10g", m, i, v, want)
			}
			total += v
		}
		if got, want := s.Output(1)[0], -rate*total; math.Abs(got-want) > 1e-6 {
			t.Errorf("method %d: gradient %.10g, want %.10g", m, got, want)
		}
	}
}

// Times that a gradient is taken of, against the closed form y = y0 exp(k (t^2 - t0^2)/2), and such that do not ascend.
func TestTimes(t *testing.T) {
	growth := func(t *ad.Node, y, p []*ad.Node) []*ad.Node { return []*ad.Node{ad.Mul(p[0], ad.Mul(t, y[0]))} }
	y0, times, p := ad.Input("y0", 1), ad.Input("times", 3), ad.Input("p", 1)
	for _, m := range []ode.Method{ode.RK45, ode.Rodas, ode.DOP853} {
		z := ode.SolveAt(growth, y0, times, p, ode.Settings{Method: m, RTol: 1e-11, ATol: 1e-11})
		loss := ad.Sum(ad.Mul(ad.Const([]float64{2, 1}, 2, 1), z))
		prog, err := ad.Compile(ad.Grad(loss, times, p, y0), ad.Settings{Inputs: []*ad.Node{y0, times, p}})
		if err != nil {
			t.Fatal(err)
		}
		s := prog.NewState()
		at, k := []float64{0.5, 1.5, 2}, 0.4
		s.Input(0)[0], s.Input(2)[0] = 3, k
		copy(s.Input(1), at)
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		half := func(t float64) float64 { return (t*t - at[0]*at[0]) / 2 }
		first, second := 2*3*math.Exp(k*half(at[1])), 3*math.Exp(k*half(at[2]))
		want := []float64{-k * at[0] * (first + second), k * at[1] * first, k * at[2] * second, half(at[1])*first + half(at[2])*second, (first + second) / 3}
		got := slices.Concat(s.Output(0), s.Output(1), s.Output(2))
		for i, w := range want {
			if math.Abs(got[i]-w) > 1e-7*math.Abs(w) {
				t.Errorf("method %d: derivative %d is %.12g, want %.12g", m, i, got[i], w)
			}
		}
		s.Input(1)[2] = 1
		var order *ode.OrderError
		if err := s.Run(); !errors.As(err, &order) || order.Index != 2 || !order.AtPoint() {
			t.Errorf("times that do not ascend: %v", err)
		}
	}
}

func TestMistakes(t *testing.T) {
	y0, p := ad.Input("y0", 2), ad.Input("p", 4)
	two := []float64{1, 2}
	for word, n := range map[string]*ad.Node{
		"ascend":        ode.Solve(lotka, y0, 0, []float64{2, 1}, p, ode.Settings{}),
		"no times":      ode.Solve(lotka, y0, 0, nil, p, ode.Settings{}),
		"tolerance":     ode.Solve(lotka, y0, 0, two, p, ode.Settings{RTol: -1}),
		"returned 1":    ode.Solve(func(_ *ad.Node, y, _ []*ad.Node) []*ad.Node { return y[:1] }, y0, 0, two, p, ode.Settings{}),
		"has shape [3]": ode.Solve(func(_ *ad.Node, y, _ []*ad.Node) []*ad.Node { return []*ad.Node{y[0], ad.Const([]float64{1, 2, 3})} }, y0, 0, two, p, ode.Settings{}),
		"neither t, y":  ode.Solve(func(_ *ad.Node, y, _ []*ad.Node) []*ad.Node { return []*ad.Node{y[0], ad.Input("w")} }, y0, 0, two, p, ode.Settings{}),
	} {
		if n.Err() == nil || !strings.Contains(n.Err().Error(), word) {
			t.Errorf("error %v, want %q", n.Err(), word)
		}
	}
	run := runner(t, func(_ *ad.Node, y, _ []*ad.Node) []*ad.Node { return []*ad.Node{ad.Square(y[0])} }, 1, 1, []float64{2}, ode.Settings{})
	if _, _, _, err := run([]float64{1}, []float64{0}); err == nil { // it blows up at t = 1
		t.Error("a solution that ends before its time: no error")
	}
}

// Steady state makes no garbage.
func TestNoAllocation(t *testing.T) {
	if testing.Short() { // the race detector makes pools forget
		t.Skip("runs without -short only")
	}
	run := runner(t, lotka, 2, 4, []float64{1, 5}, ode.Settings{RTol: 1e-6, ATol: 1e-6})
	if n := testing.AllocsPerRun(20, func() { _, _, _, _ = run([]float64{33, 6}, []float64{0.55, 0.028, 0.8, 0.024}) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLotka(b *testing.B) {
	times := make([]float64, 20)
	for i := range times {
		times[i] = float64(i + 1)
	}
	run := runner(b, lotka, 2, 4, times, ode.Settings{RTol: 1e-6, ATol: 1e-6})
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := run([]float64{33, 6}, []float64{0.55, 0.028, 0.8, 0.024}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRobertson(b *testing.B) {
	run := runner(b, robertson, 3, 3, []float64{0.4, 40, 4e3, 4e5}, ode.Settings{Method: ode.Rodas, RTol: 1e-6, ATol: 1e-9})
	for b.Loop() {
		if _, _, _, err := run([]float64{1, 0, 0}, []float64{0.04, 1e4, 3e7}); err != nil {
			b.Fatal(err)
		}
	}
}
