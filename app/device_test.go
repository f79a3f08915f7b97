// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/internal/tune"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/runs"
)

// The flag comes first, then our variable, then those of the toolkit, then auto.
func TestChoiceOfDevice(t *testing.T) {
	for _, c := range []struct {
		flag string
		env  []string // names and values
		want frame.DeviceChoice
		bad  string
	}{
		{want: frame.DeviceChoice{}},
		{flag: "auto", env: []string{"EURYALE_DEVICE", "cuda"}, want: frame.DeviceChoice{By: "--device"}},
		{flag: "cuda", want: frame.DeviceChoice{Demanded: true, By: "--device"}},
		{flag: "cuda:3", want: frame.DeviceChoice{Demanded: true, Ordinal: 3, By: "--device"}},
		{flag: "cuda:2,0", want: frame.DeviceChoice{Demanded: true, Ordinal: 2, Several: "2,0", By: "--device"}},
		{flag: "cuda:all", want: frame.DeviceChoice{Demanded: true, Several: "all", By: "--device"}},
		{env: []string{"EURYALE_DEVICE", "cuda:1", "XPCS_USE_GPU", "false"}, want: frame.DeviceChoice{Demanded: true, Ordinal: 1, By: "EURYALE_DEVICE"}},
		{env: []string{"EURYALE_DEVICE", "cpu"}, want: frame.DeviceChoice{CPU: true, By: "EURYALE_DEVICE"}},
		{env: []string{"EURYALE_DEVICE", "gpu"}, bad: `EURYALE_DEVICE "gpu"`},
		{flag: "cuda:", bad: `--device "cuda:"`},
		{flag: "cuda:1x", bad: "want auto, cpu, cuda, cuda:N"},
		{env: []string{"XPCS_USE_GPU", "True"}, want: frame.DeviceChoice{AnySize: true, By: "XPCS_USE_GPU"}},
		{env: []string{"XPCS_USE_GPU", "1", "XPCS_GPU_FALLBACK", "no"}, want: frame.DeviceChoice{Demanded: true, By: "XPCS_USE_GPU"}},
		{env: []string{"XPCS_USE_GPU", "off", "XPCS_GPU_FALLBACK", "no"}, want: frame.DeviceChoice{CPU: true, By: "XPCS_USE_GPU"}},
		{env: []string{"XPCS_GPU_FALLBACK", "no"}, want: frame.DeviceChoice{}},
		{env: []string{"XPCS_USE_GPU", "banana"}, bad: `XPCS_USE_GPU="banana": want true, 1, yes or on`},
	} {
		env := map[string]string{}
		for i := 0; i < len(c.env); i += 2 {
			env[c.env[i]] = c.env[i+1]
		}
		got, err := frame.ChooseDevice(c.flag, c.flag != "", func(name string) string { return env[name] })
		switch {
		case c.bad != "":
			if exit.CodeOf(err) != exit.WrongUsage || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%q %v: error %v, want %s", c.flag, c.env, err, c.bad)
			}
		case err != nil || got != c.want:
			t.Errorf("%q %v: %+v, %v; want %+v", c.flag, c.env, got, err, c.want)
		}
	}
}

// Of what the toolkit's variables do, the part that has a meaning here is the same; 1 and yes are true as well.
func TestDeviceVariablesOfReference(t *testing.T) {
	var table struct {
		Device []struct {
			GPU      *string `json:"XPCS_USE_GPU"`
			Fallback *string `json:"XPCS_GPU_FALLBACK"`
			Fraction *string `json:"XPCS_GPU_MEMORY_FRACTION"`
			Error    string  `json:"config_error"`
			Without  string  `json:"without_gpu"`
		}
	}
	golden.JSON(t, &table, "xpcs", "device", "env_table.json")
	for _, row := range table.Device {
		env := map[string]string{}
		for name, v := range map[string]*string{"XPCS_USE_GPU": row.GPU, "XPCS_GPU_FALLBACK": row.Fallback, "XPCS_GPU_MEMORY_FRACTION": row.Fraction} {
			if v != nil {
				env[name] = *v
			}
		}
		got, err := frame.ChooseDevice("", false, func(name string) string { return env[name] })
		if (err != nil) != (row.Error != "") {
			t.Errorf("%v: error %v, want %q", env, err, row.Error)
		}
		extended := env["XPCS_USE_GPU"] == "1" || env["XPCS_USE_GPU"] == "yes"
		if err == nil && !extended && got.Demanded != (row.Without == "error") {
			t.Errorf("%v: %+v; without a GPU the toolkit %s", env, got, row.Without)
		}
	}
}

