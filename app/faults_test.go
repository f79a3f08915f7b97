// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/runlock"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/tensor"
)

// faultyCommand is a command whose file operations fail or kill in their turn. OUT
// stands for the folder or file that it writes.
type faultyCommand struct {
	args   string
	resume string // of a run folder that has a config.json; empty: the command again, with --overwrite
	out    string // of OUT, where it is a file
	quick  bool   // also outside the slow tests, at a few operations
	soFar  string // files that hold what there is when a run ends early
	every  int    // which operations fail; 0: all
}

var faultyCommands = map[string]faultyCommand{
	"sample g2":         {args: "sample g2 curve.csv --out OUT --seed 1 --warmup 60 --draws 30 --retries 0 --checkpoint 1ns", resume: "sample g2 --resume OUT"},
	"sample expr":       {args: "sample expr --problem line.json --out OUT --seed 1 --warmup 60 --draws 30 --retries 0 --no-report", resume: "sample expr --resume OUT", quick: true},
	"sample assembly":   {args: "sample assembly --problem assembly.json --out OUT --seed 1 --warmup 60 --draws 30 --retries 0 --no-report", resume: "sample assembly --resume OUT"},
	"fit twotime":       {args: "fit twotime flow.yaml --out OUT --starts 2 --threads 1", every: 5},
	"sample twotime":    {args: "sample twotime flow.yaml --out OUT --seed 1 --warmup 60 --draws 30 --retries 0 --no-report --homodyne", resume: "sample twotime --resume OUT", every: 9},
	"sim twotime":       {args: "sim twotime OUT --frames 9 --speckles 50", out: "c2.hdf", quick: true},
	"demo twotime":      {args: "demo twotime --data --out OUT"},
	"sim assembly":      {args: "sim assembly script.yaml --out OUT --checkpoint 1ns", resume: "sim assembly --resume OUT", soFar: "trace.csv measures.csv"},
	"train connectome":  {args: "train connectome classes.json --out OUT", resume: "train connectome --resume OUT"},
	"invert rsoxs":      {args: "invert rsoxs problem.json --out OUT --no-report", resume: "invert rsoxs --resume OUT"},
	"sim rsoxs":         {args: "sim rsoxs film.h5 OUT", resume: "sim rsoxs film.h5 --resume OUT", quick: true},
	"convert to zarr":   {args: "convert draws.json OUT", out: "draws.zarr"},
	"convert to netCDF": {args: "convert draws.json OUT", out: "draws.nc", quick: true},
	"convert to JSON":   {args: "convert draws.zarr OUT", out: "again.json"},
	"convert to Arrow":  {args: "convert draws.json OUT", out: "draws.arrow"},
	"convert to CSV":    {args: "convert draws.json OUT"},
	"plot pair":         {args: "plot pair draws.json OUT", out: "pair.png"},
	"plot morphology":   {args: "plot morphology film.h5 OUT", out: "film.svg"},
	"plot script":       {args: "plot script script.yaml OUT", out: "script.svg"},
	"plot volume":       {args: "plot volume film.h5 OUT", out: "box.svg"},
	"correlate":         {args: "correlate movie.h5 --qmap qmap.hdf --correlation both --bins 1 --out OUT --overwrite"},
	"average":           {args: "average movie_results.hdf OUT --all", out: "mean.hdf", quick: true},
	"qmap":              {args: "qmap OUT --from qmap.hdf --dynamic 4x2", out: "q.hdf"},
	"demo xpcs":         {args: "demo xpcs --data --out OUT", every: 25},
	"demo g2":           {args: "demo g2 --out OUT", every: 25}, // it runs sample g2 twice
	"demo rsoxs":        {args: "demo rsoxs --data --out OUT"},
}

