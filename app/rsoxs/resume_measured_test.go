// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/tier"
)

// A fit of measured patterns that was interrupted ends with --resume in the text and the files of one that was not.
func TestInvertMeasuredResumes(t *testing.T) {
	tier.SlowOnly(t)
	name, problem := measuredProblem(t)
	problem["parameters"] = map[string]any{"radius": map[string]any{"start": 5.5}, "log_scale": map[string]any{}}
	problem["fixed"] = map[string]any{"shell": 4, "aligned": 0.5, "background": 2, "centre_x": 0.6, "centre_y": -0.5}
	b, err := json.Marshal(problem)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(filepath.Dir(name), "run")
	args := []string{"invert", "rsoxs", name, "--out", out, "--no-report", "--restarts", "0", "--quiet"}
	want, asked := interruptible(t, 1<<30, exit.OK, args...)
	whole := read(t, filepath.Join(out, "fit.json"))
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	interruptible(t, asked/2, exit.Interrupted, args...)
	code, text, stderr := apptest.Do(t, "invert", "rsoxs", "--resume", out, "--quiet")
	if code != exit.OK || text != want || read(t, filepath.Join(out, "fit.json")) != whole {
		t.Errorf("exit %d: %s\n%s\nwant\n%s", code, stderr, text, want)
	}
}

// interruptible runs a command whose context ends when it is asked for the nth time, and returns what it prints and how often it was asked.
func interruptible(t *testing.T, after int32, code int, args ...string) (text string, asked int32) {
	t.Helper()
	var out, stderr bytes.Buffer
	ctx := &apptest.Countdown{Context: context.Background()}
	ctx.Left.Store(after)
	if got := app.Run(ctx, args, &out, &stderr); got != code {
		t.Fatalf("exit %d, want %d: %s", got, code, stderr.String())
	}
	return out.String(), after - ctx.Left.Load()
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
