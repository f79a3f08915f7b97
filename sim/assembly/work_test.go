// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
)

// settledBrain is a brain with an area of n neurons whose assembly was formed in some steps, and its plan.
func settledBrain(t *testing.T, n, k int, backend ad.Backend) (*Brain, *Plan, int) {
	t.Helper()
	b := New(Settings{P: 0.01, Seed: 1, Backend: backend})
	if err := b.AddStimulus("s", k); err != nil {
		t.Fatal(err)
	}
	if err := b.AddArea(Area{Name: "A", N: n, K: k, Beta: 0.05}); err != nil {
		t.Fatal(err)
	}
	trace, err := b.Form("s", "A", 12)
	if err != nil {
		t.Fatal(err)
	}
	ever := map[int32]bool{}
	for _, step := range trace {
		for _, w := range step[0].Winners {
			ever[w] = true
		}
	}
	p, err := b.Plan("s>A A>A")
	if err != nil {
		t.Fatal(err)
	}
	return b, p, len(ever)
}

// The work that is declared of steps is what their kernels do on the emulated device.
func TestWorkOfStepsIsDone(t *testing.T) {
	tier.SlowOnly(t)
	lib := pretend.Shared(t)
	lib.Set("capability", 89) // for which no other test compiles, so that kernels are compiled now, to be traced
	lib.Set("trace", 1)
	lib.Set("devices", 8)
	defer lib.Set("trace", 0)
	const n, k, steps = 10000, 48, 2
	b, p, slots := settledBrain(t, n, k, ad.CUDA{Device: 7})
	lib.Set("capability", 90)
	lib.Set("trace", 1) // from here on
	if _, err := b.Project(p, steps); err != nil {
		t.Fatal(err)
	}
	touched, sectors := float64(lib.Get("touched"))/steps, float64(lib.Get("sectors"))/steps
	bytes, asked := 0.0, 0.0
	for _, l := range stepWork(stepSize{1, n, k, slots, 8}) {
		bytes, asked = bytes+l.Work.Bytes(), asked+l.Work.Sectors
	}
	t.Logf("%d slots: %.0f bytes touched, %.0f declared; %.0f sectors, %.0f declared", slots, touched, bytes, sectors, asked)
	if math.Abs(bytes/touched-1) > 0.15 || math.Abs(asked/sectors-1) > 0.3 {
		t.Errorf("launches of a step touch %.0f bytes in %.0f sectors, %.0f and %.0f are declared", touched, sectors, bytes, asked)
	}
}
