// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/peer"
	"gonum.org/v1/gonum/stat"
)

// What other programs took, in seconds of CPU on one thread, on a machine like ours
// while other jobs ran, rough to 30 %: the engine of the reference in C++ (-O2), the
// reference in Python, and Caerii's with NumPy. Zero where it was not measured. C++
// had its memory measured too, in MB.
type peers struct{ cpp, python, caerii, cppMB float64 }

// stopwatch measures what a benchmark takes: seconds of CPU of all threads, which a
// busy machine hardly changes, and the peak of memory of the process.
type stopwatch struct{ begin float64 }

func start() stopwatch {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak begins anew, on Linux
	return stopwatch{peer.CPUTime()}
}

// peakMB is the most memory that the process held, 0 where it is not told.
func peakMB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kB, _ := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
	return kB / 1024
}

func (w stopwatch) report(b *testing.B, brain *Brain, p peers) {
	b.StopTimer()
	seconds := (peer.CPUTime() - w.begin) / float64(b.N)
	for _, m := range []struct {
		value float64
		unit  string
	}{{b.Elapsed().Seconds() / float64(b.N) * 1e3, "ms"}, {seconds * 1e3, "CPU-ms"}, {p.cpp * 1e3, "C++-ms"}, {p.python * 1e3, "brain.py-ms"}, {p.caerii * 1e3, "Caerii-ms"},
		{float64(brain.Bytes()) / 1e6, "brain-MB"}, {peakMB(), "peak-MB"}, {p.cppMB, "C++-peak-MB"}} {
		if m.value > 0 {
			b.ReportMetric(m.value, m.unit)
		}
	}
	if p.cpp > 0 {
		b.ReportMetric(seconds/p.cpp, "x-C++")
	}
}

// carriedOut makes a brain of lazy areas and carries something out.
func carriedOut(b *testing.B, set Settings, n, k int, beta float64, stimuli, areas string, do func(brain *Brain) error) *Brain {
	brain := New(set)
	for _, s := range strings.Fields(stimuli) {
		check(b, brain.AddStimulus(s, k))
	}
	for _, a := range strings.Fields(areas) {
		check(b, brain.AddArea(Area{Name: a, N: n, K: k, Beta: beta, Lazy: true}))
	}
	check(b, do(brain))
	return brain
}

func form25(brain *Brain) error { _, err := brain.Form("S", "A", 25); return err }

// BenchmarkProject forms an assembly in 25 steps, of lazy areas.
func BenchmarkProject(b *testing.B) {
	for _, c := range []struct {
		n, k int
		p    float64
		peers
	}{
		{1e4, 100, 0.01, peers{.0014, .84, .022, 3.3}}, {1e4, 100, 0.05, peers{.0020, .45, .019, 3.5}},
		{1e5, 317, 0.01, peers{.0085, 5.3, .148, 3.7}}, {1e5, 317, 0.05, peers{.017, 4.3, .093, 4.6}},
		{1e6, 1000, 0.001, peers{.041, 72, 1.17, 4.6}}, {1e6, 1000, 0.01, peers{.062, 0, .70, 6.8}}, {1e6, 1000, 0.05, peers{.113, 0, .70, 10.6}},
		{1e7, 3162, 0.001, peers{.32, 0, 0, 8.7}}, {1e7, 10000, 0.001, peers{2.6, 0, 0, 20}},
	} {
		if testing.Short() && c.n > 1e5 {
			continue
		}
		b.Run(fmt.Sprintf("%.0e/%d/%g", float64(c.n), c.k, c.p), func(b *testing.B) {
			var brain *Brain
			w := start()
			beta := 0.05
			if c.k == 10000 {
				beta = 0.1 // as the peer
			}
			for i := 0; b.Loop(); i++ {
				brain = carriedOut(b, Settings{P: c.p, Seed: uint64(i), Threads: 1}, c.n, c.k, beta, "S", "A", form25)
			}
			w.report(b, brain, c.peers)
		})
	}
}

// BenchmarkAssociate forms two assemblies, projects each into a third area, fires both
// together and probes the second: 50 steps of lazy areas.
func BenchmarkAssociate(b *testing.B) {
	for _, c := range []struct {
		n, k int
		p    float64
		peers
	}{{1e4, 100, 0.05, peers{cpp: .0091, cppMB: 4}}, {1e5, 317, 0.05, peers{cpp: .064, cppMB: 10}}, {1e6, 1000, 0.01, peers{cpp: .22, cppMB: 20}}} {
		if testing.Short() && c.n > 1e5 {
			continue
		}
		b.Run(fmt.Sprintf("%.0e/%d/%g", float64(c.n), c.k, c.p), func(b *testing.B) {
			var brain *Brain
			w := start()
			for i := 0; b.Loop(); i++ {
				brain = carriedOut(b, Settings{P: c.p, Seed: uint64(i), Activity: Silent, Threads: 1}, c.n, c.k, 0.1, "SA SB", "A B C", associate50)
			}
			w.report(b, brain, c.peers)
		})
	}
}

