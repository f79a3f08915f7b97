// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// noisy returns a movie of independent counts about 5, and maps of two bins.
func noisy(frames int) ([]float32, Maps) {
	r := rand.New(rand.NewPCG(5, 9))
	data := make([]float32, frames*6*8)
	for i := range data {
		data[i] = float32(3 + r.IntN(5))
	}
	maps := Maps{Height: 6, Width: 8, Dynamic: make([]int32, 48)}
	for i := range maps.Dynamic {
		maps.Dynamic[i] = int32(i / 20) // the first 20 pixels are masked
	}
	return data, maps
}

// eventsOf gives the frames of a movie as events.
func eventsOf(m Movie) Movie {
	dense, size := m.Dense, m.Height*m.Width
	m.Dense = nil
	m.Sparse = func(first, n int, dst *Events) error {
		frames := make([]float32, n*size)
		if err := dense(first, frames); err != nil {
			return err
		}
		dst.Reset()
		dst.Gather(frames, size)
		return nil
	}
	return m
}

func TestMend(t *testing.T) {
	const n = 90
	data, maps := noisy(n)
	frame := func(f int) []float32 { return data[f*48 : (f+1)*48] }
	frame(7)[30] = float32(math.NaN())
	frame(8)[3] = float32(math.NaN()) // masked: no matter
	frame(50)[40] = float32(math.Inf(1))
	for i := range frame(60) {
		frame(60)[i] = 100
	}
	clear(frame(61))
	for name, m := range map[string]Movie{"dense": FromArray(data, n, 6, 8), "events": eventsOf(FromArray(data, n, 6, 8))} {
		d, err := m.Mend(maps, Gate{Skip: []int{20}, Low: 1, High: 50})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Multitau(context.Background(), d.Movie, maps, Settings{})
		if err != nil {
			t.Fatal(name, err)
		}
		for i, row := range r.G2[:4] {
			for b, v := range row {
				if math.Abs(v-1) > 0.05 {
					t.Errorf("%s: g2 of bin %d at delay %d is %g", name, b+1, i+1, v)
				}
			}
		}
		want := map[int]string{7: "have no count", 20: "asked for", 50: "have no count", 60: "above 50", 61: "below 1"}
		for _, x := range d.Replaced() {
			if !strings.Contains(x.Why, want[x.Frame]) || want[x.Frame] == "" || want[x.By] != "" || x.By == x.Frame {
				t.Errorf("%s: %+v", name, x)
			}
			delete(want, x.Frame)
			got, other := make([]float32, 48), make([]float32, 48)
			if d.Movie.Dense != nil {
				if err := d.Movie.Dense(x.Frame, got); err != nil {
					t.Fatal(err)
				}
				copy(other, frame(x.By))
				for i := range got {
					if got[i] != other[i] {
						t.Fatalf("frame %d is not frame %d", x.Frame, x.By)
					}
				}
			}
		}
		if len(want) > 0 {
			t.Errorf("%s: frames %v were not replaced", name, want)
		}
	}
}

func TestMendGivesUp(t *testing.T) {
	data, maps := noisy(20)
	m := FromArray(data, 20, 6, 8)
	if d, err := m.Mend(maps, Gate{Low: 1e6}); err != nil {
		t.Error(err)
	} else if err := d.Movie.Dense(0, make([]float32, 48)); err == nil || !strings.Contains(err.Error(), "frame 0 is not good") {
		t.Error(err)
	}
	for _, g := range []Gate{{Low: 2, High: 1}, {Low: math.NaN()}} {
		if _, err := m.Mend(maps, g); err == nil || !strings.Contains(err.Error(), "want the second above the first") {
			t.Error(err)
		}
	}
}

// A movie without anything wrong is as it was.
func TestMendOfGoodMovie(t *testing.T) {
	data, maps := noisy(70)
	m := FromArray(data, 70, 6, 8)
	d, err := m.Mend(maps, Gate{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Multitau(context.Background(), m, maps, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Multitau(context.Background(), d.Movie, maps, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.G2 {
		for b := range want.G2[i] {
			if got.G2[i][b] != want.G2[i][b] {
				t.Fatalf("g2 %d, %d: %g, %g", i, b, got.G2[i][b], want.G2[i][b])
			}
		}
	}
	if len(d.Replaced()) > 0 {
		t.Error(d.Replaced())
	}
}

// Readings beyond 2^53 are no counts: a frame with one is replaced and says which, and a movie of them is refused with the number.
func TestReadingsBeyondCounts(t *testing.T) {
	data, maps := noisy(90)
	data[7*48+30] = 3e18
	for name, m := range map[string]Movie{"dense": FromArray(data, 90, 6, 8), "events": eventsOf(FromArray(data, 90, 6, 8))} {
		d, err := m.Mend(maps, Gate{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Multitau(context.Background(), d.Movie, maps, Settings{Photons: true}); err != nil {
			t.Fatal(err)
		}
		if r := d.Replaced(); len(r) != 1 || r[0].Frame != 7 || r[0].Pixel != 30 || r[0].Reading != 3e18 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for i := range data {
		data[i] = 1e19
	}
	d, err := FromArray(data, 90, 6, 8).Mend(maps, Gate{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Multitau(context.Background(), d.Movie, maps, Settings{}); err == nil || !strings.Contains(err.Error(), "row 2, column 4, which is 1e+19 and no count: counts are at most 2^53") || !strings.Contains(err.Error(), "divide them") {
		t.Error(err)
	}
	if _, err := Multitau(context.Background(), FromArray(data, 90, 6, 8), maps, Settings{Photons: true, Normalize: true}); err != nil { // where no gate looks at them
		t.Error(err)
	}
}
