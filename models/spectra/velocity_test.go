package spectra

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// Grids of velocities, and what is found on them, are those of the reference.
func TestVelocityScanGoldens(t *testing.T) {
	var cases []struct {
		Center, Width, Start, Best, Err float64
		Min                             float64 `json:"min_vel"`
		Max                             float64 `json:"max_vel"`
		Step                            float64 `json:"step0"`
		Least                           float64 `json:"min_step"`
		Trace                           []struct {
			G0, G1, Best, Err float64
			N                 int
		}
	}
	golden.JSON(t, &cases, "spectra", "misc", "minimum_sampler.json")
	for _, c := range cases {
		round := 0
		p, err := scanSettings{c.Min, c.Max, c.Step, c.Least}.scan(c.Start, func(vel []float64) ([]float64, error) {
			if round < len(c.Trace) {
				w := c.Trace[round]
				if n := len(vel); n != w.N || math.Abs(vel[0]-w.G0) > 1e-9 || math.Abs(vel[n-1]-w.G1) > 1e-9 {
					t.Errorf("round %d: %d velocities from %v to %v, want %d from %v to %v", round, n, vel[0], vel[n-1], w.N, w.G0, w.G1)
				}
			}
			round++
			out := make([]float64, len(vel))
			for i, v := range vel {
				d := (v - c.Center) / c.Width
				out[i] = d*d + 3*math.Sin(v/7)
			}
			return out, nil
		})
		if err != nil || round != len(c.Trace) || math.Abs(p.Vel-c.Best) > 1e-9 || math.Abs(p.SD/c.Err-1) > 1e-9 {
			t.Errorf("center %v: %+v after %d rounds, want %v +- %v after %d; %v", c.Center, p, round, c.Best, c.Err, len(c.Trace), err)
		}
	}
	// A velocity at the end of the range is that of the grid; one value has no width.
	if p := posteriorOf([]float64{1, 2, 3}, []float64{1, 5, 20}); p.Vel != 1 {
		t.Error(p)
	}
	if p := posteriorOf([]float64{1}, []float64{1}); p.SD != 0 || p.Kurtosis != 0 {
		t.Error(p)
	}
}
