// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// Measured images, images without a geometry and curves are drawn, and what cannot be drawn is refused with a reason.
func TestPlotMeasured(t *testing.T) {
	forms, err := filepath.Abs("../../data/scatter/testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("film_284.7eV.csv", []byte("q (1/nm),I,error\n0.05,1200,12\n0.08,600,8\n0.1,300,6\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for says, args := range map[string][]string{
		"285.5 eV, field at 90 degrees": {filepath.Join(forms, "classic.nc"), "--number", "2"},
		"does not say where":            {filepath.Join(forms, "stack.tif"), "--energies", "280,285"},
		"I(q)":                          {"film_284.7eV.csv", "--linear"},
	} {
		code, _, stderr := apptest.Do(t, append([]string{"plot", "measured", "--overwrite"}, args...)...)
		svg, err := os.ReadFile("measured.svg")
		if code != exit.OK || err != nil || !strings.Contains(string(svg), says) {
			t.Errorf("%v: exit %d: %s%v", args, code, stderr, err)
		}
	}
	for says, args := range map[string][]string{"the file has 2": {filepath.Join(forms, "classic.nc"), "--number", "3"}, "energ": {filepath.Join(forms, "stack.tif")}, "no file or folder": {"none.nc"}} {
		if code, _, stderr := apptest.Do(t, append([]string{"plot", "measured", "--overwrite"}, args...)...); code == exit.OK || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}
