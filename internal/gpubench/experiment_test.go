// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// In a process that an Experimenter of a test started, this program times values of small rows, or does what the test wants of it.
func TestMain(m *testing.M) {
	if mishap := os.Getenv("GPUBENCH_TRIAL"); mishap != "" {
		os.Exit(trialOfTest(mishap, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func trialOfTest(mishap string, args []string) int {
	small := []row{
		unary("transpose (4096,4096)", 8, 0, func(x *ad.Node) *ad.Node { return ad.Shift(ad.Permute(x, 1, 0), 1) }, 70, 90),
		unary("cumulative sum 10M", 8, 1, func(x *ad.Node) *ad.Node { return ad.Cumsum(x, 0) }, 9000),
	}
	last := args[len(args)-1]
	switch begins := "begins " + last + "\n"; {
	case mishap == "crash" && last == "0":
		fmt.Print(begins)
		fmt.Fprintln(os.Stderr, "an illegal address")
		return 3
	case mishap == "hang" && last == "0":
		fmt.Print(begins)
		time.Sleep(time.Minute)
	case mishap == "crash of all":
		return 4
	}
	if err := child(context.Background(), os.Stdout, args, small, 200*time.Millisecond); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// experimentOfTest runs two choices on the emulated device, in processes with a mishap.
func experimentOfTest(t *testing.T, mishap string, seconds float64) (*Experiment, string) {
	t.Helper()
	pretend.Shared(t)
	t.Setenv("GPUBENCH_TRIAL", mishap)
	file := filepath.Join(t.TempDir(), "experiment.json")
	x := Experimenter{Command: []string{os.Args[0]}, Seconds: seconds, File: file, Patience: 20 * time.Second}
	if mishap == "hang" {
		x.Patience = 2 * time.Second
	}
	for _, c := range cuda.Choices() {
		if c.Name == "tiles" || c.Name == "single_pass" {
			x.choices = append(x.choices, c)
		}
	}
	if _, err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	e, err := ReadExperiment(file)
	if err != nil {
		t.Fatal(err)
	}
	return e, file
}

// An experiment on the emulated device times all values, whose results agree, and its tables and defaults go into a checkout.
func TestExperiment(t *testing.T) {
	e, _ := experimentOfTest(t, "none", 60)
	if len(e.Missing) > 0 || len(e.Trials) != 4 {
		t.Fatalf("trials %+v, missing %q", e.Trials, e.Missing)
	}
	for _, x := range e.Trials {
		if x.Error != "" || !(x.Low > 0 && x.Low <= x.Millis && x.Millis <= x.High) || x.Samples < 1 {
			t.Errorf("%+v", x)
		}
	}
	root := checkout(t)
	if err := e.Into(root); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil || !strings.Contains(string(page), "### "+e.Card) || !strings.Contains(string(page), "| single_pass | cumulative sum 10M | 0 |") || !strings.HasPrefix(string(page), "before\n") || !strings.HasSuffix(string(page), "after\n") {
		t.Errorf("%v: %s", err, page)
	}
}

// A value that ends its process, or never ends, costs only itself.
func TestExperimentWithMishaps(t *testing.T) {
	tier.SlowOnly(t)
	for _, mishap := range []string{"crash", "hang"} {
		e, _ := experimentOfTest(t, mishap, 60)
		failed := 0
		for _, x := range e.Trials {
			if x.Value == 0 && x.Error != "" {
				failed++
			}
			if x.Value == 1 && x.Error != "" {
				t.Errorf("%s: %+v", mishap, x)
			}
		}
		if failed != 2 || len(e.Missing) > 0 {
			t.Errorf("%s: %+v, missing %q", mishap, e.Trials, e.Missing)
		}
		if text := e.String(); mishap == "crash" && !strings.Contains(text, "exit status 3: an illegal address") {
			t.Error(text)
		}
	}
	if e, _ := experimentOfTest(t, "crash of all", 60); len(e.Missing) != 2 || !strings.Contains(e.Missing[0], "exit status 4") {
		t.Errorf("%+v", e)
	}
	if e, _ := experimentOfTest(t, "none", -1); len(e.Missing) != 2 || !strings.Contains(e.Missing[0], "no time left") {
		t.Errorf("%+v", e)
	}
}

// checkout makes the files of a checkout that an experiment changes.
func checkout(t *testing.T) string {
	root := t.TempDir()
	for name, text := range map[string]string{learnedFile: `[{"card": "NVIDIA L4", "driver": 12040, "date": "2026-01-01", "values": {"tiles": 0}}]`, pageFile: "before\n" + pageBegin + pageEnd + "after\n"} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// of makes trials of the rows of a choice with medians, and intervals 2 % to either side.
func of(choice string, value int, millis ...float64) (list []Trial) {
	for _, c := range cuda.Choices() {
		for k, row := range c.Rows {
			if c.Name == choice {
				list = append(list, Trial{Choice: choice, Value: value, Row: row, Millis: millis[k], Low: 0.98 * millis[k], High: 1.02 * millis[k], Samples: 20})
			}
		}
	}
	return list
}

// Only a value that is faster beyond doubt, and slower nowhere, is chosen.
func TestDecisions(t *testing.T) {
	broken := of("tiles", 0, 1)
	broken[0].Error = "result 3 is 1, with the first value 2"
	for name, c := range map[string]struct {
		trials [][]Trial
		choice string
		want   int
	}{
		"faster":                  {[][]Trial{of("tiles", 1, 2), of("tiles", 0, 1)}, "tiles", 0},
		"within the uncertainty":  {[][]Trial{of("tiles", 1, 2), of("tiles", 0, 1.97)}, "tiles", 1},
		"slower":                  {[][]Trial{of("tiles", 1, 2), of("tiles", 0, 3)}, "tiles", 1},
		"wrong":                   {[][]Trial{of("tiles", 1, 2), broken}, "tiles", 1},
		"alone":                   {[][]Trial{of("tiles", 0, 1)}, "tiles", 1},
		"the fastest":             {[][]Trial{of("sum_blocks", 512, 2), of("sum_blocks", 264, 1), of("sum_blocks", 528, 0.5)}, "sum_blocks", 528},
		"slower on one row":       {[][]Trial{of("elements", 4, 2, 2, 2), of("elements", 8, 1, 1, 3)}, "elements", 4},
		"faster on one row":       {[][]Trial{of("elements", 4, 2, 2, 2), of("elements", 8, 2, 1, 2)}, "elements", 8},
		"zero":                    {[][]Trial{of("tiles", 1, 2), of("tiles", 0, 0)}, "tiles", 1},
		"negative":                {[][]Trial{of("tiles", 1, 2), of("tiles", 0, -1)}, "tiles", 1},
		"not a number":            {[][]Trial{of("tiles", 1, 2), of("tiles", 0, math.NaN())}, "tiles", 1},
		"infinite":                {[][]Trial{of("tiles", 1, math.Inf(1)), of("tiles", 0, 1)}, "tiles", 1},
		"a value that is unknown": {[][]Trial{of("tiles", 1, 2), of("tiles", 7, 1)}, "tiles", 1},
	} {
		e := &Experiment{Card: "x", Trials: slices.Concat(c.trials...)}
		for _, d := range e.Decisions() {
			if d.Choice == c.choice && d.Value != c.want {
				t.Errorf("%s: %+v, want %d", name, d, c.want)
			}
			if d.Choice != c.choice && (d.Value != d.Default || d.Why != "it was not measured") {
				t.Errorf("%s: %+v was not measured", name, d)
			}
		}
	}
}

// Another experiment on a card takes the place of the first, and what is known of other cards stays.
func TestIntoReplacesACard(t *testing.T) {
	root := checkout(t)
	first := &Experiment{Version: version, Card: "NVIDIA H100 80GB HBM3", Date: "2026-12-01", Trials: append(of("tiles", 1, 2), of("tiles", 0, 1)...)}
	second := &Experiment{Version: version, Card: first.Card, Date: "2026-12-02", Table: &Report{Rows: []Row{{Name: "sum 10M", How: "program", Millis: 0.0116, Floor: 0.01}, {Name: "sort 8K", How: "program", Error: "no | memory"}}}}
	other := &Experiment{Version: version, Card: "NVIDIA H200", Date: "2026-12-03"}
	for _, e := range []*Experiment{first, other, second} {
		if err := e.Into(root); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(root, learnedFile))
	var cards []cuda.Learned
	if err != nil || json.Unmarshal(b, &cards) != nil || len(cards) != 3 || cards[0].Card != first.Card || cards[0].Date != second.Date || len(cards[0].Values) != 0 || cards[2].Values["tiles"] != 0 {
		t.Errorf("%v: %+v", err, cards)
	}
	page, err := os.ReadFile(filepath.Join(root, pageFile))
	text := string(page)
	if err != nil || strings.Count(text, "\n### ") != 2 || strings.Contains(text, first.Date) || !strings.Contains(text, "| sum 10M | program | 0.0116 | 0.0100 | 0.0") || !strings.Contains(text, "no / memory") {
		t.Errorf("%v: %s", err, text)
	}
	if err := os.WriteFile(filepath.Join(root, pageFile), []byte("nothing"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := first.Into(root); err == nil || !strings.Contains(err.Error(), "has no place") {
		t.Error(err)
	}
	if again, _ := os.ReadFile(filepath.Join(root, learnedFile)); !bytes.Equal(again, b) {
		t.Error("the table of cards changed although the page could not")
	}
}

// Files that are no experiment are refused with what to do.
func TestReadExperiment(t *testing.T) {
	for text, want := range map[string]string{`{"version": 1, "card": "x", "trials": [`: "whole", `{"version": 2, "card": "x"}`: "version 2", `{"version": 1}`: "does not name a card", `{"version": 1, "card": "x"}`: "a date", "": "whole", `[1]`: "not what"} {
		name := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadExperiment(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What other parts left is gathered, and what they did not leave is said to be missing.
func TestGather(t *testing.T) {
	e, file := experimentOfTest(t, "none", 60)
	folder := filepath.Dir(file)
	for name, text := range map[string]string{"bench.json": `{"device": "x", "rows": [{"name": "sum 10M"}]}`, "gpu.log": "--- PASS: TestGPUKernels (0.1s)\n    --- PASS: TestGPUKernels/add\n--- FAIL: TestGPUSort (0.1s)\nEXIT 124 of something\n========= ERROR SUMMARY: 36 errors\n", "peers.json": "{"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g, err := Gather(folder, file)
	if err != nil || g.Passed != 2 || len(g.Failed) != 2 || len(g.Sanitizer) != 1 || g.Table == nil || len(g.Missing) != 1 || !strings.Contains(g.Missing[0], "peers.json") || len(g.Trials) != len(e.Trials) {
		t.Errorf("%v: %+v", err, g)
	}
}
