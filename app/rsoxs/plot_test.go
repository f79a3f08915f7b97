// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
)

func TestPlotPattern(t *testing.T) {
	dir := ringFolder(t)
	out := filepath.Join(dir, "p.png")
	for _, args := range []string{"", "--cuts", "--energies 285.2,284.4 --radii true --axis abs", "--energies all", "--number 2 --linear", "--number 1 --lowest 0.001 --highest 10"} {
		code, text, stderr := apptest.Do(t, append([]string{"plot", "pattern", dir, out, "--phys-size", "5", "--overwrite", "--json"}, strings.Fields(args)...)...)
		if code != 0 || !strings.Contains(text, `"file"`) {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if im, err := png.Decode(bytes.NewReader(b)); err != nil || im.Bounds().Dy() < 300 {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{dir + " " + out, 73, "exists"},
		{dir + " --phys-size 5 --energies 300", 64, "choose from 284.4"},
		{dir + " --phys-size 5 --beam 1", 64, "--beam 1"},
		{dir + " --phys-size 5 --number 99", 64, "want 1 to"},
		{dir + " --phys-size 5 --number 1 --energies 285.2", 64, "give one of them"},
		{dir + " --phys-size 5 --lowest 2 --highest 1", 64, "the smaller one first"},
		{dir + " --phys-size 5 --highest 1", 64, "above 0, or add --linear"},
		{dir, 64, "--phys-size"},
		{"none", 66, "none"},
		{out + " --overwrite", 64, "name a folder or files"},
		{dir + " --phys-size 5 --radii flat", 64, "stretched"},
	} {
		t.Chdir(t.TempDir())
		if code, _, stderr := apptest.Do(t, append([]string{"plot", "pattern"}, strings.Fields(c.args)...)...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s\nexit %d, want %d: %s", c.args, code, c.code, stderr)
		}
	}
}

func TestPlotMorphology(t *testing.T) {
	euler, vector := apptest.VolumeFile(t, apptest.SampleVolume(), cyrsoxs.WriteSettings{}), apptest.VolumeFile(t, apptest.SampleVolume().ToVector(), cyrsoxs.WriteSettings{})
	t.Chdir(t.TempDir())
	for _, args := range []string{euler, vector + " v.png", euler + " s.png --slice y:3 --subsample 2 --least 0.2", euler + " x.pdf --slice x --directors -1", vector + " h.svg --histograms"} {
		code, _, stderr := apptest.Do(t, append([]string{"plot", "morphology"}, strings.Fields(args)...)...)
		if code != 0 {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
	for _, f := range []string{"morphology.svg", "v.png", "s.png", "x.pdf", "h.svg"} {
		if st, err := os.Stat(f); err != nil || st.Size() < 5000 {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{euler, 73, "exists"},
		{euler + " a.svg --slice w", 64, "want z, y or x"},
		{euler + " a.svg --slice z:8", 64, "8 voxels along z: want 0 to 7"},
		{euler + " a.svg --subsample 0", 64, "--subsample 0"},
		{"none.h5 a.svg", 66, "none.h5"},
		{euler + " " + vector + " --overwrite", 64, "one file is drawn"},
		{"h.svg a.svg", 65, "h.svg"},
	} {
		if code, _, stderr := apptest.Do(t, append([]string{"plot", "morphology"}, strings.Fields(c.args)...)...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s\nexit %d, want %d: %s", c.args, code, c.code, stderr)
		}
	}
}
