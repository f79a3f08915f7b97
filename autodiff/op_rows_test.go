// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// rowSteps are the operations on rows of n elements, with everything that they depend on in the batch.
func rowSteps(b, n int, rng *rand.Rand) (in, outs []*ad.Node, values [][]float64) {
	input := func(lo, hi float64, tail ...int) *ad.Node {
		x := ad.Input(fmt.Sprint("x", len(in)), append([]int{b}, tail...)...)
		v := make([]float64, x.Size())
		for i := range v {
			v[i] = lo + rng.Float64()*(hi-lo)
		}
		in, values = append(in, x), append(values, v)
		return x
	}
	x := input(-1, 1, n)
	outs = append(outs, ad.BandedMatVec(input(-1, 1, 11, n), x, false))
	w := input(-1, 1, 9)
	outs = append(outs, ad.Convolve(x, w))
	below, diagonal, first, ratio := make([]float64, n-1), make([]float64, n), make([]int, n/2), make([]float64, n)
	for i := range diagonal {
		diagonal[i], ratio[i] = 4+math.Sin(float64(i)), 1-1e-3*float64(i%3)
		if i > 0 {
			below[i-1] = 1
		}
	}
	t := ad.NewTridiagonal(below, diagonal, below)
	outs = append(outs, t.Solve(x))
	for k := range first {
		first[k] = 2 * k
	}
	cells := ad.NewCubicCells(first, ratio, true)
	outs = append(outs, cells.At(x, t.Solve(x), input(0, 1, n/2), input(0, 1, n/2), 0))
	basis := make([]float64, 5*n)
	for i := range basis {
		basis[i] = math.Cos(float64(i/n) * float64(i%n) * math.Pi / float64(n))
	}
	m := ad.NewLinearMarginal(input(0.5, 1.5, n), x, ad.Const(basis, 5, n))
	outs = append(outs, m.ChiSquare(), m.Coefficients(), m.Leverage(), m.Solve(input(-1, 1, 5)))
	for _, y := range outs[:4] {
		outs = append(outs, ad.VJP(y, ad.Full(0.7, y.Shape()...), in[0])...)
	}
	outs = append(outs, ad.VJP(outs[1], ad.Full(0.7, outs[1].Shape()...), w)...)
	return in, outs, values
}

// Any number of goroutines gives the same bits, and a row has the same bits alone as among others.
func TestRowsHaveTheSameBits(t *testing.T) {
	const b, n = 23, 1200
	for _, bits := range []int{64, 32} {
		run := func(b, threads, from int) [][]float64 {
			in, outs, values := rowSteps(23, n, rand.New(rand.NewPCG(1, 7)))
			if b != 23 {
				in, outs, _ = rowSteps(b, n, rand.New(rand.NewPCG(1, 7)))
			}
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: ad.CPU{Threads: threads}})
			if err != nil {
				t.Fatal(err)
			}
			s := p.NewState()
			for i, v := range values {
				size := len(v) / 23
				if err := s.SetInput(i, v[from*size:(from+b)*size]); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
			}
			k := math.Inf(1)
			for range 5 { // the counter is that of the process, in which other goroutines end now and then
				k = min(k, testing.AllocsPerRun(3, func() {
					if err := s.Run(); err != nil {
						t.Fatal(err)
					}
				}))
			}
			if k > 0 {
				t.Errorf("%d threads: %g allocations in a run", threads, k)
			}
			var out [][]float64
			for i := range outs {
				out = append(out, s.OutputFloat64(i))
			}
			return out
		}
		want := run(b, 1, 0)
		for _, threads := range []int{2, 5} {
			for i, y := range run(b, threads, 0) {
				same(t, fmt.Sprintf("float%d, %d threads, output %d", bits, threads, i), y, want[i])
			}
		}
		for _, row := range []int{0, 6, 22} {
			for i, y := range run(1, 1, row) {
				size := len(want[i]) / b
				same(t, fmt.Sprintf("float%d, row %d alone, output %d", bits, row, i), y, want[i][row*size:(row+1)*size])
			}
		}
	}
}

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: element %d is %.17g, want %.17g", what, k, got[k], v)
			return
		}
	}
}