// A GPU that is asked for and cannot be used ends the command before it writes anything, and says
// what was tried; without being asked for it is done without.
func TestDeviceThatCannotBeUsed(t *testing.T) {
	file := apptest.Write(t, "decay.csv", apptest.DecayCSV(""))
	lib := pretend.Shared(t)
	for name, c := range map[string]struct {
		env  []string
		args []string
		want []string
	}{
		"no driver":         {[]string{"EURYALE_LIBCUDA=/nowhere/libcuda.so"}, []string{"--device", "cuda"}, []string{"cuda:0, selected by --device, cannot be used", "/nowhere/libcuda.so", "Try: --device cpu"}},
		"old driver":        {[]string{"EURYALE_LIBCUDA=libm.so.6"}, []string{"--device", "cuda:0"}, []string{"libm.so.6 lacks cuInit", "CUDA 11.0 or newer"}},
		"no compiler":       {[]string{"EURYALE_LIBCUDA=" + lib.Path, "EURYALE_LIBNVRTC=/nowhere/libnvrtc.so"}, []string{"--device", "cuda:0"}, []string{"/nowhere/libnvrtc.so", "EURYALE_LIBNVRTC"}},
		"no such device":    {[]string{"EURYALE_DEVICE=cuda:7"}, nil, []string{"cuda:7, selected by EURYALE_DEVICE", "the number of devices is 2, counted from 0"}},
		"toolkit's demand":  {[]string{"EURYALE_LIBCUDA=/nowhere/libcuda.so", "XPCS_USE_GPU=yes", "XPCS_GPU_FALLBACK=false"}, nil, []string{"cuda:0, selected by XPCS_USE_GPU", "/nowhere/libcuda.so"}},
		"resume, no driver": {[]string{"EURYALE_LIBCUDA=/nowhere/libcuda.so"}, []string{"--resume"}, []string{"cuda:0, selected by the run folder", "Try: --device cpu"}},
	} {
		if strings.Contains(name, "old") && runtime.GOOS != "linux" {
			continue
		}
		out := filepath.Join(t.TempDir(), "run")
		args := append([]string{"sample", "g2", file, "--bin", "1", "--out", out}, c.args...)
		if strings.HasPrefix(name, "resume") {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(`{"command": "sample g2", "device": "cuda:0", "g2": {"model": "single", "loss": "linear"}}`), 0o644); err != nil {
				t.Fatal(err)
			}
			args = []string{"sample", "g2", "--resume", folder}
		}
		code, stdout, stderr := apptest.Own(t, c.env, args...)
		if code != exit.NoDevice || stdout != "" {
			t.Errorf("%s: exit %d, stdout %q: %s", name, code, stdout, stderr)
		}
		for _, w := range c.want {
			if !strings.Contains(stderr, w) {
				t.Errorf("%s: %s\nwant %q", name, stderr, w)
			}
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: there is a folder %s", name, out)
		}
	}
	code, stdout, stderr := apptest.Own(t, []string{"EURYALE_LIBCUDA=/nowhere/libcuda.so", "XPCS_USE_GPU=true"}, "fit", "g2", file, "--json")
	if code != 0 || !strings.Contains(stdout, `"device": "cpu"`) || strings.Count(stderr, "computing on the processor, as the GPU cannot be used") != 1 {
		t.Errorf("with a fallback: exit %d: %s%s", code, stdout, stderr)
	}
	if code, _, stderr := apptest.Own(t, []string{"EURYALE_LIBCUDA=/nowhere/libcuda.so"}, "fit", "g2", file, "--log-level", "debug"); code != 0 || !strings.Contains(stderr, "a GPU is taken from 8388608") {
		t.Errorf("a small fit: exit %d: %s", code, stderr)
	}
}

