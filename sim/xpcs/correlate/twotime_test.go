// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// maps returns the maps of a movie by bin.
func twotimes(t *testing.T, m Movie, maps Maps, s Settings) map[int]*Map {
	t.Helper()
	all := map[int]*Map{}
	err := Twotime(context.Background(), m, maps, s, func(c *Map) error {
		all[c.Bin] = &Map{c.Bin, c.Pixels, c.Frames, append([]float64(nil), c.C2...), c.Ages}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTwotimeAgainstDefinition compares maps of more frames than a block, some of them empty, with the definition.
func TestTwotimeAgainstDefinition(t *testing.T) {
	const n, h, w = 300, 6, 8
	data, maps := random(13, n, h, w, 0.7)
	clear(data[5*h*w : 6*h*w])
	m := FromArray(data, n, h, w)
	for _, smooth := range []string{"static", "dynamic"} {
		got := twotimes(t, m, maps, Settings{Smooth: smooth, Precision: 64})
		if len(got) != 3 {
			t.Fatalf("%d maps", len(got))
		}
		for bin, c := range got {
			x := make([][]float64, n)
			for f := range n {
				sum, count := map[int32]float64{}, map[int32]float64{}
				of := func(p int) int32 {
					if smooth == "dynamic" {
						return 0
					}
					return maps.Static[p]
				}
				for p, d := range maps.Dynamic {
					if int(d) == bin {
						sum[of(p)] += float64(data[f*h*w+p])
						count[of(p)]++
					}
				}
				for p, d := range maps.Dynamic {
					if int(d) != bin {
						continue
					}
					v := float64(data[f*h*w+p])
					if mean := sum[of(p)] / count[of(p)]; mean > 0 {
						v /= mean
					}
					x[f] = append(x[f], v)
				}
			}
			for i := range n {
				for j := range n {
					ab, a, b := 0.0, 0.0, 0.0
					for p := range x[i] {
						ab, a, b = ab+x[i][p]*x[j][p], a+x[i][p], b+x[j][p]
					}
					want := 0.0
					if a*b != 0 {
						want = ab * float64(len(x[i])) / (a * b)
					}
					if got := c.C2[i*n+j]; !(math.Abs(got-want) <= 1e-12*max(want, 1)) {
						t.Fatalf("%s, bin %d (%d, %d): %v, want %v", smooth, bin, i, j, got, want)
					}
				}
			}
		}
	}
}

// TestTwotimeBits checks that threads do not change a bit, and that reading in parts and events change next to nothing.
func TestTwotimeBits(t *testing.T) {
	const n, h, w = 270, 40, 60
	data, maps := random(15, n, h, w, 0.3)
	m := FromArray(data, n, h, w)
	want := twotimes(t, m, maps, Settings{Threads: 1})
	events := Movie{Frames: n, Height: h, Width: w, Sparse: func(first, n int, e *Events) error {
		e.Reset()
		e.Gather(data[first*h*w:(first+n)*h*w], h*w)
		return nil
	}}
	for name, c := range map[string]struct {
		m   Movie
		s   Settings
		tol float64
	}{"threads": {m, Settings{Threads: 4}, 0}, "events": {events, Settings{Threads: 2}, 0}, "readings": {m, Settings{MaxBytes: 1}, 1e-6}} {
		got := twotimes(t, c.m, maps, c.s)
		for bin, w := range want {
			for i, v := range w.C2 {
				if math.Abs(got[bin].C2[i]-v) > c.tol*max(1, math.Abs(v)) { // float32 sums of parts
					t.Fatalf("%s: bin %d, element %d is %v, want %v", name, bin, i, got[bin].C2[i], v)
				}
			}
		}
	}
}

// TestTwotimeInOneMemory checks that bins and triangles share memory and nothing else.
func TestTwotimeInOneMemory(t *testing.T) {
	const n, h, w = 30, 6, 8
	data, maps := random(13, n, h, w, 0.7)
	var half []float32
	var first *float64
	err := Twotime(context.Background(), FromArray(data, n, h, w), maps, Settings{}, func(m *Map) error {
		if first == nil {
			first = &m.C2[0]
		}
		if first != &m.C2[0] {
			t.Errorf("bin %d has memory of its own", m.Bin)
		}
		again := m.HalfTo(half)
		if half != nil && &half[0] != &again[0] {
			t.Errorf("the triangle of bin %d has memory of its own", m.Bin)
		}
		half = again
		for i := range n {
			for j := range n {
				if want := float32(m.C2[i*n+j]); j >= i && half[i*n+j] != want || j < i && half[i*n+j] != 0 {
					t.Fatalf("bin %d: element (%d, %d) is %g, want %g", m.Bin, i, j, half[i*n+j], want)
				}
			}
		}
		alone := twotimes(t, FromArray(data, n, h, w), maps, Settings{Bins: []int{m.Bin}})
		if !slices.Equal(alone[m.Bin].C2, m.C2) {
			t.Errorf("bin %d has something of the bins before", m.Bin)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTwotimeOfMaskedMovies checks that pixels outside of bins change nothing, whatever they hold and however large their share is: maps and
// frames are never cut to the part that counts.
func TestTwotimeOfMaskedMovies(t *testing.T) {
	const n, h, w = 40, 12, 15
	for _, kept := range []float64{0.1, 0.49, 0.51, 0.95} {
		data, maps := random(21, n, h, w, 2)
		rng := rand.New(rand.NewPCG(3, 4))
		for p := range maps.Dynamic {
			if rng.Float64() > kept {
				maps.Dynamic[p], maps.Static[p] = 0, 0
			}
		}
		want := twotimes(t, FromArray(data, n, h, w), maps, Settings{})
		for i := range data {
			if maps.Static[i%(h*w)] == 0 {
				data[i] = []float32{float32(math.NaN()), 1e30, -5}[rng.IntN(3)]
			}
		}
		got := twotimes(t, FromArray(data, n, h, w), maps, Settings{})
		if len(got) != len(want) || len(got) == 0 {
			t.Fatalf("%g kept: %d maps, want %d", kept, len(got), len(want))
		}
		for bin, c := range want {
			if !slices.Equal(got[bin].C2, c.C2) {
				t.Errorf("%g kept: bin %d depends on masked pixels", kept, bin)
			}
		}
	}
}

// TestTwotimeMistakes checks what is refused, and that an error of the receiver ends it.
func TestTwotimeMistakes(t *testing.T) {
	data, maps := random(17, 20, 5, 6, 1)
	m := FromArray(data, 20, 5, 6)
	for want, s := range map[string]Settings{"no dynamic bin 9": {Bins: []int{1, 9}}, "named twice": {Bins: []int{2, 2}}, "not known": {Smooth: "none"}} {
		if err := Twotime(context.Background(), m, maps, s, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	long := m
	long.Frames = 100_000
	if err := Twotime(context.Background(), long, maps, Settings{}, nil); err == nil || !strings.Contains(err.Error(), "80 GB") {
		t.Errorf("a map of 100,000 frames: %v", err)
	}
	stop := errors.New("full")
	if err := Twotime(context.Background(), m, maps, Settings{}, func(*Map) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the receiver's error became %v", err)
	}
	for p, d := range maps.Dynamic {
		if d == 2 {
			data[7*30+p] = float32(math.NaN())
			break
		}
	}
	var fault *FrameError
	if err := Twotime(context.Background(), m, maps, Settings{}, func(*Map) error { return nil }); !errors.As(err, &fault) || fault.Frame != 7 {
		t.Errorf("a pixel without a number: %v", err)
	}
}

// BenchmarkTwotime is a map of 1000 frames and 2000 pixels.
func BenchmarkTwotime(b *testing.B) {
	const n, pixels = 1000, 2000
	data := make([]float32, n*pixels)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range data {
		data[i] = float32(rng.IntN(5))
	}
	maps := Maps{Height: 40, Width: 50, Dynamic: make([]int32, pixels)}
	for i := range maps.Dynamic {
		maps.Dynamic[i] = 1
	}
	for b.Loop() {
		if err := Twotime(context.Background(), FromArray(data, n, 40, 50), maps, Settings{Threads: 1}, func(*Map) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// A two-time correlation alone gives the intensities that the multi-tau one does, however often it reads the movie.
func TestIntensitiesOfTwotime(t *testing.T) {
	const n, h, w = 143, 6, 8
	data, maps := random(14, n, h, w, 0.6)
	clear(data[7*h*w : 8*h*w])
	for _, s := range []Settings{{}, {Parts: 3}, {Parts: 4, MaxBytes: 1}, {Parts: 2, Bins: []int{2}, Selection: Selection{First: 3, Stride: 2, Average: 3}}} {
		m := FromArray(data, n, h, w)
		want, err := Multitau(context.Background(), m, maps, s)
		if err != nil {
			t.Fatal(err)
		}
		var got *Result
		s.Intensities = func(r *Result) { got = r }
		twotimes(t, m, maps, s)
		if got == nil || got.Frames != want.Frames || got.Empty != want.Empty || len(got.Parts) != len(want.Parts) {
			t.Fatalf("%+v: %+v", s, got)
		}
		for k, rows := range map[string][2][][]float64{"trace": {{got.Trace}, {want.Trace}}, "static bins": {{got.SAXS}, {want.SAXS}}, "image": {{got.Image}, {want.Image}}, "static bins of parts": {got.SAXSParts, want.SAXSParts}} {
			for i, row := range rows[1] {
				for j, v := range row {
					if x := rows[0][i][j]; math.Abs(x-v) > 1e-6*math.Abs(v)+1e-12 || len(rows[0]) != len(rows[1]) || len(rows[0][i]) != len(row) {
						t.Fatalf("%d parts: %s %d, %d is %g, want %g", s.Parts, k, i, j, x, v)
					}
				}
			}
		}
	}
}
