// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"runtime"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// tridiagonal is Broyden's problem in n parameters; its solution solves every
// equation.
func tridiagonal(n int) *optim.Problem {
	p := &optim.Problem{M: n, N: n, Start: make([]float64, n)}
	for i := range p.Start {
		p.Start[i] = -1
	}
	p.Residual = func(r, x []float64) error {
		for i, v := range x {
			r[i] = (3-2*v)*v + 1
			if i > 0 {
				r[i] -= x[i-1]
			}
			if i < n-1 {
				r[i] -= 2 * x[i+1]
			}
		}
		return nil
	}
	return p
}

// band is where its Jacobian is not 0, and the elements at x.
func band(n int) (*optim.Sparsity, func(v, x []float64) error) {
	s := &optim.Sparsity{Row: []int{0}}
	for i := range n {
		for k := max(0, i-1); k <= min(n-1, i+1); k++ {
			s.Column = append(s.Column, k)
		}
		s.Row = append(s.Row, len(s.Column))
	}
	return s, func(v, x []float64) error {
		for i := range n {
			for e := s.Row[i]; e < s.Row[i+1]; e++ {
				v[e] = [3]float64{-1, 3 - 4*x[i], -2}[s.Column[e]-i+1]
			}
		}
		return nil
	}
}

func tridiagonalProducts(p *optim.Problem) {
	p.JVP = func(out, x, v []float64) error {
		for i := range out {
			out[i] = (3 - 4*x[i]) * v[i]
			if i > 0 {
				out[i] -= v[i-1]
			}
			if i < len(v)-1 {
				out[i] -= 2 * v[i+1]
			}
		}
		return nil
	}
	p.VJP = func(out, x, u []float64) error {
		for i := range out {
			out[i] = (3 - 4*x[i]) * u[i]
			if i > 0 {
				out[i] -= 2 * u[i-1]
			}
			if i < len(u)-1 {
				out[i] -= u[i+1]
			}
		}
		return nil
	}
}

func tridiagonalGraph(t testing.TB, n int) *optim.Problem {
	x := ad.Input("x", n)
	shift := func(by int) *ad.Node {
		if by > 0 {
			return ad.Pad(ad.Slice(x, 0, 0, n-1), []int{1}, []int{0}, 0)
		}
		return ad.Pad(ad.Slice(x, 0, 1, n), []int{0}, []int{1}, 0)
	}
	r := ad.AddN(ad.Mul(ad.Sub(ad.Scalar(3), ad.Scale(2, x)), x), ad.Neg(shift(1)), ad.Scale(-2, shift(-1)), ad.Scalar(1))
	p, err := optim.FromGraph(r, []*ad.Node{x})
	if err != nil {
		t.Fatal(err)
	}
	p.Start = tridiagonal(n).Start
	return p
}

// Four ways to hand over a Jacobian that is not stored.
func large(t testing.TB, way string, n int) *optim.Problem {
	p := tridiagonal(n)
	switch way {
	case "sparse":
		p.Sparsity, p.SparseJacobian = band(n)
	case "groups":
		p.Sparsity, _ = band(n)
	case "products":
		tridiagonalProducts(p)
	case "graph":
		p = tridiagonalGraph(t, n)
	}
	return p
}

func TestHundredThousandParameters(t *testing.T) {
	for _, way := range []string{"sparse", "groups", "products", "graph"} {
		n := 10_000 // where a square of this would show as well
		if way == "sparse" {
			n = 100_000
		}
		p := large(t, way, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("%s: %v", way, err)
		}
		if !r.Status.Converged() || r.Cost > 1e-12 || r.Cov != nil || !math.IsNaN(r.SD()[0]) {
			t.Errorf("%s: %s, cost %g", way, r.Status.Message(), r.Cost)
		}
		used := float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
		t.Logf("%s: cost %.1e after %d evaluations, %.0f bytes per parameter", way, r.Cost, r.NFev, used)
		if used > 2000 {
			t.Errorf("%s: %.0f bytes per parameter", way, used)
		}
	}
}

