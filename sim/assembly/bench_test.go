package assembly

import (
	"fmt"
	"testing"
)

// BenchmarkProject forms an assembly in 25 steps, of lazy areas, beside what the C++
// engine of the reference took on such a machine (-O2, one thread).
func BenchmarkProject(b *testing.B) {
	for _, c := range []struct {
		n, k int
		p    float64
		cpp  float64 // s
	}{
		{1e4, 100, 0.01, .0014}, {1e4, 100, 0.05, .0020}, {1e5, 317, 0.01, .0085}, {1e5, 317, 0.05, .017},
		{1e6, 1000, 0.001, .041}, {1e6, 1000, 0.01, .062}, {1e6, 1000, 0.05, .113}, {1e7, 3162, 0.001, .32}, {1e7, 10000, 0.001, 2.6},
	} {
		b.Run(fmt.Sprintf("%.0e/%d/%g", float64(c.n), c.k, c.p), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				brain := New(Settings{P: c.p, Seed: uint64(i)})
				check(b, brain.AddStimulus("S", c.k))
				check(b, brain.AddArea(Area{Name: "A", N: c.n, K: c.k, Beta: 0.05, Lazy: true}))
				if _, err := brain.Form("S", "A", 25); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e3, "ms")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/c.cpp, "x-C++")
		})
	}
}

// BenchmarkExact forms an assembly in an area whose neurons all exist: a step with new
// winners, a step all of whose rows are there but whose sources are all others than
// before, and a step of an assembly that has formed.
func BenchmarkExact(b *testing.B) {
	for _, c := range []struct {
		n, k int
		p    float64
	}{{1e5, 317, 0.01}, {1e6, 1000, 0.01}} {
		for _, threads := range []int{1, 2} {
			set := Settings{P: c.p, Seed: 1, Threads: threads}
			name := fmt.Sprintf("%.0e/%d/%g/threads=%d", float64(c.n), c.k, c.p, threads)
			b.Run(name+"/T=25", func(b *testing.B) {
				var brain *Brain
				for b.Loop() {
					brain = exactBrain(b, set, c.n, c.k)
					if _, err := brain.Form("S", "A", 25); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e3, "ms")
				b.ReportMetric(float64(brain.Bytes())/1e6, "MB")
			})
			brain := exactBrain(b, set, c.n, c.k)
			first, err := brain.Form("S", "A", 1)
			check(b, err)
			plan, err := brain.Plan("S>A A>A")
			check(b, err)
			step := func() [][]Round { r, err := brain.Project(plan, 1); check(b, err); return r }
			b.Run(name+"/recruiting", func(b *testing.B) {
				brain.Learn(false)
				for i := 0; b.Loop(); i++ { // sources that never fired before
					w := make([]int32, c.k)
					for j := range w {
						w[j] = int32((i*c.k + j) % c.n)
					}
					check(b, brain.SetWinners("A", w))
					step()
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e3, "ms")
			})
			b.Run(name+"/cached", func(b *testing.B) {
				for i := 0; b.Loop(); i++ { // one of two sets of sources
					w := make([]int32, c.k)
					for j := range w {
						w[j] = int32(i%2*c.k + j)
					}
					check(b, brain.SetWinners("A", w))
					step()
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e3, "ms")
			})
			brain.Learn(true)
			check(b, brain.SetWinners("A", first[0][0].Winners))
			for range 40 {
				step()
			}
			b.Run(name+"/formed", func(b *testing.B) {
				for b.Loop() {
					step()
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e3, "ms")
			})
		}
	}
}

func exactBrain(b *testing.B, s Settings, n, k int) *Brain {
	brain := New(s)
	check(b, brain.AddStimulus("S", k))
	check(b, brain.AddArea(Area{Name: "A", N: n, K: k, Beta: 0.05}))
	return brain
}
