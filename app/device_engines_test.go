// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
)

// launched runs a command line on a device and reports its document; it must have launched kernels there.
func launched(t *testing.T, lib *pretend.Library, doc any, args ...string) {
	t.Helper()
	before := lib.Get("cuLaunchKernel") + lib.Get("cuGraphLaunch")
	code, out, stderr := apptest.Do(t, append(args, "--quiet", "--json")...)
	if code != 0 {
		t.Fatalf("%v: exit %d: %s", args, code, stderr)
	}
	if n := lib.Get("cuLaunchKernel") + lib.Get("cuGraphLaunch") - before; n < 3 {
		t.Errorf("%v: %d launches", args, n)
	}
	if doc != nil {
		if err := json.Unmarshal([]byte(out), doc); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
}

// From frames to correlations on the device: the maps, the bins and g2 of the processor.
func TestCorrelationsOnDevice(t *testing.T) {
	if apptest.Alone(t) {
		return
	}
	lib := pretend.Shared(t)
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 40, 1))
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine+" --device cpu")...); code != 0 {
		t.Fatal(stderr)
	}
	launched(t, lib, nil, strings.Fields(strings.Replace(apptest.QmapLine, "q.hdf", "g.hdf", 1)+" --device cuda")...)
	for device, out := range map[string]string{"cpu": "c", "cuda:0": "g"} {
		args := strings.Fields("correlate a.h5 --qmap q.hdf --correlation both --out " + out + " --device " + device)
		if device != "cpu" {
			launched(t, lib, nil, args...)
		} else if code, _, stderr := apptest.Do(t, args...); code != 0 {
			t.Fatal(stderr)
		}
	}
	var results [2]*nexus.Result
	for i, dir := range []string{"c", "g"} {
		r, err := nexus.Open(filepath.Join(dir, "a_results.hdf"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		results[i] = r
	}
	want, got := results[0].Multitau.G2.Data, results[1].Multitau.G2.Data
	for i, w := range want {
		if math.Abs(got[i]-w) > 2e-6*(1+math.Abs(w)) {
			t.Fatalf("g2 element %d is %v on the device, %v on the processor", i, got[i], w)
		}
	}
	maps := [2]*nexus.QMap{}
	for i, name := range []string{"q.hdf", "g.hdf"} {
		var err error
		if maps[i], err = nexus.OpenQMap(name); err != nil {
			t.Fatal(err)
		}
	}
	for i, cell := range maps[0].Static.Cells {
		if maps[1].Static.Cells[i] != cell || math.Abs(maps[1].Static.Axis0[i]/maps[0].Static.Axis0[i]-1) > 1e-12 {
			t.Fatalf("bin %d differs on the device", i)
		}
	}
}

// Scattering and its inversion on the device.
func TestScatteringOnDevice(t *testing.T) {
	tier.SlowOnly(t)
	if apptest.Alone(t) {
		return
	}
	lib := pretend.Shared(t)
	dir, problem, _ := apptest.InversionFolder(t)
	file := apptest.ProblemFile(t, dir, problem, map[string]any{"max_nfev": 3, "method": "lbfgs"})
	var docs [2]rsoxs.InvertDoc
	for i, device := range []string{"cpu", "cuda:0"} {
		args := []string{"invert", "rsoxs", file, "--out", filepath.Join(dir, device), "--restarts", "0", "--no-report", "--device", device}
		if i == 1 {
			launched(t, lib, &docs[i], args...)
			continue
		}
		code, out, stderr := apptest.Do(t, append(args, "--quiet", "--json")...)
		if code != 0 || json.Unmarshal([]byte(out), &docs[i]) != nil {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	if docs[1].Device != "cuda:0" || math.Abs(float64(docs[1].Cost/docs[0].Cost-1)) > 1e-6 {
		t.Errorf("cost %v on %s, %v on the processor", docs[1].Cost, docs[1].Device, docs[0].Cost)
	}
}

// sim rsoxs writes the images of the processor.
func TestImagesOnDevice(t *testing.T) {
	if apptest.Alone(t) {
		return
	}
	lib := pretend.Shared(t)
	c, morphology := apptest.WorkIn(t, smallestCase(t))
	var doc rsoxs.SimDoc
	for _, device := range []string{"cpu", "cuda:0"} {
		args := []string{"sim", "rsoxs", morphology, "out-" + device, "--precision", "64", "--device", device}
		if c.Options.Grid == "fft" {
			args = append(args, "--grid", "exact")
		}
		if device == "cpu" {
			if code, _, stderr := apptest.Do(t, args...); code != 0 {
				t.Fatal(stderr)
			}
			continue
		}
		launched(t, lib, &doc, args...)
	}
	if doc.Device != "cuda:0" {
		t.Errorf("computed on %s", doc.Device)
	}
	names, err := cyrsoxs.FileNames(c.Config.Energies)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var images [2][]float64
		for i, device := range []string{"cpu", "cuda:0"} {
			p, err := cyrsoxs.ReadPattern(filepath.Join("out-"+device, name))
			if err != nil {
				t.Fatal(err)
			}
			images[i] = p.Images[0].Float64s()
		}
		top := 0.0
		for _, v := range images[0] {
			if v > top {
				top = v
			}
		}
		for k, v := range images[0] {
			if d := math.Abs(images[1][k] - v); d > 1e-12*top || math.IsNaN(v) != math.IsNaN(images[1][k]) {
				t.Fatalf("%s: pixel %d is %v on the device, %v on the processor", name, k, images[1][k], v)
			}
		}
	}
}

// smallestCase returns the reference case with the smallest images.
func smallestCase(t *testing.T) string {
	t.Helper()
	best, size := "", int64(math.MaxInt64)
	for _, name := range golden.Glob(t, "scatter/cases/*") {
		if st, err := os.Stat(golden.Path(t, name, "expected.npz")); err == nil && st.Size() < size {
			best, size = name, st.Size()
		}
	}
	return best
}

// A program of the Stan language on the device has the draws of the processor.
func TestStanOnDevice(t *testing.T) {
	tier.SlowOnly(t)
	if apptest.Alone(t) {
		return
	}
	lib := pretend.Shared(t)
	t.Chdir(t.TempDir())
	program := "data { int N; vector[N] x; vector[N] y; }\nparameters { real a; real b; real<lower=0> s; }\nmodel { a ~ normal(0, 2); b ~ normal(0, 2); s ~ exponential(1); y ~ normal(a + b * x, s); }\n"
	if err := os.WriteFile("line.stan", []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("line.json", []byte(`{"N": 5, "x": [0, 1, 2, 3, 4], "y": [0.1, 1.2, 1.9, 3.2, 3.9]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var first [2][]string
	for i, device := range []string{"cpu", "cuda:0"} {
		args := []string{"sample", "stan", "line.stan", "--data", "line.json", "--out", "run" + strings.TrimSuffix(device, ":0"), "--chains", "1", "--warmup", "20", "--draws", "5", "--no-report", "--seed", "1", "--device", device}
		if i == 1 {
			launched(t, lib, nil, args...)
		} else if code, _, stderr := apptest.Do(t, append(args, "--quiet")...); code != 0 {
			t.Fatal(stderr)
		}
		text, err := os.ReadFile(filepath.Join("run"+strings.TrimSuffix(device, ":0"), "chain-1.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "lp__") {
				first[i] = strings.Split(strings.TrimSpace(line), ",")
				break
			}
		}
	}
	if len(first[0]) < 8 || len(first[0]) != len(first[1]) {
		t.Fatalf("the draws are %v and %v", first[0], first[1])
	}
	for k := range first[0] {
		w, _ := strconv.ParseFloat(first[0][k], 64)
		if g, err := strconv.ParseFloat(first[1][k], 64); err != nil || math.Abs(g-w) > 1e-6*math.Max(1, math.Abs(w)) {
			t.Errorf("column %d of the first draw is %s on the device and %s on the processor", k+1, first[1][k], first[0][k])
		}
	}
}
