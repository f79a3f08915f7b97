// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Sums of exponentials that are infinite have gradients of 0, and so do their gradients: alone, along axes, beside
// finite rows, and in every way that a program can run.
func TestInfiniteLogSums(t *testing.T) {
	inf := math.Inf(1)
	x := ad.Input("x", 4, 2)
	values := [][]float64{{-inf, -inf, 0, -inf, inf, 1, inf, inf}}
	column := func(i int) *ad.Node { return ad.Index(x, 1, i) }
	for name, c := range map[string]struct {
		y           *ad.Node
		want, slope []float64
	}{
		"LogSumExp":    {ad.LogSumExp(x, 1), []float64{-inf, 0, inf, inf}, []float64{0, 0, 1, 0, 0, 0, 0, 0}},
		"LogAddExp":    {ad.LogAddExp(column(0), column(1)), []float64{-inf, 0, inf, inf}, []float64{0, 0, 1, 0, 0, 0, 0, 0}},
		"LogCumsumExp": {ad.LogCumsumExp(x, 1), []float64{-inf, -inf, 0, 0, inf, inf, inf, inf}, []float64{0, 0, 2, 0, 0, 0, 0, 0}},
	} {
		first := ad.Grad(c.y, x)[0]
		second := ad.Grad(ad.Sum(ad.Mul(first, ad.Const([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2))), x)[0]
		for _, w := range ways() {
			got := results(t, w, []*ad.Node{c.y, first, second}, []*ad.Node{x}, values)
			sameNumbers(t, name+" "+w.String(), got[0], c.want)
			sameNumbers(t, name+" gradient "+w.String(), got[1], c.slope)
			sameNumbers(t, name+" second derivative "+w.String(), got[2], make([]float64, 8))
		}
	}
}

func sameNumbers(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(got[i] - want[i]); got[i] != want[i] && !(d <= 1e-6*math.Abs(want[i])) && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Errorf("%s: %v, want %v", name, got, want)
			return
		}
	}
}

// A softmax with elements of -Inf is that of the others; of nothing but -Inf there is none.
func TestSoftmaxWithoutSomeElements(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := ad.Input("x", 2, 3)
	y := ad.Softmax(x, 1)
	grad := ad.Grad(ad.Sum(ad.Mul(y, ad.Const([]float64{1, 2, 4}))), x)[0]
	for _, w := range ways() {
		got := results(t, w, []*ad.Node{y, grad}, []*ad.Node{x}, [][]float64{{0, -inf, 0, -inf, -inf, -inf}})
		sameNumbers(t, "softmax", got[0], []float64{0.5, 0, 0.5, nan, nan, nan})
		sameNumbers(t, "its gradient", got[1][:3], []float64{-0.75, 0, 0.75})
	}
}

// Polynomials and other powers have their derivatives of every kind at 0, at negative numbers and for a power of 0.
func TestPowDerivatives(t *testing.T) {
	inf := math.Inf(1)
	type row struct{ x, y, z, dx, dxx, dy, dxy float64 }
	rows := []row{
		{0, 0, 1, 0, 0, 0, inf}, {0, 1, 0, 1, 0, 0, 1}, {0, 2, 0, 0, 2, 0, 0}, {0, 3, 0, 0, 0, 0, 0}, {0, 4, 0, 0, 0, 0, 0},
		{0, 0.5, 0, inf, -inf, 0, -inf}, {0, 1.5, 0, 0, inf, 0, 0}, {0, 2.5, 0, 0, 0, 0, 0}, {0, -1, inf, -inf, inf, -inf, inf},
		{-2, 0, 1, 0, 0, 0, -0.5}, {-2, 1, -2, 1, 0, 0, 1}, {-2, 2, 4, -4, 2, 0, -2}, {-2, 3, -8, 12, -12, 0, 4}, {-2, -1, -0.5, -0.25, -0.25, 0, 0.25},
		{2, 0, 1, 0, 0, math.Ln2, 0.5}, {2, 1, 2, 1, 0, 2 * math.Ln2, 1 + math.Ln2}, {2, 3, 8, 12, 12, 8 * math.Ln2, 4 * (1 + 3*math.Ln2)},
		{2, 0.5, math.Sqrt2, 0.5 / math.Sqrt2, -0.0625 * math.Sqrt2, math.Sqrt2 * math.Ln2, (1 + 0.5*math.Ln2) / math.Sqrt2},
		{1, 5, 1, 5, 20, 0, 1}, {inf, 0, 1, 0, 0, inf, 0},
	}
	n := len(rows)
	want, in := make([][]float64, 5), make([][]float64, 2)
	for _, r := range rows {
		in[0], in[1] = append(in[0], r.x), append(in[1], r.y)
		for k, v := range []float64{r.z, r.dx, r.dxx, r.dy, r.dxy} {
			want[k] = append(want[k], v)
		}
	}
	x, y := ad.Input("x", n), ad.Input("y", n)
	for _, power := range []*ad.Node{y, ad.Const(in[1])} {
		z := ad.Pow(x, power)
		inputs, values := []*ad.Node{x, y}, in
		if power != y {
			inputs, values = inputs[:1], in[:1]
		}
		first := ad.Grad(z, x, power)
		outputs := []*ad.Node{z, first[0], ad.Grad(first[0], x)[0], first[1], ad.Grad(first[0], y)[0]}
		if power != y {
			outputs = outputs[:3]
		}
		for _, w := range ways() {
			for k, got := range results(t, w, outputs, inputs, values) {
				for i, v := range got {
					if d := math.Abs(v - want[k][i]); v != want[k][i] && !(d <= 1e-6*math.Abs(want[k][i])) {
						t.Errorf("%v, of x = %g and y = %g, %s: %g, want %g", w, in[0][i], in[1][i], []string{"value", "d/dx", "d2/dx2", "d/dy", "d2/dxdy"}[k], v, want[k][i])
					}
				}
			}
		}
	}
}

