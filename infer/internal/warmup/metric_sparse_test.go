// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/tensor"
)

// interacting are precision matrices whose factors have few entries in some order.
func interacting() map[string]*mat.SymDense {
	out := map[string]*mat.SymDense{}
	put := func(name string, d int, pairs func(add func(i, j int, v float64))) {
		p := mat.NewSymDense(d, nil)
		pairs(func(i, j int, v float64) {
			p.SetSym(i, j, v)
			p.SetSym(i, i, p.At(i, i)+math.Abs(v)*1.1)
			p.SetSym(j, j, p.At(j, j)+math.Abs(v)*1.1)
		})
		out[name] = p
	}
	put("chain", 30, func(add func(i, j int, v float64)) {
		for i := range 29 {
			add(i, i+1, -1e4) // in other units
		}
	})
	put("star", 40, func(add func(i, j int, v float64)) {
		for i := range 39 {
			add(20, (21+i)%40, float64(1+i%3))
		}
	})
	put("grid", 36, func(add func(i, j int, v float64)) {
		for i := range 36 {
			if i%6 < 5 {
				add(i, i+1, -1)
			}
			if i < 30 {
				add(i, i+6, -0.5)
			}
		}
	})
	return out
}

// The pattern and the precision of normal distributions are found, so that draws whitened by the metric are opposite to their gradients.
func TestSparseMetricIsThatOfNormalDistributions(t *testing.T) {
	for name, p := range interacting() {
		d := p.SymmetricDim()
		gradient := func(z, g []float64) error {
			var v mat.VecDense
			v.MulVec(p, mat.NewVecDense(d, z))
			for i := range g {
				g[i] = -v.AtVec(i)
			}
			return nil
		}
		ones := make([]float64, d)
		for i := range ones {
			ones[i] = 1 / math.Sqrt(p.At(i, i))
		}
		pattern := Interactions(gradient, make([]float64, d), ones)
		if pattern == nil {
			t.Errorf("%s: no pattern", name)
			continue
		}
		for i := range d {
			for j := range d {
				if i != j && slices.Contains(pattern.neighbours[i], j) != (p.At(i, j) != 0) {
					t.Fatalf("%s: %d and %d interact: %v", name, i, j, p.At(i, j) != 0)
				}
			}
		}
		var w checkpoint.Encoder
		pattern.Save(&w)
		r := checkpoint.Decode(w.Encoded())
		if again := LoadPattern(r, d); r.Err() != nil || again.Entries() != pattern.Entries() {
			t.Errorf("%s: a saved pattern is another", name)
		}
		random := tensor.NewStream(3, 0, 0)
		var z, g [][]float64
		for range 100 {
			x, a := random.NormalTo(make([]float64, d)), make([]float64, d)
			_ = gradient(x, a)
			z, g = append(z, x), append(g, a)
		}
		m, ok := pattern.Metric(z, g)
		if !ok {
			t.Errorf("%s: no metric", name)
			continue
		}
		var cov mat.Dense
		if err := cov.Inverse(p); err != nil {
			t.Fatal(err)
		}
		for i, row := range m.Cov(d) {
			for j, v := range row {
				if want := cov.At(i, j); !(math.Abs(v-want) < 2e-3*math.Sqrt(cov.At(i, i)*cov.At(j, j))) {
					t.Fatalf("%s: covariance of %d and %d is %g, want %g", name, i, j, v, want)
				}
			}
		}
		white, force := make([]float64, d), make([]float64, d)
		m.Whiten(white, z[0])
		m.Force(force, g[0])
		for i := range white {
			if !(math.Abs(white[i]+force[i]) < 5e-3*math.Max(1, math.Abs(white[i]))) {
				t.Fatalf("%s: whitened draw %g with the gradient %g", name, white[i], force[i])
			}
		}
		if len(m.Sparse.L) != pattern.Entries() || pattern.Entries() > 8*d {
			t.Errorf("%s: %d entries of %d", name, len(m.Sparse.L), pattern.Entries())
		}
	}
}

// Where all parameters interact there is no pattern, nor where gradients are not finite; damaged patterns are refused.
func TestNoPattern(t *testing.T) {
	const d = 80
	ones := make([]float64, d)
	for i := range ones {
		ones[i] = 1
	}
	if p := Interactions(func(z, g []float64) error {
		s := 0.0
		for _, v := range z {
			s += v
		}
		for i := range g {
			g[i] = -s - z[i]
		}
		return nil
	}, make([]float64, d), ones); p != nil {
		t.Errorf("%d entries of a dense precision", p.Entries())
	}
	if Interactions(func(z, g []float64) error { g[0] = math.NaN(); return nil }, make([]float64, d), ones) != nil {
		t.Error("gradients that are NaN have a pattern")
	}
	for _, ints := range [][]int{{2, 1, 1, 1, 7}, {2, 1, 0, 1, 0}, {3, 0, 0, 0}} { // no such parameter, its own neighbour, too many parameters
		var w checkpoint.Encoder
		for _, i := range ints {
			w.Int(i)
		}
		r := checkpoint.Decode(w.Encoded())
		if p := LoadPattern(r, 2); p != nil || r.Err() == nil {
			t.Errorf("%v is taken for a pattern", ints)
		}
	}
	for name, s := range map[string]*hamiltonian.SparseFactor{
		"a parameter twice": {Order: []int{0, 0}, Start: []int{0, 1, 2}, Row: []int{0, 0}, L: []float64{1, 1}},
		"a row above":       {Order: []int{0, 1}, Start: []int{0, 1, 3}, Row: []int{0, 1, 0}, L: []float64{1, 1, 1}},
		"no diagonal":       {Order: []int{0, 1}, Start: []int{0, 0, 1}, Row: []int{1}, L: []float64{1}},
		"a negative one":    {Order: []int{0, 1}, Start: []int{0, 1, 2}, Row: []int{0, 1}, L: []float64{1, -1}},
	} {
		if m := (hamiltonian.Metric{Sparse: s}); m.Fits(2) {
			t.Errorf("%s: accepted", name)
		}
	}
}
