// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package noise

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

func setup(m transport.Model, frames int) transport.Setup {
	s := transport.Setup{Model: m, Q: 0.0054, Gap: 2e6, Angles: []float64{30}}
	for i := range frames {
		s.Times = append(s.Times, 0.1*(float64(i)+0.5))
	}
	return s
}

var motions = map[transport.Model][]float64{
	transport.Static:       {2e4, 0.1, 1000},
	transport.Laminar:      {2e4, 0.1, 1000, 3e-4, 0.1, 1e-5, 4},
	transport.TwoComponent: {1e4, 0, 0, 2e4, 0.1, 1000, 500, 0, 10, 0.3, -0.1, 0, 0.2, 5},
}

// Two-time correlations of many simulated pixels are those of the model: offset + contrast g, with 1/count on the diagonal. Every model is
// drawn with one kind of speckles, and one model with all kinds.
func TestSpecklesHaveTheCorrelationsOfTheModel(t *testing.T) {
	type kind struct{ contrast, offset, inverse float64 }
	kinds := []kind{{0.5, 1.05, 0.5}, {0.3, 1, 0}, {0.06, 1.02, 0.1}, {1, 1, 0}}
	for m, theta := range motions {
		for _, customary := range []bool{false, true} {
			s := setup(m, 16)
			s.Customary, s.Step = customary, 0.1
			f, err := NewFields(s)
			if err != nil {
				t.Fatal(err)
			}
			g, parts, err := f.At(theta, 30)
			if err != nil {
				t.Fatal(err)
			}
			some := kinds[:1]
			if m == transport.TwoComponent && !customary {
				some = kinds
			}
			for _, k := range some {
				source, err := NewSpeckles(parts, 16, k.contrast, k.offset, k.inverse)
				if err != nil {
					t.Fatal(err)
				}
				checkCorrelations(t, source, g, k.contrast, k.offset, k.inverse)
			}
		}
	}
}

func checkCorrelations(t *testing.T, source *Speckles, g []float64, contrast, offset, inverse float64) {
	t.Helper()
	const pixels = 15000
	c2 := source.Correlated(pixels, tensor.NewStream(1, 0, 0))
	self := contrast + offset - 1 + inverse
	for i := range source.frames {
		for j := range source.frames {
			k := i*source.frames + j
			want, sd := offset+contrast*g[k], (self+3*contrast*contrast)*math.Sqrt(2./pixels)
			if i == j {
				want += inverse
				sd *= 3
			}
			if math.Abs(c2[k]-want) > 5*sd {
				t.Errorf("contrast %g, offset %g: c2 of frames %d and %d is %.4f, want %.4f +- %.4f", contrast, offset, i, j, c2[k], want, sd)
			}
		}
	}
}

// The covariance of cells is the scatter of their means over movies, also where pairs are left out.
func TestCellCovarianceIsTheScatterOfMovies(t *testing.T) {
	tier.SlowOnly(t)
	const frames, pixels, movies = 12, 256, 1500
	s := setup(transport.Static, frames)
	f, err := NewFields(s)
	if err != nil {
		t.Fatal(err)
	}
	g, parts, err := f.At(motions[transport.Static], 0)
	if err != nil {
		t.Fatal(err)
	}
	source, err := NewSpeckles(parts, frames, 0.3, 1.02, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	c := make([]float64, len(g))
	for i, v := range g {
		c[i] = 0.3*v + 0.02
	}
	all := make([][]float64, movies)
	for movie := range all {
		all[movie] = source.Correlated(pixels, tensor.NewStream(2, 0, uint32(movie)))
	}
	cells := []Cell{{1, 1, 0, 5}, {1, 1, 5, 11}, {2, 4, 0, 10}, {5, 11, 0, 7}}
	for name, used := range map[string]func(i, j int) bool{"all": func(i, j int) bool { return true }, "some": func(i, j int) bool { return i != 3 && j != 3 }} {
		told := source.CellCovariance(cells, c, used, 15000, tensor.NewStream(1, 0, 0))
		k := len(cells)
		mean, second := make([]float64, k), make([]float64, k*k)
		for _, c2 := range all {
			values := make([]float64, k)
			for a, cell := range cells {
				count := 0
				cell.Pairs(frames, used, func(i, j int) {
					values[a] += c2[i*frames+j]
					count++
				})
				values[a] /= float64(count)
			}
			for a := range k {
				mean[a] += values[a] / movies
				for b := range k {
					second[a*k+b] += values[a] * values[b] / movies
				}
			}
		}
		for a := range k {
			for b := range k {
				seen := (second[a*k+b] - mean[a]*mean[b]) * pixels
				scale := math.Sqrt(told[a*k+a] * told[b*k+b])
				if math.Abs(seen-told[a*k+b]) > 0.15*scale {
					t.Errorf("%s: covariance of cells %d and %d over movies is %.4f, of simulated pixels %.4f (scale %.4f)", name, a, b, seen, told[a*k+b], scale)
				}
			}
		}
	}
}

// BenchmarkCellCovariance times 1024 pixels of 1000 frames.
func BenchmarkCellCovariance(b *testing.B) {
	const frames = 1000
	f, err := NewFields(setup(transport.Static, frames))
	if err != nil {
		b.Fatal(err)
	}
	g, parts, err := f.At([]float64{1000, -0.2, 200}, 0)
	if err != nil {
		b.Fatal(err)
	}
	var cells []Cell
	for lag := 1; lag < frames; lag += 1 + lag/4 {
		for from := 0; from+100 < frames-lag; from += 100 {
			cells = append(cells, Cell{lag, lag + lag/4, from, from + 100})
		}
	}
	source, err := NewSpeckles(parts, frames, 0.2, 1.01, 2)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		source.CellCovariance(cells, g, func(i, j int) bool { return true }, 1024, tensor.NewStream(1, 0, 0))
	}
}
