// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package phasing

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

// blobs are volume fractions without symmetry in the middle of a box.
func blobs(n int) []float64 {
	x := make([]float64, n*n)
	for i := range x {
		a, b := float64(i/n-n/2), float64(i%n-n/2)
		for _, c := range [][4]float64{{-3, -2, 3, 1}, {2, 3, 2.2, 0.7}, {3, -4, 1.7, 0.9}, {-4, 4, 1.5, 0.5}} {
			if d := math.Hypot(a-c[0], b-c[1]); d < c[2] {
				x[i] = max(x[i], c[3])
			}
		}
	}
	return x
}

// patterns returns the images of fields.
func patterns(n int, fields [][]float64, components ...[][]complex128) (out []Pattern) {
	v := newSolver(Problem{Shape: [2]int{n, n}, Fields: len(fields), Patterns: []Pattern{{Intensity: make([]float64, n*n), Components: [][]complex128{make([]complex128, len(fields))}}}}, Settings{})
	r := &run{solver: v, fields: fields}
	for range fields {
		r.f = append(r.f, make([]complex128, n*n))
	}
	r.transform()
	for _, c := range components {
		p := Pattern{Intensity: make([]float64, n*n), Components: c}
		for i := range n * n {
			for _, row := range c {
				var a complex128
				for k := range row {
					a += row[k] * r.f[k][i]
				}
				p.Intensity[v.shifted(i)] += real(a)*real(a) + imag(a)*imag(a)
			}
		}
		out = append(out, p)
	}
	return out
}

// off returns the root mean square of a difference after the alignment of x with the truth.
func off(n int, x, truth [][]float64) float64 {
	v := newSolver(Problem{Shape: [2]int{n, n}, Fields: len(truth), Patterns: patterns(n, truth, [][]complex128{make([]complex128, len(truth))})}, Settings{})
	make2 := func(fields [][]float64) *run {
		r := &run{solver: v}
		for _, f := range fields {
			r.fields, r.f = append(r.fields, slices.Clone(f)), append(r.f, make([]complex128, n*n))
		}
		return r
	}
	a := make2(x)
	a.align(make2(truth))
	sum := 0.0
	for k := range truth {
		for i := range truth[k] {
			sum += (a.fields[k][i] - truth[k][i]) * (a.fields[k][i] - truth[k][i])
		}
	}
	return math.Sqrt(sum / float64(n*n*len(truth)))
}

