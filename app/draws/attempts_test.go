// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/draws"
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A posterior with two modes that no chain crosses between is sampled again by tempered Monte Carlo, which gives both their shares.
func TestTwoModesGetTheirShares(t *testing.T) {
	problem := apptest.Write(t, "two.json", `{"expr": "a^2", "data": {"y": [9.02, 8.97, 9.05], "s": [0.1, 0.1, 0.1]}, "y": "y", "sigma": "s",
		"priors": {"a": "normal(0.1, 1)"}}`)
	for seed := range 2 {
		dir := filepath.Join(t.TempDir(), "r")
		_, out, stderr := apptest.Do(t, "sample", "expr", "--problem", problem, "--out", dir, "--json", "--no-report", "--draws", "300", "--seed", fmt.Sprint(seed))
		var doc struct {
			Attempts int
			Evidence struct {
				Value, Error float64
				Modes        []struct {
					Share float64
					At    map[string]float64
				}
			} `json:"log_evidence"`
			Diagnostics struct{ OK bool }
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		// The masses are as exp(-(3 - 0.1)^2/2) to exp(-(3 + 0.1)^2/2), but for the prior's slope.
		if len(doc.Evidence.Modes) != 2 || doc.Attempts != 2 || !strings.Contains(stderr, "by tempered Monte Carlo") {
			t.Fatalf("seed %d: %s: %s", seed, out, stderr)
		}
		for _, m := range doc.Evidence.Modes {
			if want := map[bool]float64{true: 0.645, false: 0.355}[m.At["a"] > 0]; math.Abs(m.Share-want) > 0.08 {
				t.Errorf("seed %d: the mode at %g holds %g: want %g", seed, m.At["a"], m.Share, want)
			}
		}
		if e := doc.Evidence; math.Abs(e.Value+4.42) > 4*max(e.Error, 0.02) || !doc.Diagnostics.OK {
			t.Errorf("seed %d: log evidence %g +- %g, diagnostics %t", seed, e.Value, e.Error, doc.Diagnostics.OK)
		}
	}
}

// What an attempt says about a missing mode stays in the verdict if the next attempt neither comes there nor finds it.
func TestAttemptsRemember(t *testing.T) {
	m := infer.NewModel("narrow")
	a, b := m.Param("a", dist.Normal(0, 1)), m.Param("b", dist.Normal(0, 1))
	normal := func(x, y, sd, log float64) *ad.Node {
		return ad.Shift(ad.Scale(-0.5/(sd*sd), ad.Add(ad.Square(ad.Shift(a, -x)), ad.Square(ad.Shift(b, -y)))), log)
	}
	m.AddLogProb("modes", ad.LogAddExp(normal(0, 0, 0.3, 0), normal(0.9, -1.2, 0.01, 7)))
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	var told, passed *infer.Fit
	for seed := uint64(0); seed < 20 && (told == nil || passed == nil); seed++ {
		fit, err := infer.Sample(context.Background(), p, infer.Settings{Seed: seed})
		switch {
		case err != nil:
			t.Fatal(err)
		case fit.Diagnose().OK() && fit.Summary().Row("a").Mean < 0.1:
			passed = fit
		case len(fit.MissedModes()) > 0:
			told = fit
		}
	}
	if told == nil || passed == nil {
		t.Fatal("no run finds the narrow mode or all do, so nothing is tested")
	}
	attempts(passed, passed)
	if r := passed.Diagnose(); !r.OK() {
		t.Errorf("an attempt that found nothing spoils the next: %s", r)
	}
	attempts(told, passed)
	if r := passed.Diagnose().String(); !strings.Contains(r, "attempt 1 found a mode at") {
		t.Errorf("what the first attempt found is forgotten: %s", r)
	}
}

// attempts keeps what one fit found and tells the next of it.
func attempts(first, second *infer.Fit) {
	var cfg draws.ChainConfig
	cfg.Remember(first)
	cfg.Recall(second)
}
