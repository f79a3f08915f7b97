// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/tier"
)

// Flags that the problem leaves nothing to do for are refused, and exposures that cannot be.
func TestFlagsWithoutUse(t *testing.T) {
	t.Chdir(t.TempDir())
	put := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("p.json", `{"model": "core_shell", "grid": {"shape": [8, 16, 16], "voxel": 3}, "parameters": {"radius": {"start": 8}, "shell": {"start": 4}}, "fixed": {"aligned": 0}, "data": "patterns", "constants": ["vacuum"], "sigma": 0.1}`)
	put("m.json", `{"model": "core_shell", "grid": {"shape": [8, 16, 16], "voxel": 3}, "parameters": {"radius": {"start": 8}, "shell": {"start": 4}}, "fixed": {"aligned": 0}, "data": "scan.nc", "masks": ["m.npy"], "constants": ["vacuum"], "exposure": 0}`)
	put("l.json", `{"model": "core_shell", "grid": {"shape": [8, 16, 16], "voxel": 3}, "parameters": {"radius": {"start": 8}, "shell": {"start": 4}}, "fixed": {"aligned": 0}, "data": "scan.nc", "masks": ["m.npy"], "constants": ["vacuum"], "exposure": 1e300}`)
	put("r.json", `{"model": "core_shell", "grid": {"shape": [8, 16, 16], "voxel": 3}, "parameters": {"radius": {"start": 8}, "shell": {"start": 4}}, "fixed": {"aligned": 0}, "data": "scan.nc", "masks": ["m.npy"], "constants": ["vacuum"]}`)
	for line, want := range map[string]string{
		"p.json --draws 100":         "--draws is for chains",
		"p.json --choose-energies 2": "--choose-energies plans a measurement",
		"p.json --zarr":              "--zarr is for measured patterns",
		"m.json":                     "exposure is 0 s: want more than 0",
		"r.json --restarts 3 --choose-energies 1": "--restarts is for fits from starting values",
		"l.json": "exposure is 1e+300 s",
	} {
		code, _, stderr := apptest.Do(t, strings.Fields("invert rsoxs "+line)...)
		if code != exit.WrongUsage && code != exit.Data || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d: %s", line, code, stderr)
		}
	}
}

// Priors that a fit by least squares does not use are told.
func TestPriorsOfFitsAreTold(t *testing.T) {
	tier.SlowOnly(t)
	morphology := apptest.WorkInSample(t)
	if code, _, stderr := apptest.Do(t, "sim", "rsoxs", morphology); code != exit.OK {
		t.Fatal(stderr)
	}
	problem := `{"model": "core_shell", "grid": {"shape": [8, 32, 32], "voxel": 5}, "parameters": {"radius": {"start": 8, "prior": "normal(12, 0.01)"}, "shell": {"start": 4}}, "fixed": {"aligned": 0}, "data": "HDF5", "constants": ["Material1.txt", "Material2.txt", "Material3.txt"], "config": "config.txt", "sigma": 0.1, "options": {"matrix": true}}`
	if err := os.WriteFile("p.json", []byte(problem), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, stderr := apptest.Do(t, "invert", "rsoxs", "p.json"); !strings.Contains(stderr, "priors (of radius) are used by posteriors alone") {
		t.Error(stderr)
	}
}
