// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/tensor"
)

// benchTree is a tree on ten standard normal parameters, whose
// density costs next to nothing: what is left is the sampler.
func benchTree(m *hamiltonian.Metric, eps float64) (*hamiltonian.Tree, *hamiltonian.Point) {
	target := independent(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	momentum, choice := tensor.NewStream(1, 1, 0), tensor.NewStream(1, 2, 0)
	t := hamiltonian.NewTree(target, m, 10, 1000, &momentum, &choice)
	p := hamiltonian.NewPoint(10)
	for i := range p.Q {
		p.Q[i] = 0.1 * float64(i)
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

func BenchmarkNUTS(b *testing.B) {
	for _, c := range []struct {
		name   string
		metric hamiltonian.Metric
	}{{"diag", lowRankOf10(0)}, {"rank3", lowRankOf10(3)}, {"rank10", lowRankOf10(10)}} {
		b.Run("overhead/10/"+c.name, func(b *testing.B) {
			t, p := benchTree(&c.metric, 0.3)
			t.Count = 0
			b.ReportAllocs()
			for b.Loop() {
				if _, err := t.Move(p, 0.3); err != nil {
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
		tr, p := benchTree(&m, 0.05)
		if n := testing.AllocsPerRun(50, func() {
			if _, err := tr.Move(p, 0.05); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("rank %d: %v allocations per transition", rank, n)
		}
	}
}
