// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// A fit that stopped early is judged where it stopped, and not where its linearised model would have put it.
func TestPointIsJudged(t *testing.T) {
	const n = 40
	rng := rand.New(rand.NewPCG(11, 0))
	z, j := make([]float64, n), make([]float64, n)
	for i := range z {
		z[i], j[i] = rng.NormFloat64(), 1+float64(i)/n
	}
	square := 0.0
	for _, shift := range []float64{0, 0.02, 0.5, 5, 2e9} {
		at := slices.Clone(z)
		gain, size := 0.0, 0.0
		for i := range at { // the minimum, and from there a number of standard deviations
			gain, size = gain+j[i]*z[i], size+j[i]*j[i]
		}
		square = 0
		for i := range at {
			at[i] += j[i] * (shift/math.Sqrt(size) - gain/size)
			square += at[i] * at[i]
		}
		for _, relative := range []bool{false, true} {
			v, err := Judge(Data{Z: at, Jacobian: j, Names: []string{"a"}, AtPoint: true, Relative: relative}, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			flagged := slices.ContainsFunc(v.Flags, func(f Flag) bool { return f.Kind == KindUnconverged })
			if flagged != (shift >= 0.5) {
				t.Errorf("%g standard deviations from the minimum, relative %v: flags %v", shift, relative, v.Flags)
			}
			if want := square / (n - 1); shift != 0.5 && !relative && math.Abs(v.Reduced-want) > 1e-3*want {
				t.Errorf("%g standard deviations from the minimum: the reduced chi-square is %g, want %g", shift, v.Reduced, want)
			}
		}
	}
}

// Where a fit minimised more than the sum of squares, the part along the Jacobian is no sign of a fit that stopped early,
// and counts to the misfit all the same.
func TestPenalisedPointIsJudged(t *testing.T) {
	z, j := make([]float64, 40), make([]float64, 40)
	for i := range z {
		z[i], j[i] = math.Sin(float64(3*i*i)), 1
		z[i] += 2
	}
	square := 0.0
	for _, v := range z {
		square += v * v
	}
	v, err := Judge(Data{Z: z, Jacobian: j, Names: []string{"a"}, AtPoint: true, Penalised: true}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(v.Flags, func(f Flag) bool { return f.Kind == KindUnconverged }) {
		t.Errorf("flags %v", v.Flags)
	}
	if want := square / 39; math.Abs(v.Reduced-want) > 1e-9*want {
		t.Errorf("the reduced chi-square is %g, want %g", v.Reduced, want)
	}
}

// A parameter on a bound did not adapt to the data, so the misfit that the bound leaves belongs to the reduced chi-square.
func TestBoundIsJudged(t *testing.T) {
	x, y := make([]float64, 30), make([]float64, 30)
	for i := range x {
		x[i] = float64(i + 1)
		y[i] = 5*x[i] + 0.1*math.Sin(float64(7*i*i))
	}
	a := ad.Input("a")
	p, err := optim.FromGraph(ad.Sub(ad.Mul(a, ad.Const(x)), ad.Const(y)), []*ad.Node{a})
	if err != nil {
		t.Fatal(err)
	}
	p.Start, p.Lower, p.Upper = []float64{1}, []float64{0}, []float64{2}
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := Judge(FromFit(r), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if want := r.ReducedChiSquared(); math.Abs(v.Reduced-want) > 1e-9*want || v.OK {
		t.Errorf("the reduced chi-square is %g, want %g: %v", v.Reduced, want, v.Flags)
	}
}
