// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// childVolume names the environment variable that makes TestPeakMemory the process
// that is measured; it holds the number of slices.
const childVolume = "RSOXS_PEAK_MEMORY_SLICES"

// mostBytes is what a pattern with its gradient may take per voxel, in float32 with
// one aligned and two isotropic materials, whose arrays and gradients take 48.
const mostBytes = 59

// A process that simulates a pattern and its gradient never holds more than
// mostBytes per voxel, its morphology included and its program's file not.
func TestPeakMemory(t *testing.T) {
	tier.SlowOnly(t)
	if n, err := strconv.Atoi(os.Getenv(childVolume)); err == nil {
		fmt.Printf("peak %.2f forward %.2f\n", measured(t, n, true), measured(t, n, false))
		return
	}
	if _, ok := residentPeak(); !ok || testing.Short() {
		t.Skip("no /proc/self/status with VmHWM here, or a short run")
	}
	for _, slices := range []int{32, 64} {
		if slices > 32 && !tier.Slow {
			continue
		}
		both, forward := peakOfChild(t, slices)
		t.Logf("%d x 512 x 512: %.1f bytes per voxel with the gradient, %.1f without", slices, both, forward)
		if !(both <= mostBytes && both > 48) {
			t.Errorf("%d slices: %.1f bytes per voxel, want at most %d", slices, both, mostBytes)
		}
	}
}

// peakOfChild runs the measurement in a process of its own.
func peakOfChild(t testing.TB, slices int) (both, forward float64) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestPeakMemory$", "-test.count=1")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childVolume, slices), "GOMAXPROCS=2") // each worker takes a megabyte or two
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := fmt.Sscanf(string(out), "peak %f forward %f", &both, &forward); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return both, forward
}

// measured returns the most bytes per voxel that this process held during a run.
func measured(t *testing.T, slices int, grad bool) float64 {
	shape := []int{slices, 512, 512}
	array := func(seed, scale float32) *tensor.Tensor {
		a := tensor.New(tensor.Float32, shape...)
		for i, v := 0, a.Data().([]float32); i < len(v); i++ {
			seed = seed*3.9 - seed*seed*3.9 // the logistic map
			v[i] = scale * seed
		}
		return a
	}
	m := &Morphology{PhysSize: 2.5, Materials: []Material{
		{Vfrac: array(0.1, 1), S: array(0.2, 1), Theta: array(0.3, 3), Psi: array(0.4, 6)}, {Vfrac: array(0.6, 1)}, {Vfrac: array(0.7, 1)}}}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // VmHWM starts again
		t.Log(err)
	}
	s, err := New([3]int(shape), m.PhysSize, Config{Energies: []float64{285}, Precision: 32, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	o := constants(1, 3)
	if err := s.Transform(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	p, err := s.Pattern(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if grad {
		g, err := s.Gradient(context.Background(), o, p.Intensity)
		if err != nil || len(g.Materials) != 3 {
			t.Fatal(err)
		}
	}
	peak, _ := residentPeak()
	return peak / float64(m.Materials[0].Vfrac.Size())
}

// residentPeak returns the largest memory in bytes that this process held, without the pages of its
// own file, of which the system maps more or fewer by how the file lies in its cache.
func residentPeak() (bytes float64, ok bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	kb := map[string]float64{}
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		var n float64
		if _, err := fmt.Sscan(rest, &n); err == nil {
			kb[name] = n
		}
	}
	peak, found := kb["VmHWM"]
	return 1024 * (peak - kb["RssFile"]), found
}