func associate50(brain *Brain) error {
	probe := []phase{{1, "SB>B B>B B>C"}, {9, "SB>B B>B B>C C>C"}}
	_, err := brain.phases(append([]phase{{1, "SA>A SB>B"}, {9, "SA>A SB>B A>A B>B"}, {1, "SA>A A>A A>C"}, {9, "SA>A A>A A>C C>C"},
		probe[0], probe[1], {1, "SA>A SB>B A>A B>B A>C B>C"}, {9, "SA>A SB>B A>A B>B A>C B>C C>C"}}, probe...)...)
	return err
}

// BenchmarkMerge makes two assemblies form a third that projects back: 52 steps of lazy
// areas.
func BenchmarkMerge(b *testing.B) {
	for _, c := range []struct {
		n, k int
		p    float64
		peers
	}{{1e4, 100, 0.05, peers{cpp: .026, cppMB: 13}}, {1e5, 317, 0.01, peers{cpp: .17, cppMB: 54}}, {1e6, 1000, 0.005, peers{cpp: 1.3, cppMB: 320}}} {
		if testing.Short() && c.n > 1e5 {
			continue
		}
		b.Run(fmt.Sprintf("%.0e/%d/%g", float64(c.n), c.k, c.p), func(b *testing.B) {
			var brain *Brain
			w := start()
			for i := 0; b.Loop(); i++ {
				brain = carriedOut(b, Settings{P: c.p, Seed: uint64(i), Threads: 1}, c.n, c.k, 0.05, "SA SB", "A B C", merge52)
			}
			w.report(b, brain, c.peers)
		})
	}
}

func merge52(brain *Brain) error {
	if _, err := brain.phases(phase{1, "SA>A"}, phase{1, "SB>B"}); err != nil {
		return err
	}
	_, err := brain.Merge("SA", "A", "SB", "B", "C", 50)
	return err
}

// BenchmarkGrowth fits by which power of n (with k its root) and of k (n = 10^6) the
// time grows in which an assembly forms in a lazy area, p = 0.01; the best of five. The
// power of n is beside that of the C++ engine, of its three times above.
func BenchmarkGrowth(b *testing.B) {
	for _, c := range []struct {
		name  string
		sizes [][2]int // n, k
		by    int      // which of the two
		cpp   float64
	}{
		{"n", [][2]int{{1e4, 100}, {1e5, 317}, {1e6, 1000}}, 0, power([]float64{1e4, 1e5, 1e6}, []float64{.0014, .0085, .062})},
		{"k", [][2]int{{1e6, 250}, {1e6, 500}, {1e6, 1000}, {1e6, 2000}}, 1, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			var x, y []float64
			for b.Loop() {
				x, y = nil, nil
				for _, s := range c.sizes {
					best := math.Inf(1)
					for i := range 5 {
						begin := peer.CPUTime()
						carriedOut(b, Settings{P: 0.01, Seed: uint64(i), Threads: 1}, s[0], s[1], 0.05, "S", "A", form25)
						best = min(best, peer.CPUTime()-begin)
					}
					x, y = append(x, float64(s[c.by])), append(y, best)
				}
			}
			b.ReportMetric(power(x, y), "exponent")
			if c.cpp > 0 {
				b.ReportMetric(c.cpp, "C++-exponent")
			}
		})
	}
}

// power is the exponent of y = a x^b through points.
func power(x, y []float64) float64 {
	u, v := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		u[i], v[i] = math.Log(x[i]), math.Log(y[i])
	}
	_, slope := stat.LinearRegression(u, v, nil, false)
	return slope
}

