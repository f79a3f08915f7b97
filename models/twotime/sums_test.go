// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// scatter is data of any model at two angles: noise, some of it missing if so wished, with errors if so wished.
func scatter(m transport.Model, customary bool, frames int, errors, missing bool) (Data, []float64) {
	s := transport.Setup{Model: m, Q: 0.0054, Gap: 2e6, Angles: []float64{10, 75}, Customary: customary, Step: 0.1}
	for i := range frames {
		s.Times = append(s.Times, 0.1*(float64(i)+0.5))
	}
	theta := map[transport.Model][]float64{
		transport.Static:       {3000, -0.2, 200},
		transport.Laminar:      {3000, -0.2, 200, 3e-3, 0.1, 1e-4, 4},
		transport.TwoComponent: {2000, 0.1, 100, 4000, -0.2, 50, 300, 0.2, 20, 0.3, -0.1, 0.5, 0.2, 4},
	}[m]
	d := Data{Setup: s}
	z := tensor.NewStream(5, 0, 0)
	for range s.Angles {
		c2, sigma := make([]float64, frames*frames), make([]float64, frames*frames)
		for i := range c2 {
			c2[i], sigma[i] = 1.2+0.1*z.Normal(), 0.1*math.Exp(0.3*z.Normal())
			if missing && i%17 == 0 {
				c2[i] = math.NaN()
			}
		}
		d.C2 = append(d.C2, c2)
		if errors {
			d.Sigma = append(d.Sigma, sigma)
		}
	}
	return d, theta
}

// plainSums are the products of columns as sums over a list of pairs, and those of their sizes.
func plainSums(t *testing.T, d *Data, theta []float64) (sums, sizes [][]float64) {
	t.Helper()
	in, err := d.Setup.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	n, p := len(d.Setup.Times), len(theta)
	k := p + 3
	g := d.Setup.Pairs(in, transport.AllPairs(n))
	var outs []*ad.Node
	for _, one := range g {
		outs = append(outs, one)
		for i := range in {
			along := make([]*ad.Node, p)
			for j := range along {
				along[j] = ad.Scalar(0)
			}
			along[i] = ad.Scalar(1)
			outs = append(outs, ad.JVP(one, in, along))
		}
	}
	prog, err := ad.Compile(outs, ad.Settings{Inputs: in})
	if err != nil {
		t.Fatal(err)
	}
	st := prog.NewState()
	for i, v := range theta {
		st.Input(i)[0] = v
	}
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	for angle := range g {
		sum, size := make([]float64, k*k), make([]float64, k*k)
		at := 0
		row := make([]float64, k)
		for i := range n {
			for j := i + 1; j < n; j++ {
				if w := d.weight(angle, i, j); w > 0 {
					row[0], row[k-1] = 1, d.C2[angle][i*n+j]-1
					for c := range p + 1 {
						row[1+c] = st.Output(angle*(p+1) + c)[at]
					}
					for a, x := range row {
						for b, y := range row {
							sum[a*k+b] += w * w * x * y
							size[a*k+b] += w * w * math.Abs(x*y)
						}
					}
				}
				at++
			}
		}
		sums, sizes = append(sums, sum), append(sizes, size)
	}
	return sums, sizes
}

// Sums by tiles are those over pairs, in all models, with errors and gaps, with factors of frames and without, and at both precisions.
func TestSumsAreThoseOfPairs(t *testing.T) {
	for _, m := range []transport.Model{transport.Static, transport.Laminar, transport.TwoComponent} {
		for _, c := range []struct {
			customary, errors, missing bool
			frames, band               int
			limit                      float64
		}{
			{frames: 3, limit: 600}, {frames: 70, limit: 600}, {frames: 70, errors: true, limit: 600}, {frames: 70, missing: true, limit: 600},
			{frames: 70, limit: 0}, {frames: 70, limit: 5}, {frames: 70, customary: true}, {frames: 60, customary: true, errors: true, missing: true},
			{frames: 70, band: 2, limit: 600}, {frames: 100, errors: true, band: 50, limit: 600}, {frames: 150, limit: 600},
		} {
			if testing.Short() && c.frames > 100 {
				continue
			}
			d, theta := scatter(m, c.customary, c.frames, c.errors, c.missing)
			d.Band = c.band
			if c.frames == 3 {
				d.Band = 0
			}
			want, sizes := plainSums(t, &d, theta)
			for _, precision := range []int{64, 32} {
				s, err := newSums(&d, 1, precision)
				if err != nil {
					t.Fatal(err)
				}
				tolerance := 1e-11
				if precision == 32 {
					tolerance = 2e-5
				}
				if p, ok := s.pass.(*passes[float64]); ok {
					p.hands[0].limit = c.limit
				}
				curved := max(tolerance, 1e-3*float64(64-precision)/32) // differences of products of float32
				label := fmt.Sprintf("%s %+v, float%d", m, c, precision)
				for _, curvature := range []bool{false, true} {
					if err := s.evaluate(context.Background(), theta, curvature); err != nil {
						t.Fatal(err)
					}
					if curvature {
						tolerance = curved
					}
					compareSums(t, fmt.Sprintf("%s, curvature %v", label, curvature), s, want, sizes, curvature, tolerance)
				}
			}
		}
	}
}

