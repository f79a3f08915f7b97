// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// TestGPUSpeedFits measures fits of DESI's three arms on a GPU, and a step of the search; scripts/gpu.sh starts it.
func TestGPUSpeedFits(t *testing.T) {
	all := gpu.Need(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, stars := desiSize(t, 2048)
	var first []Fit
	for _, c := range []struct {
		name string
		s    Settings
	}{{"float64", Settings{Backend: ad.CUDA{}}}, {"float32, weights of float16", Settings{Precision: 32, Backend: ad.CUDA{Weights: ad.Float16}}}} {
		c.s.Continuum, c.s.Batch, c.s.NoVerdict = 10, 1024, true
		f, err := NewFitter(l, c.s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Fit(context.Background(), stars[:1]); err != nil { // compiles
			t.Fatal(err)
		}
		layout, err := f.layoutOf(&stars[0])
		if err != nil {
			t.Fatal(err)
		}
		p, err := layout.search(0)
		if err != nil {
			t.Fatal(err)
		}
		s := layout.lent(p)
		for range 3 {
			begin := time.Now()
			if err := s.run(); err != nil {
				t.Fatal(err)
			}
			s.output(2)
			t.Logf("%s, %s: a step of %d stars in %v", all[0].Name, c.name, layout.batch, time.Since(begin))
		}
		layout.back(s)
		d.ResetPeak()
		begin := time.Now()
		fits, err := f.Fit(context.Background(), stars)
		if err != nil {
			t.Fatal(err)
		}
		took, st := time.Since(begin), d.Stats()
		t.Logf("%s, %s: %d fits in %v, %.0f an hour; %.0f kB sent and %.0f kB fetched for each star, peak %.1f GB", all[0].Name, c.name, len(stars), took,
			float64(len(stars))/took.Hours(), float64(st.Sent)/1e3/float64(len(stars)), float64(st.Fetched)/1e3/float64(len(stars)), float64(st.PeakReserved)/1e9)
		if first == nil {
			first = fits
			continue
		}
		bad := 0
		for i, g := range fits {
			for k, x := range first[i].X {
				if dx := g.X[k] - x; dx*dx > 0.01*first[i].SD[k]*first[i].SD[k] {
					bad++
					break
				}
			}
		}
		t.Logf("%d stars differ by more than a tenth of an error", bad)
	}
}
