// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/nexus"
)

// wide is a job of n frames of 8 x 25 pixels in one bin; change alters the counts.
func wide(t *testing.T, n int, change func(frame, pixel int, count uint16) uint16) Job {
	t.Helper()
	const height, width = 8, 25
	name := filepath.Join(t.TempDir(), "m.h5")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]uint16, n*height*width)
	for i := range counts {
		counts[i] = change(i/(height*width), i%(height*width), uint16(3+i*i%7))
	}
	w.Write("/entry/data/data", counts, hdf5.Layout{Shape: []int{n, height, width}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := frames.Open(name, frames.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	keep, ones := make([]bool, height*width), make([]int32, height*width)
	for i := range ones {
		keep[i], ones[i] = true, 1
	}
	one := nexus.Partition{Axis0: []float64{1}, Cells: []int{0}}
	return Job{Frames: f, FrameTime: 1, Multitau: true, Map: &nexus.QMap{Dynamic: one, Static: one, Maps: &nexus.Maps{Height: height, Width: width, Mask: keep, Dynamic: ones, Static: slices.Clone(ones)}}}
}

// notesOf correlates and returns what is told.
func notesOf(t *testing.T, j Job) (*Done, string) {
	t.Helper()
	done, err := Correlate(context.Background(), j, filepath.Join(t.TempDir(), "r.hdf"))
	if err != nil {
		t.Fatal(err)
	}
	return done, strings.Join(done.Notes(), "\n")
}

// Pixels that are full in every third frame, each in others, would make all frames bad: they are left out, and the movie is correlated.
func TestFlickeringPixels(t *testing.T) {
	full := []int{7, 33, 34, 120}
	done, notes := notesOf(t, wide(t, 100, func(frame, pixel int, count uint16) uint16 {
		if k := slices.Index(full, pixel); k >= 0 && (frame+k)%3 == 0 {
			return math.MaxUint16
		}
		return count
	}))
	if !slices.Equal(done.Flickering, full) || len(done.Bad)+len(done.Replaced) > 0 || !strings.Contains(notes, "4 pixels in bins of the q map have no count in some of the frames") {
		t.Errorf("%v, %v, %d replaced: %s", done.Flickering, done.Bad, len(done.Replaced), notes)
	}
}

// Where a tenth of the pixels would not suffice, the frames are bad, and the error says what to do.
func TestTooManyFlickeringPixels(t *testing.T) {
	j := wide(t, 100, func(frame, pixel int, count uint16) uint16 {
		if pixel < 50 && (frame+pixel)%3 == 0 {
			return math.MaxUint16
		}
		return count
	})
	if _, err := Correlate(context.Background(), j, filepath.Join(t.TempDir(), "r.hdf")); err == nil || !strings.Contains(err.Error(), "(qmap --mask), or leave out frames") {
		t.Error(err)
	}
}

// Blank frames at the end and dropped ones before are named, with what to do about them; those of faint movies are not.
func TestBlankFrames(t *testing.T) {
	blank := func(with uint16) func(frame, pixel int, count uint16) uint16 {
		return func(frame, pixel int, count uint16) uint16 {
			if frame >= 80 || frame == 12 || frame == 13 {
				return with
			}
			return count
		}
	}
	if _, notes := notesOf(t, wide(t, 100, blank(0))); !strings.Contains(notes, "22 of 100 frames have no counts in any bin; the last 20, from frame 80 on, hold nothing") || !strings.Contains(notes, "--end 80; if frames were dropped there, replace them with --skip 12-13") {
		t.Error(notes)
	}
	if _, notes := notesOf(t, wide(t, 100, blank(math.MaxUint16))); !strings.Contains(notes, "22 frames were bad and were replaced") || !strings.Contains(notes, "leave them out with --end 80") {
		t.Error(notes)
	}
	faint := func(frame, pixel int, _ uint16) uint16 {
		if frame%5 > 0 && pixel == frame%7 {
			return 1
		}
		return 0
	}
	if _, notes := notesOf(t, wide(t, 100, faint)); !strings.Contains(notes, "20 of 100 frames have no counts in any bin") || strings.Contains(notes, "--skip") {
		t.Error(notes)
	}
}

// A frame with a full pixel is replaced; the note and the result say which frame, pixel and number.
func TestFullPixelOfAFrameIsNamed(t *testing.T) {
	j := wide(t, 100, func(frame, pixel int, count uint16) uint16 {
		if pixel == 33 && (frame == 40 || frame == 41) {
			return math.MaxUint16
		}
		return count
	})
	done, notes := notesOf(t, j)
	if want := "the first at row 1, column 8, which has 65535, the largest number of the type"; len(done.Replaced) != 2 || !strings.Contains(notes, want) {
		t.Errorf("%d replaced: %s: want %s", len(done.Replaced), notes, want)
	}
	if got := done.Result.Attrs[nexus.AttrReplaced]; got != "40-41" {
		t.Errorf("the result says that frames %q were replaced", got)
	}
}
