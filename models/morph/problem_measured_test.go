// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/morph"
)

// The keys of measured patterns are read and written, and a problem that has them is one of measured patterns; those of simulated patterns
// stay what they are.
func TestMeasuredProblem(t *testing.T) {
	const head = `{"model": "core_shell", "grid": {"shape": [8, 8, 8], "voxel": 2}, "parameters": {"radius": {"start": 5}, "shell": {"start": 2}, "aligned": {"start": 0.5}`
	for _, c := range []struct {
		rest     string
		measured bool
		want     string // in the error
	}{
		{`}, "data": "HDF5", "constants": [], "sigma": 1}`, false, ""},
		{`}, "data": "scan.nc", "constants": []}`, true, ""},
		{`, "centre_x": {}}, "data": ["a.nc", "b.nc"], "masks": ["m.npy", {"file": "m.tif", "keep": "zero"}], "geometry": {"distance": 500, "beam": [1, 2]}, "exposure": 2, "polarization": 0, "pedestal": 100, "saturation": 60000, "bin": 4, "solid_angle": false, "constants": []}`, true, ""},
		{`, "centre_x": {}}, "data": "HDF5", "constants": []}`, false, `unknown parameter "centre_x"`},
		{`}, "data": "scan.nc", "masc": ["m.npy"], "constants": []}`, true, `did you mean "mask"`},
		{`}, "data": "scan.nc", "geometry": {"pixels": 1}, "constants": []}`, true, "geometry.pixels"},
		{`}, "data": "scan.nc", "rot_mask": true, "constants": []}`, true, "rot_mask is a key of simulated patterns"},
		{`}, "data": [{"file": "a.nc", "nuisances": {"centre_x": {}}, "masks": ["a.npy"]}, {"file": "b.nc", "geometry": {"distance": 30}}], "constants": []}`, true, ""},
		{`}, "data": [{"file": "a.nc", "nuisance": {}}], "constants": []}`, true, `"data.nuisance": did you mean "nuisances"`},
		{`}, "data": [], "constants": []}`, false, "data is missing"},
		{`}, "data": 3, "constants": []}`, false, "the name of a file, an object with file"},
		{`}, "data": "scan.nc", "masks": [{"file": "a", "keeps": "zero"}], "constants": []}`, true, "keeps"},
	} {
		p, err := morph.ParseProblem([]byte(head + c.rest))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v: want %q", c.rest, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.rest, err)
			continue
		}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := morph.ParseProblem(b)
		if err != nil || p.Measured() != c.measured || again.Measured() != c.measured || again.Data.String() != p.Data.String() || len(again.Masks) != len(p.Masks) || again.Geometry.Distance != p.Geometry.Distance {
			t.Errorf("%s: measured %v, and %v once written; %v", c.rest, p.Measured(), again, err)
		}
		if _, err := p.Measure(""); c.measured && (err == nil || !strings.Contains(err.Error(), "measured patterns")) {
			t.Errorf("%v", err)
		}
	}
}

// A folder of images is one of measured patterns without any key that says so; other folders are of simulated ones.
func TestFolderOfImages(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"scan", "HDF5"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "scan", "a.tiff"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const head = `{"model": "core_shell", "grid": {"shape": [8, 8, 8], "voxel": 2}, "parameters": {"radius": {"start": 5}, "shell": {"start": 2}, "aligned": {"start": 0.5}`
	p, err := morph.ParseProblemIn([]byte(head+`, "centre_x": {}}, "data": "scan", "constants": []}`), dir)
	if err != nil || !p.Measured() {
		t.Errorf("%v", err)
	}
	if p, err = morph.ParseProblemIn([]byte(head+`}, "data": "HDF5", "constants": [], "sigma": 1}`), dir); err != nil || p.Measured() {
		t.Errorf("%v", err)
	}
}
