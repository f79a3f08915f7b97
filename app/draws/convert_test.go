// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/peer"
)

// stanFiles writes the files of a run of 4 chains of a scalar and a matrix.
func stanFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	dir := t.TempDir()
	for c := range 4 {
		var b strings.Builder
		b.WriteString("# stan_version_major = 2\n#     num_samples = 200\n#     num_warmup = 1000 (Default)\n#     save_warmup = 0 (Default)\n#     max_depth = 5\n" +
			"lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,L.1.1,L.2.1,L.1.2,L.2.2\n# Adaptation terminated\n# Step size = 0.5\n# Diagonal elements of inverse mass matrix:\n# 1, 1, 1, 1, 1\n")
		for i := range 200 {
			v := math.Sin(float64(c*1000 + i*i)) // well mixed
			fmt.Fprintf(&b, "%.17g,0.9,0.5,%d,7,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", -v*v, 3+2*apptest.BoolInt(i == 7), apptest.BoolInt(c == 0 && i < 2), v, v, 2*v, v*v, v+1, math.Exp(v))
		}
		b.WriteString("# \n#  Elapsed Time: 0.1 seconds (Warm-up)\n#                0.2 seconds (Sampling)\n#                0.3 seconds (Total)\n# \n")
		name := filepath.Join(dir, fmt.Sprintf("output_%d.csv", c+1))
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	return files
}

type judgement struct {
	Summary     map[string]map[string]float64
	Diagnostics struct {
		Divergences int
		DepthHits   int       `json:"max_treedepth_hits"`
		EBFMI       []float64 `json:"e_bfmi"`
		OK          bool
		Advice      []string
	}
}

func judge(t *testing.T, args ...string) judgement {
	t.Helper()
	code, out, stderr := apptest.Do(t, append([]string{"summary", "--json"}, args...)...)
	var j judgement
	if err := json.Unmarshal([]byte(out), &j); err != nil || code != 0 {
		t.Fatalf("%v: %v, exit %d: %s", args, err, code, stderr)
	}
	return j
}

