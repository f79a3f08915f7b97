// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Spectra that specutils wrote have the numbers that it reads (testdata/specutils.py), with wavelengths in vacuum and Angstrom.
func TestSpectraOfSpecutils(t *testing.T) {
	z, err := zip.OpenReader("testdata/specutils.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for name, b := range files {
		if strings.HasSuffix(name, ".json") {
			continue
		}
		var want struct {
			Lam, Flux, Err []float64
			Masked         []int
		}
		if err := json.Unmarshal(files[name+".json"], &want); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSpectrum(path, Units{})
		if strings.Contains(name, "hertz") || strings.Contains(name, "thz") {
			if err == nil || !strings.Contains(err.Error(), "over frequencies") {
				t.Errorf("%s: %v, want one that tells of frequencies", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		order := make([]int, len(want.Lam))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(want.Lam[i], want.Lam[j]) })
		if len(s.Wave) != len(order) || (s.Mask == nil) != (want.Masked == nil) {
			t.Errorf("%s: %d pixels and the mask %v, want %d and %v", name, len(s.Wave), s.Mask, len(order), want.Masked)
			continue
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
		for k, i := range order {
			lam := want.Lam[i]
			if strings.HasPrefix(name, "air") {
				lam = Vacuum(lam)
			}
			if !near(s.Wave[k], lam) || !near(s.Flux[k], want.Flux[i]) || want.Err != nil && s.IVar[k] > 0 && !near(s.IVar[k], math.Pow(want.Err[i], -2)) ||
				s.Mask != nil && s.Mask[k] != slices.Contains(want.Masked, i) {
				t.Errorf("%s, pixel %d: wavelength %.10g, flux %g, inverse variance %g; want %.10g, %g, %g", name, k, s.Wave[k], s.Flux[k], s.IVar[k], lam, want.Flux[i], math.Pow(want.Err[i], -2))
				break
			}
		}
	}
}
