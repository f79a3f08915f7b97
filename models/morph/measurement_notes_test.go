// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// Settings that look as if they were in other units than the files say are noted with the numbers: a mask in 1/angstrom, voxels of another size
// than those that were simulated, and angles in radians; so is a negative beta.
func TestNotesOfMeasurements(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(dir, "i.npy"))
	if err != nil {
		t.Fatal(err)
	}
	data := tensor.New(tensor.Float64, 1, 8, 8)
	for i := range data.Data().([]float64) {
		data.Data().([]float64)[i] = 1
	}
	if err := data.WriteNPY(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	put(SimulationRecordFile, `{"phys_size_nm": 3.5}`)
	notes := func(q string, beta float64, voxel string) (string, error) {
		t.Helper()
		b, _ := json.Marshal([][]float64{{0.001, beta, 0.001, 0.002}})
		p, err := ParseProblem([]byte(`{"model": "core_shell", "grid": {"shape": [2, 8, 8], "voxel": ` + voxel + `}, "parameters": {"radius": {"start": 7}}, "fixed": {"shell": 2, "aligned": 0.5},
			"data": "i.npy", "energies": [285], "constants": [` + string(b) + `, "vacuum"], "mask": {"q": ` + q + `}, "sigma": 0.1}`))
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Measure(dir)
		return strings.Join(m.Notes, "\n"), err
	}
	if text, err := notes("[0.1, 0.9]", 0.002, "3.5"); text != "" || err != nil {
		t.Error(text, err)
	}
	text, err := notes("[0.0, 0.05]", -0.002, "7")
	for _, want := range []string{"simulated with voxels of 3.5 nm", "grid.voxel is 7 nm", "mask.q, 0 to 0.05 1/nm, keeps 1 of 64 pixels, whose q reaches 0.449 1/nm along the axes: if it is in 1/angstrom, write [0, 0.5]", "BetaPara is -0.002 at 285 eV: matter that absorbs has a positive beta"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s %v: want %s", text, err, want)
		}
	}
	if _, err := notes("[10, 20]", 0.002, "3.5"); err == nil || !strings.Contains(err.Error(), "keeps 0 of 64 pixels, whose q reaches 0.898 1/nm along the axes: no pixel is left to compare") {
		t.Error(err)
	}
	for angles, doubt := range map[[3]float64]bool{{0, 0.5236, 3.1416}: true, {0, 30, 150}: false, {0, 1, 3}: false, {0, 1, 0}: false} {
		c := cyrsoxs.NewConfig()
		if c.EAngleRotation = angles; (len(c.Doubts()) > 0) != doubt {
			t.Error(angles, c.Doubts())
		}
	}
}
