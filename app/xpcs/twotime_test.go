// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/xpcs"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/docs"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/tier"
)

// flowFiles are the demonstration's correlations and their configuration, simulated once.
var flowFiles = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "flow")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := demo.Sheared(1).Write(context.Background(), dir); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range []string{"flow.hdf", "flow.yaml"} {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return files, nil
})

// flowFolder makes a folder with flowFiles the working directory.
func flowFolder(t *testing.T) {
	t.Helper()
	files, err := flowFiles()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, b := range files {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// succeed runs a command line that must succeed and reads its document into doc.
func succeed(t *testing.T, line string, doc any) {
	t.Helper()
	code, out, stderr := apptest.Do(t, strings.Fields(line+" --json --quiet")...)
	if code != exit.OK {
		t.Fatalf("%s: exit %d: %s", line, code, stderr)
	}
	if err := json.Unmarshal([]byte(out), doc); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
}

// A fit finds the truth within errors that allow for shared frames; its folder is what homodyne's scripts expect, and is drawn and begun from.
func TestFitTwotime(t *testing.T) {
	flowFolder(t)
	truth := demo.Sheared(1)
	var doc xpcs.MotionFitDoc
	succeed(t, "fit twotime flow.yaml --out run", &doc)
	names := truth.Setup.Names()
	for k, v := range truth.Sample.Theta {
		sd := float64(doc.SD[names[k]])
		if slices.Contains(doc.Fixed, names[k]) {
			sd = 1e-12
		} else if !(sd > float64(doc.Independent[names[k]])) {
			t.Errorf("%s: an error of %g where independent entries would have %g", names[k], sd, doc.Independent[names[k]])
		}
		if ends := doc.Interval[names[k]]; !slices.Contains(doc.Fixed, names[k]) && !(ends[0] < doc.X[names[k]] && doc.X[names[k]] < ends[1]) {
			t.Errorf("%s = %g is outside its interval %v", names[k], doc.X[names[k]], ends)
		}
		if math.Abs(float64(doc.X[names[k]])-v) > 4*sd {
			t.Errorf("%s = %g +- %g, want %g", names[k], doc.X[names[k]], sd, v)
		}
	}
	if !doc.Check.OK || doc.Status != "converged" || float64(doc.Effective) > 0.7*float64(doc.Points) || len(doc.Noise) != 3 || math.Abs(float64(doc.Noise[0].Speckles)-1e4) > 1500 || math.Abs(float64(doc.Noise[0].MeanCount)-0.5) > 0.05 ||
		!strings.Contains(strings.Join(doc.Notes, " "), "twice the diffusion coefficient") {
		t.Errorf("%+v", doc)
	}
	s, err := homodyne.ReadStart("run")
	if err != nil || s.Customary || s.Window || s.Values[slices.Index(s.Names, "D0")] != float64(doc.X["D0"]) {
		t.Errorf("%+v, %v", s, err)
	}
	for _, name := range []string{"nlsq/fitted_data.npz", "nlsq/analysis_results_nlsq.json", "nlsq/convergence_metrics.json", "report.html", "plots/twotime.png", "data.npz"} {
		if !foreign.Exists(filepath.Join("run", name)) {
			t.Errorf("there is no %s", name)
		}
	}
	all := apptest.Rows(t, "run/fits.csv")
	if apptest.Cell(t, all, 1, "parameter") != "D0" || apptest.Cell(t, all, 1, "unit") != "A^2/s^(1+alpha)" || apptest.Cell(t, all, 1, "q (1/A)") == "" || apptest.Cell(t, all, 1, "low95") == "" || apptest.Cell(t, all, len(all)-1, "parameter") != "offset" || apptest.Cell(t, all, len(all)-1, "phi (deg)") == "" {
		t.Errorf("%q", all)
	}
	if code, _, stderr := apptest.Do(t, "fit", "twotime", "flow.yaml", "--out", "run", "--quiet"); code != exit.CannotWrite || !strings.Contains(stderr, "--overwrite") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	var again xpcs.MotionFitDoc
	succeed(t, "fit twotime flow.yaml --starts 1 --from run --out run --overwrite", &again)
	for name, v := range doc.X {
		if math.Abs(float64(again.X[name]-v)) > 1e-4*float64(doc.SD[name]) {
			t.Errorf("begun from a result: %s = %g, was %g", name, again.X[name], v)
		}
	}
	for _, line := range []string{"plot twotime run maps.png", "plot twotime run lags.svg --diagonals --bins 1,3", "plot twotime flow.hdf raw.png", "plot twotime flow.hdf raw.svg --diagonals --bins 3"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != exit.OK {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
	code, out, _ := apptest.Do(t, "fit", "twotime", "flow.hdf", "--config", "flow.yaml", "--shear", "homodyne", "--time-origin", "window", "--scaling", "auto")
	for _, want := range []string{"gamma_dot_t0 is as homodyne has it", "divided by pi/sqrt(2)", "by the Bayesian information criterion", "error for independent entries"} {
		if code != exit.OK || !strings.Contains(out, want) {
			t.Errorf("exit %d, without %q: %s", code, want, out)
		}
	}
}

// A posterior covers the truth; draws, tables and pictures are those of other runs; an interrupted run goes on to the same draws.
func TestSampleTwotime(t *testing.T) {
	tier.SlowOnly(t)
	flowFolder(t)
	const settings = " --frames 1:36 --chains 2 --warmup 150 --draws 150 --retries 0 --seed 3"
	var doc xpcs.MotionPosteriorDoc
	succeed(t, "sample twotime flow.yaml --homodyne --out run"+settings, &doc)
	truth := demo.Sheared(1)
	for k, name := range truth.Setup.Names() {
		if r := doc.Summary[name]; math.Abs(float64(r.Mean)-truth.Sample.Theta[k]) > 4*float64(r.SD)+1e-12 {
			t.Errorf("%s = %g +- %g, want %g", name, r.Mean, r.SD, truth.Sample.Theta[k])
		}
	}
	if r := doc.Scales["contrast_0"]; math.Abs(float64(r.Mean)-0.2) > 4*float64(r.SD) || len(doc.Scales) != 6 || doc.Likelihood != "cells" || !doc.Check.OK || doc.Diagnostics.Divergences > 0 {
		t.Errorf("%+v", doc)
	}
	for _, name := range []string{"cmc/samples.npz", "cmc/parameters.json", "cmc/diagnostics.json", "cmc/summary.csv", "chain-2.csv", "report.html"} {
		if !foreign.Exists(filepath.Join("run", name)) {
			t.Errorf("there is no %s", name)
		}
	}
	for _, line := range []string{"summary run", "diagnose run", "convert run draws.nc", "plot pair run pair.png --var D0,alpha", "plot twotime run maps.png"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != exit.OK {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
	// stopped while it samples
	ctx, cancel := context.WithCancel(t.Context())
	var n atomic.Int64
	restore := atomicfile.Inject(func(op, path string) error {
		if op == "create" && filepath.Base(path) == "checkpoint" && n.Add(1) == 2 {
			cancel()
		}
		return nil
	})
	var out, stderr strings.Builder
	code := app.Run(ctx, strings.Fields("sample twotime flow.yaml --quiet --no-report --checkpoint 1ms --out stopped"+settings), &out, &stderr)
	restore()
	if code != exit.Interrupted || !strings.Contains(stderr.String(), "--resume stopped") || foreign.Exists("stopped/summary.json") {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	if err := os.Remove("flow.hdf"); err != nil {
		t.Fatal(err)
	}
	var whole xpcs.MotionPosteriorDoc
	succeed(t, "sample twotime --resume stopped", &whole)
	if a, b := whole.Summary["D0"], doc.Summary["D0"]; a != b {
		t.Errorf("a run that went on has D0 %+v, one that was not stopped %+v", a, b)
	}
}

// Other likelihoods say what they are.
func TestLikelihoodsOfTwotime(t *testing.T) {
	flowFolder(t)
	for name, want := range tier.Of(map[string]string{"independent": "too narrow"}, map[string]string{"independent": "too narrow", "pairs": "allows on average for entries"}) {
		code, out, stderr := apptest.Do(t, strings.Fields("sample twotime flow.yaml --quiet --no-report --frames 1:20 --chains 2 --warmup 60 --draws 40 --retries 0 --likelihood "+name+" --out "+name)...)
		if code != exit.OK || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s%s", name, code, out, stderr)
		}
	}
}

// Simulated files of every layout are fitted, also by flags alone.
func TestSimTwotime(t *testing.T) {
	t.Chdir(t.TempDir())
	const sim = "sim twotime %s --model two-component --frames 20 --angles 0,90 --set v0=300 --set D0_ref=3000 --speckles 3000"
	for _, name := range []string{"c2.npz", "c2.hdf", "old.h5 --layout aps_old"} {
		var doc map[string]any
		succeed(t, strings.Replace(sim, "%s", name, 1), &doc)
		file, _, _ := strings.Cut(name, " ")
		if truth, ok := doc["truth"].(map[string]any); !ok || truth["v0"] != 300.0 {
			t.Errorf("%v", doc)
		}
		if code, _, stderr := apptest.Do(t, "sim", "twotime", file); code != exit.CannotWrite {
			t.Errorf("exit %d: %s", code, stderr)
		}
	}
	var doc xpcs.MotionFitDoc
	succeed(t, "fit twotime old.h5 --model two-component --starts 2 --frame-time 0.1 --angles -10:10 --fixed phi0_het=0", &doc)
	if len(doc.Phi) != 1 || doc.Frames != [2]int{1, 20} || !slices.Contains(doc.Fixed, "f2") {
		t.Errorf("%+v", doc)
	}
}

// Correlations of simulated frames tell twice the diffusion coefficient of their particles.
func TestTwotimeOfCorrelate(t *testing.T) {
	tier.SlowOnly(t)
	t.Chdir(t.TempDir())
	for _, line := range []string{"demo xpcs --data --out x --quiet", "correlate x/movie.h5 --qmap x/qmap.hdf --correlation twotime --bins 1-3 --average-frames 10 --out results --quiet"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != exit.OK {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	var doc xpcs.MotionFitDoc
	succeed(t, "fit twotime results/movie_results.hdf --q 0.0021 --fixed D_offset=0 --fixed alpha=0", &doc)
	if d, sd := float64(doc.X["D0"]), float64(doc.SD["D0"]); math.Abs(d-2*demo.Particles(0).Diffusion) > 4*sd || sd > 0.05*d || !doc.Check.OK {
		t.Errorf("D0 = %g +- %g, want twice %g; %s", d, sd, demo.Particles(0).Diffusion, doc.Check.Summary)
	}
}

// What a configuration means is told.
func TestInfoOfConfiguration(t *testing.T) {
	flowFolder(t)
	var doc xpcs.ConfigDoc
	succeed(t, "info flow.yaml", &doc)
	if doc.Model != homodyne.LaminarFlow || len(doc.Parameters) != 7 || !doc.Parameters[2].Fixed || doc.Data != "flow.hdf" {
		t.Errorf("%+v", doc)
	}
	if code, out, stderr := apptest.Do(t, "info", "flow.yaml"); code != exit.OK || !strings.Contains(out, "laminar_flow") || !strings.Contains(out, "frames 1 to the last, 0.1 s each\n") || !strings.Contains(out, "weak") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if code, _, stderr := apptest.Do(t, "info", "flow.hdf"); code != exit.WrongUsage || !strings.Contains(stderr, ".yaml") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// The gap between the plates is told with what gives it, before a fit is begun from something that is no result.
func TestGapIsTold(t *testing.T) {
	flowFolder(t)
	for line, want := range map[string]string{
		"flow.hdf --model laminar":           "taken as 200 um, the default",
		"flow.hdf --model laminar --gap 1mm": "is 1000 um, from the setting gap",
		"flow.yaml":                          "um, from analyzer_parameters.geometry.stator_rotor_gap",
		"flow.hdf --model static":            "",
		"flow.hdf --model laminar --gap 0.2": "if it is in mm, write 0.2mm",
	} {
		_, _, stderr := apptest.Do(t, strings.Fields("fit twotime "+line+" --from flow.hdf")...)
		if !strings.Contains(stderr, want) || strings.Contains(stderr, "the gap between the plates") != (want != "") {
			t.Errorf("%s: want %q: %s", line, want, stderr)
		}
	}
}

// Wrong flags and files are named.
func TestWrongTwotime(t *testing.T) {
	flowFolder(t)
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"fit twotime", exit.WrongUsage, "name a file"}, {"fit twotime none.hdf", exit.NoInput, "none.hdf"}, {"fit twotime none.yaml", exit.NoInput, "none.yaml"},
		{"fit twotime flow.hdf --model laminer", exit.WrongUsage, `did you mean "laminar"`}, {"fit twotime flow.yaml --model static", exit.WrongUsage, "is for laminar;"},
		{"fit twotime flow.hdf --q 0.1", exit.Data, "0.0054"}, {"fit twotime flow.hdf --q -1", exit.WrongUsage, "--q -1"}, {"fit twotime flow.hdf --frames 5", exit.WrongUsage, "101:400"},
		{"fit twotime flow.hdf --frames 0:59", exit.WrongUsage, "frames are counted from 1, so that the first 60 are 1:60"},
		{"fit twotime flow.hdf --angles x", exit.WrongUsage, "--angles"}, {"fit twotime flow.hdf --angles 30", exit.Data, "30"},
		{"fit twotime flow.hdf --fixed gamma=1", exit.WrongUsage, "gamma"}, {"fit twotime flow.hdf --fixed D0", exit.WrongUsage, "name=value"}, {"fit twotime flow.hdf --bounds D0=5:1", exit.WrongUsage, "lo < hi"},
		{"fit twotime flow.hdf --start D0=5 --bounds D0=10:20", exit.WrongUsage, "outside"}, {"fit twotime flow.hdf --start D0=-5", exit.Data, "D0"}, {"fit twotime flow.hdf --scaling best", exit.WrongUsage, "averaged"},
		{"fit twotime flow.hdf --scaling constant", exit.WrongUsage, "--contrast"}, {"fit twotime flow.hdf --scaling fourier", exit.Data, "angles"}, {"fit twotime flow.hdf --mean-count 1", exit.WrongUsage, "--speckles"},
		{"fit twotime flow.hdf --starts 0", exit.WrongUsage, "--starts 0"}, {"fit twotime flow.hdf --time-origin then", exit.WrongUsage, "--time-origin"}, {"fit twotime flow.hdf --shear both", exit.WrongUsage, "physical"},
		{"fit twotime flow.yaml --config flow.yaml", exit.WrongUsage, "are both configurations"}, {"fit twotime flow.yaml --from flow.hdf", exit.Data, "flow.hdf"},
		{"fit twotime flow.hdf --resume x", exit.WrongUsage, "no run to continue"}, {"fit twotime flow.hdf --band 70", exit.Data, "band"},
		{"sample twotime flow.yaml --likelihood whishart", exit.WrongUsage, `did you mean "wishart"`}, {"sample twotime flow.yaml --prior D0=normal", exit.WrongUsage, "--prior"}, {"sample twotime flow.yaml --prior D1=normal(0,1)", exit.WrongUsage, "D0"},
		{"sample twotime flow.yaml --prior D0=lognormal(7,1) --prior log_D0=normal(7,1)", exit.WrongUsage, "already has a prior"}, {"sample twotime flow.yaml --prior contrast=uniform(0,1)", exit.WrongUsage, "normal"}, {"sample twotime", exit.WrongUsage, "FILE"},
		{"sim twotime x.npz --frames 2", exit.WrongUsage, "--frames 2"}, {"sim twotime x.npz --contrast 0.1,0.2", exit.WrongUsage, "2 numbers for 3 angles"}, {"sim twotime x.npz --layout nexus", exit.WrongUsage, "aps_u"}, {"sim twotime x.npz --set D0=-1000", exit.WrongUsage, "D0"},
		{"sim twotime x.npz --contrast 2", exit.WrongUsage, "contrast"}, {"plot twotime .", exit.NoInput, "run folder"},
	} {
		code, out, stderr := apptest.Do(t, strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(stderr, c.want) || out != "" {
			t.Errorf("%s: exit %d, want %d with %q: %s", c.line, code, c.code, c.want, stderr)
		}
	}
}

// An interrupt ends every command with its exit code.
func TestInterruptedTwotime(t *testing.T) {
	flowFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{"fit twotime flow.yaml --out a", "sample twotime flow.yaml --out b", "sim twotime c.npz"} {
		var out, stderr strings.Builder
		if code := app.Run(ctx, strings.Fields(line), &out, &stderr); code != exit.Interrupted || out.Len() > 0 || foreign.Exists("a/fit.json") || foreign.Exists("c.npz") {
			t.Errorf("%s: exit %d: %s%s", line, code, out.String(), stderr.String())
		}
	}
}

// Every command of the guide runs, in its order; posteriors are short ones.
func TestGuideOfTwotime(t *testing.T) {
	if !tier.Slow {
		t.Skip("make test-slow runs the commands of the guide")
	}
	pages, err := docs.Pages(apptest.Root("docs", "guide"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	count := 0
	for _, p := range pages {
		if p.Path != "twotime.md" {
			continue
		}
		for _, b := range p.Blocks {
			for line := range strings.Lines(b.Text) {
				line, isCommand := strings.CutPrefix(strings.TrimSpace(line), "euryale ")
				if !isCommand {
					continue
				}
				count++
				switch {
				case line == "demo twotime":
					line += " --data"
				case strings.HasPrefix(line, "sample "):
					line += " --chains 2 --warmup 60 --draws 40 --retries 0 --no-report"
				case strings.HasPrefix(line, "fit "):
					line += " --starts 2"
				}
				if code, _, stderr := apptest.Do(t, append(strings.Fields(strings.ReplaceAll(line, `"`, "")), "--quiet")...); code != exit.OK {
					t.Errorf("euryale %s: exit %d: %s", line, code, stderr)
				}
			}
		}
	}
	if count < 12 {
		t.Errorf("%d commands in the guide: they are not found any more", count)
	}
}
