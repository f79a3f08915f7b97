// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// logGrid is n wavelengths from lo at ratio exp(step).
func logGrid(lo, step float64, n int) []float64 {
	lam := make([]float64, n)
	for i := range lam {
		lam[i] = lo * math.Exp(step*float64(i))
	}
	return lam
}

// The kernel integrates to 1, is exactly linear below one pixel, and has the derivatives of its two sides where R
// crosses an integer.
func TestRotationKernelAtItsCorners(t *testing.T) {
	kernel := func(r float64) (w, slope []float64) {
		x := ad.Scalar(r)
		y := spectra.RotationKernel(x, ad.Scalar(0.6), 5)
		got := eval(t, y, ad.JVP(y, []*ad.Node{x}, []*ad.Node{ad.Scalar(1)}))
		return got[0], got[1]
	}
	_, first := kernel(0.5)
	for _, r := range []float64{0, 1e-12, 1e-9, 1e-3, 0.9999999} {
		w, slope := kernel(r)
		near(t, "slope below a pixel", slope, first, 1e-12)
		want := make([]float64, len(w))
		for k := range want {
			want[k] = r * first[k]
		}
		want[5]++
		near(t, "kernel below a pixel", w, want, 1e-14)
	}
	for _, r := range []float64{1, 2, 3} {
		w, slope := kernel(r)
		below, slopeBelow := kernel(r - 1e-9)
		above, slopeAbove := kernel(r + 1e-9)
		near(t, "kernel below an integer", below, w, 2e-9)
		near(t, "kernel above an integer", above, w, 2e-9)
		near(t, "slope below an integer", slopeBelow, slope, 2e-4) // it bends like a root
		near(t, "slope above an integer", slopeAbove, slope, 2e-4)
	}
	if w, _ := kernel(-3); w[5] != 1 || w[4] != 0 {
		t.Errorf("a negative velocity mixes pixels: %v", w)
	}
	if w, _ := kernel(4.5); !math.IsNaN(w[0]) {
		t.Errorf("a kernel wider than the room for it: %v, want NaN", w)
	}
}

// The limb-darkening coefficient has the derivative of differences.
func TestRotationByLimbDarkening(t *testing.T) {
	e := ad.Input("e")
	y := spectra.RotationKernel(ad.Scalar(2.7), e, 4)
	p, err := ad.Compile([]*ad.Node{y, ad.JVP(y, []*ad.Node{e}, []*ad.Node{ad.Scalar(1)})}, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	at := func(v float64) ([]float64, []float64) {
		s.Input(0)[0] = v
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		return s.OutputFloat64(0), s.OutputFloat64(1)
	}
	up, _ := at(0.5 + 1e-5)
	down, _ := at(0.5 - 1e-5)
	_, slope := at(0.5)
	for i := range up {
		up[i] = (up[i] - down[i]) / 2e-5
	}
	near(t, "slope", slope, up, 1e-8)
}

// By default rotation broadens a Gaussian line as the integral over the profile does, with its derivatives, and the
// kernel of the reference approaches it for fast rotation.
func TestExactRotation(t *testing.T) {
	const step, n, width = 5e-5, 900, 4.0
	lam := logGrid(5000, step, n)
	g, err := spectra.NewGrid(lam, true)
	if err != nil {
		t.Fatal(err)
	}
	line := func(x float64) float64 { return 2 + 0.001*x - 0.6*math.Exp(-x*x/(2*width*width)) }
	flux := make([]float64, n)
	for i := range flux {
		flux[i] = line(float64(i - n/2))
	}
	const limb = 0.6
	broad := func(r, x float64) float64 { // by the midpoint rule in the angle, with an error of order m^-4
		const m = 2000
		sum := 0.0
		for k := range m {
			a := math.Pi * (float64(k) + 0.5) / m
			s := math.Sin(a)
			profile := (2*(1-limb)*s + math.Pi/2*limb*s*s) / (math.Pi * (1 - limb/3))
			sum += profile * line(x-r*math.Cos(a)) * s * math.Pi / m
		}
		return sum
	}
	for _, vsini := range []float64{0, 0.5, 7, 40, 300} {
		r := vsini / (spectra.SpeedOfLight * step)
		v := ad.Scalar(vsini)
		y := g.Broaden(ad.Const(flux), v, spectra.Rotation{})
		got := eval(t, y, ad.JVP(y, []*ad.Node{v}, []*ad.Node{ad.Scalar(1)}), g.Broaden(ad.Const(flux), v, spectra.Rotation{Compat: true}))
		var want, slope, exact, exactSlope, hats []float64
		const h = 1e-3
		for i := 0; i < n; i += 7 {
			x := float64(i - n/2)
			want = append(want, broad(r, x))
			slope = append(slope, (broad(r+h, x)-broad(r-h, x))/(2*h)/(spectra.SpeedOfLight*step))
			exact, exactSlope, hats = append(exact, got[0][i]), append(exactSlope, got[1][i]), append(hats, got[2][i])
		}
		near(t, "exact", exact, want, 1e-12)
		if vsini > 0 {
			near(t, "slope", exactSlope, slope, 1e-6)
		} else if got[1][n/2] != 0 {
			t.Errorf("the slope at 0 is %g, want 0", got[1][n/2])
		}
		if vsini == 300 {
			near(t, "hat functions", hats[15:110], want[15:110], 1e-4)
		}
	}
}
