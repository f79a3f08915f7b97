// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Divisions on a GPU are the processor's in every pixel, with all kinds of axes, masked pixels, pixels without a number, values at edges and
// axes of one value.
func TestPartitionsOnDevice(t *testing.T) {
	emulated(t)
	const pixels = 5000
	rng := rand.New(rand.NewPCG(1, 2))
	q, phi, flat, mask := make([]float64, pixels), make([]float64, pixels), make([]float64, pixels), make([]bool, pixels)
	for i := range q {
		q[i], phi[i], flat[i], mask[i] = rng.Float64(), 360*rng.Float64()-180, 0.1, rng.IntN(10) > 0
		switch i % 50 {
		case 3:
			q[i] = float64(rng.IntN(11)) / 10 // at an edge, or next to it
		case 4:
			q[i] = math.Nextafter(float64(rng.IntN(11))/10, float64(rng.IntN(2)))
		case 5:
			q[i], phi[i] = math.NaN(), math.NaN()
		case 6:
			phi[i] = float64(rng.IntN(13))*30 - 180
		}
	}
	q[7], q[8] = 0, -0.5
	none := make([]bool, pixels)
	for k, c := range []struct {
		first, second Axis
		mask          []bool
		s             Settings
	}{
		{Axis{Name: "q", Values: q}, Axis{Name: "phi", Values: phi}, mask, Settings{Dynamic: [2]int{10, 4}, Static: [2]int{50, 8}}},
		{Axis{Name: "q", Values: q, Log: true}, Axis{Name: "phi", Values: phi, Offset: 33.5}, mask, Settings{Dynamic: [2]int{7, 3}, Static: [2]int{21, 3}}},
		{Axis{Name: "q", Values: q}, Axis{Name: "phi", Values: phi, Offset: -10, Fold: 6}, mask, Settings{Static: [2]int{360, 4}}},
		{Axis{Name: "x", Values: flat}, Axis{Name: "q", Values: q}, mask, Settings{Dynamic: [2]int{5, 5}, Static: [2]int{5, 5}}},
		{Axis{Name: "q", Values: q}, Axis{Name: "phi", Values: phi}, none, Settings{}},
	} {
		want, err := New(c.first, c.second, c.mask, c.s)
		if err != nil {
			t.Fatal(err)
		}
		c.s.Backend = ad.CUDA{}
		got, err := New(c.first, c.second, c.mask, c.s)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Mask, want.Mask) {
			t.Errorf("%d: another mask", k)
		}
		for what, pair := range map[string][2]*Cells{"dynamic": {got.Dynamic, want.Dynamic}, "static": {got.Static, want.Static}} {
			g, w := pair[0], pair[1]
			if !slices.Equal(g.Of, w.Of) || !slices.Equal(g.Cell, w.Cell) || fmt.Sprint(g.Centers) != fmt.Sprint(w.Centers) || g.N != w.N {
				t.Errorf("%d: %s cells differ", k, what)
			}
		}
	}
}

// realGPU says that the tests of devices run on a GPU.
var realGPU bool

// emulated lets a test run on the pretend device, unless it is to run on a GPU.
func emulated(t *testing.T) {
	t.Helper()
	if !realGPU {
		pretend.Shared(t)
	}
}

// On a machine with a GPU the test of the pretend device runs on it; scripts/gpu.sh starts this.
func TestGPUPartitions(t *testing.T) {
	gpu.Need(t)
	realGPU = true
	defer func() { realGPU = false }()
	TestPartitionsOnDevice(t)
}
