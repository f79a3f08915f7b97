// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/tensor"
)

// Pixels that are always 0 among others with counts are left out, and so are those below 0 in all frames.
func TestDeadPixelsAreLeftOut(t *testing.T) {
	dead := []int{7, 33, 34, 120}
	done, notes := notesOf(t, wide(t, 100, func(_, pixel int, count uint16) uint16 {
		if slices.Contains(dead, pixel) {
			return 0
		}
		return count
	}))
	if !slices.Equal(done.Dead, dead) || !strings.Contains(notes, "4 pixels in bins of the q map are dead, without any count where the pixels around have many: they were left out (row 0, column 7") {
		t.Errorf("%v: %s", done.Dead, notes)
	}
	if m := done.Result.QMap.Maps; m.Mask[33] || m.Static[33] != 0 {
		t.Error("a dead pixel is in a bin of the result")
	}
}

// Areas without any count are told where their rims are lit, and those in a soft shadow are not.
func TestEmptyAreas(t *testing.T) {
	const side, frames = 40, 2000
	for _, soft := range []bool{false, true} {
		z := tensor.NewStream(1, 1, 0)
		m := &nexus.Maps{Height: side, Width: side, Dynamic: make([]int32, side*side), Static: make([]int32, side*side)}
		mean, want := make([]float64, side*side), []int{}
		for p := range mean {
			m.Dynamic[p], m.Static[p] = 1, int32(1+p/side/5)
			light := 0.09 * frames
			if row, column := p/side, p%side; row >= 10 && row < 16 && column >= 10 && column < 30 {
				light = 0
				want = append(want, p)
			} else if soft {
				light *= max(0, min(1, (math.Hypot(float64(row-13), float64(column-20))-11)/20))
			}
			mean[p] = poissonOf(&z, light) / frames
		}
		if soft {
			want = nil
		}
		if got := emptyAreas(m, mean, frames, nil); !slices.Equal(got, want) {
			t.Errorf("soft edge %v: %d pixels, want %d", soft, len(got), len(want))
		}
	}
}

// A step of the intensity is told with its frame and factor.
func TestStepOfIntensityIsTold(t *testing.T) {
	_, notes := notesOf(t, wide(t, 100, func(frame, _ int, count uint16) uint16 {
		if frame < 60 {
			return 2 * count
		}
		return count
	}))
	if !strings.Contains(notes, "steps by a factor of 0.5 from frame 60 on") || !strings.Contains(notes, "--end 60") {
		t.Error(notes)
	}
}

// Pixels of -3 in all frames are below 0, and those of which a background was subtracted are not.
func TestNegativePixels(t *testing.T) {
	const n, frames = 1000, 99
	z := tensor.NewStream(3, 0, 0)
	sum, squares, kept := make([]float64, n), make([]float64, n), make([]int, n)
	for p := range kept {
		kept[p] = p
		for range frames {
			v := z.Normal()
			if p == 20 {
				v = -3
			}
			sum[p], squares[p] = sum[p]+v, squares[p]+v*v
		}
	}
	if got := negativePixels(kept, sum, squares, frames); !slices.Equal(got, []int{20}) {
		t.Error(got)
	}
}

// No pixel is called dead where counts are few, in static speckles of full contrast, in the shadow of a beam stop with a sharp or a soft edge, or
// beside masked pixels.
func TestNoDeadPixelsInRightMovies(t *testing.T) {
	const side, movies = 60, 60
	for seed := range uint64(movies) {
		z := tensor.NewStream(seed, 1, 0)
		m := &nexus.Maps{Height: side, Width: side, Dynamic: make([]int32, side*side), Static: make([]int32, side*side)}
		mean := make([]float64, side*side)
		counts, frames := []float64{0.003, 0.03, 0.6, 14}[seed%4], []int{9, 99, 5000}[seed%3]
		for p := range mean {
			row, column := p/side, p%side
			from := math.Hypot(float64(row-side/2), float64(column-side/2))
			if m.Dynamic[p], m.Static[p] = int32(1+column/20), int32(1+column/5); column == row {
				m.Dynamic[p], m.Static[p] = 0, 0
				continue
			}
			light := counts * float64(frames)
			switch seed / 4 % 3 {
			case 0:
				light *= z.Exp()
			case 1:
				light *= max(0, min(1, (from-8)/8))
			default:
				if from < 12 {
					light = 0
				}
			}
			mean[p] = poissonOf(&z, light) / float64(frames)
		}
		if dead := deadPixels(m, mean, frames); dead != nil {
			t.Errorf("seed %d, %g counts in %d frames: %v", seed, counts, frames, dead)
		}
	}
}

// poissonOf draws a number of counts; that of many is nearly normal.
func poissonOf(z *tensor.Stream, light float64) float64 {
	if light > 300 {
		return math.Round(light + math.Sqrt(light)*z.Normal())
	}
	n := 0.0
	for at := z.Exp(); at < light; at += z.Exp() {
		n++
	}
	return n
}
