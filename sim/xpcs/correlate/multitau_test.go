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

	"pgregory.net/rapid"
)

// direct computes g2 of one pixel bin by bin from the definition.
func direct(frames []float32, n, size int, maps Maps, d Delay, bin int32) float64 {
	span := 1 << d.Level
	count := n / span
	at := func(f, p int) (v float64) {
		for i := range span {
			v += float64(frames[(f*span+i)*size+p])
		}
		return v
	}
	sums := map[int32]*[4]float64{}
	for p, s := range maps.Static {
		if maps.Dynamic[p] != bin {
			continue
		}
		if sums[s] == nil {
			sums[s] = &[4]float64{}
		}
		for f := range count - d.Lag {
			a, b := at(f, p), at(f+d.Lag, p)
			sums[s][0] += a * b
			sums[s][1] += a
			sums[s][2] += b
		}
		sums[s][3]++
	}
	total := 0.0
	for _, v := range sums {
		total += v[0] * float64(count-d.Lag) * v[3] / (v[1] * v[2])
	}
	return total / float64(len(sums))
}

// random returns a movie of Poisson-like counts with maps of a few bins, masked pixels among them.
func random(seed uint64, n, h, w int, mean float64) ([]float32, Maps) {
	rng := rand.New(rand.NewPCG(seed, 1))
	data := make([]float32, n*h*w)
	for i := range data {
		for v := rng.ExpFloat64(); v < mean; v += rng.ExpFloat64() {
			data[i]++
		}
	}
	m := Maps{Height: h, Width: w, Dynamic: make([]int32, h*w), Static: make([]int32, h*w)}
	for i := range m.Static {
		if rng.IntN(8) > 0 {
			m.Static[i] = 1 + int32(rng.IntN(6))
			m.Dynamic[i] = (m.Static[i] + 1) / 2 // static bins 1-2, 3-4, 5-6
		}
		if m.Dynamic[i] == 3 && seed%2 == 0 {
			m.Dynamic[i] = 0 // bins that only SAXS has
		}
	}
	return data, m
}

// TestAgainstDefinition compares random movies with the definition, in all ways of working.
func TestAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 150).Draw(rt, "frames")
		h, w := rapid.IntRange(1, 9).Draw(rt, "height"), rapid.IntRange(4, 9).Draw(rt, "width")
		per := rapid.IntRange(1, 5).Draw(rt, "per level")
		data, maps := random(rapid.Uint64().Draw(rt, "seed"), n, h, w, rapid.SampledFrom([]float64{0.05, 1, 6}).Draw(rt, "mean"))
		if !slices.ContainsFunc(maps.Dynamic, func(d int32) bool { return d > 0 }) {
			rt.Skip()
		}
		s := Settings{PerLevel: per, levels: rapid.IntRange(-1, 9).Draw(rt, "levels"), Threads: rapid.IntRange(1, 3).Draw(rt, "threads")}
		r, err := Multitau(context.Background(), FromArray(data, n, h, w), maps, s)
		if err != nil {
			rt.Fatal(err)
		}
		for k, d := range r.Delay {
			for b, bin := range r.Bins {
				got, want := r.G2[k][b], direct(data, n, h*w, maps, d, int32(bin))
				if math.IsNaN(want) {
					continue // a static bin without counts, where the reference's rule differs from 0/0
				}
				if !(math.Abs(got-want) <= 1e-12*max(want, 1)) {
					rt.Fatalf("delay %v of bin %d: %v, want %v", d, bin, got, want)
				}
			}
		}
	})
}

