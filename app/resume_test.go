// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/tier"
)

var resumable = []string{"sample g2", "sample expr", "sample assembly", "sample twotime", "invert rsoxs", "train connectome", "sim assembly"}

// bareRun makes a folder with nothing but a config.json.
func bareRun(t *testing.T, config string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A run that goes on has its settings from its folder: flags that say otherwise are
// refused by name, in every command, and not dropped.
func TestResumeRefusesSettings(t *testing.T) {
	own := map[string]string{
		"sample g2":       "--chains 2, --target-accept 0.7, --model double, --bin 3, --prior tau=normal(0,1), --no-report",
		"sample expr":     "--chains 2, --warmup 5, --retries 3, --problem x.json",
		"sample twotime":  "--likelihood pairs, --q 0.01, --gap 1mm, --frames 1:9, --homodyne, --prior alpha=normal(0,1)",
		"sample assembly": "--problem x.json", "invert rsoxs": "--restarts 2, --max-tree-depth 3, x.json", "train connectome": "--threads 1, x.json",
		"sim assembly": "--winners, --profile, --threads 1, --checkpoint 1s, x.yaml",
	}
	for _, command := range resumable {
		dir := bareRun(t, `{"command": "`+command+`"}`)
		for setting := range strings.SplitSeq(own[command]+", --seed 1, --out "+dir+", --overwrite", ", ") {
			words := strings.Fields(setting)
			code, out, stderr := apptest.Do(t, append(append(strings.Fields(command), "--resume", dir), words...)...)
			if code != exit.WrongUsage || !strings.HasSuffix(strings.TrimSpace(stderr), "leave out "+words[0]) || out != "" {
				t.Errorf("%s --resume RUN %s: exit %d: %s", command, setting, code, stderr)
			}
		}
	}
	if code, _, stderr := apptest.Do(t, "sample", "expr", "--resume", t.TempDir(), "--seed", "3", "--chains", "5", "--draws", "5"); code != exit.WrongUsage || !strings.Contains(stderr, "leave out --chains, --seed") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// Commands that keep no runs do not take --resume.
func TestResumeWhereThereIsNone(t *testing.T) {
	for _, command := range []string{"sbc --problem x.json", "fit g2 x.csv", "summary x", "convert x y", "plot trace x", "demo g2", "info"} {
		code, _, stderr := apptest.Do(t, append(strings.Fields(command), "--resume", "there")...)
		if code != exit.WrongUsage || !strings.Contains(stderr, "leave out --resume there") {
			t.Errorf("%s: exit %d: %s", command, code, stderr)
		}
	}
}

// Whatever the folder of another command holds, it is named as such.
func TestResumeOfAnotherCommand(t *testing.T) {
	for _, command := range resumable {
		for _, other := range append(resumable, "sim rsoxs") {
			if other == command {
				continue
			}
			dir := bareRun(t, `{"command": "`+other+`", "problem": "text", "script": [1], "g2": 4, "seed": "seven", "threads": {}}`)
			code, _, stderr := apptest.Do(t, append(strings.Fields(command), "--resume", dir)...)
			if code != exit.Config || !strings.Contains(stderr, `holds a run of "`+other+`", not of "`+command) {
				t.Errorf("%s of a run of %s: exit %d: %s", command, other, code, stderr)
			}
		}
	}
}

// The covariance of the points of a correlation is part of a run: an interrupted posterior goes on with it.
func TestCovarianceResumes(t *testing.T) {
	tier.SlowOnly(t)
	if testing.Short() {
		t.Skip("it samples for some seconds")
	}
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 300, 1))
	for _, line := range []string{apptest.QmapLine, "correlate a.h5 --qmap q.hdf --out res"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
			t.Fatal(stderr)
		}
	}
	args := strings.Fields("sample g2 res/a_results.hdf --bin 2 --warmup 2000 --draws 9000 --chains 2 --checkpoint 20ms --retries 0 --no-report --quiet --out")
	if code, _, stderr := apptest.Do(t, append(args, "whole")...); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := apptest.Own(t, []string{fmt.Sprintf("EURYALE_TEST_SIGNAL=%d", syscall.SIGINT)}, append(args, "part")...); code != exit.Interrupted {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "sample", "g2", "--resume", "part", "--quiet"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if apptest.Chains(t, "part") != apptest.Chains(t, "whole") {
		t.Error("the resumed draws differ from the uninterrupted ones")
	}
}
