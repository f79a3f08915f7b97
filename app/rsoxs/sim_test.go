// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// Files of the reference cases, in both precisions: float64 code from the equations,
// tolerances of the reference.
func TestSimRSoXSCases(t *testing.T) {
	golden.Each(t, "scatter/cases/*", func(t *testing.T, name string) {
		want := apptest.ReadNPZ(t, name, "expected.npz")
		c, morphology := apptest.WorkIn(t, name)
		if c.Options.Hann == "hann_symmetric" {
			t.Skip("a form of the window that config.txt cannot ask for")
		}
		for bits, tolerance := range map[string]float64{"64": 1e-10, "32": 5e-6} {
			args := []string{"sim", "rsoxs", morphology, "out" + bits, "--precision", bits, "--quiet", "--json"}
			if c.Options.Grid == "fft" {
				args = append(args, "--grid", "exact")
			} else if c.Options.BaseAngleBug {
				args = append(args, "--parity")
			}
			code, _, stderr := apptest.Do(t, args...)
			if code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			comparePatterns(t, "out"+bits, c.Config.Energies, want, tolerance)
		}
	})
}

// comparePatterns compares the files of a folder with arrays [energy, beam, qy, qx] on
// stable pixels.
func comparePatterns(t *testing.T, dir string, energies []float64, want map[string]*tensor.Tensor, tolerance float64) {
	t.Helper()
	names, err := cyrsoxs.FileNames(energies)
	if err != nil {
		t.Fatal(err)
	}
	w, stable := want["images"].Float64s(), want["stable"].Float64s()
	for e, n := range names {
		p, err := cyrsoxs.ReadPattern(filepath.Join(dir, n))
		if err != nil {
			t.Fatal(err)
		}
		if (p.Images[0].Float64 != nil) != (tolerance < 1e-8) {
			t.Errorf("%s/%s has the wrong precision", dir, n)
		}
		var got []float64
		for _, f := range p.Images {
			got = append(got, f.Float64s()...)
		}
		top, worst := 0.0, 0.0
		for i := range got {
			if x := w[e*len(got)+i]; x > top {
				top = x
			}
		}
		for i, v := range got {
			x := w[e*len(got)+i]
			if stable[e*len(got)+i] == 0 {
				continue
			}
			if math.IsNaN(x) != math.IsNaN(v) {
				t.Fatalf("%s pixel %d is %g, want %g", n, i, v, x)
			}
			if d := math.Abs(x-v) / top; d > worst {
				worst = d
			}
		}
		if !(worst <= tolerance) {
			t.Errorf("%s/%s: largest error %.3g of the maximum", dir, n, worst)
		}
	}
}

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "Energy_*.h5"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, f := range list {
		if all[filepath.Base(f)], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Wherever a run is interrupted, --resume ends with the files of a run that was not.
func TestSimRSoXSResumes(t *testing.T) {
	morphology := apptest.WorkInSample(t)
	if code, _, stderr := apptest.Do(t, "sim", "rsoxs", morphology, "whole"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	want := files(t, "whole")
	seen := map[int]bool{}
	for n := range int32(100) {
		dir := fmt.Sprint("run", n)
		var out, stderr bytes.Buffer
		ctx := &apptest.Countdown{Context: context.Background()}
		ctx.Left.Store(n)
		code := app.Run(ctx, []string{"sim", "rsoxs", morphology, dir, "--quiet"}, &out, &stderr)
		if code == 0 {
			break
		}
		left := files(t, dir)
		if seen[len(left)] {
			continue
		}
		seen[len(left)] = true
		if code != exit.Interrupted || !strings.Contains(stderr.String(), "--resume "+dir) {
			t.Fatalf("interrupted: exit %d: %s", code, stderr.String())
		}
		code, doc, text := apptest.Do(t, "sim", "rsoxs", morphology, "--resume", dir, "--json", "--quiet")
		if code != 0 || strings.Count(doc, `"kept"`) != len(left) {
			t.Errorf("resume after %d files: exit %d: %s%s", len(left), code, doc, text)
		}
		for name, b := range files(t, dir) {
			if !bytes.Equal(b, want[name]) {
				t.Errorf("%s differs after an interruption", name)
			}
		}
	}
	if !seen[0] || !seen[1] {
		t.Errorf("interrupted after %v files", seen)
	}
	// A file that is cut is written anew.
	name := filepath.Join("whole", "Energy_285.20.h5")
	if err := os.WriteFile(name, want["Energy_285.20.h5"][:900], 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "sim", "rsoxs", morphology, "--resume", "whole"); code != 0 || !bytes.Equal(files(t, "whole")["Energy_285.20.h5"], want["Energy_285.20.h5"]) {
		t.Errorf("resume with a cut file: exit %d: %s", code, stderr)
	}
}

func edit(t *testing.T, name, old, text string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), old) {
		t.Fatalf("%s has no %q", name, old)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(b), old, text, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSimRSoXSRefuses(t *testing.T) {
	odd := apptest.VolumeFile(t, apptest.SampleVolume(), cyrsoxs.WriteSettings{XYZ: true})
	morphology := apptest.WorkInSample(t)
	try := func(args string, want int, says string) {
		t.Helper()
		code, out, stderr := apptest.Do(t, strings.Fields("sim rsoxs "+args)...)
		if code != want || !strings.Contains(stderr, says) || want != 0 && out != "" {
			t.Errorf("%s\nexit %d, want %d; standard error %q, want %q in it; standard output %q", args, code, want, stderr, says, out)
		}
	}
	try(morphology+" --resume none", 66, "no run.json")
	if err := os.MkdirAll("foreign", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("foreign/Energy_1.00.h5", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	try(morphology+" foreign", 73, "they are of another program, or of a demonstration")
	try(morphology+" foreign --overwrite", 73, "Energy_1.00.h5 is no scattering pattern: nothing is overwritten")
	if !foreign.Exists("foreign/Energy_1.00.h5") {
		t.Error("--overwrite deleted a file that is no pattern")
	}
	try(morphology+" out", 0, "2 patterns in out")
	first := files(t, "out")
	try(morphology+" out", 0, "")
	try(odd+" out", 73, "results of another morphology")
	try(morphology+" out --grid exact", 73, "made with other flags")
	if err := os.MkdirAll("cyrsoxs", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, b := range first { // as CyRSoXS leaves them, and one of an energy that is not simulated now
		if strings.HasPrefix(name, "Energy_") {
			if err := errors.Join(os.WriteFile("cyrsoxs/"+name, b, 0o644), os.WriteFile("cyrsoxs/Energy_1.00.h5", b, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	try(morphology+" cyrsoxs --overwrite", 0, "")
	if foreign.Exists("cyrsoxs/Energy_1.00.h5") {
		t.Error("--overwrite keeps what was there")
	}
	try(odd+" --resume out", 78, "morphology_sha256")
	try(morphology+" --resume out --grid exact", 78, "other flags")
	try(morphology+" --resume out --out elsewhere", 64, "name one folder")
	try(odd+" out --overwrite", 0, "") // the same volume with other axes
	for name, b := range files(t, "out") {
		if !bytes.Equal(b, first[name]) {
			t.Errorf("%s of the volume in X, Y, Z order differs", name)
		}
	}
	try("", 64, "sim rsoxs needs a file (.h5)")
	try(morphology+" --grid fine", 64, "cyrsoxs or exact")
	try(morphology+" --grid exact --parity", 64, "--parity")
	try(morphology+" --precision 16", 64, "32 or 64")
	try(morphology+" --grdi exact", 64, "--grdi")
	try("none.h5", 66, "none.h5")
	try("config.txt", 65, "config.txt")
	try(morphology+" config.txt", 73, "")
	edit(t, "Material2.txt", "285.2", "285.3")
	try(morphology+" out", 65, "285.2")
	edit(t, "Material2.txt", "285.3", "285.2")
	edit(t, "config.txt", "MorphologyType = 0", "MorphologyType = 1")
	try(morphology+" out", 78, "set MorphologyType = 0")
	edit(t, "config.txt", "MorphologyType = 1", "MorphologyType = 0")
	edit(t, "config.txt", "[284.4, 285.2]", "[285.2, 285.2]")
	try(morphology+" out", 78, "285.2")
	edit(t, "config.txt", "[285.2, 285.2]", "[285.2, 284.4]")
	try(morphology+" turned", 0, "order")
	for name, b := range files(t, "turned") {
		if !bytes.Equal(b, first[name]) {
			t.Errorf("%s depends on the order of the energies", name)
		}
	}
	if err := os.Remove("config.txt"); err != nil {
		t.Fatal(err)
	}
	try(morphology+" out", 66, "config.txt")
}

// Fractions that do not sum to 1 are a warning, and with --strict an error.
func TestSimRSoXSStrict(t *testing.T) {
	name := apptest.WorkInSample(t)
	m, err := cyrsoxs.ReadMorphology(name, cyrsoxs.ReadSettings{})
	if err != nil {
		t.Fatal(err)
	}
	m.Phases[0].Vfrac.Float32[0] += 0.25
	if err := cyrsoxs.WriteMorphology("open.h5", m, cyrsoxs.WriteSettings{Gzip: 1}); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "sim", "rsoxs", "open.h5", "--strict"); code != exit.Failed || !strings.Contains(stderr, "sum") {
		t.Errorf("--strict: exit %d: %s", code, stderr)
	}
	if left := files(t, "HDF5"); len(left) > 0 {
		t.Errorf("--strict left %d files", len(left))
	}
	edit(t, "config.txt", "NumThreads = 1;", "NumThreads = 1; DumpMorphology = True; HDF5DirName = \"results\";")
	code, out, stderr := apptest.Do(t, "sim", "rsoxs", "open.h5", "--json", "--collapse-z")
	var doc struct {
		Engine   string
		Energies []struct{ File string }
		Checks   []string
		Timing   map[string]float64
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("%v, exit %d: %s", err, code, stderr)
	}
	if doc.Engine != "rsoxs" || len(doc.Energies) != 2 || doc.Energies[0].File != "results/Energy_284.40.h5" || len(doc.Checks) == 0 || doc.Timing["total_s"] <= 0 {
		t.Errorf("%+v", doc)
	}
	for _, f := range []string{"CyRSoXS.log", "Morphology/Morphology.h5", "Morphology/Morphology.xdmf", "results/run.json", doc.Energies[1].File} {
		if _, err := os.Stat(f); err != nil {
			t.Error(err)
		}
	}
}

// Energies that two decimals do not tell apart get files of their own.
func TestSimRSoXSCloseEnergies(t *testing.T) {
	morphology := apptest.WorkInSample(t)
	edit(t, "config.txt", "[284.4, 285.2]", "[284.4, 284.4004]")
	if code, _, stderr := apptest.Do(t, "sim", "rsoxs", morphology, "out"); code != 0 || !strings.Contains(stderr, "another energy has the name") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	var names []string
	for n := range files(t, "out") {
		names = append(names, n)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"Energy_284.4.h5", "Energy_284.4004.h5"}) {
		t.Errorf("files %v", names)
	}
}