// TestBits checks that threads, ways of working, blocks and readings do not change a bit of whole counts.
func TestBits(t *testing.T) {
	data, maps := random(3, 700, 40, 60, 0.02)
	m := FromArray(data, 700, 40, 60)
	want, err := Multitau(context.Background(), m, maps, Settings{levels: -1, Threads: 1, Covariance: true, Parts: 3})
	if err != nil {
		t.Fatal(err)
	}
	if want.Sparse != 0 || want.Passes != 1 {
		t.Fatalf("%d levels of events, %d readings", want.Sparse, want.Passes)
	}
	for name, s := range map[string]Settings{
		"threads": {levels: -1, Threads: 5}, "events": {}, "three levels of events": {levels: 3, Threads: 2},
		"events alone": {levels: 12, Threads: 2}, "readings": {levels: -1, MaxBytes: 1}, "readings of events": {MaxBytes: 1, Threads: 3}, "64 bits": {Precision: 64, levels: -1},
	} {
		s.Covariance, s.Parts = true, 3
		got, err := Multitau(context.Background(), m, maps, s)
		if err != nil {
			t.Fatal(err)
		}
		if s.MaxBytes == 1 && got.Passes != len(got.Bins) {
			t.Errorf("%s: %d readings for %d bins", name, got.Passes, len(got.Bins))
		}
		equal(t, name+": g2", got.G2, want.G2)
		equal(t, name+": errors", got.Err, want.Err)
		equal(t, name+": covariances", got.Cov, want.Cov)
		equal(t, name+": SAXS", append(got.SAXSParts, got.SAXS, got.Trace, got.Image), append(want.SAXSParts, want.SAXS, want.Trace, want.Image))
		for i := range want.Parts {
			equal(t, name+": part", got.Parts[i].G2, want.Parts[i].G2)
		}
	}
}

func equal(t *testing.T, what string, got, want [][]float64) {
	t.Helper()
	for i := range want {
		for j, w := range want[i] {
			if g := got[i][j]; math.Float64bits(g) != math.Float64bits(w) && !(math.IsNaN(g) && math.IsNaN(w)) {
				t.Errorf("%s (%d, %d): %v, want %v", what, i, j, g, w)
				return
			}
		}
	}
}

// TestPartsAreShorterMovies compares cumulative results with those of the first frames alone.
func TestPartsAreShorterMovies(t *testing.T) {
	data, maps := random(5, 330, 10, 12, 0.4)
	for _, levels := range []int{-1, 4} {
		whole, err := Multitau(context.Background(), FromArray(data, 330, 10, 12), maps, Settings{Parts: 4, levels: levels})
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range whole.Parts {
			if part.Frames != (i+1)*(330/4) {
				t.Errorf("part %d has %d frames", i, part.Frames)
			}
			short, err := Multitau(context.Background(), FromArray(data, part.Frames, 10, 12), maps, Settings{levels: levels})
			if err != nil {
				t.Fatal(err)
			}
			for k, d := range whole.Delay {
				j := slices.Index(short.Delay, d)
				if j < 0 {
					if !math.IsNaN(part.G2[k][0]) {
						t.Errorf("part %d has g2 at %v, beyond its frames", i, d)
					}
					continue
				}
				equal(t, "part", [][]float64{part.G2[k], part.Err[k]}, [][]float64{short.G2[j], short.Err[j]})
			}
		}
	}
}

// TestBadFrames checks that what a correlation cannot use is told with its place.
func TestBadFrames(t *testing.T) {
	for _, levels := range []int{-1, 4} {
		data, maps := random(7, 90, 6, 8, 0.5)
		maps.Static[0], maps.Dynamic[0] = 0, 0
		maps.Static[47], maps.Dynamic[47] = 1, 1
		data[30*48] = float32(math.NaN()) // masked
		m := FromArray(data, 90, 6, 8)
		if _, err := Multitau(context.Background(), m, maps, Settings{levels: levels}); err != nil {
			t.Errorf("a masked pixel without a number: %v", err)
		}
		data[70*48+47] = float32(math.Inf(1))
		_, err := Multitau(context.Background(), m, maps, Settings{levels: levels})
		var fault *FrameError
		if !errors.As(err, &fault) || fault.Frame != 70 || fault.Row != 5 || fault.Col != 7 || fault.Pixels != 1 {
			t.Errorf("a pixel without a number: %v", err)
		}
	}
}

