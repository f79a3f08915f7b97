package infer_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

func TestEightSchoolsOnDevice(t *testing.T) {
	libs, _ := filepath.Glob(os.Getenv("HOME") + "/.cache/euryale/pretend/*/libpretend.so")
	t.Setenv("EURYALE_LIBCUDA", libs[len(libs)-1])
	t.Setenv("EURYALE_LIBNVRTC", libs[len(libs)-1])
	m := infer.NewModel("eight schools")
	mu := m.Param("mu", dist.Normal(0, 5))
	tau := m.Param("tau", dist.HalfCauchy(5))
	z := m.Param("z", dist.Normal(0, 1), infer.Shape(8))
	theta := m.Deterministic("theta", ad.Add(mu, ad.Mul(tau, z)))
	m.Observe("y", dist.Normal(theta, m.Data("se", []float64{15, 10, 16, 11, 9, 11, 10, 18})), []float64{28, 8, -3, 7, -1, 1, 18, 12})
	cfg := infer.Config{Seed: 1, Chains: 2, Warmup: 50, Draws: 50, Parallel: 1}
	on, err := m.CompileOn(ad.CUDA{})
	if err != nil {
		t.Fatal(err)
	}
	off, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	a, err := infer.Sample(context.Background(), on, cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := infer.Sample(context.Background(), off, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range a.Draws("mu")[0][:20] {
		if w := b.Draws("mu")[0][i]; math.Abs(v-w) > 1e-6*math.Abs(w) {
			t.Fatalf("draw %d: %v on the device, %v on the processor", i, v, w)
		}
	}
	t.Log(a.Summary())
}
