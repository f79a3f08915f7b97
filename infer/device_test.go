package infer_test

import (
	"context"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// Eight schools under NUTS with a density on the device gives the draws of the processor, within
// rounding that grows along a chain, and launches one graph for each gradient.
func TestEightSchoolsOnDevice(t *testing.T) {
	lib := pretend.Shared(t)
	eightSchoolsOnDevice(t, func() int { return lib.Get("cuGraphLaunch") })
}

// The same on a GPU; scripts/gpu.sh starts it.
func TestGPUEightSchools(t *testing.T) {
	all, err := cuda.Devices()
	if err != nil || len(all) == 0 || strings.HasPrefix(all[0].Name, "Pretend") {
		t.Skipf("lacks a GPU: %v", err)
	}
	eightSchoolsOnDevice(t, nil)
}

// eightSchoolsOnDevice samples on the processor and on the device; launches, unless nil, counts launches of
// graphs.
func eightSchoolsOnDevice(t *testing.T, launches func() int) {
	if launches == nil {
		launches = func() int { return 0 }
	}
	m := infer.NewModel("eight schools")
	mu := m.Param("mu", dist.Normal(0, 5))
	tau := m.Param("tau", dist.HalfCauchy(5))
	theta := m.Deterministic("theta", ad.Add(mu, ad.Mul(tau, m.Param("z", dist.Normal(0, 1), infer.Shape(8)))))
	m.Observe("y", dist.Normal(theta, m.Data("se", []float64{15, 10, 16, 11, 9, 11, 10, 18})), []float64{28, 8, -3, 7, -1, 1, 18, 12})
	cfg := infer.Config{Seed: 1, Chains: 1, Warmup: 40, Draws: 60}
	var first []float64
	for _, b := range []ad.Backend{ad.CPU{Threads: 1}, ad.CUDA{Strict: true}} {
		post, err := m.CompileOn(b)
		if err != nil {
			t.Fatal(err)
		}
		before := launches()
		fit, err := infer.Sample(context.Background(), post, cfg)
		if err != nil {
			t.Fatal(err)
		}
		draws := fit.Draws("mu")[0]
		if first == nil {
			first = draws
			continue
		}
		for i := range 10 {
			if math.Abs(draws[i]-first[i]) > 1e-6*max(1, math.Abs(first[i])) {
				t.Fatalf("draw %d is %v on the device, %v on the processor", i, draws[i], first[i])
			}
		}
		if launched := launches() - before; launched < 500 && launches() > 0 {
			t.Errorf("%d launches of the graph", launched)
		}
	}
}
