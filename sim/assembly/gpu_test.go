// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// On a GPU: the winners of the processor, and how long steps take of one brain of a million neurons and of 256 of
// ten thousand. scripts/gpu.sh starts it.
func TestGPUSpeedAssemblies(t *testing.T) {
	all := gpu.Need(t)
	build := func(n, k int, seed uint64, backend ad.Backend) *assembly.Brain {
		b := assembly.New(assembly.Settings{P: 0.01, Seed: seed, Backend: backend})
		if err := errors.Join(b.AddStimulus("s", k), b.AddArea(assembly.Area{Name: "A", N: n, K: k, Beta: 0.05})); err != nil {
			t.Fatal(err)
		}
		return b
	}
	const steps = 12
	var ends [2][]int32
	for i, backend := range []ad.Backend{nil, ad.CUDA{}} {
		b := build(1e6, 1000, 1, backend)
		start := time.Now()
		trace, err := b.Form("s", "A", steps)
		if err != nil {
			t.Fatal(err)
		}
		formed := time.Since(start)
		p, err := b.Plan("s>A A>A")
		if err != nil {
			t.Fatal(err)
		}
		start = time.Now()
		if _, err := b.Project(p, 50); err != nil {
			t.Fatal(err)
		}
		t.Logf("a million neurons on %v: formed in %d steps in %v, then %v a step", []string{"the processor", all[0].Name}[i], steps, formed, time.Since(start)/50)
		ends[i] = trace[steps-1][0].Winners
	}
	if !slices.Equal(ends[0], ends[1]) {
		t.Error("other neurons win on the GPU")
	}
	for i, backend := range []ad.Backend{nil, ad.CUDA{}} {
		var plans []*assembly.Plan
		for seed := range 256 {
			b := build(1e4, 100, uint64(seed), backend)
			if _, err := b.Form("s", "A", 1); err != nil {
				t.Fatal(err)
			}
			p, err := b.Plan("s>A A>A")
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, p)
		}
		start := time.Now()
		if _, err := assembly.ProjectAll(plans, 50); err != nil {
			t.Fatal(err)
		}
		t.Logf("256 brains of ten thousand neurons on %v: %v a step of all", []string{"the processor", all[0].Name}[i], time.Since(start)/50)
	}
}