// A tridiagonal solve undoes the product with the matrix.
func TestTridiagonalSolves(t *testing.T) {
	const n = 300
	below, diagonal, above := make([]float64, n-1), make([]float64, n), make([]float64, n-1)
	x := make([]float64, n)
	for i := range x {
		diagonal[i], x[i] = 4, math.Sin(float64(i*i))
	}
	band := make([]float64, 3*n)
	for i := range below {
		below[i], above[i] = 1+0.3*math.Cos(float64(i)), 1-0.2*math.Sin(float64(i))
		band[i+1], band[2*n+i] = below[i], above[i]
	}
	copy(band[n:], diagonal)
	a, m := ad.NewTridiagonal(below, diagonal, above), ad.Const(band, 3, n)
	got, err := ad.Eval(a.Solve(ad.BandedMatVec(m, ad.Const(x), false)), a.SolveTransposed(ad.BandedMatVec(m, ad.Const(x), true)))
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range got {
		for i, v := range y.Data().([]float64) {
			if math.Abs(v-x[i]) > 1e-14 {
				t.Fatalf("element %d is %g, want %g", i, v, x[i])
			}
		}
	}
	if err := ad.NewTridiagonal([]float64{2}, []float64{1, 1}, []float64{2}).Solve(ad.Const([]float64{1, 1})).Err(); err == nil {
		t.Error("an indefinite matrix was factored")
	}
	if err := a.Solve(ad.Const([]float64{1, 1})).Err(); err == nil {
		t.Error("a row of another length was solved")
	}
}

// Sums, factors and inverses are right where float64 would lose all digits: half of the points hardly count, and half
// of the functions live on them alone. The exact numbers follow by blocks.
func TestLinearMarginalIllConditioned(t *testing.T) {
	const n = 40
	for _, small := range []float64{1e-3, 1e-6, 1e-9, 1e-12} {
		basis, tau, d := make([]float64, 4*n), make([]float64, n), make([]float64, n)
		for k := range n {
			x := float64(k%(n/2)) / (n / 2)
			half := k / (n / 2)
			tau[k] = 1
			if half == 1 {
				tau[k] = small
			}
			d[k] = math.Sin(5*x+float64(half)) * tau[k]
			a, b := 1.0, x
			// All four functions reach both halves: the sum and the difference of two on one half, twice.
			for i, v := range []float64{a, b} {
				basis[2*i*n+k] = v
				basis[(2*i+1)*n+k] = v * float64(1-2*half)
			}
		}
		m := ad.NewLinearMarginal(ad.Const(tau), ad.Const(d), ad.Const(basis, 4, n))
		got, err := ad.Eval(m.ChiSquare(), m.Leverage())
		if err != nil {
			t.Fatal(err)
		}
		// A change of basis of determinant 4 separates the halves: M = blocks G and small^2 G, G = [[n/2, s1], [s1, s2]].
		s1, s2, s0 := 0.0, 0.0, float64(n/2)
		for k := range n / 2 {
			x := float64(k) / (n / 2)
			s1, s2 = s1+x, s2+x*x
		}
		det := s0*s2 - s1*s1
		want := 2*math.Log(det) + 4*math.Log(small) + 2*math.Log(4)
		for half := range 2 {
			scale := 1.0
			if half == 1 {
				scale = small
			}
			var v0, v1, dd float64
			for k := range n / 2 {
				x := float64(k) / (n / 2)
				y := math.Sin(5*x + float64(half))
				v0, v1, dd = v0+y, v1+x*y, dd+y*y
			}
			want += scale * scale * (dd - (s2*v0*v0-2*s1*v0*v1+s0*v1*v1)/det)
		}
		if chi := got[0].Data().(float64); math.Abs(chi-want) > max(1e-11, 1e-33/(small*small))*math.Abs(want) {
			t.Errorf("small %g: chi-square %.15g, want %.15g", small, chi, want)
		}
		for k, q := range got[1].Data().([]float64) {
			x := float64(k%(n/2)) / (n / 2)
			want := (s2 - 2*s1*x + s0*x*x) / det
			if k >= n/2 {
				want /= small * small
			}
			if math.Abs(q-want) > 1e-6*want {
				t.Errorf("small %g: leverage %d is %g, want %g", small, k, q, want)
				break
			}
		}
	}
}

// A row whose normal matrix has no inverse is NaN, and the others are not.
func TestLinearMarginalSingular(t *testing.T) {
	tau := ad.Const([]float64{1, 1, 1, 0, 0, 0, 1, 2, 1}, 3, 3)
	m := ad.NewLinearMarginal(tau, ad.Const([]float64{1, 2, 4}), ad.Const([]float64{1, 1, 1, 0, 1, 2}, 2, 3))
	got, err := ad.Eval(m.ChiSquare())
	if err != nil {
		t.Fatal(err)
	}
	chi := got[0].Data().([]float64)
	if math.IsNaN(chi[0]) || !math.IsNaN(chi[1]) || math.IsNaN(chi[2]) {
		t.Errorf("chi-squares %v: want NaN in the second alone", chi)
	}
	if err := ad.NewLinearMarginal(tau, tau, ad.Input("p", 2, 3)).ChiSquare().Err(); err == nil {
		t.Error("a basis that is no constant was taken")
	}
}
