// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// A parameter that the data do not determine has an open interval, and intervals of all levels hold each other: of one decay fitted by two, either decay may have an amplitude of 0 and then any time, and
// a straight line is a decay whose time and background go to infinity of either sign.
func TestProfilesOfUndeterminedParameters(t *testing.T) {
	x := make([]float64, 20)
	for i := range x {
		x[i] = float64(i) / 2
	}
	in := inputs("a", "t1", "b", "t2")
	decay := func(a, tau *ad.Node) *ad.Node { return ad.Mul(a, ad.Exp(ad.Neg(ad.Div(ad.Const(x), tau)))) }
	for _, c := range []struct {
		name   string
		model  *ad.Node
		params []*ad.Node
		truth  func(x float64) float64
		start  []float64
		open   []string // of 95 %
		seeds  []uint32 // of data that leave them open: of others a second decay, or the bend, exceeds 95 %
	}{
		{"two decays for one", ad.Add(decay(in[0], in[1]), decay(in[2], in[3])), in, func(x float64) float64 { return 5 * math.Exp(-x/2) }, []float64{4, 2, 1, 5},
			[]string{"t1", "t2"}, []uint32{1, 2}},
		{"a decay for a line", ad.Add(decay(in[0], in[1]), in[2]), in[:3], func(x float64) float64 { return 1 + x/2 }, []float64{-100, 200, 100},
			[]string{"a", "b"}, []uint32{0, 4}},
	} {
		for _, seed := range c.seeds {
			random := tensor.NewStream(5, 0, seed)
			y := make([]float64, len(x))
			for i := range y {
				y[i] = c.truth(x[i]) + 0.1*random.Normal()
			}
			p, err := optim.FromModel(c.model, c.params, optim.Observed{Y: y})
			if err != nil {
				t.Fatal(err)
			}
			s := optim.Settings{RelativeSigma: true}
			p.Start = c.start
			var all [][]optim.Interval
			var r *optim.Result
			for range 10 {
				if r, err = optim.LeastSquares(context.Background(), p, s); err != nil {
					t.Fatal(err)
				}
				all, err = optim.Profiles(context.Background(), p, r, optim.ProfileSettings{Settings: s}, optim.IntervalLevel{}, optim.IntervalLevel{Level: 0.95, OneSided: true}, optim.IntervalLevel{Level: 0.6827})
				var lower *optim.LowerCostError
				if !errors.As(err, &lower) {
					break
				}
				p.Start = lower.X
			}
			if err != nil {
				t.Fatal(c.name, seed, err)
			}
			for k, wide := range all[0] {
				for _, more := range all[1:] {
					if narrow := more[k]; !(wide.Lower <= narrow.Lower && narrow.Lower <= narrow.Value && narrow.Value <= narrow.Upper && narrow.Upper <= wide.Upper) {
						t.Errorf("%s, seed %d, %s: %g to %g holds %g to %g about %g?", c.name, seed, wide.Name, wide.Lower, wide.Upper, narrow.Lower, narrow.Upper, narrow.Value)
					}
				}
				if slices.Contains(c.open, wide.Name) && !(wide.LowerOpen && wide.UpperOpen) {
					t.Errorf("%s, seed %d: %s from %g to %g, want an open interval", c.name, seed, wide.Name, wide.Lower, wide.Upper)
				}
			}
		}
	}
}