// A machine without a GPU computes large graphs on the processor without a word; a GPU that cannot be used is told.
func TestToldChoices(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		asked bool
		level string
		want  bool
	}{
		"no driver":        {err: cuda.ErrNoDriver},
		"no device":        {err: cuda.ErrNoDevice},
		"debugging":        {err: cuda.ErrNoDriver, level: "debug", want: true},
		"asked for":        {err: cuda.ErrNoDriver, asked: true, want: true},
		"a driver too old": {err: cuda.ErrDriverTooOld, want: true},
		"small":            {},
	} {
		var errs bytes.Buffer
		a := &frame.App{Stderr: &errs, LogLevel: c.level, Chosen: frame.DeviceChoice{AnySize: c.asked}, Told: &frame.ToldChoices{Said: map[string]bool{}}}
		for range 2 {
			a.TellChoice(ad.Choice{Device: "cpu", Err: c.err})
		}
		if n := strings.Count(errs.String(), "computing on the processor"); n > 1 || (n == 1) != c.want {
			t.Errorf("%s: %q", name, errs.String())
		}
	}
}

// info says that a driver alone is not enough.
func TestInfoWithoutCompiler(t *testing.T) {
	lib := pretend.Shared(t)
	for nvrtc, want := range map[string]string{"/nowhere/libnvrtc.so": "GPUs cannot be used", lib.Path: "used with --device cuda"} {
		if code, out, stderr := apptest.Own(t, []string{"EURYALE_LIBNVRTC=" + nvrtc}, "info"); code != 0 || !strings.Contains(out, want) || !strings.Contains(out, nvrtc) {
			t.Errorf("NVRTC %s: exit %d: %s%s\nwant %q", nvrtc, code, out, stderr, want)
		}
	}
}

// Fits and samples agree between processor and device within rounding, and say where they were
// computed. The pretend device computes with the very kernels of a GPU.
func TestDeviceAgreesWithProcessor(t *testing.T) {
	if apptest.Alone(t) {
		return
	}
	lib := pretend.Shared(t)
	file := apptest.Write(t, "decay.csv", apptest.DecayCSV(""))
	type bins struct {
		Device string
		Bins   []struct {
			X    map[string]float64
			Cost float64
		}
	}
	var fits [2]bins
	for i, device := range []string{"cpu", "cuda:0"} {
		before := lib.Get("cuLaunchKernel") + lib.Get("cuGraphLaunch")
		code, out, stderr := apptest.Do(t, "fit", "g2", file, "--device", device, "--json")
		if code != 0 || json.Unmarshal([]byte(out), &fits[i]) != nil || fits[i].Device != device {
			t.Fatalf("%s: exit %d: %s%s", device, code, out, stderr)
		}
		if launched := lib.Get("cuLaunchKernel") + lib.Get("cuGraphLaunch") - before; (launched > 10) != (i == 1) {
			t.Errorf("%s: %d launches", device, launched)
		}
	}
	for b := range fits[0].Bins {
		for name, x := range fits[0].Bins[b].X {
			if y := fits[1].Bins[b].X[name]; math.Abs(x-y) > 1e-8*math.Abs(x) {
				t.Errorf("bin %d: %s is %v on the processor, %v on the device", b, name, x, y)
			}
		}
	}
	var draws [2][][][]float64 // [name][chain][draw]
	for i, device := range []string{"cpu", "cuda"} {
		out := filepath.Join(t.TempDir(), device)
		code, _, stderr := apptest.Do(t, "sample", "g2", file, "--bin", "1", "--device", device, "--out", out, "--warmup", "30", "--draws", "30", "--chains", "1", "--retries", "0", "--no-report", "--seed", "3")
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", device, code, stderr)
		}
		source, err := runs.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		table, err := source.Table()
		if err != nil {
			t.Fatal(err)
		}
		draws[i] = table.X
		config, err := os.ReadFile(filepath.Join(out, "config.json"))
		if want := `"device": "` + []string{"cpu", "cuda:0"}[i] + `"`; err != nil || !strings.Contains(string(config), want) {
			t.Errorf("%s: %v, config.json lacks %s", device, err, want)
		}
	}
	for d := range 5 {
		for j := range draws[0] {
			if x, y := draws[0][j][0][d], draws[1][j][0][d]; math.Abs(x-y) > 1e-6*max(1, math.Abs(x)) {
				t.Errorf("draw %d, column %d: %v on the processor, %v on the device", d, j, x, y)
			}
		}
	}
}

