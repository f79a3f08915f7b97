// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/runs"
)

// A finished run that is extended has the bits of a run that was as long from the beginning, also if the process was killed meanwhile, and
// its results stay until the new ones are there.
func TestExtendedRuns(t *testing.T) {
	dir, problem := t.TempDir(), apptest.LineFile(t)
	for _, warmup := range tier.Of([][]string{nil}, [][]string{nil, {"--warmup", "100"}}) { // chains that adapt together, and each by itself
		out := filepath.Join(dir, fmt.Sprint("run", len(warmup)))
		begin := func(name string, n int) {
			t.Helper()
			args := append([]string{"sample", "expr", "--problem", problem, "--out", name, "--draws", fmt.Sprint(n), "--chains", "2", "--retries", "0", "--no-report"}, warmup...)
			if code, _, stderr := apptest.Do(t, args...); code != exit.OK {
				t.Fatal(stderr)
			}
		}
		state := func() (cfg draws.ChainConfig) {
			if err := runs.Folder(out).Config(&cfg); err != nil {
				t.Error(err)
			}
			return cfg
		}
		begin(out, 200)
		begin(out+"-whole", 400)
		short, whole := apptest.Chains(t, out), apptest.Chains(t, out+"-whole")
		code, _, stderr := apptest.Own(t, []string{fmt.Sprintf("EURYALE_TEST_SIGNAL=%d", syscall.SIGKILL)}, "sample", "expr", "--resume", out, "--draws", "400")
		if cfg := state(); code == exit.OK || apptest.Chains(t, out) != short || cfg.Draws != 400 || cfg.Extends != 200 || cfg.Finished(runs.Folder(out)) {
			t.Errorf("killed: exit %d: %s; %+v", code, stderr, cfg)
		}
		if code, _, stderr := apptest.Do(t, "sample", "expr", "--resume", out, "--draws", "199"); code != exit.WrongUsage || !strings.Contains(stderr, "has 200 draws per chain") {
			t.Errorf("exit %d: %s", code, stderr)
		}
		if code, _, stderr := apptest.Do(t, "sample", "expr", "--resume", out); code != exit.OK || apptest.Chains(t, out) != whole {
			t.Errorf("extended: exit %d: %s", code, stderr)
		}
		if cfg := state(); cfg.Draws != 400 || !cfg.Finished(runs.Folder(out)) {
			t.Errorf("%+v", cfg)
		}
		if err := os.Remove(filepath.Join(out, "summary.json")); err != nil {
			t.Fatal(err)
		}
		code, _, stderr = apptest.Do(t, "sample", "expr", "--resume", out, "--draws", "399") // the checkpoint tells
		if code != exit.WrongUsage || !strings.Contains(stderr, "has 400 draws per chain: give more than 400") || state().Draws != 400 {
			t.Errorf("exit %d: %s", code, stderr)
		}
	}
}

// The draws of tempered Monte Carlo are made together, so that none can be added.
func TestTemperedRunsAreNotExtended(t *testing.T) {
	dir := runs.Folder(t.TempDir())
	if err := dir.Begin(map[string]any{"command": "sample expr", "sampler": "smc", "draws": 100}); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "sample", "expr", "--resume", string(dir), "--draws", "200"); code != exit.WrongUsage || !strings.Contains(stderr, "(smc)") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
