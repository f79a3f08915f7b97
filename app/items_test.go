// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
)

// items are command lines of all commands that do several items, with one bad item among three, and a file or a text on standard output that shows that
// the others were done.
var items = map[string][2]string{
	"fit g2":       {"fit g2 a.csv bad b.csv --out fits", "fits/b/report.html"},
	"correlate":    {"correlate a.h5 bad b.h5 --qmap q.hdf --out c", "c/b_results.hdf"},
	"average":      {"average r/a_results.hdf bad r/b_results.hdf mean.hdf --all", "mean.hdf"},
	"reduce saxs":  {"reduce saxs r/a_results.hdf bad r/b_results.hdf saxs.csv", "saxs.csv"},
	"reduce rsoxs": {"reduce rsoxs p/Energy_1.00.h5 bad p/Energy_2.00.h5 --phys-size 5 curves.csv", "curves.csv"},
	"plot pattern": {"plot pattern p/Energy_1.00.h5 bad p/Energy_2.00.h5 --phys-size 5 pattern.svg", "pattern.svg"},
	"compare":      {"compare run bad other", "stdout other"},
	"convert":      {"convert fit bad fit2 t.csv", "t.csv"},
}

// oneItem are the commands whose several files are one thing, which would be another one without a bad part.
var oneItem = map[string]string{
	"plot": "chains of one run", "loo": "chains of one run", "summary": "chains of one run", "diagnose": "chains of one run",
	"fit curve": "tables of one fit", "sample curve": "tables of one posterior",
	"view": "one page, which needs all that it is told to show", "plot spectrum": "spectra of one star", "sample spectrum": "spectra of one star",
	"plot g2": "files that one picture compares", "plot saxs": "files that one picture compares", "plot intensity": "files that one picture compares",
	"fit spectra": "tested where libraries are made, TestFitAndSampleSpectra and TestFitSpectraOfDESI",
}

// patterns writes images of some energies in eV into a folder.
func patterns(t *testing.T, dir string, energies ...float64) {
	t.Helper()
	const side = 16
	var all []*cyrsoxs.Pattern
	for _, energy := range energies {
		image := make([]float64, side*side)
		for i := range image {
			image[i] = 1 + energy*float64(i%7)
		}
		all = append(all, &cyrsoxs.Pattern{Energy: energy, Shape: [2]int{side, side}, KVectors: [][3]float64{{0, 0, 1}}, Images: []cyrsoxs.Field{{Float64: image}}})
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = cyrsoxs.WritePatterns(dir, all)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A bad item stops no other. The command names it at the end, with the reason, and ends with the code of bad data.
func TestOneBadItemStopsNoOther(t *testing.T) {
	_, all := apptest.Commands()
	for _, c := range all {
		path := strings.TrimPrefix(c.CommandPath(), "euryale ")
		if strings.Contains(c.Use, "...") && c.HasParent() && items[path][0] == "" && oneItem[path] == "" {
			t.Errorf("%s takes several items, but no line of this test does", path)
		}
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.csv": apptest.DecayCSV(""), "b.csv": apptest.DecayCSV(""), "bad": "what is this\n", "p.json": `{"expr": "a", "data": {"y": [1, 2, 1.5]}, "start": {"a": 1}}`,
		"s.json": `{"expr": "a", "data": {"y": [1, 2, 1.5]}, "sigma": "1", "priors": {"a": "normal(0, 3)"}}`} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	patterns(t, "p", 1, 2)
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 60, 1))
	apptest.WriteMovie(t, "b.h5", apptest.Speckles(t, 60, 2))
	for _, line := range []string{apptest.QmapLine, "correlate a.h5 b.h5 --qmap q.hdf --out r", "fit nlsq --problem p.json --out fit", "fit nlsq --problem p.json --out fit2",
		"sample expr --problem s.json --out run --warmup 60 --draws 40 --retries 0 --no-report", "sample expr --problem s.json --out other --seed 2 --warmup 60 --draws 40 --retries 0 --no-report"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != exit.OK {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	for _, c := range items {
		code, stdout, stderr := apptest.Do(t, strings.Fields(c[0])...)
		if code != exit.Data || !strings.Contains(stderr, "\nError: 1 of 3 ") || !strings.Contains(stderr[strings.LastIndex(stderr, "\nError: "):], "bad") {
			t.Errorf("%s: exit %d: %s", c[0], code, stderr)
		}
		if word, ok := strings.CutPrefix(c[1], "stdout "); ok {
			if !strings.Contains(stdout, word) {
				t.Errorf("%s: %s", c[0], stdout)
			}
		} else if _, err := os.Stat(c[1]); err != nil {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}
