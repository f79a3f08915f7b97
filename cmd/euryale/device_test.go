package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

// gpuRun runs a command in a process of its own, as a process looks for a driver once. The environment is
// that of the test and env; the variable EURYALE_TEST_GPU sets up the pretend driver.
func gpuRun(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "EURYALE_TEST_COMMAND=1"), env...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil && !errors.As(e, new(*exec.ExitError)) {
		t.Fatal(e)
	}
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

// A device that cannot be used is an error where it was asked for, with what to do; nothing is left half
// written. Where nobody asked for it the processor computes.
func TestDeviceThatCannotBeUsed(t *testing.T) {
	pretend.LookPath(t)
	none := filepath.Join(t.TempDir(), "none.so")
	line := lineFile(t)
	for _, c := range []struct {
		name, env, device string
		code              int
		says              string
	}{
		{"no driver", "EURYALE_LIBCUDA=" + none, "cuda", exitNoDevice, none},
		{"no driver", "EURYALE_LIBCUDA=" + none, "auto", exitOK, ""},
		{"no driver, by the environment", "EURYALE_DEVICE=cuda EURYALE_LIBCUDA=" + none, "", exitNoDevice, none},
		{"the flag goes before the environment", "EURYALE_DEVICE=cuda EURYALE_LIBCUDA=" + none, "cpu", exitOK, ""},
		{"a bad environment", "EURYALE_DEVICE=gpu0", "", exitUsage, `EURYALE_DEVICE "gpu0": want auto, cpu, cuda or cuda:N`},
		{"no device", "EURYALE_TEST_GPU=devices=0", "cuda", exitNoDevice, "CUDA_VISIBLE_DEVICES"},
		{"a number too many", "EURYALE_TEST_GPU=devices=2", "cuda:2", exitNoDevice, "there are 2, counted from 0"},
		{"an old driver", "EURYALE_TEST_GPU=version=10020", "cuda", exitNoDevice, "10.2"},
		{"no compiler", "EURYALE_LIBNVRTC=" + none, "cuda", exitNoDevice, none},
		{"no memory", "EURYALE_TEST_GPU=memory=1000", "cuda", exitFailed, "has no room"},
	} {
		out := filepath.Join(t.TempDir(), "run")
		args := []string{"sample", "expr", "--problem", line, "--out", out, "--seed", "7", "--warmup", "100", "--draws", "50", "--chains", "2", "--retries", "0", "--no-report"}
		if c.device != "" {
			args = append(args, "--device", c.device)
		}
		code, stdout, stderr := gpuRun(t, strings.Fields(c.env), args...)
		if code != c.code || !strings.Contains(stderr, c.says) || code != 0 && (stdout != "" || !strings.Contains(stderr, "Try: ")) && code != exitUsage {
			t.Errorf("%s, --device %s: exit %d, want %d, and %q in %s", c.name, c.device, code, c.code, c.says, stderr)
		}
		if _, err := os.Stat(out); code == exitNoDevice && err == nil {
			t.Errorf("%s: there is a run folder", c.name)
		}
		if _, err := os.Stat(filepath.Join(out, "summary.json")); (err == nil) != (code == 0) {
			t.Errorf("%s: exit %d, %v", c.name, code, err)
		}
	}
	code, _, stderr := gpuRun(t, []string{"EURYALE_DEVICE=cuda"}, "fit", "g2", write(t, "decay.csv", decayCSV("")))
	if code != 0 || !strings.Contains(stderr, "fit g2 computes on the processor, not on EURYALE_DEVICE=cuda") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// Chains on the device are those of the processor, within rounding that grows; the run folder says which
// device it was. After a device is lost nothing of what was kept is, and the processor goes on if it is
// asked to.
func TestSamplingOnDevice(t *testing.T) {
	pretend.LookPath(t)
	line := lineFile(t)
	first := map[string]float64{}
	args := func(out, device string) []string {
		return []string{"sample", "expr", "--problem", line, "--out", out, "--seed", "7", "--warmup", "200", "--draws", "200", "--chains", "2", "--retries", "0", "--no-report", "--device", device, "--checkpoint", "1ms"}
	}
	for _, device := range []string{"cpu", "cuda"} {
		out := filepath.Join(t.TempDir(), device)
		code, _, stderr := gpuRun(t, nil, args(out, device)...)
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", device, code, stderr)
		}
		var config struct{ Device string }
		b, err := os.ReadFile(filepath.Join(out, "config.json"))
		if err := errors.Join(err, json.Unmarshal(b, &config)); err != nil || config.Device != map[string]string{"cpu": "cpu", "cuda": "cuda:0"}[device] {
			t.Errorf("%s: config.json has device %q, %v", device, config.Device, err)
		}
		first[device] = meanOfColumn(t, filepath.Join(out, "chain-1.csv"), "b")
	}
	if math.Abs(first["cpu"]-first["cuda"]) > 0.02 || math.Abs(first["cuda"]-2) > 0.05 {
		t.Errorf("the slope is %v", first)
	}
	out := filepath.Join(t.TempDir(), "lost")
	code, _, stderr := gpuRun(t, []string{"EURYALE_TEST_GPU=fail=cuGraphLaunch,1500,1,700"}, args(out, "cuda")...)
	if code != exitFailed || !strings.Contains(stderr, "ILLEGAL_ADDRESS") || !strings.Contains(stderr, "--resume "+out+" --device cpu") {
		t.Fatalf("a lost device: exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(out, "checkpoint")); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := gpuRun(t, nil, "sample", "expr", "--resume", out, "--device", "cpu"); code != 0 {
		t.Fatalf("on the processor: exit %d: %s", code, stderr)
	}
	if b := meanOfColumn(t, filepath.Join(out, "chain-1.csv"), "b"); math.Abs(b-2) > 0.05 {
		t.Errorf("the slope is %g", b)
	}
}

// meanOfColumn returns the mean of a column of a CmdStan file.
func meanOfColumn(t *testing.T, file, name string) float64 {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	column, sum, n := -1, 0.0, 0
	for _, line := range strings.Split(string(b), "\n") {
		f := strings.Split(line, ",")
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		if column < 0 {
			for i, h := range f {
				if h == name {
					column = i
				}
			}
			if column < 0 {
				t.Fatal(fmt.Sprint("no column ", name, " in ", line))
			}
			continue
		}
		v, err := strconv.ParseFloat(f[column], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum, n = sum+v, n+1
	}
	return sum / float64(n)
}