// Through all forms the draws stay the same, and so do all judgements.
func TestConvertEverythingToEverything(t *testing.T) {
	files := stanFiles(t)
	dir := t.TempDir()
	want := judge(t, files...)
	if want.Diagnostics.Divergences != 2 || want.Diagnostics.DepthHits != 4 {
		t.Fatalf("%+v", want)
	}
	from := files
	for _, out := range []string{"a.nc", "b.zarr", "c.json", "d", "e.nc4", "f.json", "g.zarr", "h"} {
		to := filepath.Join(dir, out)
		code, stdout, stderr := apptest.Do(t, append(append([]string{"convert", "--json", "--compress", "3"}, from...), to)...)
		var doc struct {
			In        []string
			Out, Kind string
			Groups    map[string]struct {
				Dims      map[string]int
				Variables []string
			}
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != 0 {
			t.Fatalf("%s: %v, exit %d: %s", out, err, code, stderr)
		}
		if g := doc.Groups["posterior"]; doc.Out != to || len(g.Variables) != 2 || g.Dims["chain"] != 4 || g.Dims["draw"] != 200 || g.Dims["L_dim_1"] != 2 || len(doc.Groups["sample_stats"].Variables) != 7 {
			t.Errorf("%s: %+v", out, doc)
		}
		got := judge(t, to)
		for name, row := range got.Summary {
			theirs := name
			if i := strings.IndexByte(name, '['); i > 0 { // L[0, 1] is L.1.2
				var a, b int
				fmt.Sscanf(name[i:], "[%d, %d]", &a, &b)
				theirs = fmt.Sprintf("%s.%d.%d", name[:i], a+1, b+1)
			}
			if !reflect.DeepEqual(row, want.Summary[theirs]) {
				t.Errorf("%s: %s is %v, want %v", out, name, row, want.Summary[theirs])
			}
		}
		// JSON has no place for attributes, such as the largest depth allowed.
		if len(got.Summary) != 5 || got.Diagnostics.Divergences != 2 || !reflect.DeepEqual(got.Diagnostics.EBFMI, want.Diagnostics.EBFMI) || (out[0] < 'c') && got.Diagnostics.DepthHits != 4 {
			t.Errorf("%s: %+v", out, got)
		}
		if code, _, stderr := apptest.Do(t, "convert", to, to+"2", "--to", "json"); code != 0 || !strings.Contains(stderr, "wrote") {
			t.Errorf("exit %d: %s", code, stderr)
		}
		if code, _, stderr := apptest.Do(t, append(append([]string{"convert"}, from...), to)...); code != exit.CannotWrite || !strings.Contains(stderr, "Try: --overwrite") {
			t.Errorf("%s again: exit %d: %s", out, code, stderr)
		}
		if code, _, stderr := apptest.Do(t, append(append([]string{"convert", "--overwrite", "--quiet"}, from...), to)...); code != 0 || stderr != "" {
			t.Errorf("%s over it: exit %d: %s", out, code, stderr)
		}
		from = []string{to}
	}
	if code, _, stderr := apptest.Do(t, "plot", "pair", filepath.Join(dir, "a.nc"), filepath.Join(dir, "pair.svg")); code != 0 {
		t.Errorf("plot: exit %d: %s", code, stderr)
	}
	if code, out, _ := apptest.Do(t, "diagnose", filepath.Join(dir, "b.zarr"), "--strict"); code != exit.Failed || !strings.Contains(out, "divergences") {
		t.Errorf("diagnose: exit %d: %s", code, out)
	}
}

const summarise = `
import json, sys, warnings
warnings.simplefilter("ignore")
import arviz as az, numpy as np
major = int(az.__version__.split(".")[0])
out = {}
for name in sys.argv[1:]:
    if name.endswith(".nc"): d = az.from_netcdf(name)
    elif name.endswith(".zarr"):
        try: d = az.from_zarr(name)
        except (ImportError, AttributeError): # ArviZ 0 with zarr 3, ArviZ 1
            import xarray as xr
            d = xr.open_datatree(name, engine="zarr")
            if not major: d = az.InferenceData.from_datatree(d)
    elif name.endswith(".json"):
        g = {g: {k: np.array(x) for k, x in v.items()} for g, v in json.load(open(name)).items()}
        d = az.from_dict(g) if major else az.from_dict(**g)
    elif major: continue # it has no from_cmdstan
    else:
        from glob import glob
        d = az.from_cmdstan(sorted(glob(name + "/*.csv")))
    names = {"mean": "mean", "sd": "sd", "mcse_mean": "mcse_mean", "ess_bulk": "ess_bulk", "r_hat": "r_hat"}
    if major: # its interval and tail are of other probabilities
        s = az.summary(d, round_to="none")
    else:
        s = az.summary(d, round_to="none", hdi_prob=0.94)
        names |= {"ess_tail": "ess_tail", "hdi94_lo": "hdi_3%", "hdi94_hi": "hdi_97%"}
    out[name] = {k: {c: float(s.loc[k, n]) for c, n in names.items()} for k in s.index}
    assert int(d["sample_stats"]["diverging"].values.sum()) == 2
print(json.dumps(out))
`

const readTable = `
import sys, pyarrow.feather as feather
t = feather.read_table(sys.argv[1])
print(t.num_rows, t.column_names)
assert sum(t.column("diverging").to_pylist()) == 2 and t.column("n_steps").type == "int64"
`

func TestPyArrowOpensOurs(t *testing.T) {
	py := peer.Python(t, "pyarrow")
	out := filepath.Join(t.TempDir(), "a.arrow")
	if code, _, stderr := apptest.Do(t, append(append([]string{"convert", "--quiet"}, stanFiles(t)...), out)...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	want := "800 ['chain', 'draw', 'lp', 'acceptance_rate', 'step_size', 'tree_depth', 'n_steps', 'diverging', 'energy', 'mu', 'L[0, 0]', 'L[0, 1]', 'L[1, 0]', 'L[1, 1]']\n"
	if got := py.Run(t, readTable, out); got != want {
		t.Errorf("pyarrow finds %s, want %s", got, want)
	}
}

// ArviZ opens what we convert to, and its summary is ours.
func TestArviZAgrees(t *testing.T) {
	py := peer.Python(t, "arviz", "xarray", "zarr", "netCDF4", "h5netcdf")
	dir := t.TempDir()
	args := append([]string{"convert", "--quiet"}, stanFiles(t)...)
	var outs []string
	for _, out := range []string{"a.nc", "b.zarr", "c.json", "d"} {
		outs = append(outs, filepath.Join(dir, out))
		if code, _, stderr := apptest.Do(t, append(args, outs[len(outs)-1])...); code != 0 {
			t.Fatalf("%s: exit %d: %s", out, code, stderr)
		}
	}
	ours := judge(t, outs[0]).Summary
	var theirs map[string]map[string]map[string]float64
	if err := json.Unmarshal([]byte(py.Run(t, summarise, outs...)), &theirs); err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for _, out := range outs {
		if rows := theirs[out]; rows != nil && len(rows) != len(ours) {
			t.Errorf("%s: ArviZ finds %v", out, rows)
		}
		for name, row := range theirs[out] {
			for c, want := range row {
				d := math.Abs(ours[name][c]-want) / math.Max(math.Abs(want), 1e-300)
				if !(d <= 1e-9) {
					t.Errorf("%s: %s of %s is %v, ArviZ has %v", out, c, name, ours[name][c], want)
				}
				worst = math.Max(worst, d)
			}
		}
	}
	if len(theirs) < 3 {
		t.Errorf("ArviZ opened %d of 4", len(theirs))
	}
	t.Logf("largest relative difference %.2g", worst)
}

// A run folder is converted from draws.zarr: nothing of it is lost.
func TestConvertKeepsWhatARunFolderHolds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, stderr := apptest.Do(t, "sample", "g2", apptest.MisfitCSV(t, nil), "--out", dir, "--no-report", "--warmup", "200", "--draws", "50", "--retries", "0"); code != exit.OK {
		t.Fatal(stderr)
	}
	code, out, stderr := apptest.Do(t, "convert", dir, filepath.Join(t.TempDir(), "x.nc"), "--json")
	var doc struct {
		Groups map[string]struct{ Variables []string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exit.OK {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	for _, group := range []string{"posterior", "sample_stats", "log_likelihood", "posterior_predictive", "observed_data", "constant_data"} {
		if len(doc.Groups[group].Variables) == 0 {
			t.Errorf("group %s is lost: %v", group, doc.Groups)
		}
	}
}

// diagnose counts trajectories that were cut short as the run itself did, and not
// those that ended at the largest depth by themselves.
func TestDiagnoseCountsAsTheRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, out, stderr := apptest.Do(t, "sample", "g2", apptest.MisfitCSV(t, nil), "--out", dir, "--json", "--no-report", "--warmup", "200", "--draws", "200", "--max-tree-depth", "2", "--retries", "0")
	type diagnostics struct {
		Diagnostics struct {
			Hits int `json:"max_treedepth_hits"`
		}
	}
	var run, again diagnostics
	if err := json.Unmarshal([]byte(out), &run); err != nil || code != exit.OK {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	_, out, _ = apptest.Do(t, "diagnose", dir, "--json")
	if err := json.Unmarshal([]byte(out), &again); err != nil || again != run {
		t.Errorf("the run counts %d, diagnose %d (%v)", run.Diagnostics.Hits, again.Diagnostics.Hits, err)
	}
}

// A finished run that is resumed shows the time that it took.
func TestResumedRunsKeepTheirTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	_, first, _ := apptest.Do(t, "sample", "g2", apptest.MisfitCSV(t, nil), "--out", dir, "--json", "--no-report", "--warmup", "500", "--draws", "2000", "--retries", "0")
	_, again, stderr := apptest.Do(t, "sample", "g2", "--resume", dir, "--json")
	type doc struct{ Timing draws.TimingDoc }
	var a, b doc
	if json.Unmarshal([]byte(first), &a) != nil || json.Unmarshal([]byte(again), &b) != nil || b.Timing != a.Timing {
		t.Errorf("timing %+v, after resuming %+v: %s", a.Timing, b.Timing, stderr)
	}
}
