package rsoxs

import (
	"context"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// realGPU says that the tests of devices run on a GPU.
var realGPU bool

// emulated lets a test run on the pretend device, unless it is to run on a GPU.
func emulated(t testing.TB) *pretend.Library {
	t.Helper()
	if realGPU {
		return nil
	}
	return pretend.Shared(t)
}

// deviceSettings are configurations that between them have every setting, with the shape of the volume.
var deviceSettings = map[string]struct {
	shape [3]int
	cfg   Config
}{
	"one angle":        {[3]int{4, 6, 8}, Config{}},
	"two angles":       {[3]int{3, 5, 7}, Config{Angles: Angles{10, 40, 50}, Grid: ExactGrid}},
	"angles":           {[3]int{4, 6, 9}, Config{Angles: Angles{0, 30, 360}, RotMask: true}},
	"angles, exact":    {[3]int{5, 8, 6}, Config{Angles: Angles{0, 15, 165}, Grid: ExactGrid, Interpolation: Nearest, Window: Hann}},
	"unmasked":         {[3]int{4, 10, 10}, Config{Angles: Angles{0, 25, 200}, Window: SymmetricHann}},
	"plane":            {[3]int{1, 9, 8}, Config{Angles: Angles{0, 45, 180}, RotMask: true}},
	"two slices":       {[3]int{2, 6, 6}, Config{Grid: ExactGrid}},
	"collapsed":        {[3]int{5, 6, 8}, Config{CollapseZ: true, Angles: Angles{0, 45, 135}, Window: Hann}},
	"material's frame": {[3]int{3, 6, 8}, Config{Frame: MaterialFrame, Angles: Angles{0, 30, 120}, RotMask: true}},
	"oblique":          {[3]int{4, 8, 10}, Config{Case: BeamDivergence, K: [][3]float64{{0, 0, 1}, {0.05, -0.1, 1}}, Angles: Angles{0, 60, 120}, RotMask: true, CorrectBaseAngle: true}},
	"grazing":          {[3]int{4, 9, 8}, Config{Case: GrazingIncidence, K: [][3]float64{{0.1, 0.05, 1}}, Detector: [3]float64{0.1, -0.1, 1}, Grid: ExactGrid, Angles: Angles{0, 45, 135}, RotMask: true}},
}

// Patterns on a device are those of the processor, for all settings and in both precisions.
func TestDevicePatterns(t *testing.T) {
	emulated(t)
	for name, c := range deviceSettings {
		for bits, tol := range map[int]float64{64: 1e-12, 32: 2e-6} {
			t.Run(name, func(t *testing.T) {
				m, o := blend3(c.shape, 2)
				cfg := c.cfg
				cfg.Energies, cfg.Precision = []float64{284, 287}, bits
				want := image(t, m, o, cfg)
				cfg.Backend = ad.CUDA{}
				sim, got := simulated(t, m, o, cfg)
				near(t, name, got.Intensity.Float64s(), want, tol)
				again, err := sim.Pattern(context.Background(), o)
				if err != nil || !bitwise(got.Intensity.Float64s(), again.Intensity.Float64s()) {
					t.Errorf("another run has other bits: %v", err)
				}
			})
		}
	}
}
