// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/morph/measured"
)

// closedModels are models without voxels, with the parameters that they need.
var closedModels = map[string]map[string]float64{
	"particles":     {"radius": 8, "shell": 4, "aligned": 0.4, "size_sd": 0.1},
	"rods":          {"radius": 5, "length": 40, "aligned": 0.4, "theta_deg": 60},
	"stacks":        {"period": 20, "lamella": 8, "aligned": 0.4, "grain": 30, "theta_deg": 70},
	"ellipsoids":    {"half_axis": 12, "equator": 7, "aligned": 0.4, "theta_deg": 50},
	"spinodal":      {"period": 25, "spread": 0.2, "fraction": 0.4},
	"teubner_strey": {"period": 25, "length": 15, "fraction": 0.4},
	"debye_bueche":  {"length": 15, "fraction": 0.4},
}

// Models without voxels open from a problem file with a table of I(q) of a detector that is not known, and expect intensities in all bins.
func TestOpenModelsWithoutVoxels(t *testing.T) {
	dir := t.TempDir()
	table := "energy (eV),q (1/nm),I,dI\n"
	for _, e := range []float64{284, 285} {
		for i := range 9 {
			table += fmt.Sprintf("%g,%g,%g,%g\n", e, 0.05*float64(i), 10/(1+float64(i)), 0.3) // with a bin at q = 0
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "iq.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	for model, values := range closedModels {
		parameters := map[string]any{"log_scale": map[string]any{}, "background_q4": map[string]any{}}
		for name, x := range values {
			parameters[name] = map[string]any{"start": x}
		}
		constants := []any{[][4]float64{{-1e-3, 6e-4, -1e-3, 6e-4}, {-5e-4, 1.3e-3, -5e-4, 1.3e-3}}}
		if model == "particles" {
			constants = append(constants, [][4]float64{{9e-4, 3e-4, 6e-4, 4e-4}, {-1.3e-3, 1.1e-3, -4e-4, 2.4e-3}})
		}
		k, err := measured.Open(parse(t, map[string]any{"model": model, "data": "iq.csv", "polarization": 0, "parameters": parameters, "constants": constants}), dir)
		if err != nil {
			t.Errorf("%s: %v", model, err)
			continue
		}
		if wide := strings.Contains(strings.Join(k.Read, "\n"), "edges"); wide {
			t.Errorf("%s has sharp edges: %v", model, k.Read)
		}
		mean, err := k.Means()
		if err != nil {
			t.Errorf("%s: %v", model, err)
		}
		for i, x := range mean {
			if !(x > 0) || math.IsInf(x, 0) {
				t.Fatalf("%s: bin %d is expected to be %g", model, i, x)
			}
		}
	}
}
