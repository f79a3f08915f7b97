// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// With the kernel of the reference, a template at rest has the slope by vsini of one that rotates slowly, and no other values than its own.
func TestSlopeAtRest(t *testing.T) {
	lam, flux := make([]float64, 60), make([]float64, 60)
	for i := range lam {
		lam[i] = 5000 * math.Exp(1e-4*float64(i))
		flux[i] = 1 - 0.7*math.Exp(-0.1*float64((i-30)*(i-30)))
	}
	g, err := spectra.NewGrid(lam, true)
	if err != nil {
		t.Fatal(err)
	}
	vsini := ad.Input("vsini", 1)
	y := g.Broaden(ad.Const(flux, 1, len(flux)), vsini, spectra.Rotation{Compat: true})
	one := []*ad.Node{ad.Full(1, 1)}
	p, err := ad.Compile([]*ad.Node{y, ad.JVP(y, []*ad.Node{vsini}, one), ad.Grad(ad.Sum(ad.Square(y)), vsini)[0]}, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(v float64) [3][]float64 {
		s := p.NewState()
		if err := s.SetInput(0, []float64{v}); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		return [3][]float64{s.Output(0), s.Output(1), s.Output(2)}
	}
	slow := at(1e-6)
	for _, v := range []float64{0, 1e-12} {
		rest := at(v)
		for i := range flux {
			if math.Abs(rest[0][i]-flux[i]) > 1e-13 || math.Abs(rest[1][i]-slow[1][i]) > 1e-12 {
				t.Fatalf("vsini %g, pixel %d: %v with slope %v, want %v with %v", v, i, rest[0][i], rest[1][i], flux[i], slow[1][i])
			}
		}
		if d := rest[2][0] / slow[2][0]; math.Abs(d-1) > 1e-6 {
			t.Errorf("vsini %g: slope of the sum of squares %v, want %v", v, rest[2][0], slow[2][0])
		}
	}
}