// Norms and distances have the subgradient 0 at 0, and keep their digits where squares have no number.
func TestNormsAtZeroAndFar(t *testing.T) {
	for _, scale := range []float64{0, 1, 1e-30, 1e30, 1e-170, 1e170} {
		x := ad.Input("x", 2)
		a, b := ad.Index(x, 0, 0), ad.Index(x, 0, 1)
		outputs := []*ad.Node{ad.Norm(x), ad.Hypot(a, b)}
		for _, y := range outputs[:2] {
			first := ad.Grad(y, x)[0]
			outputs = append(outputs, first, ad.Grad(ad.Index(first, 0, 0), x)[0])
		}
		for _, w := range ways() {
			if w.bits == 32 && (scale > 1e38 || scale > 0 && scale < 1e-38) {
				continue
			}
			got := results(t, w, outputs, []*ad.Node{x}, [][]float64{{3 * scale, -4 * scale}})
			slope, curve := []float64{0.6, -0.8}, []float64{0.64 / 5 / scale, 0.48 / 5 / scale}
			if scale == 0 {
				slope, curve = []float64{0, 0}, []float64{0, 0}
			}
			for k := range 2 {
				name := []string{"norm", "hypot"}[k]
				sameNumbers(t, name, got[k], []float64{5 * scale})
				sameNumbers(t, name+" gradient", got[2+2*k], slope)
				if w.bits == 64 || scale == 0 || scale == 1 {
					sameNumbers(t, name+" second derivative", got[3+2*k], curve)
				}
			}
		}
	}
}

// Norms along axes keep their digits, first and second derivatives too, where rows of every scale lie beside each other.
func TestNormsOfRows(t *testing.T) {
	scales := []float64{1, 1e-30, 1e18, 0, 1e-18, 1e30, 3e-20, 3}
	for _, c := range []struct {
		shape []int
		axes  []int
		at    func(row, k int) int // where element k of a row is
	}{
		{[]int{8, 6}, []int{1}, func(row, k int) int { return 6*row + k }},
		{[]int{6, 8}, []int{0}, func(row, k int) int { return 8*k + row }},
		{[]int{2, 8, 3}, []int{0, -1}, func(row, k int) int { return 24*(k/3) + 3*row + k%3 }},
		{[]int{2, 3, 2, 4}, []int{1, 2}, func(row, k int) int { return 24*(row/4) + 8*(k/2) + 4*(k%2) + row%4 }},
	} {
		for _, far := range []float64{1, 1e150, 1e-150} {
			values := make([]float64, 48)
			norms, first, second := make([]float64, 8), make([]float64, 48), make([]float64, 48)
			for row, scale := range scales {
				for k := range 6 {
					values[c.at(row, k)] = scale * far * float64(k-2)
				}
				if scale *= far; scale == 0 {
					continue
				}
				norms[row] = scale * math.Sqrt(19)
				for k := range 6 { // of the first elements of the gradients, -2/sqrt(19)
					u := float64(k-2) / math.Sqrt(19)
					first[c.at(row, k)] = u
					second[c.at(row, k)] = 2 / math.Sqrt(19) * u / norms[row]
					if k == 0 {
						second[c.at(row, k)] += 1 / norms[row]
					}
				}
			}
			x := ad.Input("x", c.shape...)
			y := ad.Norm(x, c.axes...)
			slope := ad.Grad(ad.Sum(y), x)[0]
			mask := make([]float64, 48)
			for row := range scales {
				mask[c.at(row, 0)] = 1
			}
			outputs := []*ad.Node{y, slope, ad.Grad(ad.Sum(ad.Mul(slope, ad.Const(mask, c.shape...))), x)[0]}
			for _, w := range ways() {
				if w.bits == 32 && far != 1 {
					continue
				}
				got, limit := results(t, w, outputs, []*ad.Node{x}, [][]float64{values}), 1e-13
				if w.bits == 32 {
					limit = 2e-6
				}
				for k, want := range [][]float64{norms, first, second} {
					for i, v := range got[k] {
						if d := math.Abs(v - want[i]); !(d <= limit*math.Abs(want[i])) {
							t.Errorf("%v, shape %v, axes %v, scale %g, %s, element %d: %g, want %g", w, c.shape, c.axes, far, []string{"norm", "gradient", "second derivative"}[k], i, v, want[i])
						}
					}
				}
			}
		}
	}
}
