// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package faulty

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/cli/clitest"
	"github.com/euryale-dev/euryale/tensor"
)

// A part that panics is named as the culprit, on the command line, by its package, file and line, and never called a bug
// of Euryale.
func TestFaultsAreNamed(t *testing.T) {
	s := clitest.New(t)
	s.Write("decay.csv", "tau,g2,g2_err\n1,1.1,0.1\n2,1.9,0.1\n3,3.1,0.1\n4,4,0.1\n")
	s.Write("density.json", `{"expr": "a", "data": {"y": [1, 2]}, "sigma": "1", "priors": {"a": "rare()"}}`)
	s.Write("draws.json", `{"expr": "a", "data": {"y": [1, 2]}, "sigma": "1", "priors": {"a": "drawless()"}}`)
	s.Write("late.json", `{"expr": "late(a)", "data": {"y": [1, 2]}, "sigma": "1", "priors": {"a": "normal(0, 1)"}}`)
	s.Write("latefit.json", `{"expr": "late(a)", "data": {"y": [1, 2]}, "start": {"a": 1}}`)
	s.Write("line.json", `{"expr": "a", "data": {"y": [1, 2]}, "sigma": "1", "priors": {"a": "normal(0, 1)"}}`)
	const morphology = `{"model": "MODEL", "grid": {"shape": [4, 8, 8], "voxel": 3}, "parameters": {"radius": {"start": 8, "bounds": [4, 20]}NUISANCE},
 		"energies": [284.7], "data": "data.npy", "sigma": 0.1, "fixed": {}, "constants": [[[1e-3, 1e-3, 5e-4, 2e-4]], "vacuum"]}`
	var image bytes.Buffer
	ones, err := tensor.From(slices.Repeat([]float64{1}, 64), 1, 8, 8)
	if err == nil {
		err = ones.WriteNPY(&image)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Write("data.npy", image.String())
	s.Write("hollow.json", strings.NewReplacer("MODEL", "hollow", "NUISANCE", "").Replace(morphology))
	s.Write("leak.json", strings.NewReplacer("MODEL", "core_shell", "NUISANCE", `, "leak": {"start": 1, "bounds": [0, 2]}, "shell": {"start": 5, "bounds": [2, 9]}, "aligned": {"start": 0.3, "bounds": [0, 1]}`).Replace(morphology))
	s.Run("sample", "expr", "--problem", "line.json", "--out", "run", "--quiet", "--no-report")
	s.Write("later.csv", "tau,g2,g2_err\n2,1.9,0.1\n3,3.1,0.1\n4,4,0.1\n")
	for _, line := range []string{
		"fit g2 decay.csv --model mean",
		"sample g2 decay.csv --model mean --out g2",
		"fit g2 decay.csv --model starts",
		"fit g2 decay.csv later.csv --model starts --out both",
		"sample expr --problem density.json --out density",
		"sbc --problem draws.json",
		"sample expr --problem late.json --out late",
		"fit nlsq --problem latefit.json",
		"invert rsoxs hollow.json --out hollow",
		"invert rsoxs leak.json --out leak",
		"plot torn run torn.svg",
	} {
		code, _, errs := s.Exit(strings.Fields(line)...)
		if code != 70 || !strings.Contains(errs, "(in example.com/faulty.") || !strings.Contains(errs, "faulty.go:") || !strings.Contains(errs, "The package example.com/faulty is not a part of Euryale.") || strings.Contains(errs, "bug in Euryale") {
			t.Errorf("%s: exit code %d: %s", line, code, errs)
		}
	}
	// The other file was fitted.
	if table, err := os.ReadFile(filepath.Join(s.Dir, "both", "fits.csv")); err != nil || !strings.Contains(string(table), "later.csv") {
		t.Errorf("%v: %s", err, table)
	}
}
