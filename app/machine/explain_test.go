// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/machine"
	"github.com/euryale-dev/euryale/internal/gpubench"
)

// TestCardsWithoutModel prints measurements of a card that the model does not have: they took minutes and are not lost.
func TestCardsWithoutModel(t *testing.T) {
	for _, card := range []string{"NVIDIA GeForce RTX 4090", "NVIDIA H100 PCIe", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", ""} {
		var out, log bytes.Buffer
		a := &frame.App{Stdout: &out, Stderr: &log}
		if err := machine.ExplainMeasured(a, &gpubench.Report{Device: card, Rows: []gpubench.Row{{Name: "vector add 1K", How: "kernel", Millis: 0.0123}}}); err != nil {
			t.Fatalf("%q: %v", card, err)
		}
		if !strings.Contains(out.String(), "0.0123") {
			t.Errorf("%q: the measurement is lost:\n%s", card, &out)
		}
		if !strings.Contains(log.String(), "without those that are expected") {
			t.Errorf("%q: the log does not say what is missing:\n%s", card, &log)
		}
	}
}

// Files that are no experiments, and flags that do not go together, are refused.
func TestLearn(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	good := write("good.json", `{"version": 1, "card": "NVIDIA L4", "date": "2026-12-01", "trials": [{"choice": "tiles", "value": 1, "row": "transpose (4096,4096)", "gpu_ms": 2, "low_ms": 1.9, "high_ms": 2.1, "samples": 11},
		{"choice": "tiles", "value": 0, "row": "transpose (4096,4096)", "gpu_ms": 1, "low_ms": 0.9, "high_ms": 1.1, "samples": 11}]}`)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--learn", good}, 0, "| tiles | 1 | 0 | 2.000 |"},
		{[]string{"--learn", good, "--json"}, 0, `"values": {`},
		{[]string{"--learn", filepath.Join(folder, "none.json")}, exit.NoInput, "none.json"},
		{[]string{"--learn", write("cut.json", `{"version": 1, "card": `)}, exit.Data, "whole"},
		{[]string{"--learn", good, "--into", folder}, exit.CannotWrite, "no checkout of Euryale, since it lacks kernels/cuda/learned.json"},
		{[]string{"--learn", folder}, exit.Data, "give the file"},
		{[]string{"--learn", good, "--explain"}, exit.WrongUsage, "leave out"},
		{[]string{"--into", folder}, exit.WrongUsage, "--learn"},
	} {
		var out, errs bytes.Buffer
		code := app.Run(t.Context(), append([]string{"bench", "gpu"}, c.args...), &out, &errs)
		if code != c.code || !strings.Contains(out.String()+errs.String(), c.want) {
			t.Errorf("%v: %d, want %d with %q\n%s%s", c.args, code, c.code, c.want, &out, &errs)
		}
	}
}