// BenchmarkTraffic counts what a step of a million neurons moves, as Profile tells, beside
// what it has to: in a lazy area whose assembly has formed, 4 bytes for each synapse from
// those that fire, read and multiplied; in one that exists whole, with all other sources
// than before, 4 bytes for each synapse, 2 for each count and 2 for each input.
func BenchmarkTraffic(b *testing.B) {
	const n, k, p = 1e6, 1000, 0.01
	for _, lazy := range []bool{true, false} {
		brain := New(Settings{P: p, Seed: 1, Threads: 1, MaxWeight: 1e4}) // a bound, as steps are many
		check(b, brain.AddStimulus("S", k))
		check(b, brain.AddArea(Area{Name: "A", N: n, K: k, Beta: 0.05, Lazy: lazy}))
		check(b, form25(brain))
		plan, err := brain.Plan("S>A A>A")
		check(b, err)
		name, floor := "lazy/formed", 0.0
		if lazy {
			density, _, err := brain.Density("A")
			check(b, err)
			floor = 2 * 4 * k * (p*float64(brain.areas[0].support-k) + density*k)
		}
		sets := [2][]int32{}
		if !lazy {
			name, floor = "whole/other-sources", 4*k*n*p+4*n
			sets = [2][]int32{sources(0, k, n), sources(k, k, n)}
			brain.Learn(false)
		}
		b.Run(fmt.Sprintf("%.0e/%d/%g/%s", float64(n), k, p, name), func(b *testing.B) {
			for i := range 2 { // the rows are drawn before
				if !lazy {
					check(b, brain.SetWinners("A", sets[i]))
				}
				_, err := brain.Project(plan, 1)
				check(b, err)
			}
			prof := brain.Profile()
			before, w := prof.bytes(), start()
			for i := 0; b.Loop(); i++ {
				if !lazy {
					check(b, brain.SetWinners("A", sets[i%2]))
				}
				_, err := brain.Project(plan, 1)
				check(b, err)
			}
			moved := float64(prof.bytes()-before) / float64(b.N)
			w.report(b, brain, peers{})
			b.ReportMetric(moved/1e6, "moved-MB")
			b.ReportMetric(floor/1e6, "floor-MB")
			b.ReportMetric(moved/floor, "x-floor")
			b.ReportMetric(moved*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
		})
	}
}

// bytes that all operations moved.
func (p *Profile) bytes() (sum int) {
	for _, u := range p.table {
		sum += u.Bytes
	}
	return sum
}

// BenchmarkExact forms an assembly in an area whose neurons all exist: a step with new
// winners, a step all of whose rows are there but whose sources are all others than
// before, and a step of an assembly that has formed.
func BenchmarkExact(b *testing.B) {
	for _, c := range []struct {
		n, k  int
		p     float64
		peers // explicit areas in C++, most of whose time is drawing all synapses
	}{{1e4, 100, 0.01, peers{cpp: .035, cppMB: 14}}, {1e4, 100, 0.05, peers{cpp: .132, cppMB: 49}}, {1e5, 317, 0.01, peers{cpp: 2.44, cppMB: 834}}, {1e6, 1000, 0.01, peers{}}} {
		if testing.Short() && c.n > 1e5 {
			continue
		}
		for _, threads := range []int{1, 2} {
			set := Settings{P: c.p, Seed: 1, Threads: threads}
			name := fmt.Sprintf("%.0e/%d/%g/threads=%d", float64(c.n), c.k, c.p, threads)
			b.Run(name+"/T=25", func(b *testing.B) {
				var brain *Brain
				w := start()
				for b.Loop() {
					brain = exactBrain(b, set, c.n, c.k)
					check(b, form25(brain))
				}
				w.report(b, brain, c.peers)
			})
			if c.n < 1e5 {
				continue
			}
			brain := exactBrain(b, set, c.n, c.k)
			first, err := brain.Form("S", "A", 1)
			check(b, err)
			plan, err := brain.Plan("S>A A>A")
			check(b, err)
			step := func() { _, err := brain.Project(plan, 1); check(b, err) }
			b.Run(name+"/recruiting", func(b *testing.B) {
				brain.Learn(false)
				w := start()
				for i := 0; b.Loop(); i++ { // sources that never fired before
					check(b, brain.SetWinners("A", sources(i*c.k, c.k, c.n)))
					step()
				}
				w.report(b, brain, peers{})
			})
			b.Run(name+"/cached", func(b *testing.B) {
				w := start()
				for i := 0; b.Loop(); i++ { // one of two sets of sources
					check(b, brain.SetWinners("A", sources(i%2*c.k, c.k, c.n)))
					step()
				}
				w.report(b, brain, peers{})
			})
			brain.Learn(true)
			check(b, brain.SetWinners("A", first[0][0].Winners))
			for range 40 {
				step()
			}
			b.Run(name+"/formed", func(b *testing.B) {
				brain.set.MaxWeight = 1e4 // a bound, as steps are many
				w := start()
				for b.Loop() {
					step()
				}
				w.report(b, brain, peers{})
			})
		}
	}
}

// sources are k neurons of n, from one on.
func sources(from, k, n int) []int32 {
	w := make([]int32, k)
	for j := range w {
		w[j] = int32((from + j) % n)
	}
	return w
}

func exactBrain(b *testing.B, s Settings, n, k int) *Brain {
	brain := New(s)
	check(b, brain.AddStimulus("S", k))
	check(b, brain.AddArea(Area{Name: "A", N: n, K: k, Beta: 0.05}))
	return brain
}
