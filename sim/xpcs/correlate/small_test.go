// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// Readings whose products 32 bits do not hold are refused where frames are not normalised, as large ones are; all others give the g2 of any scale.
func TestReadingsOfAnyScale(t *testing.T) {
	c := usual()
	c.count, c.frames, c.pixels = 5, 40, 200
	counts := c.movie()
	maps := correlate.Maps{Height: 1, Width: c.pixels, Dynamic: make([]int32, c.pixels)}
	for i := range maps.Dynamic {
		maps.Dynamic[i] = 1
	}
	of := func(scale float64, s correlate.Settings) (*correlate.Result, error) {
		return correlate.Multitau(context.Background(), c.changed(counts, func(n float64) float64 { return scale * n }), maps, s)
	}
	for name, s := range map[string]correlate.Settings{"": {}, "normalised": {Normalize: true}, "64 bits": {Precision: 64}} {
		want, err := of(1, s)
		if err != nil {
			t.Fatal(err)
		}
		for scale, refused := range map[float64]bool{1e-12: false, 1e-15: false, 1e-22: s.Precision != 64 && !s.Normalize, 1e-30: s.Precision != 64 && !s.Normalize, 1e-40: true, 1e12: false} {
			r, err := of(scale, s)
			if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "scale") {
				t.Errorf("%s, scale %g: error %v", name, scale, err)
			}
			if err != nil {
				continue
			}
			for k := range r.Delay {
				if g, w := r.G2[k][0], want.G2[k][0]; math.Abs(g-w) > 1e-5*w {
					t.Errorf("%s, scale %g: g2 %g, want %g", name, scale, g, w)
				}
			}
		}
	}
}
