// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/tier"
)

// A run that goes on shows its draws so far and how far its chains are; one that has ended has its results alone.
func TestDrawsOfRunsThatGoOn(t *testing.T) {
	tier.SlowOnly(t)
	after, every := tune.LiveAfter, tune.LiveEvery
	tune.LiveAfter, tune.LiveEvery = 0, time.Millisecond
	defer func() { tune.LiveAfter, tune.LiveEvery = after, every }()
	t.Chdir(t.TempDir())
	line := apptest.LineFile(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	var out, said strings.Builder
	go func() {
		ended <- app.Run(ctx, []string{"sample", "expr", "--problem", line, "--out", "run", "--warmup", "60", "--draws", "100000", "--retries", "0", "--no-report", "--quiet"}, &out, &said)
	}()
	for !foreign.Exists("run/live/chain-1.csv") || !foreign.Exists("run/live/progress.json") {
		time.Sleep(time.Millisecond)
	}
	for _, args := range [][]string{{"summary", "run"}, {"diagnose", "run"}, {"plot", "trace", "run", "trace.svg"}} {
		if code, _, stderr := apptest.Do(t, args...); code != exit.OK || !strings.Contains(stderr, "the run in run has not ended") {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
	var doc struct {
		Chains []struct{ Chain, Draw, Total int }
	}
	if b, err := os.ReadFile(filepath.Join("run", "live", "progress.json")); err != nil || json.Unmarshal(b, &doc) != nil || len(doc.Chains) != 4 || doc.Chains[3].Chain != 4 {
		t.Errorf("%v, %s", err, b)
	}
	cancel()
	if code := <-ended; code != exit.Interrupted {
		t.Errorf("exit %d: %s", code, said.String())
	}
	if code, _, stderr := apptest.Do(t, "convert", "run", "draws.csv"); code == exit.OK { // a part is not taken for the whole
		t.Errorf("exit %d: %s", code, stderr)
	}

	if code, _, stderr := apptest.Do(t, "sample", "expr", "--problem", line, "--out", "run", "--overwrite", "--warmup", "60", "--draws", "30", "--retries", "0", "--no-report", "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if foreign.Exists("run/live") {
		t.Error("a run that has ended shows draws as if it went on")
	}
}