// A formula's fit, and its calibration in lock step, run on the device too.
func TestFormulaOnDevice(t *testing.T) {
	if apptest.Alone(t) {
		return
	}
	lib := pretend.Shared(t)
	line := apptest.Write(t, "line.json", `{"expr": "a + b*x", "data": {"x": [0, 1, 2, 3, 4, 5], "y": [1.1, 2.9, 5.2, 7.1, 8.8, 11.2]}, "start": {"a": 1, "b": 1}}`)
	var got [2]struct {
		Device string
		X      map[string]float64
	}
	for i, device := range []string{"cpu", "cuda:0"} {
		if code, out, stderr := apptest.Do(t, "fit", "nlsq", "--problem", line, "--device", device, "--json"); code != 0 || json.Unmarshal([]byte(out), &got[i]) != nil || got[i].Device != device {
			t.Fatalf("%s: exit %d: %s%s", device, code, out, stderr)
		}
	}
	for name, x := range got[0].X {
		if math.Abs(got[1].X[name]-x) > 1e-9*math.Abs(x) {
			t.Errorf("%s is %v on the processor, %v on the device", name, x, got[1].X[name])
		}
	}
	prior := apptest.Write(t, "prior.json", `{"expr": "m", "data": {"y": [1, 2, 3]}, "sigma": "1", "priors": {"m": "normal(0, 3)"}}`)
	var docs [2]map[string]any
	for i, device := range []string{"cpu", "cuda:0"} {
		before := lib.Get("cuLaunchKernel") + lib.Get("cuGraphLaunch")
		code, out, stderr := apptest.Do(t, "sbc", "--problem", prior, "--fits", "10", "--ranks", "9", "--warmup", "20", "--draws", "20", "--device", device, "--json", "--threads", "1")
		if code != 0 || json.Unmarshal([]byte(out), &docs[i]) != nil || docs[i]["device"] != device {
			t.Fatalf("%s: exit %d: %s%s", device, code, out, stderr)
		}
		if launched := lib.Get("cuLaunchKernel") + lib.Get("cuGraphLaunch") - before; (launched > 10) != (i == 1) {
			t.Errorf("%s: %d launches", device, launched)
		}
	}
}

// Training on the device ends with the losses of the processor, within rounding.
func TestTrainingOnDevice(t *testing.T) {
	if apptest.Alone(t) {
		return
	}
	pretend.Shared(t)
	problem := apptest.Write(t, "classes.json", `{"stimuli": [{"name": "S", "n": 20}], "areas": [{"name": "A", "n": 30, "k": 5}],
		"fibres": [{"from": "S", "to": "A", "p": 0.3}], "steps": 2, "updates": 5,
		"task": {"classes": 2, "active": 6, "on": 0.6, "off": 0.05, "train": 20, "test": 20}}`)
	var losses [2]float64
	for i, device := range []string{"cpu", "cuda:0"} {
		out := filepath.Join(t.TempDir(), "run")
		code, text, stderr := apptest.Do(t, "train", "connectome", problem, "--out", out, "--device", device, "--json", "--quiet")
		var doc struct {
			Device string
			Loss   float64
		}
		if code != 0 || json.Unmarshal([]byte(text), &doc) != nil || doc.Device != device {
			t.Fatalf("%s: exit %d: %s%s", device, code, text, stderr)
		}
		losses[i] = doc.Loss
		if config, err := os.ReadFile(filepath.Join(out, "config.json")); err != nil || !strings.Contains(string(config), `"device": "`+device+`"`) {
			t.Errorf("%s: config.json does not name the device: %v", device, err)
		}
	}
	if math.Abs(losses[0]-losses[1]) > 1e-9 {
		t.Errorf("loss %v on the processor, %v on the device", losses[0], losses[1])
	}
}

