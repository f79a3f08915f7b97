// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/xpcs"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/g2"
)

// decayTable writes a table with a decay whose delays are in another unit.
func decayTable(t *testing.T, scale float64) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("tau,g2,g2_err\n")
	for i := range 30 {
		x := 5e-4 * math.Pow(1.2, float64(i))
		fmt.Fprintf(&b, "%g,%g,0.002\n", x*scale, 1+0.2*math.Exp(-2*x/0.01)+0.002*math.Sin(float64(i*i)))
	}
	return apptest.Write(t, "decay.csv", b.String())
}

// Flags that contradict each other or the model are wrong usage, in one line, before anything runs.
func TestG2FlagsThatContradict(t *testing.T) {
	file := decayTable(t, 1)
	for _, c := range []struct{ args, want string }{
		{"fit g2 FILE --fixed tau=1 --fixed tau=2", `--fixed tau=2: tau was already given as 1`},
		{"fit g2 FILE --start tau=1 --start tau=2", `--start tau=2: tau was already given as 1`},
		{"fit g2 FILE --start tau=1 --fixed tau=2", "--start tau=1: tau is held fixed at 2"},
		{"fit g2 FILE --bounds tau=1:2 --bounds tau=1:3", "tau already has the bounds 1:2"},
		{"fit g2 FILE --fixed tau=nan", "want name=value with a finite number"},
		{"fit g2 FILE --bounds tau=-5:-1", "tau is a relaxation time, which must be positive"},
		{"sample g2 FILE --prior tau=bernoulli(0.5)", "the prior of tau is bernoulli(0.5), which is not a continuous distribution"},
		{"sample g2 FILE --prior tau=normal(1,1) --prior tau=normal(2,1)", "tau already has a prior"},
	} {
		args := append(strings.Fields(strings.Replace(c.args, "FILE", file, 1)), "--out", filepath.Join(t.TempDir(), "run"))
		code, _, stderr := apptest.Do(t, args...)
		if code != exit.WrongUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, want %q: %s", c.args, code, c.want, stderr)
		}
	}
}

// A table that no fit can compute with has failed, in the table and in the document.
func TestG2ExtremeDelays(t *testing.T) {
	file := decayTable(t, 1e300)
	code, stdout, _ := apptest.Do(t, "fit", "g2", file)
	if code != exit.Data || !strings.Contains(stdout, "failed") || strings.Contains(stdout, "agrees") || !strings.Contains(stdout, "give tau in s") || strings.Contains(stdout, "+- -1") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	_, stdout, _ = apptest.Do(t, "fit", "g2", file, "--json")
	var doc xpcs.FitDoc
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || doc.Bins[0].Status != "failed" || doc.Bins[0].Check != nil || doc.Bins[0].SD["tau"] != -1 {
		t.Errorf("%v: %s", err, stdout)
	}
	if code, _, stderr := apptest.Do(t, "sample", "g2", file, "--out", filepath.Join(t.TempDir(), "run")); code != exit.Data || !strings.Contains(stderr, "give tau in s") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A bin that is named twice is selected once.
func TestBinsNamedTwice(t *testing.T) {
	curves := []g2.Curve{{Bin: 1}, {Bin: 2}, {Bin: 3}}
	got, err := xpcs.PickBins("file", curves, "3,1,1-2,3")
	if err != nil || len(got) != 3 || got[0].Bin != 3 || got[1].Bin != 1 || got[2].Bin != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

// Names that files of draws cannot hold are refused before a run folder is made.
func TestExprNamesThatFilesCannotHold(t *testing.T) {
	for _, name := range []string{"a,b", "chain", "../../x", `q\"x`} {
		out := filepath.Join(t.TempDir(), "run")
		file := apptest.Write(t, "p.json", `{"expr": "a+b*x", "data": {"x": [1,2,3,4,5], "y": [1.1,2,2.9,4.2,5.1]}, "sigma": "s", "priors": {"a": "normal(0,10)", "b": "normal(0,10)", "s": "halfnormal(1)"}, "derived": {"`+name+`": "a/b"}}`)
		code, _, stderr := apptest.Do(t, "sample", "expr", "--problem", file, "--out", out)
		if code != exit.Data || foreign.Exists(out) || !strings.Contains(stderr, "derived: ") {
			t.Errorf("%s: exit %d, %s", name, code, stderr)
		}
	}
}

// A parameter of the motion has one value and one pair of bounds.
func TestTwotimeFlagsThatContradict(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"--fixed D0=1 --fixed D0=2", "D0 was already given as 1: leave one of them out"},
		{"--start D0=1 --fixed D0=2", "--fixed D0=2: D0 also has a starting value: leave one of them out"},
		{"--bounds D0=1:2 --bounds D0=1:3", "D0 already has the bounds 1:2: leave one of them out"},
	} {
		code, _, stderr := apptest.Do(t, strings.Fields("fit twotime none.hdf "+c.flags)...)
		if code != exit.WrongUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d: %s", c.flags, code, stderr)
		}
	}
}