func compareSums(t *testing.T, label string, s *sums, want, sizes [][]float64, curvature bool, tolerance float64) {
	t.Helper()
	k := s.size()
	for angle := range want {
		for i := range k {
			for j := range k {
				if !curvature && i > 1 && j > 1 && i < k-1 && j < k-1 {
					continue
				}
				at := i*k + j
				if got := s.gram[angle][at]; !(math.Abs(got-want[angle][at]) <= tolerance*sizes[angle][at]) {
					t.Errorf("%s: angle %d, columns %d and %d: %.15g, want %.15g (size %.3g)", label, angle, i, j, got, want[angle][at], sizes[angle][at])
					return
				}
			}
		}
	}
}

// What is near the diagonal, where it is left out, may be anything.
func TestSumsBesideTheBand(t *testing.T) {
	for _, errors := range []bool{false, true} {
		d, theta := scatter(transport.Laminar, false, 97, errors, false)
		d.Band = 1
		for angle := range d.C2 {
			for i := range 97 {
				for j := max(0, i-1); j < min(97, i+2); j++ {
					d.C2[angle][i*97+j] = math.NaN()
				}
			}
		}
		want, sizes := plainSums(t, &d, theta)
		s, err := newSums(&d, 1, 64)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.evaluate(context.Background(), theta, true); err != nil {
			t.Fatal(err)
		}
		compareSums(t, fmt.Sprintf("errors %v", errors), s, want, sizes, true, 1e-11)
	}
}

// Sums are the same bits for any number of threads.
func TestSumsDoNotDependOnThreads(t *testing.T) {
	d, theta := shear(t, 3, 300, 0.02)
	var want [][]float64
	for _, threads := range []int{1, 2, 5} {
		s, err := newSums(&d, threads, 64)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.evaluate(context.Background(), theta, true); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = s.gram
		}
		for angle := range want {
			if !slices.Equal(want[angle], s.gram[angle]) {
				t.Errorf("%d threads: other sums at angle %d", threads, angle)
			}
		}
	}
}

// Sums of fast decays, down to what is lost between two frames, are those of pairs, also where factors of frames would overflow.
func TestSumsOfFastDecays(t *testing.T) {
	for _, m := range []transport.Model{transport.Static, transport.Laminar, transport.TwoComponent} {
		for rate := 1e5; rate < 1e8; rate *= 3 {
			d, theta := scatter(m, false, 48, false, false)
			theta[0] = rate
			want, sizes := plainSums(t, &d, theta)
			for _, precision := range []int{64, 32} {
				s, err := newSums(&d, 1, precision)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.evaluate(context.Background(), theta, true); err != nil {
					t.Errorf("%s, rate %g, float%d: %v", m, rate, precision, err)
				} else if precision == 64 {
					compareSums(t, fmt.Sprintf("%s, rate %g", m, rate), s, want, sizes, true, 1e-10)
				}
			}
		}
	}
}

// Sums of slow shear, where sines are taken near 0, are those of pairs.
func TestSumsOfSlowShear(t *testing.T) {
	for rate := 1e-8; rate < 1e-2; rate *= 10 {
		d, theta := scatter(transport.Laminar, false, 97, false, false)
		theta[3], theta[5] = rate, rate/10
		want, sizes := plainSums(t, &d, theta)
		for _, precision := range []int{64, 32} {
			s, err := newSums(&d, 1, precision)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.evaluate(context.Background(), theta, false); err != nil {
				t.Fatal(err)
			}
			compareSums(t, fmt.Sprintf("rate %g, float%d", rate, precision), s, want, sizes, false, map[int]float64{64: 1e-10, 32: 1e-5}[precision])
		}
	}
}

// Gradients of tiles of float32 lead to a minimum within a thousandth of the errors.
func TestGradientsOfFloat32(t *testing.T) {
	const angles, frames = 5, 400
	const noise = 0.02
	d, truth := shear(t, angles, frames, noise)
	fit, err := FitLeastSquares(context.Background(), d, Settings{Start: truth, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	f := fitterOf(t, d, Settings{Start: fit.Theta})
	products, _, err := f.productsAt(fit.Theta)
	if err != nil {
		t.Fatal(err)
	}
	if f.sums, err = newSums(&d, 1, 32); err != nil {
		t.Fatal(err)
	}
	if err := f.evaluate(context.Background(), fit.Theta, false); err != nil {
		t.Fatal(err)
	}
	l, err := f.best()
	if err != nil {
		t.Fatal(err)
	}
	n := products.SymmetricDim() - 1
	for k, gradient := range columnOf(f.joint(l), n) {
		products.SetSym(k, n, gradient)
	}
	step, ok := newtonStep(products)
	if !ok || len(fit.SD) != len(fit.Names) {
		t.Fatalf("no step: %v, errors %v", ok, fit.SD)
	}
	for k, name := range fit.Names {
		if off := step[k] / (noise * fit.SD[k]); !(math.Abs(off) < 1e-3) { // no errors were given
			t.Errorf("%s moves by %.2g of its error", name, off)
		}
	}
}

// columnOf returns the first n elements of column n.
func columnOf(a *mat.SymDense, n int) (out []float64) {
	for i := range n {
		out = append(out, a.At(i, n))
	}
	return out
}