// faultInputs makes a folder with the inputs of all commands the working directory.
func faultInputs(t *testing.T) {
	t.Helper()
	film := apptest.WorkInSample(t)
	copyFile := func(from, to string) {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	movie := demo.Particles(1)
	movie.Frames, movie.Geometry.Height, movie.Geometry.Width, movie.Geometry.CenterRow, movie.Geometry.CenterCol = 40, 32, 32, 16, 16
	if err := movie.Write("."); err != nil {
		t.Fatal(err)
	}
	flow := demo.Sheared(1)
	flow.Setup.Times = flow.Setup.Times[:24]
	if err := flow.Write(t.Context(), "."); err != nil {
		t.Fatal(err)
	}
	copyFile(film, "film.h5")
	copyFile(apptest.MisfitCSV(t, nil), "curve.csv")
	copyFile(apptest.LineFile(t), "line.json")
	grid := tensor.New(tensor.Float64, 1, 16, 16)
	for i := range grid.Size() {
		grid.Data().([]float64)[i] = 1e-3 * math.Exp(-math.Hypot(float64(i/16-8), float64(i%16-8))/3)
	}
	var data bytes.Buffer
	if err := grid.WriteNPY(&data); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"assembly.json": `{"fit": "p", "count": [2, 3], "k": 50}`,
		"script.yaml":   apptest.AssemblyScript,
		"classes.json":  apptest.TinyClasses,
		"data.npy":      data.String(),
		"problem.json": `{"model": "core_shell", "grid": {"shape": [4, 16, 16], "voxel": 5}, "parameters": {"radius": {"start": 12}, "shell": {"start": 6}, "aligned": {"start": 0.5}},
 "fixed": {"x": 40, "y": 40, "z": 10}, "data": "data.npy", "energies": [285.2], "eps": 1e-6,
 "constants": [[[1e-4, 1e-3, 2e-4, 5e-4]], [[1e-5, 1e-5, 1e-5, 1e-5]]]}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"correlate movie.h5 --qmap qmap.hdf --quiet", "sample expr --problem line.json --out run --seed 1 --warmup 60 --draws 30 --retries 0 --no-report --quiet", "convert run draws.json --quiet", "convert run draws.zarr --quiet"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
}

// line is the command line with its output in dir, a new folder.
func (c faultyCommand) line(args, dir string) []string {
	return append(strings.Fields(strings.ReplaceAll(args, "OUT", c.target(dir))), "--quiet")
}

func (c faultyCommand) target(dir string) string {
	if c.out == "" {
		return filepath.Join(dir, "out")
	}
	return filepath.Join(dir, c.out)
}

// contents returns the files below dir by name, without those of a lock.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == runlock.Name {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFaultsOfFiles lets every file operation of every command fail, or kill the
// process, in its turn (of one that others make up some of them). Whatever has its name afterwards is whole, and the run goes on,
// or is made again, to the same results.
func TestFaultsOfFiles(t *testing.T) {
	tier.SlowOnly(t)
	faultInputs(t)
	impatient(t, 120*time.Millisecond)
	for name, c := range faultyCommands {
		if !tier.Slow && !c.quick {
			continue
		}
		t.Run(name, func(t *testing.T) {
			operations := 0
			restore := atomicfile.Inject(func(string, string) error { operations++; return nil })
			want := c.complete(t)
			time.Sleep(1100 * time.Millisecond) // some files hold the second in which they were made
			again := c.complete(t)
			restore()
			operations /= 2
			same := map[string]bool{} // files that do not hold times
			for file, b := range want {
				same[file] = again[file] == b && filepath.Base(file) != "diagnose.txt" // which says how long it took
			}
			step := max(1, c.every)
			if !tier.Slow {
				step = max(1, operations/2) // two of them
			}
			t.Logf("%d operations, %d files, of which vary: %v", operations, len(want), vary(same))
			for k := 1; k <= operations; k += step {
				for how, run := range map[string]func(*testing.T, int, []string) bool{"fails": failAt, "kills": apptest.KillAt} {
					dir := t.TempDir()
					ended := run(t, k, c.line(c.args, dir))
					c.whole(t, fmt.Sprintf("operation %d of %d %s", k, operations, how), dir, ended, want, same)
				}
			}
		})
	}
}

func vary(same map[string]bool) (names []string) {
	for name, ok := range same {
		if !ok {
			names = append(names, name)
		}
	}
	return names
}

// complete runs the command and returns what it wrote.
func (c faultyCommand) complete(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	code, _, stderr := apptest.Do(t, c.line(c.args, dir)...)
	if code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	return contents(t, dir)
}

// whole checks what a fault left behind, and goes on from there.
func (c faultyCommand) whole(t *testing.T, what, dir string, ended bool, want map[string]string, same map[string]bool) {
	t.Helper()
	for file, b := range contents(t, dir) {
		switch {
		case atomicfile.Temporary(file) || hidden(file):
			if ended {
				t.Errorf("%s: %s is left", what, file)
			}
		case filepath.Base(file) == "checkpoint": // of some point of the run: resuming checks its sum
		case same[file] && b != want[file] && !(ended && slices.Contains(strings.Fields(c.soFar), filepath.Base(file))):
			t.Errorf("%s: %s is not whole: %d bytes of %d", what, file, len(b), len(want[file]))
		}
	}
	args := c.line(c.args+" --overwrite", dir)
	switch begun := foreign.Exists(filepath.Join(c.target(dir), "config.json")) || foreign.Exists(filepath.Join(c.target(dir), morph.SimulationRecordFile)); {
	case c.resume != "" && begun:
		args = c.line(c.resume, dir)
	case c.resume != "": // nothing is there that the command would have to spare
		args = c.line(c.args, dir)
	}
	if code, _, stderr := apptest.Do(t, args...); code != exit.OK {
		t.Errorf("%s: afterwards %v: exit %d: %s", what, args, code, stderr)
		return
	}
	got := contents(t, dir)
	for file, b := range want {
		if g, ok := got[file]; !ok || same[file] && g != b {
			t.Errorf("%s: afterwards %s is there: %v, %d bytes, want %d", what, file, ok, len(g), len(b))
		}
	}
	for file := range got {
		if _, ok := want[file]; !ok {
			t.Errorf("%s: afterwards %s is left", what, file)
		}
	}
}

// hidden says that a file is in a temporary folder.
func hidden(file string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(file), "/") {
		if atomicfile.Temporary(part) {
			return true
		}
	}
	return false
}

// failAt lets the k-th operation fail, and reports that the command has ended.
func failAt(t *testing.T, k int, args []string) bool {
	t.Helper()
	var n atomic.Int64
	restore := atomicfile.Inject(func(string, string) error {
		if n.Add(1) == int64(k) {
			return syscall.ENOSPC
		}
		return nil
	})
	var stdout, stderr bytes.Buffer
	code := app.Run(context.Background(), args, &stdout, &stderr)
	restore()
	if code != exit.OK && (code != exit.CannotWrite || !strings.Contains(stderr.String(), "no space left")) {
		t.Errorf("operation %d fails: exit %d: %s", k, code, &stderr)
	}
	if strings.Contains(stderr.String(), "cannot be read") {
		t.Errorf("operation %d fails: what cannot be written is said to be unreadable: %s", k, &stderr)
	}
	if json.Valid(stdout.Bytes()) && code != exit.OK && stdout.Len() > 0 {
		t.Errorf("operation %d fails: a document is printed: %s", k, &stdout)
	}
	return true
}
