// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package measured_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
)

// atEnergies is the small measurement in closed form at ten energies, on a square detector.
func atEnergies(t testing.TB, side int) *measured.Task {
	k := smallOf(t, 1, true)
	m := k.Model
	m.Data.Detector.Rows, m.Data.Detector.Columns, m.Data.Frames = side, side, nil
	m.Data.Detector.PixelY, m.Data.Detector.PixelX = 5.0/float64(side), 5.0/float64(side)
	for i := range 10 {
		m.Data.Frames = append(m.Data.Frames, measured.Frame{Energy: 284 + float64(i)/10, Exposure: 10, Counts: make([]float64, side*side)})
	}
	return &measured.Task{Model: m, Params: k.Params}
}

// stacked measures a grain of lamellae in place of a ball.
func stacked(k *measured.Task) *measured.Task {
	p := &morph.Problem{Model: "grain", Fixed: map[string]float64{"period": 12, "lamella": 5, "grain": 20}, Parameters: map[string]morph.ProblemParam{"theta_deg": {Start: morph.StartValues{80}}, "aligned": {Start: morph.StartValues{0.6}}}}
	p.Options.Closed = true
	k.Model.Tables, k.Model.Morphology = k.Model.Tables[1:], p.MorphologyNames()
	k.Model.Closed = func(at morph.Values, q float64) morph.ClosedForm {
		given := map[string]*ad.Node{}
		for _, name := range k.Model.Morphology {
			if n := at(name); n != nil {
				given[name] = n
			}
		}
		return p.Closed(p.Values(given), q)
	}
	k.Params = append([]measured.Param{{Name: "theta_deg", Start: 80}, {Name: "aligned", Start: 0.6}}, k.Params[3:]...)
	return k
}

// A gradient of ten energies of 64 x 64 pixels on the emulated device is that of the processor.
func TestEnergiesOnDevice(t *testing.T) {
	pretend.Shared(t)
	var lp [2]float64
	var g [2][]float64
	for i, b := range []ad.Backend{ad.CPU{}, ad.CUDA{}} {
		k := atEnergies(t, 64)
		k.Backend = b
		post, err := k.Posterior()
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, len(k.Params))
		for j, p := range k.Params {
			if x[j] = p.Start; p.Bounds != nil {
				x[j] = 0
			}
		}
		g[i] = make([]float64, len(x))
		if lp[i], err = post.LogProbGrad(x, g[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !(math.Abs(lp[1]/lp[0]-1) < 1e-10) {
		t.Errorf("the log density is %g, want %g", lp[1], lp[0])
	}
	for j := range g[0] {
		if !(math.Abs(g[1][j]-g[0][j]) < 1e-8*math.Abs(g[0][j])) {
			t.Errorf("component %d of the gradient is %g, want %g", j, g[1][j], g[0][j])
		}
	}
}

// What a gradient of ten energies of 512 x 512 pixels takes on a device that only counts.
func TestLargeMeasurementOnDevice(t *testing.T) {
	lib := pretend.Shared(t)
	number := lib.Count(t, 141_000_000_000)
	k := stacked(atEnergies(t, 512))
	k.Backend = ad.CUDA{Device: number}
	post, err := k.Posterior()
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Open(number, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 16 { // for all who opened it, as the next test has one of another size
			d.Close()
		}
	})
	x, g := make([]float64, len(k.Params)), make([]float64, len(k.Params))
	for range 2 { // the first sends the data
		d.ResetPeak()
		before := lib.Get("cuLaunchKernel")
		if _, err := post.LogProbGrad(x, g); err != nil {
			t.Fatal(err)
		}
		s := d.Stats()
		t.Logf("%d bytes reserved, %d sent and %d fetched in %d copies, %d launches", s.PeakReserved, s.Sent, s.Fetched, s.Copies, lib.Get("cuLaunchKernel")-before)
		if s.PeakReserved > 4<<30 {
			t.Errorf("%d bytes are reserved for ten images of 512 x 512", s.PeakReserved)
		}
	}
}