// The plane of LSMR must lead where the exact step leads, with bounds and losses.
func TestLSMRAgreesWithExact(t *testing.T) {
	const n = 30
	for _, way := range []string{"dense", "sparse", "groups", "products", "graph"} {
		for _, loss := range []optim.Loss{optim.Linear, optim.SoftL1} {
			for _, bounded := range []bool{false, true} {
				p, q := tridiagonal(n), large(t, way, n)
				if way == "dense" {
					q.JVP, q.VJP = large(t, "products", n).JVP, large(t, "products", n).VJP
				}
				if bounded {
					for _, p := range []*optim.Problem{p, q} {
						p.Lower, p.Upper = make([]float64, n), make([]float64, n)
						for i := range n {
							p.Lower[i], p.Upper[i] = -2, -0.6
						}
					}
				}
				s := optim.Settings{Method: optim.TRF, Loss: loss, LossScale: 0.1, FTol: 1e-14, XTol: 1e-12, GTol: 1e-10}
				want, err := optim.LeastSquares(context.Background(), p, s)
				if err != nil {
					t.Fatal(err)
				}
				s.Solver = optim.LSMR
				got, err := optim.LeastSquares(context.Background(), q, s)
				if err != nil {
					t.Fatal(err)
				}
				if d := distance(got.X, want.X); d > 1e-5 || math.Abs(got.Cost-want.Cost) > 1e-9*want.Cost+1e-18 {
					t.Errorf("%s %q bounded %t: x off by %.1e, cost %.12g, want %.12g: %s", way, loss, bounded, d, got.Cost, want.Cost, got.Status.Message())
				}
			}
		}
	}
}

// Fixed, tied and believed parameters of a problem whose Jacobian is not stored.
func TestLargeProblemsReduce(t *testing.T) {
	const n = 30
	x3 := ad.Input("p3")
	s := optim.Settings{Method: optim.TRF, Fixed: map[string]float64{"p0": -0.4}, Priors: []optim.Prior{optim.Gaussian("p7", -1, 0.1)}, XTol: 1e-12, FTol: 1e-14, GTol: 1e-11}
	for _, tied := range []bool{false, true} {
		if s.Tied = nil; tied {
			s.Tied = map[string]*ad.Node{"p5": ad.Scale(1.5, ad.Square(x3))}
			s.Tied["p5"] = ad.Neg(s.Tied["p5"])
		}
		s.Solver = optim.Exact
		want, err := optim.LeastSquares(context.Background(), tridiagonal(n), s)
		if err != nil {
			t.Fatal(err)
		}
		if tied && math.Abs(want.X[5]+1.5*want.X[3]*want.X[3]) > 1e-15 {
			t.Errorf("p5 is %g for p3 %g", want.X[5], want.X[3])
		}
		for _, way := range []string{"sparse", "groups", "products"} {
			s.Solver = optim.LSMR
			got, err := optim.LeastSquares(context.Background(), large(t, way, n), s)
			if err != nil {
				t.Fatal(err)
			}
			v, err := got.Variances("p0", "p3", "p5", "p7")
			if err != nil {
				t.Fatal(err)
			}
			for k, i := range []int{0, 3, 5, 7} {
				if w := want.Cov[i*n+i]; math.Abs(v[k]-w) > 1e-4*w {
					t.Errorf("%s tied %t: variance of p%d is %g, want %g", way, tied, i, v[k], w)
				}
			}
			if d := distance(got.X, want.X); d > 1e-5 || got.X[0] != -0.4 {
				t.Errorf("%s tied %t: off by %.1e: %v", way, tied, d, got.Status.Message())
			}
		}
	}
}

func BenchmarkHundredThousandParameters(b *testing.B) {
	p := large(b, "sparse", 100_000)
	for b.Loop() {
		if _, err := optim.LeastSquares(context.Background(), p, optim.Settings{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/fit")
}
