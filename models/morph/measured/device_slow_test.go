// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package measured_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/models/morph/measured"
)

// widePatterns is the small measurement on a detector of n x n pixels of the same size, at some energies.
func widePatterns(t *testing.T, n, energies int, closed bool) *measured.Task {
	t.Helper()
	k := smallOf(t, 1, closed)
	d := &k.Model.Data.Detector
	d.PixelY, d.PixelX = d.PixelY*float64(d.Rows)/float64(n), d.PixelX*float64(d.Columns)/float64(n)
	d.Rows, d.Columns = n, n
	f := k.Model.Data.Frames[0]
	k.Model.Data.Frames = nil
	for e := range energies {
		f.Energy, f.Counts = 284+float64(e)/float64(max(1, energies-1)), make([]float64, n*n)
		k.Model.Data.Frames = append(k.Model.Data.Frames, f)
	}
	return &measured.Task{Model: k.Model, Params: k.Params}
}

// The log density of patterns at ten energies and its gradient stay on a device: what crosses the bus are the parameters and the gradient.
// Launches do not depend on the number of pixels, and memory is in proportion to it; docs/PERFORMANCE.md has both for 512 x 512 pixels.
func TestTrafficOfMeasuredPatterns(t *testing.T) {
	const n, energies = 64, 10
	for name, closed := range map[string]bool{"closed": true, "voxels": false} {
		t.Run(name, func(t *testing.T) {
			library := pretend.Shared(t)
			k := widePatterns(t, n, energies, closed)
			k.Backend = ad.CUDA{}
			post, err := k.Posterior()
			if err != nil {
				t.Fatal(err)
			}
			var x []float64
			for _, p := range k.Params {
				x = append(x, p.Start)
			}
			cov := make([]float64, len(x)*len(x))
			for i := range x {
				cov[i*len(x)+i] = 1e-16
			}
			q, err := post.WarmStart(k.Names(), x, cov, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			g := make([]float64, len(x))
			if _, err := post.LogProbGrad(q[0], g); err != nil {
				t.Fatal(err)
			}
			d, err := cuda.Open(0, cuda.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			peak := d.Stats().PeakReserved
			d.ResetPeak()
			before := library.Get("cuLaunchKernel") + library.Get("cuGraphLaunch")
			if _, err := post.LogProbGrad(q[0], g); err != nil {
				t.Fatal(err)
			}
			s := d.Stats()
			t.Logf("%d launches, sent %d and fetched %d bytes in %d copies, %.3g GB at most, %.3g bytes a number", library.Get("cuLaunchKernel")+library.Get("cuGraphLaunch")-before, s.Sent, s.Fetched, s.Copies, float64(peak)/1e9, float64(peak)/(n*n*energies))
			if s.Sent+s.Fetched > 1<<14 {
				t.Errorf("a gradient sent %d and fetched %d bytes", s.Sent, s.Fetched)
			}
		})
	}
}
