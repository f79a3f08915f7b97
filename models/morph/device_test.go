// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"context"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// smallParticle is the inversion of a small core-shell particle, with data of other parameters.
func smallParticle(t *testing.T, b ad.Backend) *morph.Inversion {
	t.Helper()
	grid := morph.Grid{Shape: [3]int{6, 16, 16}, Voxel: 4}
	cfg := rsoxs.Config{Energies: []float64{284, 285}, Angles: rsoxs.Angles{Start: 0, Increment: 45, End: 135}, RotMask: true}
	optics := rsoxs.Optics{}
	for e := range cfg.Energies {
		c := 1e-3 * float64(e+1)
		optics = append(optics, []rsoxs.Constants{{DeltaPara: c, BetaPara: c, DeltaPerp: c, BetaPerp: c}, {DeltaPara: 3 * c, BetaPara: 2 * c, DeltaPerp: c, BetaPerp: 2 * c}})
	}
	build := func(p []*ad.Node) morph.Scene {
		return morph.CoreShell{Grid: grid, Centre: morph.Fixed(30, 32, 12), Radius: p[0], Shell: p[1], Aligned: ad.Scalar(0.5), Width: 3}.Scene()
	}
	truth, err := build([]*ad.Node{ad.Scalar(12), ad.Scalar(5)}).Morphology(grid.Voxel)
	if err != nil {
		t.Fatal(err)
	}
	data, err := rsoxs.Simulate(context.Background(), truth, optics, cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Backend = b
	sim, err := rsoxs.New(grid.Shape, grid.Voxel, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &morph.Inversion{Sim: sim, Optics: optics, Backend: b, Data: data.Intensity, Build: build,
		Params: []morph.Param{{Name: "radius", Start: []float64{11}}, {Name: "shell", Start: []float64{6}}}}
}

// Inversions on a device find what they find on the processor, and their fields stay there.
func TestInversionOnDevice(t *testing.T) {
	pretend.Shared(t)
	ctx := context.Background()
	cpu, gpu := smallParticle(t, nil), smallParticle(t, ad.CUDA{})
	want, err := cpu.Fit(ctx, optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.ResetPeak()
	got, err := gpu.Fit(ctx, optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// Each evaluation and each column of a Jacobian may take less than the five arrays that the scene has.
	runs := got.NFev + 1 + 2*(got.NJev+1)
	if st := d.Stats(); int(st.Sent) > runs*5*8*6*16*16 {
		t.Errorf("%d bytes sent in about %d simulations", st.Sent, runs)
	} else {
		t.Logf("%d bytes sent and %d fetched in about %d simulations with fields of %d", st.Sent, st.Fetched, runs, 5*8*6*16*16)
	}
	low, err := gpu.Minimize(ctx, optim.MinimizeSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range want.X {
		if math.Abs(got.X[i]-x) > 1e-6 || math.Abs(low.X[i]-x) > 1e-3 {
			t.Errorf("parameter %d is %g by least squares and %g by minimisation, want %g", i, got.X[i], low.X[i], x)
		}
	}
	if _, err := gpu.Check(got.X, morph.CheckSettings{Relative: true}); err != nil {
		t.Error(err)
	}
}

// A device that fails in the middle loses nothing: the best point so far comes back with the error, and a fit
// goes on from there.
func TestInversionKeepsWhatWasFound(t *testing.T) {
	for name, c := range map[string]struct {
		device int
		code   drv.Result
	}{"lost": {1, 719}, "out of memory": {0, drv.OutOfMemory}} {
		t.Run(name, func(t *testing.T) {
			lib := pretend.Shared(t)
			v := smallParticle(t, ad.CUDA{Device: c.device})
			steps := 0
			s := optim.Settings{Progress: func(optim.Progress) {
				if steps++; steps == 2 {
					lib.Fail("cuLaunchKernel", 30, 1000, int32(c.code))
				}
			}}
			defer lib.Fail("cuLaunchKernel", 0, 0, 0)
			r, err := v.Fit(context.Background(), s)
			if !ad.IsDeviceFault(err) || r == nil || r.Status != optim.Interrupted || steps < 2 {
				t.Fatalf("result %+v after %d steps: %v", r, steps, err)
			}
			if name == "out of memory" { // the other device is lost for good
				lib.Fail("cuLaunchKernel", 0, 0, 0)
				task, err := v.Task("particle")
				if err != nil {
					t.Fatal(err)
				}
				steps = 0
				best, err := task.Fit(context.Background(), morph.FitSettings{Progress: s.Progress})
				if !ad.IsDeviceFault(err) || best == nil || best.Status != optim.Interrupted || !(best.Cost < 1) {
					t.Errorf("task: %+v: %v", best, err)
				}
			}
			cpu := smallParticle(t, nil)
			for i := range cpu.Params {
				cpu.Params[i].Start = r.X[i : i+1]
			}
			rest, err := cpu.Fit(context.Background(), optim.Settings{})
			if err != nil || math.Abs(rest.X[0]-12) > 1e-3 || rest.Cost >= r.Cost {
				t.Errorf("went on from %v to %+v: %v", r.X, rest, err)
			}
		})
	}
}
