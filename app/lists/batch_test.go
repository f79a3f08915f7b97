// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/lists"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/tier"
)

// A batch is listed, worked on in shares, told about, brought together, and mended.
func TestBatch(t *testing.T) {
	config := apptest.Decays(t, 3, "")
	dir := strings.TrimSuffix(config, ".yaml")
	must := func(want int, args ...string) string {
		t.Helper()
		code, out, stderr := apptest.Do(t, append([]string{"batch"}, args...)...)
		if code != want {
			t.Fatalf("%v: exit %d, want %d: %s%s", args, code, want, out, stderr)
		}
		return out + stderr
	}
	if out := must(0, config); !strings.Contains(out, "6 items of fit g2") {
		t.Error(out)
	}
	must(0, "run", dir, "--shard", "1/2")
	if out := must(exit.Failed, "status", config, "--strict"); !strings.Contains(out, "not begun: shard-00000-of-00002") {
		t.Error(out)
	}
	if out := must(exit.Data, "merge", dir); !strings.Contains(out, "3 of 6 items have no result: 0, 2, 4; no process has started shard-00000-of-00002") {
		t.Error(out)
	}
	must(0, "run", config, "--shard", "0/2")
	var doc lists.MergeDoc
	out := must(0, "merge", dir, "--json", "--quiet")
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err, out)
	}
	if doc.Items != 6 || doc.Failed != 1 || len(doc.Failures) != 1 || !strings.Contains(doc.Failures[0].First, "b.csv, row 2: ") || *doc.Flagged != 5 {
		t.Errorf("%+v", doc)
	}
	if doc.OK || !strings.Contains(doc.Finding, "1 of 6 items failed; the verdicts about 5 items are bad (right models would give up to 1 by chance)") {
		t.Errorf("ok is %v with a failed item and bad verdicts, finding %q", doc.OK, doc.Finding)
	}
	if out := must(0, "merge", dir); !strings.Contains(out, "failed 1 time: ") {
		t.Error(out)
	}
	must(exit.Failed, "merge", dir, "--strict")
	for _, name := range doc.Files {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil || !strings.Contains(string(page), "What failed") {
		t.Error(err)
	}

	if err := os.WriteFile(filepath.Join(filepath.Dir(config), "data", "b.csv"), []byte(apptest.DecayCSV("")), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := must(0, "retry", dir); !strings.Contains(out, "cleared 1 failure;") {
		t.Error(out)
	}
	must(0, "run", dir, "--shard", "1/2")
	if out := must(exit.Failed, "merge", dir, "--strict"); !strings.Contains(out, "6 items of fit g2, 0 failed, 6 with a bad verdict") {
		t.Error(out)
	}

	if err := os.WriteFile(filepath.Join(filepath.Dir(config), "data", "d.csv"), []byte(apptest.DecayCSV("")), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := must(exit.CannotWrite, config); !strings.Contains(out, "its files give 8 items now, and gave 6") {
		t.Error(out)
	}
	if out := must(0, config, "--overwrite"); !strings.Contains(out, "8 items") {
		t.Error(out)
	}
	must(exit.WrongUsage, "run", dir, "--shard", "2/2")
	must(exit.NoInput, "run", filepath.Dir(dir))
	must(exit.NoInput, "run", dir+"-not")
}

// A list that is made anew in a folder of the user removes its own results there, and nothing else.
func TestBatchOverwritesOnlyItsOwn(t *testing.T) {
	config := apptest.Decays(t, 1, "")
	dir := filepath.Dir(config)
	mine := []string{"results/measured.csv", "results/shard-1/notes.txt", "chains/of-polymers.csv"}
	for _, name := range mine {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(apptest.DecayCSV("")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "chains", "chain-00000"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"batch", "run", config, "--out", dir}, {"batch", config, "--out", dir, "--overwrite"}} {
		if code, _, stderr := apptest.Do(t, args...); code != 0 {
			t.Fatal(args, stderr)
		}
		if err := os.WriteFile(config, []byte("work: fit g2\nfiles: [data/*.csv, results/*.csv]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range mine {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"results/shard-00000-of-00001", "chains/chain-00000"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

// Tasks of a job that are given the configuration make one list, all at once.
func TestBatchTasksMakeTheListAtOnce(t *testing.T) {
	config := apptest.Decays(t, 4, "")
	const tasks = 8
	var cmds []*exec.Cmd
	var said [tasks]strings.Builder
	for i := range tasks {
		cmd := exec.Command(os.Args[0], "batch", "run", config, "--shard", fmt.Sprintf("%d/%d", i, tasks), "--quiet", "--threads", "1")
		cmd.Env = append(os.Environ(), "EURYALE_TEST_COMMAND=1")
		cmd.Stderr = &said[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, &said[i])
		}
	}
	if code, _, stderr := apptest.Do(t, "batch", "merge", config); code != 0 {
		t.Error(stderr)
	}
}

// An item that ends the program fails, and the others that were worked on at that time do not.
func TestBatchItemEndsTheProgram(t *testing.T) {
	config := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(config, []byte(`work: sweep
program: /bin/sh
command: [-c, 'sleep 0.05; test {i} != 9 || kill -9 $PPID; sleep 0.05; echo "{\"x\": {i}.5, \"pi\": 3.141592653589793}"']
grid: {i: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}
take: {x: x, pi: pi}
retries: 0
`), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func() (string, error) {
		cmd := exec.Command(os.Args[0], "batch", "run", config, "--threads", "4", "--quiet")
		cmd.Env = append(os.Environ(), "EURYALE_TEST_COMMAND=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(); err == nil {
		t.Fatalf("the program goes on: %s", out)
	}
	if out, err := run(); err != nil {
		t.Fatal(err, out)
	}
	code, out, stderr := apptest.Do(t, "batch", "merge", config)
	if code != 0 || !strings.Contains(out, "13 items of sweep, 1 failed") || !strings.Contains(out, "row 10: the separate process for this item ended: signal: killed") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// The instruction set of a list is kept, or its absence told.
func TestBatchOfAnotherProcessor(t *testing.T) {
	config := apptest.Decays(t, 1, "")
	dir := strings.TrimSuffix(config, ".yaml")
	if code, _, stderr := apptest.Do(t, "batch", config); code != 0 {
		t.Fatal(stderr)
	}
	name := filepath.Join(dir, lists.ManifestName)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	i, j := strings.Index(string(b), `"simd":"`), strings.Index(string(b), `","device"`)
	if err := os.WriteFile(name, []byte(string(b[:i])+`"simd":"mmx`+string(b[j:])), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "batch", "run", dir); code != exit.Data || !strings.Contains(stderr, "it was changed or truncated") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// The jobs that are printed name what they need, and the shell takes them.
func TestBatchJobs(t *testing.T) {
	config := apptest.Decays(t, 3, "")
	dir := strings.TrimSuffix(config, ".yaml")
	code, out, stderr := apptest.Do(t, "batch", "sbatch", config, "--shards", "4", "--limit", "2", "--time", "90m", "--gpus", "1", "--partition", "short")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{"#SBATCH --array=0-3%2\n", "#SBATCH --time=0-01:30:00\n", "--gres=gpu:1", "--partition=short", "folder='" + dir + "'", "#SBATCH --signal=B:TERM@60"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if sh, err := exec.LookPath("bash"); err == nil {
		cmd := exec.Command(sh, "-n")
		cmd.Stdin = strings.NewReader(out)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, said)
		}
	}
	code, out, stderr = apptest.Do(t, "batch", "k8s", dir, "--shards", "4", "--path", filepath.Dir(dir), "--image", "i:1")
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{"completionMode: Indexed", "completions: 4", "EURYALE_SHARDS", `value: "4"`, `"` + dir + `"`, `memory: "4Gi"`, `image: "i:1"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, args := range [][]string{{"sbatch", dir, "--shards", "7"}, {"sbatch", dir, "--time", "4"}, {"sbatch", dir, "--memory", "lots"}, {"k8s", dir, "--shards", "2", "--path", "/elsewhere"}, {"k8s", dir, "--shards", "2"}, {"k8s", dir, "--shards", "2", "--path", "/"}} {
		if code, out, _ := apptest.Do(t, append([]string{"batch"}, args...)...); code != exit.WrongUsage || out != "" {
			t.Errorf("%v: exit %d: %s", args, code, out)
		}
	}
}

// SIGTERM keeps what is done: within a job of Slurm it is no failure.
func TestBatchIsAnnouncedItsEnd(t *testing.T) {
	for _, c := range []struct {
		env  string
		want int
	}{{"SLURM_JOB_ID=7", 0}, {"SLURM_NONE=", exit.Interrupted}} {
		dir := t.TempDir()
		config := filepath.Join(dir, "c.yaml")
		last := filepath.Join(dir, "last")
		script := filepath.Join(dir, "wait.sh")
		if err := os.WriteFile(script, []byte("#!/bin/sh\n[ $1 = 0 ] || touch "+last+"\nexec sleep $1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(config, []byte("work: sweep\nprogram: "+script+"\ncommand: '{s}'\ngrid: {s: [0, 0, 0, 300]}\nblock: 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "batch", "run", config, "--threads", "1")
		cmd.Env = append(os.Environ(), "EURYALE_TEST_COMMAND=1", c.env)
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 6000 { // until the fourth item has begun, when three are finished
			if foreign.Exists(last) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != c.want || !strings.Contains(said.String(), "3 of 4 items are finished") {
			t.Errorf("%s: exit %d, want %d: %s", c.env, code, c.want, &said)
		}
	}
}

// The examples of lists do what they say.
func TestClusterExamples(t *testing.T) {
	if !tier.Slow {
		t.Skip("make test-slow runs the examples for clusters")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(apptest.Root("examples", "cluster"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(apptest.DemoFile(t), filepath.Join(dir, "demo.hdf")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EURYALE_TEST_COMMAND", "1") // the sweep calls this program
	for name, want := range map[string]string{"fits": "12 items of fit g2, 0 failed", "chains": "16 chains met R-hat <= 1.01", "sweep": "9 items of sweep, 0 failed"} {
		if code, _, stderr := apptest.Do(t, "batch", "run", filepath.Join(dir, name+".yaml"), "--quiet"); code != 0 {
			t.Fatal(stderr)
		}
		code, out, stderr := apptest.Do(t, "batch", "merge", filepath.Join(dir, name), "--strict")
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s%s", name, code, out, stderr)
		}
	}
}

// A whole list of which nothing succeeds does not end as one that is done, also without notes and as a document, and when it is run once more. A
// shard does, so that tasks of other items go on, and so does a list of which an item succeeded.
func TestBatchOfFailuresFails(t *testing.T) {
	for _, flag := range []string{"--quiet", "--json"} {
		bad := apptest.Write(t, "bad.csv", "bin,q,tau,g2,err\n0,0.01,-1,1.2,0.01\n0,0.01,-2,1.1,0.01\n0,0.01,-3,1.1,0.01\n0,0.01,-4,1.1,0.01\n")
		config := apptest.Write(t, "bad.yaml", "work: fit g2\nfiles: "+bad+"\nretries: 0\n")
		if code, _, stderr := apptest.Do(t, "batch", config, "--quiet"); code != exit.OK {
			t.Fatal(code, stderr)
		}
		code, _, stderr := apptest.Do(t, "batch", "run", config, flag)
		if code != exit.Data || !strings.Contains(stderr, "all of 1 item failed") {
			t.Errorf("%s: exit code %d: %s", flag, code, stderr)
		}
		if code, _, stderr := apptest.Do(t, "batch", "run", config, flag); code != exit.Data || !strings.Contains(stderr, "all of 1 item failed") {
			t.Errorf("%s, once more: exit code %d: %s", flag, code, stderr)
		}
		if code, _, stderr := apptest.Do(t, "batch", "run", config, flag, "--shard", "0/2"); code != exit.OK {
			t.Errorf("%s, one shard: exit code %d: %s", flag, code, stderr)
		}
	}
	good := apptest.Write(t, "good.csv", apptest.DecayCSV(""))
	bad := apptest.Write(t, "bad.csv", "tau,g2\n-1,1.2\n")
	config := apptest.Write(t, "both.yaml", "work: fit g2\nfiles: ["+bad+", "+good+"]\nretries: 0\n")
	for _, args := range [][]string{{"batch", config}, {"batch", "run", config}, {"batch", "retry", config}, {"batch", "run", config}} {
		if code, _, stderr := apptest.Do(t, append(args, "--quiet")...); code != exit.OK {
			t.Errorf("%q: exit code %d: %s", args, code, stderr)
		}
	}
}
