// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"slices"
	"testing"
)

// Where most pixels of a region are equal, so that their spread is 0, the spread of counting statistics finds hot pixels and keeps single counts.
func TestOutliersAmongEqualPixels(t *testing.T) {
	const edge = 10
	for name, c := range map[string]struct{ usual, rare, hot float64 }{
		"no counts":       {0, 1, 200},
		"counts":          {14, 17, 65535},
		"mean of frames":  {0, 0.005, 1},
		"one of a kind":   {5, 5, 1000},
		"below 0":         {-1, 0, 100},
		"mean, all alike": {2.5, 2.5, 300},
	} {
		image := slices.Repeat([]float64{c.usual}, edge*edge)
		image[33], image[47] = c.rare, c.hot
		s := Source{Height: edge, Width: edge, Image: image, Maps: map[string][]float64{"q": slices.Repeat([]float64{1}, edge*edge)}}
		s.Maps["q"][0] = 1.5
		m, regions, err := Step{Outliers: &Outliers{Method: MAD, Cutoff: 6, Rings: 1}}.Mask(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.Count() != edge*edge-1 || m.Keep[47] || len(regions) != 1 || !regions[0].Counting {
			t.Errorf("%s: %d pixels kept, %+v", name, m.Count(), regions)
		}
	}
}
