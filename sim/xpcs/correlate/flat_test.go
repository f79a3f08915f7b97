// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate_test

import (
	"context"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// A frame in which all pixels read the same is found, in which case the readings are counts of photons nevertheless; a flash of the beam and a movie of a
// constant are none.
func TestFlatFrame(t *testing.T) {
	for name, c := range map[string]struct {
		change func(frames []float32, pixels int)
		frame  int // -1: none
	}{
		"right": {func([]float32, int) {}, -1},
		"flat": {func(frames []float32, pixels int) {
			for p := range pixels {
				frames[30*pixels+p] = 50
			}
		}, 30},
		"flat but for some": {func(frames []float32, pixels int) {
			for p := range pixels {
				frames[7*pixels+p] = 50 + float32(p%20/19)
			}
		}, 7},
		"flash": {func(frames []float32, pixels int) {
			for p := range pixels {
				frames[30*pixels+p] = 10*frames[31*pixels+p] + frames[32*pixels+p]
			}
		}, -1},
		"constant": {func(frames []float32, pixels int) {
			for i := range frames {
				frames[i] = 50
			}
		}, -1},
	} {
		m := usual()
		m.count, m.frames, m.pixels = 0.2, 60, 500
		frames := m.movie()
		c.change(frames, m.pixels)
		maps := correlate.Maps{Height: 1, Width: m.pixels, Dynamic: make([]int32, m.pixels)}
		for i := range maps.Dynamic {
			maps.Dynamic[i] = 1
		}
		var two *correlate.Flat
		s := correlate.Settings{Photons: true, Intensities: func(r *correlate.Result) { two = r.Flat }}
		r, err := correlate.Multitau(context.Background(), m.array(frames), maps, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := correlate.Twotime(context.Background(), m.array(frames), maps, s, func(*correlate.Map) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if (r.Flat != nil) != (c.frame >= 0) || (two != nil) != (c.frame >= 0) {
			t.Errorf("%s: %+v and %+v, want frame %d", name, r.Flat, two, c.frame)
			continue
		}
		if f := r.Flat; f != nil && (f.Frame != c.frame || two.Frame != c.frame || f.Counts != 50 || !(f.Others < 1) || r.Photons[0].Gap.Reading != 0) {
			t.Errorf("%s: %+v, gap %+v", name, f, r.Photons[0].Gap)
		}
	}
}