// Too little memory on the device ends a run with its own exit code and the numbers, and leaves no
// folder.
func TestDeviceOutOfMemory(t *testing.T) {
	if apptest.Alone(t) {
		return
	}
	lib := pretend.Shared(t)
	lib.Set("memory", 1<<10)
	defer lib.Set("memory", 1<<30)
	out := filepath.Join(t.TempDir(), "run")
	code, _, stderr := apptest.Do(t, "sample", "g2", apptest.Write(t, "decay.csv", apptest.DecayCSV("")), "--bin", "1", "--device", "cuda:1", "--out", out)
	if code != exit.NoDevice || !strings.Contains(stderr, "device 1 has no room for") || !strings.Contains(stderr, "--device cpu") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(out); err == nil {
		t.Errorf("there is a folder %s", out)
	}
}

// After a device is lost in the middle of a run nothing of what was kept is lost, and the processor goes on
// if it is asked to.
func TestDeviceLost(t *testing.T) {
	pretend.Shared(t)
	out := filepath.Join(t.TempDir(), "lost")
	code, _, stderr := apptest.Own(t, []string{"EURYALE_TEST_GPU=fail=cuGraphLaunch,1500,1,700"}, "sample", "expr", "--problem", apptest.LineFile(t), "--out", out, "--seed", "7",
		"--warmup", "200", "--draws", "200", "--chains", "2", "--retries", "0", "--no-report", "--device", "cuda", "--checkpoint", "1ms")
	if code != exit.NoDevice || !strings.Contains(stderr, "ILLEGAL_ADDRESS") || !strings.Contains(stderr, "--resume "+out) || !strings.Contains(stderr, "--device cpu") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(out, "checkpoint")); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Own(t, nil, "sample", "expr", "--resume", out, "--device", "cpu"); code != 0 || !strings.Contains(stderr, "was computed on cuda:0 and continues on cpu") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	source, err := runs.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	table, err := source.Table()
	if err != nil {
		t.Fatal(err)
	}
	for j, name := range table.Names {
		mean := 0.0
		for _, chain := range table.X[j] {
			for _, v := range chain {
				mean += v / float64(len(table.X[j])*len(chain))
			}
		}
		if name == "b" && math.Abs(mean-2) > 0.05 {
			t.Errorf("the slope is %g, want 2", mean)
		}
	}
}