// Every method finds the sample from nothing, with a beam stop that hides the middle, and says that it is determined.
func TestVoxelsFromNothing(t *testing.T) {
	const n = 32
	truth := blobs(n)
	p := Problem{Shape: [2]int{n, n}, Fields: 1, Patterns: patterns(n, [][]float64{truth}, [][]complex128{{2i}})}
	for _, at := range []int{n/2*n + n/2, n/2*n + n/2 + 1, n/2*n + n/2 - 1} {
		p.Patterns[0].Intensity[at] = math.NaN()
	}
	for method, limit := range map[string]float64{"raar": 0.02, "hio": 0.05} {
		r, err := Solve(context.Background(), p, Settings{Method: method, Restarts: 6, Iterations: 300, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if rms := off(n, r.Best, [][]float64{truth}); !(rms < limit) {
			t.Errorf("%s: voxels are off by %.3g, residual %.3g, free %.3g, kept %d, want %g", method, rms, r.Residual, r.Free, r.Kept, limit)
		}
		if method == "raar" && (len(r.Findings) > 0 || r.Transfer[3] < 0.9) {
			t.Errorf("%s: %v, transfer %.2g", method, r.Findings, r.Transfer)
		}
	}
}

// Two fields come out of patterns with three contrasts, by steps of Gauss and Newton.
func TestSeveralContrasts(t *testing.T) {
	const n = 24
	v := blobs(n)
	s := make([]float64, n*n)
	for i := range s {
		s[i] = v[i] * (0.3 + 0.5*math.Sin(float64(i%n)/3))
	}
	truth := [][]float64{v, s}
	p := Problem{Shape: [2]int{n, n}, Fields: 2, Patterns: patterns(n, truth, [][]complex128{{1, 0.8}}, [][]complex128{{1, 1i}}, [][]complex128{{0.3, 1}}, [][]complex128{{1, -0.7}, {0, 0.5}})}
	r, err := Solve(context.Background(), p, Settings{Restarts: 4, Iterations: 250, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	if rms := off(n, r.Best, truth); !(rms < 0.03) {
		t.Errorf("fields are off by %.3g, residual %.3g, free %.3g", rms, r.Residual, r.Free)
	}
}

// A sample that fills the box is not determined by its magnitudes, and noise alone is no sample: both are said.
func TestWhatIsNotDetermined(t *testing.T) {
	const n = 16
	full := make([]float64, n*n)
	all := make([]bool, n*n)
	for i := range full {
		full[i], all[i] = 0.5+0.5*math.Sin(float64(i*i)), true
	}
	p := Problem{Shape: [2]int{n, n}, Fields: 1, Support: all, Patterns: patterns(n, [][]float64{full}, [][]complex128{{1}})}
	r, err := Solve(context.Background(), p, Settings{Restarts: 4, Iterations: 60})
	if err != nil || !strings.Contains(strings.Join(r.Findings, "\n"), "fills a quarter at most") {
		t.Errorf("%v, %v", r.Findings, err)
	}
	noise := slices.Clone(p.Patterns[0].Intensity)
	for i := range noise {
		noise[i] = 1 + math.Cos(float64(7*i*i))
	}
	p.Patterns[0].Intensity, p.Support = noise, nil
	r, err = Solve(context.Background(), p, Settings{Restarts: 4, Iterations: 60})
	if err != nil || len(r.Findings) == 0 {
		t.Errorf("%v, %v", r.Findings, err)
	}
}

// The same seed gives the same bits with any number of threads.
func TestThreadsDoNotMatter(t *testing.T) {
	const n = 16
	p := Problem{Shape: [2]int{n, n}, Fields: 1, Patterns: patterns(n, [][]float64{blobs(n)}, [][]complex128{{1}}), Histogram: []float64{0, 0, 1}}
	var first *Result
	for _, threads := range []int{1, 3} {
		r, err := Solve(context.Background(), p, Settings{Restarts: 3, Iterations: 30, Threads: threads, Method: "er"})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		} else if !slices.Equal(first.Mean[0], r.Mean[0]) {
			t.Error("the mean depends on the number of threads")
		}
	}
}

func TestWrongInputIsTold(t *testing.T) {
	good := patterns(8, [][]float64{blobs(8)}, [][]complex128{{1}})
	for want, f := range map[string]func(p *Problem, s *Settings){
		"one pattern":      func(p *Problem, _ *Settings) { p.Patterns = nil },
		"raar, hio or er":  func(_ *Problem, s *Settings) { s.Method = "gd" },
		"numbers below 1":  func(_ *Problem, s *Settings) { s.FreeShare = 2 },
		"may hold the":     func(p *Problem, _ *Settings) { p.Support = make([]bool, 64) },
		"has 3 pixels":     func(p *Problem, _ *Settings) { p.Patterns[0].Intensity = []float64{1, 2, 3} },
		"has no contrasts": func(p *Problem, _ *Settings) { p.Patterns[0].Components = nil },
		"one for each":     func(p *Problem, _ *Settings) { p.Patterns[0].Components = [][]complex128{{1, 2}} },
		"the intensity -1": func(p *Problem, _ *Settings) { p.Patterns[0].Intensity[3] = -1 },
	} {
		p, s := Problem{Shape: [2]int{8, 8}, Fields: 1, Patterns: []Pattern{{slices.Clone(good[0].Intensity), good[0].Components}}}, Settings{}
		f(&p, &s)
		if _, err := Solve(context.Background(), p, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Solve(ctx, Problem{Shape: [2]int{8, 8}, Fields: 1, Patterns: good}, Settings{}); err == nil {
		t.Error("a cancelled context is no error")
	}
}

// The convolution of two figures has the magnitudes of that with one of them turned by half a turn: that there are two samples is said.
func TestSeveralSamplesOfOnePattern(t *testing.T) {
	const n = 24
	x := make([]float64, n*n)
	for _, a := range [][3]float64{{0, 0, 0.9}, {1, 0, 0.45}, {0, 2, 0.225}} {
		for _, b := range [][3]float64{{0, 0, 1}, {3, 1, 0.6}, {1, 4, 0.3}} {
			x[(int(a[0]+b[0])+9)*n+int(a[1]+b[1])+9] += a[2] * b[2]
		}
	}
	p := Problem{Shape: [2]int{n, n}, Fields: 1, Unlimited: true, Noise: 0.01, Patterns: patterns(n, [][]float64{x}, [][]complex128{{1}})}
	r, err := Solve(context.Background(), p, Settings{Seed: 5})
	if err != nil || !strings.Contains(strings.Join(r.Findings, "\n"), "several samples have these patterns") {
		t.Errorf("%v, %v, %d kept, spread %.3g", r.Findings, err, r.Kept, r.spread())
	}
}

// A sample whose twin, one of its two figures turned, is near it has two samples' patterns, and starts that find both are told apart.
func TestTwinsThatAreNear(t *testing.T) {
	const n = 32
	x := make([]float64, n*n)
	for _, a := range [][3]float64{{0, 0, 1}, {0, 1, 1}, {1, 1, 1}, {1, 2, 1}, {2, 2, .4}, {-1, 0, .8}} {
		for _, b := range [][3]float64{{0, 0, 1}, {3, 3, .7}, {-3, 2, 0.9}, {-2, -3, 0.5}} {
			x[(n/2+int(a[0]+b[0]))*n+n/2+int(a[1]+b[1])] += a[2] * b[2] / 2
		}
	}
	p := Problem{Shape: [2]int{n, n}, Fields: 1, Patterns: patterns(n, [][]float64{x}, [][]complex128{{1}})}
	r, err := Solve(context.Background(), p, Settings{Seed: 2, Restarts: 8, Iterations: 300})
	if err != nil || !strings.Contains(strings.Join(r.Findings, "\n"), "several samples have these patterns") {
		t.Errorf("%v, %v, %d kept, spread %.3g", r.Findings, err, r.Kept, r.spread())
	}
}

// A background that was not taken off is told.
func TestBackgroundThatIsLeft(t *testing.T) {
	const n = 32
	for _, left := range []float64{0, 0.02} {
		p := Problem{Shape: [2]int{n, n}, Fields: 1, Patterns: patterns(n, [][]float64{blobs(n)}, [][]complex128{{1}})}
		mean := 0.0
		for _, y := range p.Patterns[0].Intensity {
			mean += y / (n * n)
		}
		for i := range p.Patterns[0].Intensity {
			p.Patterns[0].Intensity[i] += left * mean
		}
		r, err := Solve(context.Background(), p, Settings{Seed: 3, Restarts: 4, Iterations: 200})
		if err != nil || strings.Contains(strings.Join(r.Findings, "\n"), "the background that was taken off is too low") != (left > 0) {
			t.Errorf("%g of the mean: %q, %v", left, r.Findings, err)
		}
	}
}
