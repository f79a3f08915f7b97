// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/scatter"
)

// refused fails the test unless a file is refused with all of the words.
func refused(t *testing.T, file string, s scatter.Settings, want ...string) {
	t.Helper()
	_, err := scatter.Open(file, s)
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v: want %q", err, w)
		}
	}
}

// Pixels that are left out because something was subtracted, or because the detector saturates, would make a fit wrong. Markers of bad
// pixels and single hot ones are none of these.
func TestCensoredCounts(t *testing.T) {
	counts := func(change func(x []int32)) string {
		s := good()
		s.pixels = make([]int32, 96)
		for i := range s.pixels {
			s.pixels[i] = int32(i)
		}
		change(s.pixels)
		return s.write(t)
	}
	refused(t, counts(func(x []int32) {
		for i := range 9 {
			x[i] = int32(-1 - i%3)
		}
	}), scatter.Settings{}, "9 of 96 pixels are below 0", `"pedestal": -N`)
	full := counts(func(x []int32) {
		for i := range 12 {
			x[i] = 255
		}
	})
	refused(t, full, scatter.Settings{}, "12 neighbouring pixels", `"saturation": 255`)
	for name, c := range map[string]struct {
		file string
		s    scatter.Settings
	}{
		"markers": {counts(func(x []int32) { x[3], x[4], x[5], x[8] = -1, -2, -1, -1 }), scatter.Settings{}},
		"hot": {counts(func(x []int32) {
			for i := range 12 {
				x[i*6+i/4] = 52000
			}
		}), scatter.Settings{}},
		"saturation": {full, scatter.Settings{Saturation: 255}},
		"right":      {full, scatter.Settings{Saturation: 1000}},
	} {
		if _, err := scatter.Open(c.file, c.s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Numbers of a geometry, a polarisation or an exposure that are no numbers are refused where they are read.
func TestNotANumber(t *testing.T) {
	for key, want := range map[string]string{"poni1": "the beam meets the plane of the detector", "rot1": "rot1 is NaN", "polarization": "the polarization of pattern 1 is NaN", "exposure": "an exposure is NaN"} {
		s := good()
		s.attrs[key] = math.NaN()
		refused(t, s.write(t), scatter.Settings{}, want)
	}
}

// Errors below 0 are refused in images as in tables, and so are those that nothing could have measured.
func TestImpossibleErrorsOfImages(t *testing.T) {
	for sd, want := range map[float64]string{-1: "is -1", 1e-12: "is 1e-12, and the number 7"} {
		name := filepath.Join(t.TempDir(), "scan.h5")
		w, err := hdf5.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		numbers, errs := make([]float64, 48), make([]float64, 48)
		for i := range numbers {
			numbers[i], errs[i] = 7, 0.5
		}
		errs[9] = sd
		w.Write("/I", numbers, hdf5.Layout{Shape: []int{1, 6, 8}})
		w.Write("/dI", errs, hdf5.Layout{Shape: []int{1, 6, 8}})
		w.Write("/energy", []float64{270}, hdf5.Layout{})
		for k, x := range good().attrs {
			w.Attr("/I", k, x)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		refused(t, name, scatter.Settings{}, "the error at row 1, column 1 of pattern 1 "+want)
	}
}

// A page that cannot be read is no end of the file.
func TestDamagedPage(t *testing.T) {
	b := []byte("II*\x00\x08\x00\x00\x00")
	entry := func(tag, kind byte, x uint32) {
		b = append(b, tag, 1, kind, 0, 1, 0, 0, 0, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	for page := range 3 {
		at := uint32(8 + page*(2+7*12+4+4))
		strip := at + 2 + 7*12 + 4
		if page == 1 {
			strip = 1 << 30
		}
		b = append(b, 7, 0)
		for _, e := range [][3]uint32{{0, 3, 2}, {1, 3, 2}, {2, 3, 8}, {3, 3, 1}, {6, 3, 1}, {0x11, 4, strip}, {0x17, 4, 4}} {
			entry(byte(e[0]), byte(e[1]), e[2])
		}
		next := at + 2 + 7*12 + 4 + 4
		if page == 2 {
			next = 0
		}
		b = append(b, byte(next), byte(next>>8), 0, 0, 1, 2, 3, 4)
	}
	name := filepath.Join(t.TempDir(), "scan.tif")
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	refused(t, name, scatter.Settings{Energies: []float64{270}, Exposure: 1}, "page 2 cannot be read")
}
