// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/assembly"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/foreign"
)

func TestSampleAssembly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for name, problem := range map[string]string{
		"association": `{"fit": "association", "rounds": [10,12,14,16,18,20], "overlap": [28,39,52,59,69,81], "k": 100}`,
		"p":           `{"fit": "p", "count": [2,3,1,4,2,3,2,2], "k": 50}`,
	} {
		out := filepath.Join(dir, name)
		code, stdout, stderr := apptest.Do(t, "sample", "assembly", "--problem", apptest.Write(t, name+".json", problem), "--out", out, "--json", "--quiet", "--warmup", "300", "--draws", "300")
		if code != exit.OK {
			t.Fatalf("%s: exit %d: %s", name, code, stderr)
		}
		var doc struct {
			Engine, Model string
			Summary       map[string]struct {
				RHat float64 `json:"r_hat"`
				ESS  float64 `json:"ess_bulk"`
			}
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Engine != "assembly" || doc.Model != name || len(doc.Summary) == 0 {
			t.Errorf("%s: %+v", name, doc)
		}
		for p, r := range doc.Summary {
			if r.RHat > 1.05 || r.ESS < 100 {
				t.Errorf("%s: %s has R-hat %v and ESS %v", name, p, r.RHat, r.ESS)
			}
		}
		for _, picture := range []string{"trace.svg", "predictive.svg"} {
			if _, err := os.Stat(filepath.Join(out, "plots", picture)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestSampleAssemblyRefuses(t *testing.T) {
	for want, problem := range map[string]string{
		"did you mean completion?": `{"fit": "completon"}`,
		"there is no field":        `{"fit": "p", "counts": [1]}`,
		"a.json":                   `{"fit": "p", "count": [7], "k": 3}`,
	} {
		code, _, stderr := apptest.Do(t, "sample", "assembly", "--problem", apptest.Write(t, "a.json", problem), "--out", filepath.Join(t.TempDir(), "x"))
		if code != exit.Data || !strings.Contains(stderr, want) {
			t.Errorf("exit %d: %s; want %q", code, stderr, want)
		}
	}
}

func TestTrainConnectome(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, stdout, stderr := apptest.Do(t, "train", "connectome", apptest.Write(t, "tiny.json", apptest.TinyClasses), "--out", dir, "--json", "--quiet")
	if code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc assembly.TrainDoc
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Test.Accuracy < 0.9 || doc.Test.Overlap <= doc.Untrained.Overlap || doc.Updates != 40 || len(doc.Fibres) != 1 {
		t.Errorf("%+v", doc)
	}
	for _, name := range []string{"connectome.npz", "training.csv", "plots/loss.svg", "summary.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	// A finished run resumed does nothing new.
	code, again, stderr := apptest.Do(t, "train", "connectome", "--resume", dir, "--json", "--quiet")
	if code != exit.OK || again != stdout {
		t.Errorf("exit %d: %s %s, want %s", code, stderr, again, stdout)
	}
}

func TestTrainConnectomeRefuses(t *testing.T) {
	bad := strings.Replace(apptest.TinyClasses, `"k": 6`, `"k": 61`, 1)
	if code, _, stderr := apptest.Do(t, "train", "connectome", apptest.Write(t, "bad.json", bad), "--out", filepath.Join(t.TempDir(), "x")); code != exit.Data || !strings.Contains(stderr, "61 of its 60") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "train", "connectome", "nowhere.json"); code != exit.NoInput {
		t.Errorf("exit %d: %s", code, stderr)
	}
	data := strings.Replace(apptest.TinyClasses, `"task": {"classes": 2, "active": 15, "on": 0.6, "off": 0.05, "train": 40, "test": 60}`, `"data": "x.npz"`, 1)
	if code, _, stderr := apptest.Do(t, "train", "connectome", apptest.Write(t, "data.json", data)); code != exit.NoInput || !strings.Contains(stderr, "x.npz") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// Whatever is wrong with a problem is said before there is a run folder.
func TestTrainConnectomeLeavesNoFolder(t *testing.T) {
	for _, change := range [][2]string{
		{`"k": 6`, `"k": -1`}, {`"n": 60`, `"n": 1000000000000`}, {`"n": 30`, `"n": 1000000000000`}, {`"n": 60`, `"n": 100000000`},
		{`"batch": 8`, `"batch": 1000000000`}, {`"steps": 1`, `"steps": 1000000000`}, {`"train": 40`, `"train": 1000000000000`},
		{`"updates": 40`, `"updates": -1`}, {`"batch": 8`, `"batch": -1`}, {`"batch": 8`, `"lr": -1`}, {`"batch": 8`, `"warm": -1`},
		{`"batch": 8`, `"precision": "16"`}, {`"batch": 8`, `"readout": {"assemblies": [[1, 60], [2]]}`}, {`"batch": 8`, `"readout": {"assemblies": [[1, 1, 1], [2]]}`},
		{`{"from": "S", "to": "A", "p": 0.3}`, ``}, {`"p": 0.3}`, `"p": 0.3}, {"from": "S", "to": "A", "p": 0.3}`},
		{`"p": 0.3`, `"p": 0.3, "learn": ["none", "weights"]`}, {`"seed": 1`, `"max_weight": -1`}, {`"seed": 1`, `"hebb": -1`},
		{`"test": 60}}`, `"test": 60}} more`}, {`"S"`, `"../x"`},
	} {
		out := filepath.Join(t.TempDir(), "x")
		code, _, stderr := apptest.Do(t, "train", "connectome", apptest.Write(t, "bad.json", strings.ReplaceAll(apptest.TinyClasses, change[0], change[1])), "--out", out)
		if code != exit.Data || !strings.Contains(stderr, "bad.json") {
			t.Errorf("%s: exit %d: %s", change[1], code, stderr)
		}
		if foreign.Exists(out) {
			t.Errorf("%s left a folder", change[1])
		}
	}
}

func TestTrainConnectomeResumes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, stderr := apptest.Do(t, "train", "connectome", apptest.Write(t, "tiny.json", apptest.TinyClasses), "--out", dir, "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, flag := range []string{"--seed", "--out", "--threads"} {
		if code, _, stderr := apptest.Do(t, "train", "connectome", "--resume", dir, flag, "1"); code != exit.WrongUsage || !strings.Contains(stderr, flag) {
			t.Errorf("exit %d: %s", code, stderr)
		}
	}
	name := filepath.Join(dir, "checkpoint")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "train", "connectome", "--resume", dir); code != exit.Data || !strings.Contains(stderr, name) || !strings.Contains(stderr, "checksum") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestSampleAssemblyTooLarge(t *testing.T) {
	for _, problem := range []string{
		`{"fit": "formation", "overlap": [3, 4], "simulator": {"N": 1000000000000}}`,
		`{"fit": "formation", "overlap": [3, 4], "simulator": {"Steps": 1000000000}}`,
		`{"fit": "formation", "overlap": [3, 4], "simulator": {"Graphs": 1000000000}, "dynamics": "soft"}`,
		`{"fit": "formation", "overlap": [3, 4], "graphs": 1000000000}`,
		`{"fit": "p", "count": [2, 3], "k": 50} {}`,
	} {
		code, _, stderr := apptest.Do(t, "sample", "assembly", "--problem", apptest.Write(t, "a.json", problem), "--out", filepath.Join(t.TempDir(), "x"))
		if code != exit.Data || !strings.Contains(stderr, "a.json") {
			t.Errorf("%s: exit %d: %s", problem, code, stderr)
		}
	}
}
