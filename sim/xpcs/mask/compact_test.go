// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"math"
	"slices"
	"testing"
)

// A compact image gives the masks of the same image in double precision.
func TestCompactImages(t *testing.T) {
	const side = 64
	whole, compact := Source{Height: side, Width: side}, Source{Height: side, Width: side}
	for i := range side * side {
		v := float32(i * 31 % 97)
		if i%500 == 0 {
			v = float32(math.NaN())
		}
		if i == 777 {
			v = 5000
		}
		whole.Image, compact.Compact = append(whole.Image, float64(v)), append(compact.Compact, v)
	}
	var masks [2]*Mask
	for k, src := range []Source{whole, compact} {
		h, err := NewHistory(src, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []Step{{Threshold: &Threshold{Low: 5, High: 6000}}, {Outliers: &Outliers{Method: MAD, Cutoff: 5, Tile: 32}}} {
			if changed, err := h.Apply(s); err != nil || !changed {
				t.Fatal(changed, err)
			}
		}
		masks[k] = h.Mask()
	}
	if !slices.Equal(masks[0].Keep, masks[1].Keep) || masks[0].Keep[777] || masks[0].Keep[500] {
		t.Error("the masks differ")
	}
	if _, err := NewHistory(Source{Height: side, Width: side, Image: whole.Image, Compact: compact.Compact}, ""); err == nil {
		t.Error("two images")
	}
}
