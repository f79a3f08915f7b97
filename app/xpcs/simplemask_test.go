// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"archive/zip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
)

// Metadata of the beamlines 8-ID-I and 9-ID-D give the geometry that pySimpleMask finds in them, and its masks and partitions are read
// (testdata/simplemask.py).
func TestFilesOfSimpleMask(t *testing.T) {
	z, err := zip.OpenReader("testdata/simplemask.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		name := filepath.Join(dir, f.Name)
		if err != nil || os.MkdirAll(filepath.Dir(name), 0o755) != nil || os.WriteFile(name, b, 0o644) != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"8id", "9id", "9id_turned"} {
		t.Run(name, func(t *testing.T) { sameAsSimpleMask(t, filepath.Join(dir, name)) })
	}
}

func sameAsSimpleMask(t *testing.T, dir string) {
	var want struct {
		Row, Col []int
		Maps     map[string][]float64
		Kept     int
	}
	b, err := os.ReadFile(filepath.Join(dir, "values.json"))
	if err == nil {
		err = json.Unmarshal(b, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	flags := geometryFlags{From: []string{filepath.Join(dir, "a_metadata.hdf")}, Shape: "48x60", given: func(string) bool { return false }}
	g, err := flags.geometry()
	if err != nil {
		t.Fatal(err)
	}
	m, err := g.QMap()
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range want.Maps {
		got, err := m.Channel(name)
		if name == "x" || name == "y" { // ours are counted from the first pixel
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range values {
			if w := got[want.Row[k]*60+want.Col[k]]; math.Abs(w-v) > tolerance(name, g.Reflection, v) {
				t.Errorf("%s at row %d, column %d is %.8g, want %.8g", name, want.Row[k], want.Col[k], w, v)
			}
		}
	}
	keep, err := readMask(filepath.Join(dir, "mask.tif"), "", 48, 60)
	n := 0
	for _, k := range keep {
		if k {
			n++
		}
	}
	if err != nil || n != want.Kept {
		t.Errorf("%d pixels are kept, want %d: %v", n, want.Kept, err)
	}
	q, err := nexus.OpenQMap(filepath.Join(dir, "qmap.hdf"))
	if err != nil {
		t.Fatal(err)
	}
	row, col := g.DisplayCenter()
	if q.Maps.Height != 48 || q.Dynamic.Bins() != 6 || math.Abs(q.BeamX-col) > 1e-3 || math.Abs(q.BeamY-row) > 1e-3 {
		t.Errorf("%d rows, %d bins, beam at column %g, row %g; want it at %g, %g", q.Maps.Height, q.Dynamic.Bins(), q.BeamX, q.BeamY, col, row)
	}
}

// tolerance is how far a channel may be off: pySimpleMask rounds the beam's place of 9-ID-D to 0.001 pixels, and has no small
// angles in its reflections.
func tolerance(name string, reflected bool, v float64) float64 {
	if !reflected {
		return 1e-6 * math.Abs(v)
	}
	if name == "phi" {
		return 0.005
	}
	return 1e-3 * (0.1 + math.Abs(v))
}
