// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/internal/nvrtc"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

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
func TestGPUMasks(t *testing.T) {
	gpu.Need(t)
	realGPU = true
	defer func() { realGPU = false }()
	TestMasksOnDevice(t)
}

// Masks that a GPU makes keep the same pixels: thresholds with either limit, values at limits and none, and constraints joined in both ways, with azimuths
// across the cut.
func TestMasksOnDevice(t *testing.T) {
	emulated(t)
	const h, w = 40, 50
	rng := rand.New(rand.NewPCG(4, 4))
	s := Source{Height: h, Width: w, Image: make([]float64, h*w), Maps: map[string][]float64{"q": make([]float64, h*w), "phi": make([]float64, h*w)}}
	for i := range s.Image {
		s.Image[i], s.Maps["q"][i], s.Maps["phi"][i] = float64(rng.IntN(20)), float64(rng.IntN(100))/100, float64(rng.IntN(72))*5-180
		if i%31 == 0 {
			s.Image[i], s.Maps["q"][i] = math.NaN(), math.NaN()
		}
	}
	for k, step := range []Step{
		{Threshold: &Threshold{Low: 3, High: 15}}, {Threshold: &Threshold{NoLow: true, High: 4}}, {Threshold: &Threshold{Low: 10, NoHigh: true}},
		{Constraints: []Constraint{{Map: "q", Begin: 0.2, End: 0.7}}},
		{Constraints: []Constraint{{Map: "q", Begin: 0.2, End: 0.7}, {Map: "phi", Unit: "deg", Begin: 160, End: 200}, {Map: "q", Logic: Or, Begin: 0.9, End: 1}}},
		{Constraints: []Constraint{{Map: "phi", Unit: "deg", Begin: -200, End: -150}}},
		{Constraints: []Constraint{{Map: "phi", Unit: "deg", Begin: -30, End: 30}, {Map: "q", Logic: And, Begin: 0.5, End: 0.5}}},
	} {
		s.Backend = nil
		want, _, err := step.Mask(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Backend = ad.CUDA{}
		got, _, err := step.Mask(s, nil)
		if err != nil || !got.Equal(want) {
			t.Errorf("step %d keeps %v, want %v: %v", k, got, want, err)
		}
	}
}

// NVIDIA's compiler takes the kernels of masks without warnings.
func TestRealCompilerTakesMasks(t *testing.T) {
	nvrtc.Takes(t, rtc.Source{Name: "mask.cu", Text: kernelText})
}
