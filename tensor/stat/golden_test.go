// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stat

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

type file struct {
	Inputs     map[string]golden.Array
	Percentile struct {
		V, Q                                                   golden.Array
		Linear, Lower, Higher, Nearest, Midpoint, Hazen        golden.Array
		Axis0                                                  golden.Array `json:"axis0_a2"`
		Axis1                                                  golden.Array `json:"axis1_a2"`
		WithNaN                                                golden.Array `json:"with_nan_input"`
		PercentileWithNaN                                      golden.Array `json:"percentile_with_nan"`
		NaNPercentile, Median, NaNMean, NaNMin, NaNMax, Single golden.Array
	}
	NaNToNum struct{ V, Default, Custom golden.Array } `json:"nan_to_num"`
	Digitize struct {
		X, Bins    golden.Array
		Left       golden.Array `json:"right_false"`
		Right      golden.Array `json:"right_true"`
		Descending golden.Array `json:"decreasing_bins"`
		Decreasing golden.Array
	}
	Bincount struct {
		X, Weights, Counts golden.Array
		Min10              golden.Array `json:"counts_min10"`
		Weighted           golden.Array
	}
	Unique struct{ X, Unique, Inverse, Counts golden.Array }
	Spaces []struct {
		A, B     float64
		N        int
		Linspace golden.Array
		Logspace golden.Array `json:"logspace_of_log10"`
	} `json:"linspace_logspace"`
	Mod struct {
		X      golden.Array
		Mod360 golden.Array
		Mod45  golden.Array
	} `json:"mod_floor"`
	Round struct{ X, D0, D2 golden.Array } `json:"round_half_even"`
}

// The axes' percentiles of the reference are these.
var ofAxes = []float64{5, 50, 95}

func TestGoldenStatistics(t *testing.T) {
	golden.Each(t, "xpcs/numerics/*.json", func(t *testing.T, name string) {
		var f file
		golden.JSON(t, &f, name)
		percentiles(t, f)
		d := f.Digitize
		integers(t, "digitize", Digitize(d.X.Data, d.Bins.Data, false), d.Left)
		integers(t, "digitize right", Digitize(d.X.Data, d.Bins.Data, true), d.Right)
		integers(t, "digitize descending", Digitize(d.X.Data[:len(d.Decreasing.Data)], d.Descending.Data, false), d.Decreasing)
		b := f.Bincount
		integers(t, "bincount", Bincount(b.X.Ints(), 0), b.Counts)
		integers(t, "bincount, at least 10", Bincount(b.X.Ints(), 10), b.Min10)
		near(t, "bincount, weighted", BincountWeighted(b.X.Ints(), b.Weights.Data, len(b.Weighted.Data)), b.Weighted)
		values, inverse, counts := Unique(f.Unique.X.Data)
		near(t, "unique", values, f.Unique.Unique)
		integers(t, "unique's inverse", inverse, f.Unique.Inverse)
		integers(t, "unique's counts", counts, f.Unique.Counts)
		whole, inverse, counts := UniqueInts(f.Unique.X.Ints())
		integers(t, "unique integers", whole, f.Unique.Unique)
		integers(t, "unique integers' inverse", inverse, f.Unique.Inverse)
		integers(t, "unique integers' counts", counts, f.Unique.Counts)
		for _, c := range f.Spaces {
			what := fmt.Sprintf("%g to %g by %d", c.A, c.B, c.N)
			got := Linspace(c.A, c.B, c.N)
			if !slices.Equal(got, c.Linspace.Data) {
				t.Errorf("linspace %s: %v, want exactly %v", what, got, c.Linspace.Data)
			}
			near(t, "logspace "+what, Logspace(math.Log10(c.A), math.Log10(c.B), c.N), c.Logspace)
		}
		near(t, "modulo 360", each(f.Mod.X.Data, func(x float64) float64 { return Mod(x, 360) }), f.Mod.Mod360)
		near(t, "modulo 45", each(f.Mod.X.Data, func(x float64) float64 { return Mod(x, 45) }), f.Mod.Mod45)
		near(t, "round", each(f.Round.X.Data, func(x float64) float64 { return Round(x, 0) }), f.Round.D0)
		near(t, "round to 2", each(f.Round.X.Data, func(x float64) float64 { return Round(x, 2) }), f.Round.D2)
		near(t, "NaN to numbers", NaNToNum(f.NaNToNum.V.Data, 0, math.MaxFloat64, -math.MaxFloat64), f.NaNToNum.Default)
		near(t, "NaN to own numbers", NaNToNum(f.NaNToNum.V.Data, 1, 2, -3), f.NaNToNum.Custom)
	})
}

func percentiles(t *testing.T, f file) {
	t.Helper()
	p := f.Percentile
	for m, want := range map[Method]golden.Array{LinearMethod: p.Linear, LowerMethod: p.Lower, HigherMethod: p.Higher,
		NearestMethod: p.Nearest, MidpointMethod: p.Midpoint, HazenMethod: p.Hazen} {
		near(t, "percentile "+string(m), Percentile(p.V.Data, p.Q.Data, m), want)
	}
	a := f.Inputs["a2"]
	near(t, "along axis 0", PercentileAlong(a.Data, a.Shape, 0, ofAxes, LinearMethod), p.Axis0)
	near(t, "along axis 1", PercentileAlong(a.Data, a.Shape, -1, ofAxes, LinearMethod), p.Axis1)
	for i, v := range Percentile(p.WithNaN.Data, p.Q.Data, LinearMethod) {
		if !math.IsNaN(v) {
			t.Errorf("percentile %g of numbers with NaN is %g", p.Q.Data[i], v)
		}
	}
	near(t, "percentiles without NaN", NaNPercentile(p.WithNaN.Data, p.Q.Data, LinearMethod), p.NaNPercentile)
	near(t, "median", []float64{Median(p.V.Data)}, p.Median)
	near(t, "mean without NaN", []float64{NaNMean(p.WithNaN.Data)}, p.NaNMean)
	near(t, "min without NaN", []float64{NaNMin(p.WithNaN.Data)}, p.NaNMin)
	near(t, "max without NaN", []float64{NaNMax(p.WithNaN.Data)}, p.NaNMax)
	near(t, "one number", Percentile(p.Single.Data[:1], []float64{0, 50, 100}[:len(p.Single.Data)], LinearMethod), p.Single)
}

func each(x []float64, f func(x float64) float64) (out []float64) {
	for _, v := range x {
		out = append(out, f(v))
	}
	return out
}

func integers(t *testing.T, what string, got []int, want golden.Array) {
	t.Helper()
	if !slices.Equal(got, want.Ints()) {
		t.Errorf("%s: %v, want %v", what, got, want.Ints())
	}
}

// near compares to 1e-12 of a number and 1e-13; NaN must be at the same places.
func near(t *testing.T, what string, got []float64, want golden.Array) {
	t.Helper()
	if len(got) != len(want.Data) || len(got) == 0 {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want.Data))
		return
	}
	for i, w := range want.Data {
		if g := got[i]; g != w && !(math.Abs(g-w) <= 1e-12*math.Abs(w)+1e-13) && !(math.IsNaN(g) && math.IsNaN(w)) {
			t.Errorf("%s: number %d is %.17g, want %.17g", what, i, g, w)
			return
		}
	}
}
