// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/tier"
)

func TestMain(m *testing.M) { apptest.Main(m) }

func TestFitG2Document(t *testing.T) {
	code, out, stderr := apptest.Do(t, "fit", "g2", apptest.DemoFile(t), "--model", "single", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc struct {
		Engine, Model string
		Bins          []struct {
			Bin     int
			Q       float64
			Status  string
			X, SD   map[string]float64
			Cost    float64
			Reduced float64 `json:"chi2_reduced"`
			NFev    int
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if doc.Engine != "g2" || doc.Model != "single" || len(doc.Bins) != 12 {
		t.Fatalf("%+v", doc)
	}
	for _, b := range doc.Bins {
		// The file was made with tau = 1/(4.2e4 q^2).
		tau := 1 / (4.2e4 * b.Q * b.Q)
		if b.Status != "converged" || math.Abs(b.X["tau"]-tau) > 5*b.SD["tau"] || b.NFev == 0 || b.Reduced > 2 {
			t.Errorf("bin %d: %+v, made with tau %g", b.Bin, b, tau)
		}
	}
	if code, out, _ := apptest.Do(t, "fit", "g2", apptest.DemoFile(t), "--model", "power"); code != 0 || !strings.Contains(out, "converged") {
		t.Errorf("power law: exit %d: %s", code, out)
	}
}

func TestExitCodes(t *testing.T) {
	hdf, csv := apptest.DemoFile(t), apptest.Write(t, "a.csv", apptest.DecayCSV(""))
	cut := apptest.Write(t, "cut.hdf", string(demo.Correlations()[:len(demo.Correlations())/2]))
	broken := demo.Correlations()
	for i := 200; i < len(broken); i += 97 {
		broken[i] ^= 0x5a
	}
	corrupt := apptest.Write(t, "corrupt.hdf", string(broken))
	taken := t.TempDir()
	if err := os.WriteFile(filepath.Join(taken, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"fit g2 " + hdf + " --bins 3,5-7", 0, ""},
		{"fit g2 " + csv + " --model stretched --fixed beta=0.9 --bounds tau=0.01:10", 0, ""},
		{"fit g2 " + csv + " --loss huber --start tau=1", 0, ""},
		{"info", 0, ""},
		{"fit g2", 64, "name one or more result files"},
		{"fit", 64, "fit needs a second word"},
		{"fit g3 x", 64, "want one of g2"},
		{"ft g2 x", 64, "fit"},
		{"fit g2 " + csv + " --modle single", 64, "--modle"},
		{"fit g2 " + csv + " --model singel", 64, "single or stretched"},
		{"fit g2 " + csv + " --bins 5-3", 64, "want numbers"},
		{"fit g2 " + csv + " --fixed tua=1", 64, `"tua"`},
		{"fit g2 " + csv + " --bounds tau=3:1", 64, "lo < hi"},
		{"fit g2 " + csv + " --loss hubert", 64, "hubert"},
		{"fit g2 " + csv + " --precision 16", 64, "32 or 64"},
		{"fit g2 " + csv + " --log-level loud", 64, "loud"},
		{"fit g2 " + csv + " --bins 9", 65, csv + " has no bin 9: choose one of its 2 bins, from 1 to 2"},
		{"fit g2 " + cut, 65, "cut.hdf"},
		{"fit g2 " + corrupt, 65, ""},
		{"fit g2 " + apptest.Write(t, "no.csv", "a,b\n1,2\n"), 65, "line 1"},
		{"fit g2 " + apptest.Write(t, "text.hdf", "hello, this is no HDF5 file at all"), 65, "text.hdf"},
		{"fit g2 " + apptest.Write(t, "empty.csv", "tau,g2\n"), 65, ""},
		{"fit g2 /nowhere/file.hdf", 66, "/nowhere/file.hdf"},
		{"fit g2 " + strings.TrimSuffix(hdf, "o.hdf") + ".hdf", 66, "Try: " + hdf},
		{"fit g2 " + filepath.Join(taken, "none.hdf"), 66, "Try: another path: " + taken + " holds x"},
		{"fit g2 " + filepath.Join(t.TempDir(), "a.hdf"), 66, " is empty"},
		{"fit g2 " + taken, 66, "is a folder"},
		{"fit g2 " + csv + " --device gpu", 64, `--device "gpu": want auto, cpu, cuda, cuda:N`},
		{"fit g2 " + csv + " --device cuda:-1", 64, `--device "cuda:-1"`},
		{"convert a.h5 b.h5 --device cuda", 64, "convert runs on the CPU only: leave out --device cuda"},
		{"summary run --device cuda:1", 64, "summary runs on the CPU only"},
		{"fit g2 " + csv + " --out " + taken, 73, "Try: another --out"},
		{"fit g2 " + csv + " --out " + csv + "/x", 73, ""},
		{"sample g2 " + hdf, 64, "--bin"},
		{"sample g2 " + hdf + " --bin 40", 65, "no bin 40"},
		{"sample g2 " + hdf + " --bin 1 --draws 0", 64, "--draws"},
		{"sample g2 " + hdf + " --bin 1 --target-accept 1.5", 64, "--target-accept 1.5: want a number between 0 and 1"},
		{"sample g2 " + hdf + " --bin 1 --target-accept NaN", 64, "--target-accept"},
		{"sample g2 " + hdf + " --bin 1 --max-tree-depth 21 --chains -2", 64, "--chains -2: want 1 to 65536; --max-tree-depth 21: want 1 to 20"},
		{"sample g2 " + hdf + " --bin 1 --warmup -1", 64, "--warmup -1"},
		{"sample g2 " + hdf + " --bin 1 --retries -1", 64, "--retries -1"},
		{"sample g2 " + hdf + " --bin -1", 64, "--bin -1"},
		{"sample g2 " + hdf + " --bin 1 --checkpoint soon", 64, `--checkpoint "soon"`},
		{"sample g2 " + hdf + " --bin 1 --prior tau=norml(0,1)", 64, "norml"},
		{"sample g2 " + hdf + " --bin 1 --prior tu=normal(0,1) --out " + t.TempDir() + "/r", 64, `"tu"`},
		{"sample g2 --resume " + taken, 66, "not a run folder"},
		{"summary " + apptest.Write(t, "odd.csv", "a,b\n1,2\n3\n"), 65, "line 3"},
		{"summary " + apptest.Write(t, "none.csv", "lp__,a\n"), 65, "none.csv: a chain has no draws"},
		{"summary " + apptest.Write(t, "own.csv", "lp__,b__\n1,2\n"), 65, "own.csv: the only columns are those of the sampler"},
		{"summary /nowhere", 66, "/nowhere"},
		{"summary " + filepath.Join(t.TempDir(), "a", "b.nc"), 66, "there is no folder"},
		{"summary " + apptest.Write(t, "g.json", `{"prior": {"a": [[1, 2]]}}`), 65, "no group posterior"},
		{"summary " + apptest.Write(t, "s.json", `{"posterior": {"a": [1, 2]}}`), 65, "posterior has no draws"},
		{"summary " + apptest.Write(t, "j.json", `{"posterior": {"a": [[1, 2], [3]]}}`), 65, "lists of equal lengths"},
		{"diagnose " + apptest.Write(t, "classic.nc", "CDF\x01 and so on"), 65, "damaged or truncated"},
		{"summary " + hdf, 65, "demo.hdf"},
		{"summary " + apptest.Write(t, "a.json", "{}") + " " + apptest.Write(t, "b.json", "{}"), 64, "name it alone"},
		{"convert " + csv, 64, "convert needs a name for the output"},
		{"convert " + csv + " out.xyz", 64, "the extension .xyz does not select a format"},
		{"convert " + csv + " out.csv", 64, "a file for each chain"},
		{"convert " + csv + " out --to excel", 64, "zarr, netcdf, json, csv, arrow"},
		{"convert " + csv + " " + csv + " --to csv", 64, "is also the input"},
		{"convert " + csv + " out.nc --compress 10", 64, "0 to 9"},
		{"summary " + apptest.Write(t, "a.arrow", "ARROW1 and so on"), 65, "cannot be read back"},
		{"convert " + apptest.Write(t, "p.json", `{"prior": {"a": [[1]]}}`) + " " + filepath.Join(t.TempDir(), "x.arrow"), 65, `no group "posterior"`},
		{"convert " + apptest.Write(t, "q.json", `{"posterior": {"a": [1]}}`) + " " + filepath.Join(t.TempDir(), "x.arrow"), 65, "has no draws"},
		{"convert " + apptest.Write(t, "r.csv", "a,b\n1,2\n") + " " + filepath.Join(t.TempDir(), "x.feather"), 0, "posterior with 2 variables"},
		{"convert /nowhere/x.nc out.zarr", 66, "/nowhere"},
		{"convert " + apptest.Write(t, "odd2.csv", "a,b\n1,2\n3\n") + " out.nc", 65, "line 3"},
		{"convert " + apptest.Write(t, "d.json", `{"observed_data": {"y": [1]}}`) + " " + filepath.Join(t.TempDir(), "chains"), 65, `no group "posterior"`},
		{"convert " + apptest.Write(t, "ok.csv", "a,b\n1,2\n") + " " + taken + " --overwrite", 73, "x, which is no chain"},
		{"convert " + apptest.Write(t, "ok.csv", "a,b\n1,2\n") + " " + csv + "/x.nc", 73, ""},
		{"convert " + apptest.Write(t, "ok.csv", "a,b\n1,2\n") + " " + cut + " --to json", 73, "--overwrite"},
		{"summary " + taken, 66, "chain-*.csv"},
		{"plot spiral x", 64, "rank, trace"},
	} {
		code, out, stderr := apptest.Do(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s\nexit %d, want %d; standard error %q, want %q in it", c.args, code, c.code, stderr, c.says)
		}
		if code != 0 && out != "" {
			t.Errorf("%s: an error, yet standard output has %q", c.args, out)
		}
	}
}

// A bad bin fails alone.
func TestBadBinLeavesOthersAlone(t *testing.T) {
	good, _, _ := apptest.Do(t, "fit", "g2", apptest.Write(t, "a.csv", apptest.DecayCSV("")), "--json")
	code, out, stderr := apptest.Do(t, "fit", "g2", apptest.Write(t, "b.csv", apptest.DecayCSV("NaN")), "--json")
	if good != 0 || code != 0 {
		t.Fatalf("exit %d, %d: %s", good, code, stderr)
	}
	var d struct{ Bins []map[string]any }
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	if d.Bins[0]["status"] != "converged" || d.Bins[1]["status"] != "failed" || !strings.Contains(d.Bins[1]["message"].(string), "bin 2") {
		t.Errorf("%v", d.Bins)
	}
	if code, _, _ := apptest.Do(t, "fit", "g2", apptest.Write(t, "c.csv", apptest.DecayCSV("NaN")), "--strict"); code != 1 {
		t.Errorf("--strict with a failed bin: exit %d, want 1", code)
	}
}

// sampleArgs is a short run.
func sampleArgs(file, out string, more ...string) []string {
	return append([]string{"sample", "g2", file, "--bin", "4", "--out", out, "--seed", "7", "--quiet"}, more...)
}

func TestSampleG2Document(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, out, stderr := apptest.Do(t, sampleArgs(apptest.DemoFile(t), dir, "--json")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc struct {
		Engine, Model, Run string
		Bin                int
		Summary            map[string]map[string]float64
		Diagnostics        struct {
			Divergences int
			EBFMI       []float64 `json:"e_bfmi"`
			OK          bool
			Advice      []string
		}
		Timing map[string]float64
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	for _, key := range []string{"mean", "sd", "q05", "q50", "q95", "hdi94_lo", "hdi94_hi", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"} {
		if _, ok := doc.Summary["tau"][key]; !ok {
			t.Errorf("summary has no %s: %v", key, doc.Summary["tau"])
		}
	}
	if !doc.Diagnostics.OK || len(doc.Diagnostics.EBFMI) != 4 || doc.Timing["gradients"] == 0 || doc.Bin != 4 || doc.Run != dir {
		t.Errorf("%+v", doc)
	}
	for _, f := range []string{"config.json", "chain-1.csv", "chain-4.csv", "fit.json", "summary.json", "diagnose.txt", "report.html", "plots/pair.svg", "plots/trace.png", "checkpoint"} {
		if st, err := os.Stat(filepath.Join(dir, f)); err != nil || st.Size() == 0 {
			t.Errorf("run folder: %s: %v", f, err)
		}
	}
	// summary and diagnose read the folder back to the same numbers.
	code, out, stderr = apptest.Do(t, "summary", dir, "--json")
	var again struct{ Summary map[string]map[string]float64 }
	if err := json.Unmarshal([]byte(out), &again); err != nil || code != 0 {
		t.Fatalf("summary: %v, exit %d: %s", err, code, stderr)
	}
	for name, row := range doc.Summary {
		for key, v := range row {
			if again.Summary[name][key] != v {
				t.Errorf("summary of the folder: %s %s is %v, was %v", name, key, again.Summary[name][key], v)
			}
		}
	}
	if code, out, _ := apptest.Do(t, "diagnose", dir); code != 0 || !strings.Contains(out, "The model agrees with the data") {
		t.Errorf("diagnose: exit %d: %s", code, out)
	}
	if code, _, stderr := apptest.Do(t, "plot", "pair", dir, filepath.Join(dir, "p.png")); code != 0 {
		t.Errorf("plot: exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, sampleArgs(apptest.DemoFile(t), dir)...); code != exit.CannotWrite || !strings.Contains(stderr, "--resume") {
		t.Errorf("existing folder: exit %d: %s", code, stderr)
	}
	// A run too short for its verdict.
	if code, _, _ := apptest.Do(t, sampleArgs(apptest.DemoFile(t), filepath.Join(t.TempDir(), "r"), "--draws", "20", "--strict")...); code != exit.Failed {
		t.Errorf("--strict on 20 draws: exit %d, want 1", code)
	}
}

// A run that is killed, or interrupted, goes on with --resume to the very draws
// of a run that was not.
func TestKilledAndInterruptedRunsResume(t *testing.T) {
	if testing.Short() {
		t.Skip("it samples for some seconds")
	}
	file := apptest.DemoFile(t)
	dir := t.TempDir()
	size := []string{"--warmup", "1500", "--draws", "3000", "--checkpoint", "20ms", "--target-accept", "0.99", "--no-report"}
	whole := filepath.Join(dir, "whole")
	if code, _, stderr := apptest.Do(t, sampleArgs(file, whole, size...)...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	want := apptest.Chains(t, whole)
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "interrupted": syscall.SIGINT} {
		out := filepath.Join(dir, name)
		cmd := exec.Command(os.Args[0], sampleArgs(file, out, size...)...)
		cmd.Env = append(os.Environ(), "EURYALE_TEST_COMMAND=1", fmt.Sprintf("EURYALE_TEST_SIGNAL=%d", signal))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if cmd.Run() == nil {
			t.Fatalf("%s: the run ended before the signal", name)
		}
		if name == "interrupted" && (cmd.ProcessState.ExitCode() != exit.Interrupted || !strings.Contains(stderr.String(), "--resume "+out)) {
			t.Errorf("interrupted: exit %d: %s", cmd.ProcessState.ExitCode(), stderr.String())
		}
		if _, err := os.Stat(filepath.Join(out, "chain-1.csv")); err == nil {
			t.Fatalf("%s: the run was over before the signal", name)
		}
		if code, _, stderr := apptest.Do(t, "sample", "g2", "--resume", out, "--quiet"); code != 0 {
			t.Fatalf("%s: resume: exit %d: %s", name, code, stderr)
		}
		if got := apptest.Chains(t, out); got != want {
			t.Errorf("%s: the resumed draws differ from the uninterrupted ones", name)
		}
	}
}

func TestSummaryOfCmdStanFiles(t *testing.T) {
	var files []string
	for c := range 4 {
		var b strings.Builder
		b.WriteString("# stan_version_major = 2\n#     num_warmup = 1000 (Default)\n#     save_warmup = 0 (Default)\n#       max_depth = 10 (Default)\nlp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,theta.1\n")
		for i := range 200 {
			v := math.Sin(float64(c*1000 + i*i)) // well mixed
			fmt.Fprintf(&b, "%g,0.9,0.5,3,7,%d,%g,%g,%g\n", -v*v, apptest.BoolInt(c == 0 && i < 2), v, v, 2*v)
		}
		files = append(files, apptest.Write(t, fmt.Sprintf("output_%d.csv", c), b.String()))
	}
	code, out, stderr := apptest.Do(t, append([]string{"summary", "--json"}, files...)...)
	var doc struct {
		Summary     map[string]map[string]float64
		Diagnostics struct {
			Divergences int
			OK          bool
			Advice      []string
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("%v, exit %d: %s", err, code, stderr)
	}
	if doc.Diagnostics.Divergences != 2 || doc.Diagnostics.OK || len(doc.Diagnostics.Advice) == 0 || doc.Summary["theta.1"]["sd"] == 0 {
		t.Errorf("%+v", doc)
	}
	if code, _, _ := apptest.Do(t, append([]string{"diagnose", "--strict"}, files...)...); code != 1 {
		t.Errorf("--strict with divergences: exit %d", code)
	}
}

func TestDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	code, out, stderr := apptest.Do(t, "demo", "g2", "--out", dir, "--quiet", "--json")
	var doc map[string]any
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("%v, exit %d: %s %s", err, code, out, stderr)
	}
	for _, f := range []string{"g2_result.hdf", "fit/report.html", "power/plots/fit.svg", "sample-bin3/report.html", "sample-bin8/plots/pair.png"} {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			t.Error(err)
		}
	}
}

func TestFitNLSQ(t *testing.T) {
	// NIST StRD Misra1a, https://www.itl.nist.gov/div898/strd/nls/data/misra1a.shtml
	const misra = `{"expr": "b1*(1-exp(-b2*x))", "y": "y", "start": {"b1": 500, "b2": 0.0001}%s,
"data": {"y": [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78],
"x": [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0]}}`
	file := func(more string) string { return apptest.Write(t, "p.json", fmt.Sprintf(misra, more)) }
	code, out, stderr := apptest.Do(t, "fit", "nlsq", "--problem", file(""), "--json")
	var doc struct {
		X, SD  map[string]float64
		Status string
		Cost   float64
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("%v, exit %d: %s", err, code, stderr)
	}
	for what, pair := range map[string][2]float64{"b1": {doc.X["b1"], 2.3894212918e+02}, "b2": {doc.X["b2"], 5.5015643181e-04},
		"sd b1": {doc.SD["b1"], 2.7070075241}, "sd b2": {doc.SD["b2"], 7.2668688436e-06}, "2 cost": {2 * doc.Cost, 1.2455138894e-01}} {
		if math.Abs(pair[0]/pair[1]-1) > 1e-9 {
			t.Errorf("%s is %.11g, certified %.11g", what, pair[0], pair[1])
		}
	}
	for more, want := range map[string]string{
		`, "bounds": {"b1": [0, 200]}`: "outside its bounds",
		`, "bounds": {"b3": [0, 200]}`: "b3 is not a parameter of start",
		`, "sigma": "s"`:               `no column "s"`,
		`, "losss": "huber"`:           "losss",
		`, "loss": "hubert"`:           "hubert",
		`, "method": "dogbocks"`:       `did you mean "dogbox"`,
		`, "tied": {"b2": "b3/2"}`:     "uses b3",
		`, "tied": {"b3": "b2/2"}`:     "does not use",
	} {
		if code, _, stderr := apptest.Do(t, "fit", "nlsq", "--problem", file(more)); code != exit.Data || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", more, code, stderr)
		}
	}
	for _, method := range []string{"lm", "trf", "dogbox"} {
		more := fmt.Sprintf(`, "method": %q, "tied": {"b2": "0.13145/b1"}, "ftol": 1e-12, "xtol": 1e-12`, method)
		code, out, stderr := apptest.Do(t, "fit", "nlsq", "--problem", file(more), "--json")
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
			t.Fatalf("%v, exit %d: %s", err, code, stderr)
		}
		if math.Abs(doc.X["b1"]*doc.X["b2"]/0.13145-1) > 1e-12 || math.Abs(doc.SD["b2"]/doc.X["b2"]/(doc.SD["b1"]/doc.X["b1"])-1) > 1e-9 {
			t.Errorf("%s tied: %+v", method, doc)
		}
	}
	if code, _, stderr := apptest.Do(t, "fit", "nlsq"); code != exit.WrongUsage {
		t.Errorf("no problem: exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "fit", "nlsq", "--problem", apptest.Write(t, "q.json", `{"expr": "a*X+c", "start": {"a": 1}, "data": {"x": [1, 2], "y": [1, 2]}}`)); code != exit.Data || !strings.Contains(stderr, "uses none of the columns x, y") {
		t.Errorf("misspelt column: exit %d: %s", code, stderr)
	}
}

// A run of a table has no q, and is continued all the same; overwriting with
// fewer chains leaves none of the old ones.
func TestTableRunsResumeAndOverwrite(t *testing.T) {
	file, dir := apptest.Write(t, "a.csv", apptest.DecayCSV("")), filepath.Join(t.TempDir(), "run")
	args := []string{"sample", "g2", file, "--bin", "1", "--out", dir, "--draws", "200", "--quiet", "--no-report"}
	if code, _, stderr := apptest.Do(t, args...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	before := apptest.Chains(t, dir)
	if code, _, stderr := apptest.Do(t, "sample", "g2", "--resume", dir, "--quiet"); code != 0 || apptest.Chains(t, dir) != before {
		t.Errorf("resume: exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, append(args, "--chains", "2", "--overwrite")...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "chain-*.csv")); err != nil || len(left) != 2 {
		t.Errorf("after overwriting by two chains: %v %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "checkpoint"), []byte("not a checkpoint at all"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "sample", "g2", "--resume", dir, "--quiet"); code != exit.Data || !strings.Contains(stderr, "checkpoint") {
		t.Errorf("a damaged checkpoint: exit %d: %s", code, stderr)
	}
}

// A posterior that the defaults do not manage is sampled again, and then is.
func TestRetriesAfterABadVerdict(t *testing.T) {
	tier.SlowOnly(t)
	var b strings.Builder
	b.WriteString("tau,g2,g2_err\n")
	for i := range 30 { // the decay does not end within the window
		x := 1e-3 * math.Pow(10, float64(i)/12)
		fmt.Fprintf(&b, "%g,%g,0.001\n", x, 1+0.2*math.Exp(-2*x/0.9)+1e-3*math.Sin(float64(37*i)))
	}
	file := apptest.Write(t, "a.csv", b.String())
	for retries, wantOK := range map[string]bool{"0": false, "1": true} {
		_, out, stderr := apptest.Do(t, "sample", "g2", file, "--out", filepath.Join(t.TempDir(), "r"), "--json", "--quiet", "--no-report", "--retries", retries)
		var doc struct {
			Attempts    int
			Diagnostics struct{ OK bool }
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		if doc.Diagnostics.OK != wantOK || fmt.Sprint(doc.Attempts-1) != retries {
			t.Errorf("--retries %s: %+v", retries, doc)
		}
	}
}
