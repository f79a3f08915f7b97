// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/models/g2"
)

// manyCurves are exponentials on 64 delays, with other times, contrasts and noise in each bin.
func manyCurves(n int) []g2.Curve {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 64)
	for i := range x {
		x[i] = 1e-3 * math.Pow(10, float64(i)/16)
	}
	curves := make([]g2.Curve, n)
	for b := range curves {
		c := g2.Curve{Bin: b + 1, Q: 0.005, X: x}
		tau, contrast := math.Pow(10, -1.5+1.5*rng.Float64()), 0.1+0.3*rng.Float64()
		for _, v := range x {
			c.Y = append(c.Y, 1+contrast*math.Exp(-2*math.Pow(v/tau, 0.8))+2e-3*rng.NormFloat64())
			c.Err = append(c.Err, 2e-3)
		}
		curves[b] = c
	}
	return curves
}

// fitsOnDevice compares fits of a device with the processor's.
func fitsOnDevice(t *testing.T, n int, b ad.Backend) {
	model, err := g2.ByName("stretched")
	if err != nil {
		t.Fatal(err)
	}
	curves := manyCurves(n)
	want, err := g2.FitAll(context.Background(), model, curves, g2.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := g2.FitAll(context.Background(), model, curves, g2.Settings{Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	worst, elsewhere := 0.0, 0
	for i, w := range want {
		g := got[i]
		if g.Device == "cpu" {
			elsewhere++
		}
		if g.Status != w.Status || !slices.Equal(g.Active, w.Active) || g.Check.OK != w.Check.OK {
			t.Errorf("bin %d: %s %v, want %s %v", w.Curve.Bin, g.Status, g.Active, w.Status, w.Active)
			continue
		}
		for k, x := range w.X {
			worst = max(worst, math.Abs(g.X[k]-x)/math.Abs(x), math.Abs(g.SD[k]-w.SD[k])/w.SD[k])
		}
	}
	if elsewhere > 0 || !(worst <= 1e-8) {
		t.Errorf("%d fits were not on the device; parameters and errors differ by %.1e", elsewhere, worst)
	}
	t.Logf("%d fits: parameters and errors within %.1e", n, worst)
}

// Fits of many curves on a device are those of the processor.
func TestFitsOnDevice(t *testing.T) {
	pretend.Shared(t)
	fitsOnDevice(t, 60, ad.CUDA{})
	fitsOnDevice(t, 40, ad.Several{{Device: 0}, {Device: 1}})
}
