// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate_test

import (
	"context"
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/tensor"
)

// strays returns the stray readings of a movie with two dynamic bins of four static ones each.
func strays(t testing.TB, m correlate.Movie, s correlate.Settings) []correlate.Stray {
	t.Helper()
	n := m.Height * m.Width
	maps := correlate.Maps{Height: m.Height, Width: m.Width, Dynamic: make([]int32, n), Static: make([]int32, n)}
	for i := 1; i < n; i++ { // the first pixel is masked
		maps.Dynamic[i], maps.Static[i] = int32(1+i*2/n), int32(1+i*8/n)
	}
	s.Photons, s.Covariance, s.Normalize = true, true, true
	r, err := correlate.Multitau(context.Background(), m, maps, s)
	if err != nil {
		t.Fatal(err)
	}
	var two []correlate.Stray
	s.Intensities = func(r *correlate.Result) { two = r.Strays }
	if err := correlate.Twotime(context.Background(), m, maps, s, func(*correlate.Map) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if len(two) != len(r.Strays) {
		t.Errorf("Multitau has the stray readings %+v, and Twotime %+v", r.Strays, two)
	}
	for i, v := range r.Strays {
		if w := two[i]; w.Frame != v.Frame || w.Pixel != v.Pixel || w.Counts != v.Counts || !math.IsNaN(w.Errors) {
			t.Errorf("Multitau has the stray reading %+v, and Twotime %+v", v, w)
		}
	}
	return r.Strays
}

// A single reading far above the counts of its pixel is found with its place and what it does to g2, from dim to bright movies and beside others.
func TestStrayReadings(t *testing.T) {
	for name, c := range map[string]struct {
		counted
		counts float32
		times  int
	}{
		"one":      {counted{pixels: 1000, frames: 100, count: 1, modes: 2, decay: 0.5}, 20000, 1},
		"ten":      {counted{pixels: 1000, frames: 100, count: 1, modes: 2, decay: 0.5}, 3000, 10},
		"dim":      {counted{pixels: 1000, frames: 100, count: 0.01, modes: 2, decay: 0.5}, 200, 1},
		"bright":   {counted{pixels: 600, frames: 24, count: 100, modes: 1, decay: 0.5}, 20000, 1},
		"flickers": {counted{pixels: 600, frames: 60, count: 3, modes: 1, decay: 0.1, uneven: true}, 5000, 2},
	} {
		c.seed = 2
		frames := c.movie()
		where := map[[2]int]bool{}
		for i := range c.times {
			f, p := (7+13*i)%c.frames, 17+53*i
			frames[f*c.pixels+p] = c.counts
			where[[2]int{f, p}] = true
		}
		got := strays(t, c.array(frames), correlate.Settings{})
		if len(got) != c.times {
			t.Errorf("%s: %d of %d stray readings: %+v", name, len(got), c.times, got)
		}
		for _, v := range got {
			if !where[[2]int{v.Frame, v.Pixel}] || v.Counts != float64(c.counts) || v.Bin != 1+v.Pixel*2/c.pixels {
				t.Errorf("%s: a stray reading of %g at frame %d, pixel %d, bin %d", name, v.Counts, v.Frame, v.Pixel, v.Bin)
			}
			if !(v.Errors > 1 && math.Abs(v.Shift) > 0 && math.Abs(v.Mean-c.count) < 2*c.count+1) {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}

// The shift is the difference of g2 from that of a movie in which the pixel is masked, and events and averages of frames are looked at as arrays are.
func TestStrayReadingsMoveG2(t *testing.T) {
	c := usual()
	c.count, c.decay = 0.5, 1
	frames := c.movie()
	frames[5*c.pixels+800] = 9000
	maps := correlate.Maps{Height: 1, Width: c.pixels, Dynamic: make([]int32, c.pixels), Static: make([]int32, c.pixels)}
	for i := range maps.Dynamic {
		maps.Dynamic[i], maps.Static[i] = 1, int32(1+i/100)
	}
	s := correlate.Settings{Photons: true, Covariance: true}
	with, err := correlate.Multitau(context.Background(), c.array(frames), maps, s)
	if err != nil {
		t.Fatal(err)
	}
	maps.Dynamic[800], maps.Static[800] = 0, 0
	without, err := correlate.Multitau(context.Background(), c.array(frames), maps, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(with.Strays) != 1 || len(without.Strays) != 0 {
		t.Fatalf("stray readings %+v, without the pixel %+v", with.Strays, without.Strays)
	}
	v := with.Strays[0]
	if shift := with.G2[v.Delay][0] - without.G2[v.Delay][0]; math.Abs(shift-v.Shift) > 1e-4*math.Abs(shift) || !(v.Errors > 1) {
		t.Errorf("g2 shifts by %g, want %g: %+v", v.Shift, shift, v)
	}
	events := correlate.Movie{Frames: c.frames, Height: 1, Width: c.pixels, Sparse: func(first, n int, dst *correlate.Events) error {
		dst.Reset()
		for f := first; f < first+n; f++ {
			for p, x := range frames[f*c.pixels:][:c.pixels] {
				if x > 0 {
					dst.Pixel, dst.Count = append(dst.Pixel, uint32(p)), append(dst.Count, x)
				}
			}
			dst.End()
		}
		return nil
	}}
	of := func(m correlate.Movie, average int) []correlate.Stray {
		return strays(t, m, correlate.Settings{Selection: correlate.Selection{Average: average}})
	}
	if a, b := of(c.array(frames), 1), of(events, 1); len(a) != 1 || a[0].Frame != b[0].Frame || a[0].Counts != b[0].Counts {
		t.Errorf("arrays have %+v, events %+v", a, b)
	}
	if a, b := of(c.array(frames), 2), of(events, 2); len(a) != 1 || a[0].Frame != 2 || math.Abs(a[0].Counts-9000) > 3 || !reflect.DeepEqual(a, b) {
		t.Errorf("averages of arrays have %+v, of events %+v", a, b)
	}
}

// Right movies have no stray reading: dim and bright ones, full contrast, a beam that flickers, drifts or flashes, few pixels and frames, values that are
// multiples of counts.
func TestNoStrayReadingsInRightMovies(t *testing.T) { noStrays(t, 1) }

// noStrays looks at 40 right movies for each seed.
func noStrays(t *testing.T, seeds int) {
	movies := 0
	for _, count := range []float64{0.003, 0.1, 3, 30, 300} {
		for kind := range 8 {
			for seed := range seeds {
				c := counted{pixels: 120, frames: 30, count: count, modes: 1 + seed%2, decay: []float64{0.01, 0.3, 3}[seed%3], uneven: kind == 1, seed: uint64(100*kind + seed)}
				if kind == 2 {
					c.pixels, c.frames = 20, 4
				}
				if count > 100 {
					c.pixels /= 2
				}
				if kind > 3 {
					c.frames, c.beam = 60, beam(kind, 60, uint64(seed))
				}
				if kind == 7 { // speckles last for much of the movie
					c.modes, c.decay = 1, 0.01+0.05*float64(seed%3)
				}
				frames := c.movie()
				if kind == 3 {
					for i := range frames {
						frames[i] *= 100
					}
				}
				if movies++; count < 0.1 && kind == 2 {
					frames[3] = 1 // a movie needs a count
				}
				if v := strays(t, c.array(frames), correlate.Settings{}); len(v) > 0 {
					t.Errorf("%+v, kind %d: %+v", c, kind, v)
				}
			}
		}
	}
	t.Logf("%d right movies", movies)
}

// beam returns the intensity of a beam over frames: with a flicker of 20 %, a drift to a third, flashes of ten times, or none.
func beam(kind, frames int, seed uint64) []float64 {
	z := tensor.NewStream(seed, 8, uint32(kind))
	all := make([]float64, frames)
	for t := range all {
		switch all[t] = 1; {
		case kind == 4:
			all[t] = max(0, 1+0.2*z.Normal())
		case kind == 5:
			all[t] = 1 - 0.7*float64(t)/float64(frames)
		case kind == 6 && t%20 == 7:
			all[t] = 10
		}
	}
	return all
}

// A pixel that is hot for 10 to 40 frames is found, also by readings not far above those that photons make, and it is said in how many frames.
func TestHotForSomeFrames(t *testing.T) {
	for name, c := range map[string]struct {
		counted
		counts float32
		times  int
	}{
		"dim":      {counted{count: 0.02, modes: 2, decay: 3}, 10, 10},
		"some":     {counted{count: 0.1, modes: 2, decay: 3}, 20, 10},
		"longer":   {counted{count: 0.1, modes: 2, decay: 3}, 20, 30},
		"brighter": {counted{count: 1, modes: 2, decay: 3}, 60, 40},
		"speckles": {counted{count: 0.1, modes: 4, decay: 0.05}, 30, 20},
		"full":     {counted{count: 0.3, modes: 1, decay: 0.05}, 40, 40},
	} {
		c.pixels, c.frames, c.seed = 300, 1000, 5
		frames := c.movie()
		for f := 400; f < 400+c.times; f++ {
			frames[f*c.pixels+77] = c.counts
		}
		maps := correlate.Maps{Height: 1, Width: c.pixels, Dynamic: make([]int32, c.pixels)}
		for i := range maps.Dynamic {
			maps.Dynamic[i] = 1
		}
		r, err := correlate.Multitau(context.Background(), c.array(frames), maps, correlate.Settings{Photons: true, Covariance: true})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Strays
		if len(got) != 1 || got[0].Pixel != 77 || got[0].Frame != 400 || got[0].Frames < c.times || got[0].Frames > c.times+2 || !(got[0].Errors > 1) {
			t.Errorf("%s: %+v, want pixel 77 in %d frames", name, got, c.times)
		}
	}
}

// Frames that go to a GPU in the type of their file have the same stray readings.
func TestStrayReadingsOnDevice(t *testing.T) {
	pretend.Shared(t)
	c := usual()
	c.pixels = 400
	frames := c.movie()
	frames[3*c.pixels+333] = 30000
	want := strays(t, c.array(frames), correlate.Settings{})
	m := c.array(frames)
	m.Raw = &correlate.Raw{Type: "uint16", Read: func(first int, dst []byte) error {
		for i := range len(dst) / 2 {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(frames[first*c.pixels+i]))
		}
		return nil
	}}
	got := strays(t, m, correlate.Settings{Backend: ad.CUDA{}})
	if len(want) != 1 || len(got) != 1 || got[0].Frame != 3 || got[0].Pixel != 333 || math.Abs(got[0].Errors/want[0].Errors-1) > 1e-3 {
		t.Errorf("on a GPU %+v, want %+v", got, want)
	}
}
