// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow && linux

package xpcs

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// peak returns the largest memory that the process has had, in bytes.
func peak(t *testing.T) float64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb * 1024
}

// full correlates a file at full size within memory, and returns g2.
func full(t *testing.T, file string, s frames.Settings, most float64) *nexus.Result {
	t.Helper()
	movie, err := frames.Open(file, s)
	if err != nil {
		t.Fatal(err)
	}
	defer movie.Close()
	q, err := Setup{Geometry: raceGeometry(1024)}.Map(nil)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	done, err := Correlate(context.Background(), Job{Frames: movie, Map: q, FrameTime: 1e-3, Multitau: true, Settings: correlate.Settings{Normalize: true}}, filepath.Join(t.TempDir(), "out.hdf"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d frames in %.3g s, at most %.3g GB", done.Frames, time.Since(start).Seconds(), peak(t)/1e9)
	if p := peak(t); p > most {
		t.Errorf("%.3g GB of memory, want at most %.3g", p/1e9, most/1e9)
	}
	return done.Result
}

// A hundred thousand frames of 1 Mpx, of which one pixel in a thousand has an event. Counts are independent, so that g2 is 1.
func TestSparseAtFullSize(t *testing.T) {
	const count, side = 100_000, 1024
	file := filepath.Join(t.TempDir(), "full.imm")
	w, err := frames.CreateIMM(file, side, side)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var e frames.Events
	for range count {
		e.Start, e.Pixel, e.Count = append(e.Start[:0], 0), e.Pixel[:0], e.Count[:0]
		for p := rng.IntN(2000); p < side*side; p += 1 + rng.IntN(2000) {
			e.Pixel, e.Count = append(e.Pixel, uint32(p)), append(e.Count, 1)
		}
		e.Start = append(e.Start, len(e.Pixel))
		if err := w.Append(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := full(t, file, frames.Settings{}, 4e9)
	nearly(t, r, 1, 0.05)
}

// Two thousand dense frames of 1 Mpx, 4 GB.
func TestDenseAtFullSize(t *testing.T) {
	const count, side = 2000, 1024
	file := filepath.Join(t.TempDir(), "full.raw")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, 2*side*side)
	for range count {
		for i := 0; i < len(b); i += 8 {
			v := rng.Uint64()
			for k := range 4 {
				binary.LittleEndian.PutUint16(b[i+2*k:], uint16(v>>(16*k)&7))
			}
		}
		if _, err := f.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r := full(t, file, frames.Settings{Height: side, Width: side}, 6e9)
	nearly(t, r, 1, 1e-3)
}

// nearly fails unless g2 at the first delays of all bins is what it should be.
func nearly(t *testing.T, r *nexus.Result, want, tol float64) {
	t.Helper()
	for i := range 8 {
		for j, v := range r.Multitau.G2.Row(i) {
			if !(math.Abs(v-want) < tol+5*r.Multitau.Err.At(i, j)) {
				t.Errorf("bin %d, delay %d: g2 is %g", j+1, i+1, v)
			}
		}
	}
}
