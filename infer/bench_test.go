// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/tensor"
)

// tenNormals is a density that costs next to nothing: what is left is the sampler.
func tenNormals() Target { return independent(1, 1, 1, 1, 1, 1, 1, 1, 1, 1) }

// benchTree is a tree on a target.
func benchTree(target Target, m *hamiltonian.Metric, eps float64) (*hamiltonian.Tree, *hamiltonian.Point) {
	momentum, choice := tensor.NewStream(1, 1, 0), tensor.NewStream(1, 2, 0)
	t := hamiltonian.NewTree(target, m, 10, 1000, &momentum, &choice)
	p := hamiltonian.NewPoint(target.Dim())
	for i := range p.Q {
		p.Q[i] = 0.1 * float64(i%10)
	}
	if err := t.Start(&p); err != nil {
		panic(err)
	}
	for range 100 { // the stack has grown to its depth
		if _, err := t.Move(&p, eps); err != nil {
			panic(err)
		}
	}
	return t, &p
}

func lowRankOf10(rank int) hamiltonian.Metric {
	m := hamiltonian.Metric{Scale: make([]float64, 10)}
	for i := range m.Scale {
		m.Scale[i] = 1
	}
	for k := range rank {
		u := make([]float64, 10)
		u[k] = 1
		m.Vec, m.Grow = append(m.Vec, u...), append(m.Grow, 1e-9)
	}
	return m
}

// factorOfSeries is the Cholesky factor of the precision of ar1(n, r).
func factorOfSeries(n int, r float64) hamiltonian.Metric {
	var order, start, row []int
	var l []float64
	below := 0.0
	for k := range n {
		precision := (1 + r*r) / (1 - r*r)
		if k == 0 || k == n-1 {
			precision = 1 / (1 - r*r)
		}
		diagonal := math.Sqrt(precision - below*below)
		order, start, row, l = append(order, k), append(start, len(l)), append(row, k), append(l, diagonal)
		if k < n-1 {
			below = -r / (1 - r*r) / diagonal
			row, l = append(row, k+1), append(l, below)
		}
	}
	return hamiltonian.Metric{Sparse: hamiltonian.NewSparseFactor(order, append(start, len(l)), row, l)}
}

func BenchmarkNUTS(b *testing.B) {
	scales := hamiltonian.Metric{Scale: make([]float64, 500)}
	for i := range scales.Scale {
		scales.Scale[i] = 0.4
	}
	for _, c := range []struct {
		name   string
		target Target
		metric hamiltonian.Metric
		eps    float64
	}{{"10/diag", tenNormals(), lowRankOf10(0), 0.3}, {"10/rank3", tenNormals(), lowRankOf10(3), 0.3}, {"10/rank10", tenNormals(), lowRankOf10(10), 0.3},
		{"500/diag", ar1(500, 0.98), scales, 0.3}, {"500/sparse", ar1(500, 0.98), factorOfSeries(500, 0.98), 0.3}} {
		b.Run("overhead/"+c.name, func(b *testing.B) {
			t, p := benchTree(c.target, &c.metric, c.eps)
			t.Count = 0
			b.ReportAllocs()
			for b.Loop() {
				if _, err := t.Move(p, c.eps); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(t.Count), "ns/leapfrog")
		})
	}
}

func BenchmarkLowRankEstimate(b *testing.B) {
	for _, size := range [][2]int{{10, 100}, {50, 200}, {150, 200}, {150, 400}, {1000, 100}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			random := tensor.NewStream(1, 0, 0)
			e := warmup.NewEstimator(LowRank, size[0], false)
			for range size[1] {
				e.Add(random.NormalTo(make([]float64, size[0])), random.NormalTo(make([]float64, size[0])))
			}
			for b.Loop() {
				if _, ok := e.Metric(); !ok {
					b.Fatal("no metric")
				}
			}
		})
	}
}

func BenchmarkTarget(b *testing.B) {
	target := independent(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	q, g := make([]float64, 10), make([]float64, 10)
	for b.Loop() {
		if _, err := target.LogProbGrad(q, g); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	for b.Loop() {
		fit, err := Sample(b.Context(), &eightSchools{}, Settings{Chains: 1, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		w, s := fit.Gradients()
		b.ReportMetric(float64(fit.Elapsed.Nanoseconds())/float64(w+s), "ns/gradient")
	}
}

// BenchmarkChains compares four chains on two cores with the same on one.
func BenchmarkChains(b *testing.B) {
	var took [2]time.Duration
	for b.Loop() {
		for k := range took {
			fit, err := Sample(b.Context(), &eightSchools{}, Settings{Seed: 1, Draws: 4000, Parallel: k + 1})
			if err != nil {
				b.Fatal(err)
			}
			if d := fit.Elapsed; took[k] == 0 || d < took[k] {
				took[k] = d
			}
		}
	}
	b.ReportMetric(float64(took[0])/float64(took[1]), "x-one-core")
}

func TestTransitionDoesNotAllocate(t *testing.T) {
	for _, rank := range []int{0, 3} {
		m := lowRankOf10(rank)
		tr, p := benchTree(tenNormals(), &m, 0.05)
		if n := testing.AllocsPerRun(50, func() {
			if _, err := tr.Move(p, 0.05); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("rank %d: %v allocations per transition", rank, n)
		}
	}
}