// TestMistakes checks what is refused.
func TestMistakes(t *testing.T) {
	data, maps := random(9, 20, 4, 5, 1)
	m := FromArray(data, 20, 4, 5)
	good := func(f func(m *Movie, maps *Maps, s *Settings)) error {
		n, p, s := m, Maps{maps.Height, maps.Width, slices.Clone(maps.Dynamic), slices.Clone(maps.Static)}, Settings{}
		f(&n, &p, &s)
		_, err := Multitau(context.Background(), n, p, s)
		return err
	}
	for want, f := range map[string]func(*Movie, *Maps, *Settings){
		"at least 2":      func(m *Movie, _ *Maps, _ *Settings) { m.Frames = 1 },
		"maps have 5 x 4": func(_ *Movie, p *Maps, _ *Settings) { p.Height, p.Width = 5, 4 },
		"subdivide": func(_ *Movie, p *Maps, _ *Settings) {
			p.Static[3], p.Dynamic[3], p.Static[4], p.Dynamic[4] = 1, 1, 1, 2
		},
		"no static bin":      func(_ *Movie, p *Maps, _ *Settings) { p.Static[3], p.Dynamic[3] = 0, 1 },
		"numbers from 1 to":  func(_ *Movie, p *Maps, _ *Settings) { p.Static[3], p.Dynamic[3] = math.MaxInt32, 1 },
		"no pixel":           func(_ *Movie, p *Maps, _ *Settings) { clear(p.Dynamic) },
		"not all in a movie": func(_ *Movie, _ *Maps, s *Settings) { s.Last = 21 },
		"leave 1 frame,":     func(_ *Movie, _ *Maps, s *Settings) { s.Average = 11 },
		"precision is 16":    func(_ *Movie, _ *Maps, s *Settings) { s.Precision = 16 },
		"counts of 1e+25": func(m *Movie, _ *Maps, _ *Settings) {
			m.Dense = func(_ int, dst []float32) error {
				for i := range dst {
					dst[i] = 1e25
				}
				return nil
			}
		},
		"event at pixel":     func(m *Movie, _ *Maps, _ *Settings) { m.Sparse = stray },
		"correct the reader": func(m *Movie, _ *Maps, _ *Settings) { m.Sparse = func(int, int, *Events) error { return nil } },
	} {
		if err := good(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if err := good(func(*Movie, *Maps, *Settings) {}); err != nil {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Multitau(ctx, m, maps, Settings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled correlation ended with %v", err)
	}
}

func stray(_, n int, e *Events) error {
	e.Reset()
	for range n {
		e.Pixel, e.Count = append(e.Pixel, 20), append(e.Count, 1)
		e.End()
	}
	return nil
}

// TestSelect compares selections with frames chosen and averaged by hand, dense and as events.
func TestSelect(t *testing.T) {
	data, _ := random(11, 50, 3, 4, 0.6)
	m := FromArray(data, 50, 3, 4)
	m.Sparse = func(first, n int, e *Events) error {
		e.Reset()
		e.Gather(data[first*12:(first+n)*12], 12)
		return nil
	}
	got, err := m.Select(Selection{First: 3, Last: 48, Stride: 2, Average: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got.Frames != 7 {
		t.Fatalf("%d frames", got.Frames)
	}
	dense := make([]float32, 5*12)
	if err := got.Dense(2, dense); err != nil {
		t.Fatal(err)
	}
	var e Events
	if err := got.Sparse(2, 5, &e); err != nil {
		t.Fatal(err)
	}
	events := make([]float32, 5*12)
	for f := range 5 {
		for i := e.Start[f]; i < e.Start[f+1]; i++ {
			events[f*12+int(e.Pixel[i])] = e.Count[i]
		}
	}
	for f := range 5 {
		for p := range 12 {
			want := float32(0)
			for k := range 3 {
				want += data[(3+2*(3*(f+2)+k))*12+p]
			}
			want /= 3
			if dense[f*12+p] != want || events[f*12+p] != want {
				t.Fatalf("frame %d, pixel %d: %v and %v, want %v", f, p, dense[f*12+p], events[f*12+p], want)
			}
		}
	}
}

// TestIntensitiesOfPartsAreMeans checks that the intensities of parts are means over their own frames, and the trace and the whole
// means too.
func TestIntensitiesOfPartsAreMeans(t *testing.T) {
	const n, h, w, parts = 120, 6, 8, 3
	data, maps := random(9, n, h, w, 0.8)
	r, err := Multitau(context.Background(), FromArray(data, n, h, w), maps, Settings{Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	mean := func(bin int32, from, to int) float64 {
		sum, count := 0.0, 0.0
		for f := from; f < to; f++ {
			for p, s := range maps.Static {
				if s == bin {
					sum, count = sum+float64(data[f*h*w+p]), count+1
				}
			}
		}
		return sum / count
	}
	for b := range r.SAXS {
		for k := range parts {
			if want := mean(int32(b+1), k*n/parts, (k+1)*n/parts); math.Abs(r.SAXSParts[k][b]-want) > 1e-6*want {
				t.Errorf("static bin %d of part %d: %g, want the mean %g", b+1, k+1, r.SAXSParts[k][b], want)
			}
		}
		if want := mean(int32(b+1), 0, n); math.Abs(r.SAXS[b]-want) > 1e-6*want {
			t.Errorf("static bin %d: %g, want the mean %g", b+1, r.SAXS[b], want)
		}
	}
}

// TestCrowd: a movie that begins in the dark is not taken for one with few events, and one with more events than the frames that
// were looked at gives the same bits after it was begun anew with fewer levels, at bounded lists.
func TestCrowd(t *testing.T) {
	const n, h, w = 5000, 8, 9
	data, maps := random(5, n, h, w, 2)
	clear(data[:200*h*w])
	m := FromArray(data, n, h, w)
	want, err := Multitau(context.Background(), m, maps, Settings{levels: -1, Parts: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Multitau(context.Background(), m, maps, Settings{Parts: 2}); err != nil || r.Sparse != 0 {
		t.Fatalf("dark at the begin: %d levels of events, %v", r.Sparse, err)
	}
	events := Movie{Frames: n, Height: h, Width: w, Sparse: func(first, k int, dst *Events) error {
		if k > atOnce {
			return errors.New("too many frames at once")
		}
		dst.Reset()
		dst.Gather(data[first*h*w:][:k*h*w], h*w)
		return nil
	}}
	if r, err := Multitau(context.Background(), events, maps, Settings{levels: 8, Parts: 2}); err != nil || r.Sparse != 8 || !slices.EqualFunc(r.G2, want.G2, slices.Equal) {
		t.Errorf("events in several pieces: %v, g2 differs", err)
	}
	for _, movie := range []Movie{m, events} {
		for _, levels := range []int{2, 5, 12} {
			last, calls := 0, 0
			r, err := Multitau(context.Background(), movie, maps, Settings{levels: levels, crowd: 1000, Parts: 2, Threads: 2, Progress: func(done, all int) {
				if calls++; done <= last || done > all {
					t.Errorf("progress goes from %d to %d of %d", last, done, all)
				}
				last = done
			}})
			if err != nil || r.Sparse != 0 || last != n || calls == 0 {
				t.Fatalf("%d levels: %v, %+v", levels, err, r)
			}
			for i := range want.G2 {
				if !slices.Equal(r.G2[i], want.G2[i]) || !slices.Equal(r.Err[i], want.Err[i]) {
					t.Fatalf("%d levels: delay %d: %v, want %v", levels, i, r.G2[i], want.G2[i])
				}
			}
			if !slices.Equal(r.Trace, want.Trace) || !slices.Equal(r.Image, want.Image) {
				t.Errorf("%d levels: intensities differ", levels)
			}
		}
	}
}
