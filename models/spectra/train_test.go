// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/optim"
)

// Losses, gradients and weights of full-batch training by Adam are those of PyTorch.
func TestTrainingGoldens(t *testing.T) {
	var f struct {
		Arch struct{ Indim, Nlayers, Width, Npc, Npix int }
		Adam struct {
			LR float64
		}
		Spread0 float64
		Traces  map[string]struct{ Losses []float64 }
	}
	golden.JSON(t, &f, "spectra", "nn", "train.json")
	x, shape := npy(t, "nn", "train_x.npy")
	y, _ := npy(t, "nn", "train_y.npy")
	w0, _ := npy(t, "nn", "train_w0.npy")
	for name, trace := range f.Traces {
		tr := &trainer{dim: shape[1], count: shape[0], pixels: f.Arch.Npix, y: y, programs: map[programKey]*ad.State{}}
		tr.TrainSettings = TrainSettings{Width: f.Arch.Width, Hidden: f.Arch.Nlayers, Components: f.Arch.Npc, Precision: 64, Squared: name == "mse"}.defaults(tr.count, tr.pixels)
		if err := tr.prepare(x); err != nil {
			t.Fatal(err)
		}
		if math.Abs(tr.spread/f.Spread0-1) > 1e-12 {
			t.Errorf("spread %v, want %v", tr.spread, f.Spread0)
		}
		tr.x = x // which are standardised already
		params, g := slices.Clone(w0), make([]float64, len(w0))
		d := &optim.Descent{Rule: &optim.Adam{}, LR: f.Adam.LR}
		for i, want := range trace.Losses {
			loss, err := tr.evaluate(params, g, tr.used)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(loss-want) > 1e-9 {
				t.Fatalf("%s: loss %d is %v, want %v", name, i, loss, want)
			}
			if i == 0 {
				first, _ := npy(t, "nn", "train_grad0_"+name+".npy")
				if d := worst(g, first); !(d < 1e-12) {
					t.Errorf("%s: gradients differ by %g", name, d)
				}
			}
			d.Step(params, g)
		}
		last, _ := npy(t, "nn", "train_wfinal_"+name+".npy")
		if d := worst(params, last); !(d < 1e-7) {
			t.Errorf("%s: weights differ by %g", name, d)
		}
	}
}

// Principal components are those of a full decomposition, and as good.
func TestPrincipalComponents(t *testing.T) {
	var f struct {
		Values []float64          `json:"singular_values"`
		Recon  map[string]float64 `json:"pca_l1_recon"`
	}
	golden.JSON(t, &f, "spectra", "nn", "train.json")
	y, shape := npy(t, "nn", "train_y.npy")
	mean, _ := moments(y, shape[1])
	k := min(16, len(f.Values), shape[0]-1)
	c, scores, err := principal(y, mean, shape[1], k, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range scores {
		if want := f.Values[i] / math.Sqrt(float64(shape[0])); math.Abs(s/want-1) > 1e-6 {
			t.Errorf("component %d has standard deviation %v, want %v", i, s, want)
		}
		for j := range i + 1 {
			dot := 0.0
			for p := range shape[1] {
				dot += c[i*shape[1]+p] * c[j*shape[1]+p]
			}
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(dot-want) > 1e-12 {
				t.Errorf("components %d and %d have product %v", i, j, dot)
			}
		}
	}
}

// Training stopped and resumed gives the bits of training that was not.
func TestTrainingResumes(t *testing.T) {
	points, _ := npy(t, "library", "grid_vec_mapped.npy")
	points = transposed(points, 4)
	y, shape := npy(t, "library", "interpdat_"+templates.Arms(t)[0]+".npy")
	s := TrainSettings{Width: 16, Hidden: 1, Components: 8, Epochs: 12, LR: 1e-2, Validation: 0.1, Seed: 3}
	whole, err := Train(context.Background(), points, 4, y, s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.Progress = func(p TrainProgress) {
		if p.Epoch == 5 {
			cancel()
		}
	}
	part, err := Train(ctx, points, 4, y, s)
	if err == nil || part == nil || part.Epoch != 5 {
		t.Fatal(part, err)
	}
	s.Progress, s.Resume = nil, &part.TrainState
	again, err := Train(context.Background(), points, 4, y, s)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Params, whole.Params) || again.Loss != whole.Loss || len(again.Losses) != 12 {
		t.Errorf("losses %v and %v", again.Losses, whole.Losses)
	}
	if !(whole.Losses[11] < 0.8*whole.Losses[0]) || len(whole.Network.Layers) != 4 || whole.Network.Pixels() != shape[1] {
		t.Errorf("losses %v", whole.Losses)
	}
}
