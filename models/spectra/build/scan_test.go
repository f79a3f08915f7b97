// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/rvspecfit"
)

// writeTemplate writes a template of PHOENIX's layout: parameters and flux in the primary HDU.
func writeTemplate(t testing.TB, name string, more map[string]float64, flux []float32, params ...float64) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	h := &fits.Header{}
	for i, p := range DefaultParams() {
		if i < len(params) {
			h.Set(p.Key, params[i], "")
		}
	}
	for k, v := range more {
		h.Set(k, v, "")
	}
	w := must[*fits.Writer](t)(fits.Create(name))
	w.Image("", h, []int{len(flux)}, flux)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestScan(t *testing.T) {
	dir := t.TempDir()
	flux := []float32{1, 2}
	for i, teff := range []float64{5000, 5200, 2800} {
		writeTemplate(t, filepath.Join(dir, fmt.Sprintf("Z-0.5/lte%d.fits", i)), map[string]float64{"PHXXI_T": 1.5}, flux, teff, 4.5, -0.5, 0.2)
	}
	writeTemplate(t, filepath.Join(dir, "WAVE_PHOENIX.fits"), nil, flux)
	os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("x"), 0o644)
	ctx := context.Background()
	var seen []string
	s := ScanSettings{More: []Param{{"vmic", "PHXXI_T"}}, Masks: []Mask{{Ranges: map[string][2]float64{"teff": {0, 2900}}}},
		Report: func(p Progress) { seen = append(seen, fmt.Sprintf("%s %d/%d", p.File, p.Done, p.Total)) }}
	c := must[*rvspecfit.Catalog](t)(Scan(ctx, dir, s))
	want := &rvspecfit.Catalog{ParNames: []string{"teff", "logg", "feh", "alpha", "vmic"}, Entries: []rvspecfit.Entry{
		{File: "Z-0.5/lte0.fits", Params: []float64{5000, 4.5, -0.5, 0.2, 1.5}},
		{File: "Z-0.5/lte1.fits", Params: []float64{5200, 4.5, -0.5, 0.2, 1.5}, ID: 1},
		{File: "Z-0.5/lte2.fits", Params: []float64{2800, 4.5, -0.5, 0.2, 1.5}, ID: 2, Bad: true}}}
	if !reflect.DeepEqual(c, want) || len(seen) != 3 || seen[2] != "Z-0.5/lte2.fits 3/3" {
		t.Errorf("got %+v, %v", c, seen)
	}
	// An update adds what is new, and keeps numbers and marks, through a file.
	file := filepath.Join(t.TempDir(), "files.csv")
	c.Entries[0].Bad = true
	if err := c.WriteCSV(file); err != nil {
		t.Fatal(err)
	}
	c = must[*rvspecfit.Catalog](t)(rvspecfit.ReadCatalog(file))
	writeTemplate(t, filepath.Join(dir, "A/new.fits"), map[string]float64{"PHXXI_T": 2}, flux, 6000, 4.5, 0, 0)
	added, err := Update(ctx, c, dir, s)
	if last := c.Entries[len(c.Entries)-1]; err != nil || added != 1 || last.File != "A/new.fits" || last.ID != 3 || last.Bad || !c.Entries[0].Bad || len(c.Entries) != 4 {
		t.Errorf("%d added, %v: %+v", added, err, c.Entries)
	}
	if added, err := Update(ctx, c, dir, s); added != 0 || err != nil {
		t.Errorf("%d added again, %v", added, err)
	}

	// A file without a parameter ends the scan, or is left out.
	writeTemplate(t, filepath.Join(dir, "B/odd.fits"), map[string]float64{"PHXXI_T": 2}, flux, 6000, 4.5, 0)
	_, err = Update(ctx, c, dir, s)
	if !errors.Is(err, fits.ErrNotFound) || !strings.Contains(err.Error(), "PHXALPHA") || !strings.Contains(err.Error(), "odd.fits") || len(c.Entries) != 4 {
		t.Errorf("%v, %d rows", err, len(c.Entries))
	}
	s.Skip = true
	var missing error
	s.Report = func(p Progress) { missing = p.Err }
	if added, err := Update(ctx, c, dir, s); added != 0 || err != nil || missing == nil {
		t.Errorf("%d added, %v, reported %v", added, err, missing)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := Update(stopped, c, dir, s); err != context.Canceled {
		t.Error(err)
	}
	for text, s := range map[string]ScanSettings{
		"appears twice":             {More: []Param{{"teff", "X"}}},
		"no template":               {Pattern: "*.none"},
		"syntax error":              {Pattern: "["},
		`names the parameter "tef"`: {Params: DefaultParams()[:1], Masks: []Mask{{Ranges: map[string][2]float64{"tef": {0, 1}}}}},
		"sets no condition":         {Params: DefaultParams()[:1], Masks: []Mask{{}}},
		"teff from 2 to 1":          {Params: DefaultParams()[:1], Masks: []Mask{{Ranges: map[string][2]float64{"teff": {2, 1}}}}},
		"leave the file out by a ":  {},
	} {
		if text[0] != 'l' && s.Pattern == "" {
			s.Pattern = "lte*.fits"
		}
		if _, err := Scan(ctx, dir, s); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
	if _, err := Update(ctx, c, dir, ScanSettings{}); err == nil || !strings.Contains(err.Error(), "vmic") {
		t.Errorf("other parameters: %v", err)
	}
}

func TestMasks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "masks.csv")
	os.WriteFile(file, []byte("filename,teff_min,teff_max,logg_max\n,,2900,\n,10000,,3\na1.fits,,,\nB/*.fits,,,1.5\n"), 0o644)
	masks := must[[]Mask](t)(ReadMasks(file))
	c := &rvspecfit.Catalog{ParNames: []string{"teff", "logg"}}
	var want []bool
	for _, x := range []struct {
		file       string
		teff, logg float64
		bad        bool
	}{{"A/a0.fits", 2900, 4, true}, {"A/a1.fits", 5000, 4, true}, {"A/a2.fits", 5000, 1, false}, {"A/a3.fits", 11000, 3, true},
		{"A/a4.fits", 11000, 4, false}, {"B/b0.fits", 5000, 1, true}, {"B/b1.fits", 5000, 2, false}} {
		c.Entries, want = append(c.Entries, rvspecfit.Entry{File: x.file, Params: []float64{x.teff, x.logg}}), append(want, x.bad)
	}
	if err := Apply(c, masks); err != nil {
		t.Fatal(err)
	}
	for i, e := range c.Entries {
		if e.Bad != want[i] {
			t.Errorf("%s: bad is %v, want %v", e.File, e.Bad, want[i])
		}
	}
	for text, body := range map[string]string{"line 2": "teff_min\nhot\n", `column "teff"`: "teff\n1\n", "wrong number of fields": "filename,teff_min\na\n"} {
		os.WriteFile(file, []byte(body), 0o644)
		if _, err := ReadMasks(file); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
}
