// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"strings"
	"testing"
)

// Draws in all ranges are highlighted in every picture that shows single draws or densities, and only they.
func TestHighlight(t *testing.T) {
	d := Draws{Names: []string{"a", "b"}, X: [][][]float64{{{0, 1, 2, 3}, {4, 5, 6, 7}}, {{7, 6, 5, 4}, {3, math.NaN(), 1, 0}}}}
	lit, err := d.Highlight(Range{"a", 1, 5}, Range{"b", math.Inf(-1), 5})
	if err != nil {
		t.Fatal(err)
	}
	if n := lit.highlights(); n != 3 { // the draws 2, 3 and 4: that of 5 has no b
		t.Errorf("%d draws are highlighted: want 3", n)
	}
	if d.highlights() != 0 {
		t.Error("the draws that were given are highlighted")
	}
	for name, draw := range map[string]func(Draws, ...string) (*Figure, error){"trace": Trace, "density": Density, "pair": Pair, "forest": Forest} {
		f, err := draw(lit)
		if err != nil {
			t.Fatal(err)
		}
		if svg := f.SVG(); !strings.Contains(svg, "3 draws with a from 1 to 5 and b up to 5") {
			t.Errorf("%s does not say which draws are highlighted", name)
		}
		for _, frame := range f.Frames() {
			if (name == "pair" || name == "density") && frame.XOf != frame.XLabel {
				t.Errorf("%s: the axis %q is that of %q", name, frame.XLabel, frame.XOf)
			}
		}
	}
}

func TestWrongHighlights(t *testing.T) {
	d := Draws{Names: []string{"a"}, X: [][][]float64{{{0, 1, 2, 3}}}}
	for want, r := range map[string]Range{`no quantity "c"`: {"c", 0, 1}, "holds nothing": {"a", 2, 1}, "no draw has a from 7 to 9": {"a", 7, 9}, "from NaN": {"a", math.NaN(), 1}} {
		if _, err := d.Highlight(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v: want %q", r, err, want)
		}
	}
	if _, err := (Draws{}).Highlight(Range{"a", 0, 1}); err == nil {
		t.Error("draws without names are highlighted")
	}
}
