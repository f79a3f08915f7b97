// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Geometries of pyFAI have its q and azimuths for every rotation, orientation and named detector (testdata/pyfai.py). Azimuths are minus
// chi, or chi where the image is a mirror image. pyFAI has positions in
// single precision.
func TestGeometriesOfPyFAI(t *testing.T) {
	b, err := os.ReadFile("testdata/pyfai.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		PONI        string
		Orientation int
		Row, Col    []int
		Q, Chi      []float64
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		name := filepath.Join(t.TempDir(), "a.poni")
		if err := os.WriteFile(name, []byte(c.PONI), 0o644); err != nil {
			t.Fatal(err)
		}
		g, err := (&geometryFlags{From: []string{name}, given: func(string) bool { return false }}).geometry()
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		m, err := g.QMap("q", "phi")
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		sign := -1.0
		if c.Orientation%2 == 0 {
			sign = 1
		}
		for k := range c.Q {
			at := c.Row[k]*m.Width + c.Col[k]
			q, phi := m.Values[0][at], m.Values[1][at]
			if math.Abs(q/c.Q[k]-1) > 5e-7 || math.Abs(math.Remainder(phi-sign*c.Chi[k], 360)) > 3e-5 {
				t.Errorf("geometry %d, orientation %d, row %d, column %d: q %.10g and azimuth %.6f, want %.10g and %.6f", i, c.Orientation, c.Row[k], c.Col[k], q, phi, c.Q[k], sign*c.Chi[k])
			}
		}
	}
}
