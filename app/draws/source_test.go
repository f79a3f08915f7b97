// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/tensor"
)

// Folders of runs that sample nothing are said to be such, and their results named.
func TestFoldersWithoutDraws(t *testing.T) {
	apptest.ScriptFile(t, apptest.AssemblyScript)
	for _, args := range [][]string{{"sim", "assembly", "s.yaml", "--out", "sim"}, {"train", "connectome", apptest.Write(t, "c.json", apptest.TinyClasses), "--out", "train"}} {
		if code, _, stderr := apptest.Do(t, append(args, "--quiet")...); code != exit.OK {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
	}
	for dir, config := range map[string]string{"lm": `{"command": "invert rsoxs", "problem": {"model": "rod"}}`, "nuts": `{"command": "invert rsoxs", "problem": {"method": "nuts"}}`,
		"expr": `{"command": "sample expr"}`, "begun": `{"command": "train connectome"}`} {
		apptest.Put(t, dir+"/config.json")
		if err := os.WriteFile(dir+"/config.json", []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Put(t, "lm/fit.json")
	apptest.Put(t, "rsoxs/"+morph.SimulationRecordFile)
	for dir, want := range map[string][2]string{
		"sim":   {`it is a run of "sim assembly"`, "its results in sim/summary.json, or euryale plot support sim"},
		"train": {`it is a run of "train connectome"`, "its results in train/summary.json"},
		"lm":    {`it is a run of "invert rsoxs" that fits and does not sample`, "its results in lm/fit.json"},
		"begun": {`it is a run of "train connectome"`, "euryale train connectome --resume begun"},
		"rsoxs": {`it is a run of "sim rsoxs"`, "euryale plot pattern rsoxs"},
		"nuts":  {"the run did not finish", "euryale invert rsoxs --resume nuts"},
		"expr":  {"the run did not finish", "euryale sample expr --resume expr"},
	} {
		for _, command := range []string{"summary " + dir, "diagnose " + dir, "convert " + dir + " x.nc", "plot trace " + dir, "loo " + dir} {
			if command == "diagnose lm" {
				continue // it judges fits
			}
			code, _, stderr := apptest.Do(t, strings.Fields(command)...)
			if code != exit.NoInput || !strings.Contains(stderr, want[0]) || !strings.Contains(stderr, "Try: "+want[1]+"\n") {
				t.Errorf("%s: exit %d: %s", command, code, stderr)
			}
		}
	}
}

// Draws in xarray's other order, (draw, chain), are read as what they are.
func TestDrawsBeforeChains(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dims := range [][]string{{"chain", "draw", "school"}, {"draw", "chain", "school"}, {"school", "draw", "chain"}} {
		length := map[string]int{"chain": 4, "draw": 100, "school": 2}
		shape := tensor.Shape{length[dims[0]], length[dims[1]], length[dims[2]]}
		x := make([]float64, shape.Size())
		for i := range x {
			at := map[string]int{dims[0]: i / (shape[1] * shape[2]), dims[1]: i / shape[2] % shape[1], dims[2]: i % shape[2]}
			x[i] = float64((at["draw"]*37+at["chain"]*11)%101 + 1000*at["school"])
		}
		post, tree := tensor.NewDataset("posterior"), tensor.NewDataTree()
		err := post.Add("theta", x, shape, dims...)
		if err == nil {
			err = tree.Add(post)
		}
		if err == nil {
			err = zarr.Write(dims[0]+".zarr", tree, zarr.Settings{})
		}
		if err == nil {
			err = netcdf.Write(dims[0]+".nc", tree, netcdf.Settings{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, want, _ := apptest.Do(t, "summary", "chain.nc", "--json")
	for _, name := range []string{"chain.zarr", "draw.zarr", "draw.nc", "school.zarr", "school.nc"} {
		if code, got, stderr := apptest.Do(t, "summary", name, "--json"); code != exit.OK || got != want || !strings.Contains(got, "theta[1]") {
			t.Errorf("%s: exit %d: %s\n%s, want %s", name, code, stderr, got, want)
		}
	}
	if code, _, stderr := apptest.Do(t, "convert", "draw.nc", "csv"); code != exit.OK {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// What convert says it wrote is in the file.
func TestConvertSaysWhatItWrote(t *testing.T) {
	apptest.TinyRun(t)
	for kind, want := range map[string]string{"csv": "posterior sample_stats", "arrow": "posterior sample_stats",
		"zarr": "constant_data log_likelihood observed_data posterior posterior_predictive sample_stats"} {
		code, out, stderr := apptest.Do(t, "convert", "run", "out."+kind, "--to", kind)
		if code != exit.OK || strings.Contains(stderr, "observed_data") != (kind == "zarr") {
			t.Errorf("%s: exit %d: %s%s", kind, code, out, stderr)
		}
		for group := range strings.FieldsSeq(want) {
			if !strings.Contains(stderr, group+" with ") {
				t.Errorf("%s: %s is not in %s", kind, group, stderr)
			}
		}
		code, out, stderr = apptest.Do(t, "convert", "run", "out."+kind, "--to", kind, "--overwrite", "--json")
		if code != exit.OK || strings.Contains(out, "log_likelihood") != (kind == "zarr") || !strings.Contains(out, `"draw": 30`) {
			t.Errorf("%s: exit %d: %s%s", kind, code, out, stderr)
		}
	}
}

// Version 3 of Zarr is written where it is asked for, and read as any other draws.
func TestConvertToZarr3(t *testing.T) {
	apptest.TinyRun(t)
	for _, line := range []string{"convert run three.zarr --zarr-format 3", "convert three.zarr two.zarr", "summary three.zarr"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != exit.OK {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	for _, file := range []string{"three.zarr/zarr.json", "two.zarr/.zgroup"} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if code, _, stderr := apptest.Do(t, "convert", "run", "four.nc", "--zarr-format", "3"); code != exit.WrongUsage || !strings.Contains(stderr, "does nothing without an OUT.zarr") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "convert", "run", "four.zarr", "--zarr-format", "4"); code != exit.WrongUsage {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// Endings that no picture has are answered with those that pictures have.
func TestPictureFormats(t *testing.T) {
	apptest.TinyRun(t)
	for _, name := range []string{"x.gif", "x.JPG", "x.eps"} {
		for _, kind := range []string{"trace", "pattern", "morphology", "support"} {
			code, _, stderr := apptest.Do(t, "plot", kind, "run", name)
			if code != exit.WrongUsage || !strings.Contains(stderr, name+": pictures are written as .svg, .png or .pdf") {
				t.Errorf("%s %s: exit %d: %s", kind, name, code, stderr)
			}
		}
	}
}

// A damaged checkpoint comes with the way out, which works.
func TestDamagedCheckpoints(t *testing.T) {
	apptest.TinyRun(t)
	failing := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(failing, []byte("p: 0.05\nstimuli: {S: 50}\nareas: {A: {n: 2000, k: 50}, B: {n: 2000, k: 50}}\nrun: [{form: A, stimulus: S, steps: 5}, {measure: x, block: B}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "sim", "assembly", failing, "--out", "sim"); code != exit.Failed {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "train", "connectome", apptest.Write(t, "c.json", apptest.TinyClasses), "--out", "train"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for dir, command := range map[string]string{"run": "sample expr", "train": "train connectome", "sim": "sim assembly"} {
		name := filepath.Join(dir, "checkpoint")
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		args := append(strings.Fields(command), "--resume", dir)
		code, _, stderr := apptest.Do(t, args...)
		if want := fmt.Sprintf("Try: remove %s, then euryale %s --resume %s", name, command, dir); code != exit.Data || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", command, code, stderr)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := apptest.Do(t, args...); code != exit.OK && !(dir == "sim" && code == exit.Failed) {
			t.Errorf("%s: exit %d: %s", command, code, stderr)
		}
	}
}
