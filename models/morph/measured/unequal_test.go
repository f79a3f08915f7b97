// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// The widths of contrasts are in proportion to those of counting if the numbers scatter so, and the same everywhere if they do not.
func TestWidthsAreThoseOfTheScatter(t *testing.T) {
	const n = 400
	counting, even := make([]float64, n), make([]float64, n)
	for i := range n {
		counting[i], even[i] = math.Pow(10, 4*float64(i)/n), 1
	}
	for name, truth := range map[string][]float64{"counting": counting, "even": even} {
		random := rand.New(rand.NewPCG(8, 1))
		p := &part{noise: noises["residuals"]}
		for i := range n {
			p.values, p.place = append(p.values, 0.01*math.Sqrt(truth[i])*random.NormFloat64()), append(p.place, i)
		}
		p.findWidths(make([]float64, n), counting, 1)
		if got, want := p.relative[n-1]/p.relative[0], math.Sqrt(truth[n-1]/truth[0]); math.Abs(math.Log(got/want)) > math.Log(1.5) {
			t.Errorf("%s: the last width is %.3g times the first, want %.3g", name, got, want)
		}
	}
}

// Variances of contrasts by counting are those of their slopes, and bins of the points of a fan have as many pixels as their area says.
func TestScatterOfContrasts(t *testing.T) {
	rates := []float64{3, 5, 2, 7}
	b := &Bins{From: []int{0, 2}, Pixel: []int{0, 1}, Weight: []float64{0.5, 0.5}, Q: []float64{0.2},
		Less: &Bins{From: []int{0, 2}, Pixel: []int{2, 3}, Weight: []float64{0.5, 0.5}, Q: []float64{0.2}}}
	contrast := func(rates []float64) float64 {
		v, err := ad.Eval(b.of(ad.Const(rates)))
		if err != nil {
			t.Fatal(err)
		}
		return v[0].Float64s()[0]
	}
	want := 0.0
	for i, r := range rates { // counts have the variance r
		const h = 1e-5
		up, down := slices.Clone(rates), slices.Clone(rates)
		up[i], down[i] = r+h, r-h
		slope := (contrast(up) - contrast(down)) / (2 * h)
		want += slope * slope * r
	}
	v, err := ad.Eval(b.scatter(ad.Const(rates), false))
	if err != nil {
		t.Fatal(err)
	}
	if got := v[0].Float64s()[0]; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("the variance is %g, want %g", got, want)
	}
	b.From, b.Q, b.Less.From, b.Less.Q = []int{0, 1, 2}, []float64{0.1, 0.2}, []int{0, 1, 2}, []float64{0.1, 0.2}
	if w := b.ofCounts(true); math.Abs(w[0]/w[1]-2) > 1e-9 {
		t.Errorf("bins at 0.1 and 0.2 1/nm have the weights %v, want twice as much for the first", w)
	}
}
