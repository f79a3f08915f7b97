package spectra

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/golden"
)

// The posterior of a star is that of a long run of another sampler.
func TestPosteriorGolden(t *testing.T) {
	var f struct {
		Mock, Interpolator string
		Npoly              int
		Params             []string
		Mean, Sd           []float64
		Corr               [][]float64
		LaplaceMean        []float64 `json:"laplace_mean"`
		LaplaceSD          []float64 `json:"laplace_sd"`
	}
	golden.JSON(t, &f, "spectra", "posterior", "posterior.json")
	fitter, err := NewFitter(goldenLibrary(t, f.Interpolator), Settings{Continuum: f.Npoly, Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	star := mock(t, f.Mock)
	star.Starts = []Start{{Vel: f.LaplaceMean[0], Vsini: f.LaplaceMean[1], Params: f.LaplaceMean[2:]}}
	fits, err := fitter.Fit(context.Background(), []Star{star})
	if err != nil || fits[0].Err != nil {
		t.Fatal(err, fits[0].Err)
	}
	post, err := fitter.Sample(context.Background(), &star, &fits[0], infer.Config{Seed: 1, Warmup: 300, Draws: 500})
	if err != nil {
		t.Fatal(err)
	}
	summary := post.Summary()
	for k, name := range f.Params {
		s := summary.Row(name)
		if s == nil {
			t.Fatalf("no %s in %v", name, post.Names())
		}
		if math.Abs(s.Mean-f.Mean[k]) > 0.1*f.Sd[k] || math.Abs(s.SD/f.Sd[k]-1) > 0.06 || !(s.RHat < 1.01) || !(s.ESSBulk > 400 && s.ESSTail > 400) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
