// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// demoFolder makes the data of the demonstration, an inverse problem that takes a
// tenth of the time of the reference's, and returns its problem as a map to be changed.
func demoFolder(t *testing.T) (dir string, problem map[string]any) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "demo")
	if code, _, stderr := apptest.Do(t, "demo", "rsoxs", "--data", "--out", dir, "--quiet"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	b, err := os.ReadFile(filepath.Join(dir, "problem.json"))
	if err == nil {
		err = json.Unmarshal(b, &problem)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, problem
}

// Both ways of fitting end where SciPy's L-BFGS-B did on the same noisy patterns.
func TestInvertRSoXSAgainstReference(t *testing.T) {
	if !tier.Slow {
		t.Skip("make test-slow fits the reference's particle: quick tests fit that of the demonstration")
	}
	dir, problem, want := apptest.InversionFolder(t)
	var sd [2]float64
	for i, method := range []string{"lm", "lbfgs"} {
		run := filepath.Join(dir, method)
		args := []string{"invert", "rsoxs", apptest.ProblemFile(t, dir, problem, map[string]any{"method": method}), "--out", run, "--json", "--quiet"}
		files := []string{"config.json", "fit.json", "report.html", "plots/patterns.png", "plots/iq.svg", "plots/aq.png", "plots/morphology.png", "morphology.h5"}
		code, out, stderr := apptest.Do(t, args...)
		var doc rsoxs.InvertDoc
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
			t.Fatalf("%v, exit %d: %s", err, code, stderr)
		}
		for k, name := range []string{"radius", "shell", "aligned"} {
			if got := float64(doc.X[name]); !(math.Abs(got/want[k]-1) < 1e-4) || !(doc.SD[name] > 0) {
				t.Errorf("%s: %s is %g +- %g, want %g", method, name, got, doc.SD[name], want[k])
			}
		}
		if doc.Engine != "rsoxs" || doc.Status != "converged" || doc.Points == 0 || doc.Run != run {
			t.Errorf("%+v", doc)
		}
		sd[i] = float64(doc.SD["radius"])
		for _, f := range files {
			if st, err := os.Stat(filepath.Join(run, f)); err != nil || st.Size() == 0 {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
	if !(math.Abs(sd[0]/sd[1]-1) < 0.01) {
		t.Errorf("standard deviations %v of the two ways differ", sd)
	}
}

// L-BFGS finds parameters of very different sizes, and losses in small units: those of
// the demonstration, in the slow tests also of the reference.
func TestInvertRSoXSUnits(t *testing.T) {
	dir, problem := demoFolder(t)
	checkUnits(t, dir, problem, demo.Particle()["radius"])
	if tier.Slow {
		dir, problem, want := apptest.InversionFolder(t)
		checkUnits(t, dir, problem, want[0])
	}
}

func checkUnits(t *testing.T, dir string, problem map[string]any, radius float64) {
	t.Helper()
	params := map[string]any{"scale": map[string]any{"start": 0.9}, "background": map[string]any{"start": 1e-9}}
	for k, v := range problem["parameters"].(map[string]any) {
		params[k] = v
	}
	for what, changes := range map[string]map[string]any{"parameters": {"parameters": params}, "losses": {"loss": "square", "sigma": nil}} {
		changes["method"] = "lbfgs"
		code, out, stderr := apptest.Do(t, "invert", "rsoxs", apptest.ProblemFile(t, dir, problem, changes), "--out", filepath.Join(dir, what), "--json", "--quiet", "--no-report")
		if all := apptest.Rows(t, filepath.Join(dir, what, "fits.csv")); apptest.Cell(t, all, 1, "parameter") != "radius" || apptest.Cell(t, all, 1, "unit") != "nm" || apptest.Cell(t, all, 1, "status") == "" {
			t.Errorf("%s: %q", what, all)
		}
		var doc rsoxs.InvertDoc
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || !(math.Abs(float64(doc.X["radius"])/radius-1) < 0.05) {
			t.Errorf("%s: %v, exit %d: %s %+v", what, err, code, stderr, doc)
		}
	}
}

// Voxels of a known support are found as well as by SciPy's L-BFGS-B, from a start in a
// file.
func TestInvertRSoXSVoxels(t *testing.T) {
	var d apptest.InverseDemo
	demo := golden.Having(t, "scatter/demo/*.json", "support_yx")[0]
	golden.JSON(t, &d, demo)
	arrays := apptest.ReadNPZ(t, strings.TrimSuffix(demo, "json")+"npz")
	dir := t.TempDir()
	for name, x := range arrays {
		var b bytes.Buffer
		if err := x.WriteNPY(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".npy"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lo, hi := d.Support[0], d.Support[1]
	file := apptest.ProblemFile(t, dir, map[string]any{"model": "voxels", "grid": map[string]any{"shape": d.Shape, "voxel": d.Voxel},
		"options": map[string]any{"from": []int{0, lo, lo}, "to": []int{1, hi, hi}}, "parameters": map[string]any{"logit": map[string]any{"start_file": "logit_start.npy"}},
		"data": "D.npy", "energies": d.Config.Energies, "constants": d.Constants(1), "mask": map[string]any{"file": "mask.npy"}, "eps": d.Eps}, nil)
	code, out, stderr := apptest.Do(t, "invert", "rsoxs", file, "--out", filepath.Join(dir, "run"), "--json", "--quiet")
	var doc rsoxs.InvertDoc
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Method != "lbfgs" {
		t.Fatalf("%v, exit %d: %s %s", err, code, stderr, doc.Method)
	}
	sum := 0.0
	truth := arrays["vfrac_truth"].Float64s()
	for i, want := range truth {
		e := 1/(1+math.Exp(-float64(doc.X[fmt.Sprintf("logit[%d]", i)]))) - want
		sum += e * e
	}
	if rms := math.Sqrt(sum / float64(len(truth))); !(rms < d.RMS/20) {
		t.Errorf("rms %g after %d evaluations: want %g", rms, doc.NFev, d.RMS/20)
	}
}

// An interrupted fit keeps its best point, from which --resume goes on to the end of
// one that was not: that of the demonstration, in the slow tests also of the reference,
// which ends where SciPy does.
func TestInvertRSoXSResumes(t *testing.T) {
	dir, problem := demoFolder(t)
	code, text, errs := apptest.Do(t, "invert", "rsoxs", apptest.ProblemFile(t, dir, problem, nil), "--out", filepath.Join(dir, "whole"), "--json", "--quiet", "--no-report")
	var whole rsoxs.InvertDoc
	if err := json.Unmarshal([]byte(text), &whole); err != nil || code != 0 {
		t.Fatalf("%v, exit %d: %s", err, code, errs)
	}
	checkResumes(t, dir, problem, float64(whole.X["radius"]))
	if tier.Slow {
		dir, problem, want := apptest.InversionFolder(t)
		checkResumes(t, dir, problem, want[0])
	}
}

func checkResumes(t *testing.T, dir string, problem map[string]any, radius float64) {
	t.Helper()
	run1 := filepath.Join(dir, "run")
	var out, stderr bytes.Buffer
	ctx := &apptest.Countdown{Context: context.Background()}
	ctx.Left.Store(3)
	code := app.Run(ctx, []string{"invert", "rsoxs", apptest.ProblemFile(t, dir, problem, nil), "--out", run1, "--quiet"}, &out, &stderr)
	if code != exit.Interrupted || !strings.Contains(stderr.String(), "--resume "+run1) {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	code, text, errs := apptest.Do(t, "invert", "rsoxs", "--resume", run1, "--json", "--quiet")
	var doc rsoxs.InvertDoc
	if err := json.Unmarshal([]byte(text), &doc); err != nil || code != 0 || !(math.Abs(float64(doc.X["radius"])/radius-1) < 1e-4) {
		t.Errorf("%v, exit %d: %s %+v", err, code, errs, doc)
	}
}

// The demonstration finds its particle, twice; its posterior goes on to the same draws,
// and its curves tell much the same as its images. The quick tests carry out its steps
// with fewer draws.
func TestDemoRSoXS(t *testing.T) {
	if testing.Short() {
		t.Skip("it samples for some seconds")
	}
	chainCount, rhat, spread := 4, 1.05, 0.3
	dir := filepath.Join(t.TempDir(), "demo")
	if tier.Slow {
		code, out, stderr := apptest.Do(t, "demo", "rsoxs", "--out", dir, "--quiet")
		if code != 0 || !strings.Contains(out, "r_hat") || !strings.Contains(out, "Try next") {
			t.Fatalf("exit %d: %s %s", code, out, stderr)
		}
	} else {
		chainCount, rhat, spread = 2, 1.3, 0.6
		dir, _ = demoFolder(t)
		for _, line := range []string{"problem.json --out fit --no-report", "posterior.json --out posterior --chains 2 --warmup 20 --draws 10 --retries 0"} {
			args := strings.Fields(line)
			args[0], args[2] = filepath.Join(dir, args[0]), filepath.Join(dir, args[2])
			if code, out, stderr := apptest.Do(t, append([]string{"invert", "rsoxs", "--quiet"}, args...)...); code != 0 || !strings.Contains(out, "radius") {
				t.Fatalf("%s: exit %d: %s %s", line, code, out, stderr)
			}
		}
	}
	var fit rsoxs.InvertDoc
	var doc struct {
		Engine, Model, Method, Run string
		Summary                    map[string]map[string]float64
		Diagnostics                struct {
			EBFMI []float64 `json:"e_bfmi"`
			OK    bool
		}
	}
	for name, into := range map[string]any{"fit/fit.json": &fit, "posterior/summary.json": &doc} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, truth := range demo.Particle() {
		s := doc.Summary[name]
		if !(math.Abs(s["mean"]-truth) < 4*s["sd"]) || !(s["r_hat"] < rhat) {
			t.Errorf("posterior of %s: %v, truth %g", name, s, truth)
		}
		if x, sd := float64(fit.X[name]), float64(fit.SD[name]); !(math.Abs(x-truth) < 4*sd) || !(math.Abs(sd/s["sd"]-1) < spread) {
			t.Errorf("fit of %s: %g +- %g, truth %g, posterior %v", name, x, sd, truth, s)
		}
	}
	if doc.Engine != "rsoxs" || doc.Method != "nuts" || doc.Model != "core_shell" || len(doc.Diagnostics.EBFMI) != chainCount {
		t.Errorf("%+v", doc)
	}
	run := filepath.Join(dir, "posterior")
	for _, f := range []string{fmt.Sprintf("chain-%d.csv", chainCount), "plots/pair.png", "plots/patterns.svg", "report.html", "draws.zarr"} {
		if !foreign.Exists(filepath.Join(run, f)) {
			t.Errorf("no %s", f)
		}
	}
	before := apptest.Chains(t, run)
	if code, _, stderr := apptest.Do(t, "invert", "rsoxs", "--resume", run, "--quiet"); code != 0 || apptest.Chains(t, run) != before {
		t.Errorf("resume: exit %d: %s", code, stderr)
	}
	edit(t, filepath.Join(dir, "problem.json"), `"sigma": 0.1`, `"compare": "curves"`)
	args := []string{"invert", "rsoxs", filepath.Join(dir, "problem.json"), "--out", filepath.Join(dir, "curves"), "--json", "--quiet"}
	if !tier.Slow {
		args = append(args, "--no-report")
	}
	code, out, stderr := apptest.Do(t, args...)
	if err := json.Unmarshal([]byte(out), &fit); err != nil || code != 0 || !(math.Abs(float64(fit.X["radius"])-demo.Particle()["radius"]) < 0.3) {
		t.Errorf("curves: %v, exit %d: %s %+v", err, code, stderr, fit)
	}
	if code, _, stderr := apptest.Do(t, "demo", "rsoxs", "--out", dir, "--data", "--quiet"); code != exit.CannotWrite {
		t.Errorf("a full folder: exit %d: %s", code, stderr)
	}
}

func TestInvertRSoXSRefuses(t *testing.T) {
	d := apptest.InverseDemo{Start: []float64{10, 11, 0.25}, Shape: []int{16, 48, 48}, Voxel: 2.5, Centre: [3]float64{7.7, 23.1, 23.6}, Width: 1.25, Eps: 1e-6}
	d.Config.Energies, d.Config.EAngleRotation = []float64{280, 284.7, 285.2}, []float64{0, 30, 150}
	rows := [][]float64{{1e-3, 1e-3, 1e-3, 1e-3}, {2e-3, 1e-3, 0, 3e-3}}
	d.Optical = map[string][][]float64{"280.0": rows, "284.7": rows, "285.2": rows}
	ones := tensor.New(tensor.Float64, 3, 48, 48)
	for i := range ones.Size() {
		ones.Data().([]float64)[i] = 1
	}
	dir, problem := d.CoreShell(t, ones, ones)
	grid := func(n ...int) map[string]any { return map[string]any{"shape": n, "voxel": 2.5} }
	for _, c := range []struct {
		changes map[string]any
		code    int
		says    string
	}{
		{map[string]any{"modle": "rod"}, 65, `unknown key "modle": did you mean "model"?`},
		{map[string]any{"model": "core_shel"}, 65, `did you mean "core_shell"?`},
		{map[string]any{"grid": map[string]any{"shape": []int{1, 2, 3}, "voxle": 1}}, 65, `unknown key "grid.voxle": did you mean "voxel"?`},
		{map[string]any{"grid": grid(1, -3, 4)}, 65, "grid.shape"},
		{map[string]any{"grid": grid(16, 1<<40, 1<<40)}, 65, "grid.shape"},
		{map[string]any{"grid": grid(1, 32, 32)}, 65, "48 x 48 pixels"},
		{map[string]any{"grid": 7}, 65, "grid is 7"},
		{map[string]any{"fixed": map[string]any{"radus": 1}}, 65, `unknown parameter "radus": did you mean "radius"?`},
		{map[string]any{"parameters": map[string]any{"radius": map[string]any{"start": 1}}}, 65, "parameter shell, thickness of the shell in nm"},
		{map[string]any{"parameters": map[string]any{"radius": map[string]any{"start": 1, "prior": "norml(0, 1)"}, "shell": map[string]any{"start": []int{1, 2}}, "aligned": map[string]any{"start": 1, "bounds": []int{1, 0}}}}, 65, "norml"},
		{map[string]any{"loss": "lgo", "method": "nutz"}, 65, `did you mean "nuts"?`},
		{map[string]any{"method": "nuts"}, 65, "needs sigma"},
		{map[string]any{"sigma": -1}, 65, "sigma"},
		{map[string]any{"data": "none"}, 66, "none"},
		{map[string]any{"data": nil}, 65, "data is missing"},
		{map[string]any{"energies": []float64{280}}, 65, "1 energy"},
		{map[string]any{"constants": []any{"vacuum"}}, 65, "2 materials"},
		{map[string]any{"constants": []any{"vacuum", "Material9.txt"}}, 66, "Material9.txt"},
		{map[string]any{"constants": []any{"vacuum", [][]int{{1}}}}, 65, "row 1 has 1 number"},
		{map[string]any{"constants": []any{"vacuum", 3}}, 65, "material 2"},
		{map[string]any{"mask": map[string]any{"q": []float64{5, 6}}}, 65, "no pixel"},
		{map[string]any{"config": "config.txt"}, 65, "config sets angles"},
		{map[string]any{"parameters": map[string]any{"radius": map[string]any{"start_file": "x.npy"}, "shell": map[string]any{"start": 1}, "aligned": map[string]any{"start": 1}}}, 66, "x.npy"},
		{map[string]any{"parameters": map[string]any{"radius": map[string]any{"start_file": "mask.npy"}, "shell": map[string]any{"start": 1}, "aligned": map[string]any{"start": 1}}}, 65, "6912 starting values: want 1"},
	} {
		code, out, stderr := apptest.Do(t, "invert", "rsoxs", apptest.ProblemFile(t, dir, problem, c.changes), "--out", filepath.Join(dir, "out"), "--quiet")
		if code != c.code || !strings.Contains(stderr, c.says) || out != "" {
			t.Errorf("%v\nexit %d, want %d; standard error %q, want %q in it", c.changes, code, c.code, stderr, c.says)
		}
	}
	for args, want := range map[string]int{"": 64, dir + "/none.json": 66, "--resume " + dir: 66, "a b": 64, dir + "/problem.json --chains 0": 64} {
		if code, _, stderr := apptest.Do(t, append([]string{"invert", "rsoxs"}, strings.Fields(args)...)...); code != want {
			t.Errorf("%s: exit %d, want %d: %s", args, code, want, stderr)
		}
	}
	if foreign.Exists(filepath.Join(dir, "out")) {
		t.Error("a refused problem left a folder")
	}
}
