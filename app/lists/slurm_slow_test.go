// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow && linux

package lists_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app/apptest"
)

// A real Slurm does a batch as an array and under srun, with the bits of a local run; a task whose end is
// announced goes back into the queue and goes on.
func TestSlurm(t *testing.T) {
	for _, tool := range []string{"slurmctld", "munged"} {
		if _, err := exec.LookPath(tool); err != nil {
			if _, err := os.Stat("/usr/sbin/" + tool); err != nil {
				t.Skipf("lacks %s (on Debian: apt-get install slurm-wlm munge)", tool)
			}
		}
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "euryale"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	script, err := filepath.Abs(apptest.Root("scripts", "slurm.sh"))
	if err != nil {
		t.Fatal(err)
	}
	// in runs lines of a shell beside Slurm.
	in := func(dir string, lines string) string {
		t.Helper()
		cmd := exec.Command(script, "bash", "-euc", lines)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CPUS=16")
		out, err := cmd.CombinedOutput()
		if err != nil {
			logs := ""
			found, _ := filepath.Glob(filepath.Join(dir, "*.log"))
			for _, f := range found {
				b, _ := os.ReadFile(f)
				logs += f + ":\n" + string(b)
			}
			t.Fatalf("%v: %s\n%s", err, out, logs)
		}
		return string(out)
	}
	read := func(dir string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, "results.csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	config := apptest.Decays(t, 20, "")
	dir := filepath.Dir(config)
	if code, _, stderr := apptest.Do(t, "batch", "run", config, "--out", filepath.Join(dir, "local")); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := apptest.Do(t, "batch", "merge", filepath.Join(dir, "local")); code != 0 {
		t.Fatal(stderr)
	}
	want := read(filepath.Join(dir, "local"))

	begin := time.Now()
	in(dir, `euryale batch fits.yaml --out array
euryale batch sbatch array --shards 16 --cpus 1 --memory 1M --time 5m > job.sh
sbatch --wait job.sh
euryale batch merge array`)
	t.Logf("an array of 16 tasks: %v", time.Since(begin).Round(time.Second/10))
	if got := read(filepath.Join(dir, "array")); got != want {
		t.Errorf("an array has other results:\n%s, want\n%s", got, want)
	}
	shards, _ := filepath.Glob(filepath.Join(dir, "array", "results", "shard-*-of-00016"))
	if len(shards) != 16 {
		t.Errorf("%d shards of an array of 16", len(shards))
	}

	in(dir, `euryale batch fits.yaml --out steps
srun -n 2 euryale batch run steps
euryale batch merge steps`)
	if got := read(filepath.Join(dir, "steps")); got != want {
		t.Errorf("srun has other results:\n%s", got)
	}

	// The second item of the list waits for a file, so that the end comes while it is worked on.
	slow := filepath.Join(dir, "slow.yaml")
	text := fmt.Sprintf("work: sweep\nprogram: /bin/sh\ncommand: ['-c', 'test {x} = 1 || while ! test -e %s/go; do sleep 0.1; done; echo \"{\\\"x\\\": {x}}\"']\ngrid: {x: [1, 2]}\ntake: {y: x}\nblock: 1\n", dir)
	if err := os.WriteFile(slow, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := in(dir, `euryale batch slow.yaml
euryale batch sbatch slow --shards 1 --cpus 1 --memory 1M --time 5m --name slow > slow.sh
id=$(sbatch --parsable slow.sh)
until grep -q 'shard' slow/results/*/.lock 2>/dev/null || test -d slow/results/shard-00000-of-00001.partial; do sleep 0.1; done
sleep 1
scancel --batch --signal=TERM "$id"
sleep 3
touch go
for i in $(seq 600); do test -d slow/results/shard-00000-of-00001 && break; sleep 0.1
  scontrol update jobid="$id" starttime=now 2>/dev/null || true # it would wait two minutes
done
euryale batch merge slow
cat slow-*.log`)
	if !strings.Contains(out, "interrupted: 1 of 2 items are finished") {
		t.Errorf("nothing was told of the end:\n%s", out)
	}
	if got := read(filepath.Join(dir, "slow")); strings.Count(got, "\n") != 3 {
		t.Errorf("the task did not go on: %s\n%s", got, out)
	}
}