// The benchmark measures on a device, here the pretend one, and ends without one.
func TestBenchGPU(t *testing.T) {
	if apptest.Alone(t) {
		return
	}
	pretend.Shared(t)
	tune.BenchCopy = 1 << 16
	defer func() { tune.BenchCopy = 0 }()
	code, out, stderr := apptest.Do(t, "bench", "gpu", "--only", "add 1K", "--json")
	var doc struct {
		Device string
		Copy   float64 `json:"copy_gb_s"`
		Rows   []struct {
			Name, How, Error string
			GPU              float64 `json:"gpu_ms"`
			Floor            float64 `json:"floor_ms"`
			CPU              float64 `json:"cpu_ms"`
			Samples          int
		}
	}
	if code != 0 || json.Unmarshal([]byte(out), &doc) != nil || len(doc.Rows) != 2 {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	if doc.Rows[1].How != "program" || doc.Rows[1].Error != "" {
		t.Errorf("%+v", doc)
	}
	if r := doc.Rows[0]; r.Name != "vector add 1K" || r.How != "kernel" || r.Error != "" || !(r.GPU > 0 && r.Floor > 0 && r.CPU > 0) || r.Samples < 20 || doc.Copy <= 0 {
		t.Errorf("%+v", doc)
	}
	code, out, stderr = apptest.Do(t, "bench", "gpu", "--only", "relu", "--csv")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[2], `relu 1M,program,`) || !strings.HasSuffix(lines[1], ",") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if code, _, stderr := apptest.Do(t, "bench", "gpu", "--device", "cpu"); code != exit.WrongUsage || !strings.Contains(stderr, "leave out --device") {
		t.Errorf("on the processor: exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "bench", "gpu", "--only", "sorting"); code != exit.WrongUsage || !strings.Contains(stderr, "sorting") {
		t.Errorf("an unknown operation: exit %d: %s", code, stderr)
	}
	if code, out, stderr := apptest.Own(t, []string{"EURYALE_LIBCUDA=/nowhere/libcuda.so"}, "bench", "gpu"); code != exit.NoDevice || out != "" || !strings.Contains(stderr, "no GPU to measure") {
		t.Errorf("without a GPU: exit %d: %s%s", code, out, stderr)
	}
}

// A list whose device is a GPU is done on one, that of the process's number on its machine, and gives the
// fits of the processor.
func TestListOnDevice(t *testing.T) {
	if apptest.Alone(t) {
		return
	}
	lib := pretend.Shared(t)
	lib.Set("devices", 2)
	dir := t.TempDir()
	t.Setenv("SLURM_LOCALID", "7") // the second of two devices
	var taus [2]float64
	for i, device := range []string{"cpu", "cuda"} {
		file := filepath.Join(dir, device)
		if err := os.WriteFile(filepath.Join(dir, "decay.csv"), []byte(apptest.DecayCSV("")), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file+".yaml", []byte("work: fit g2\nfiles: decay.csv\ndevice: "+device+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		before := lib.Get("cuLaunchKernel") + lib.Get("cuGraphLaunch")
		for _, args := range [][]string{{"batch", file + ".yaml"}, {"batch", "run", file, "--quiet"}, {"batch", "merge", file}} {
			if code, _, stderr := apptest.Do(t, args...); code != 0 {
				t.Fatalf("%v: exit %d: %s", args, code, stderr)
			}
		}
		if launched := lib.Get("cuLaunchKernel") + lib.Get("cuGraphLaunch") - before; (launched > 10) != (i == 1) {
			t.Errorf("%s: %d launches", device, launched)
		}
		b, err := os.ReadFile(filepath.Join(file, "results.csv"))
		if err != nil {
			t.Fatal(err)
		}
		first := strings.Split(strings.Split(string(b), "\n")[1], ",")
		if taus[i], err = strconv.ParseFloat(first[5], 64); err != nil {
			t.Fatal(err)
		}
	}
	if math.Abs(taus[1]/taus[0]-1) > 1e-9 || math.Abs(taus[0]/0.5-1) > 0.05 {
		t.Errorf("tau is %v on the processor, %v on the device", taus[0], taus[1])
	}
}

// An experiment with assemblies has the same trace on the device, also on several, and after it was resumed there.
func TestAssembliesOnDevice(t *testing.T) {
	if apptest.Alone(t) {
		return
	}
	lib := pretend.Shared(t)
	script := apptest.Write(t, "form.yaml", `{p: 0.1, seed: 3, stimuli: {S: 30}, areas: {A: {n: 500, k: 25, beta: 0.1}},
run: [{form: A, stimulus: S, steps: 8}, {remember: formed, area: A}, {complete: A, part: 0.5, as: completed}]}`)
	var traces []string
	for _, device := range []string{"cpu", "cuda:0", "cuda:all"} {
		before := lib.Get("cuLaunchKernel")
		out := filepath.Join(t.TempDir(), "run")
		if code, _, stderr := apptest.Do(t, "sim", "assembly", script, "--winners", "--device", device, "--out", out, "--quiet"); code != 0 {
			t.Fatalf("%s: exit %d: %s", device, code, stderr)
		}
		if launched := lib.Get("cuLaunchKernel") - before; (launched > 50) != (device != "cpu") {
			t.Errorf("%s: %d launches", device, launched)
		}
		trace, err := os.ReadFile(filepath.Join(out, "trace.csv"))
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, string(trace))
		if code, _, stderr := apptest.Do(t, "sim", "assembly", "--resume", out, "--quiet"); code != 0 {
			t.Errorf("%s, resumed: exit %d: %s", device, code, stderr)
		}
	}
	if traces[1] != traces[0] || traces[2] != traces[0] {
		t.Errorf("on the processor:\n%s\non a device:\n%s\non several:\n%s", traces[0], traces[1], traces[2])
	}
}
