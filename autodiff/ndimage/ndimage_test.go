// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/tensor/stat"
	"pgregory.net/rapid"
)

// filters are nodes of every kind with a given mode.
func filters(x *ad.Node, m Mode) map[string]*ad.Node {
	return map[string]*ad.Node{
		"gaussian": Gaussian(x, GaussianSettings{Sigma: []float64{1.3, 0.4}, Mode: m, CVal: 0.5}),
		"uniform":  Uniform(x, BoxSettings{Size: []int{2, 5}, Mode: m, CVal: 0.5}),
		"median":   Median(x, BoxSettings{Size: []int{3, 2}, Mode: m, CVal: 0.5}),
		"zoom 0":   Zoom(x, ZoomSettings{Factor: []float64{1.6, 0.5}, Mode: m}),
		"zoom 1":   Zoom(x, ZoomSettings{Factor: []float64{1.6, 0.5}, Order: 1, Mode: m}),
		"zoom 3":   Zoom(x, ZoomSettings{Factor: []float64{1.6, 0.5}, Order: 3, Mode: m}),
		"zoom 5":   Zoom(x, ZoomSettings{Factor: []float64{0.6, 2}, Order: 5, Mode: m}),
	}
}

// The gradients of the squares of what filters give, so that the second derivatives are not 0.
func TestGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	values := make([]float64, 15)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	for _, m := range modes {
		x := ad.Input("x", 5, 3)
		for name, y := range filters(x, m) {
			w := make([]float64, y.Size())
			for i := range w {
				w[i] = 1 + rng.Float64()
			}
			loss := ad.Sum(ad.Mul(ad.Const(w, y.Shape()...), ad.Mul(y, ad.Square(y))))
			gradtest.Check(t, fmt.Sprintf("%s, %s", name, m), loss, []*ad.Node{x}, [][]float64{values}, true)
		}
	}
}

// A long axis is convolved, a short one multiplied with a matrix: both give the same, along any axis.
func TestConvolutionIsTheMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 6), 1, 3).Draw(t, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		w := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 9).Draw(t, "weights")
		f := window{w, rapid.IntRange(0, len(w)-1).Draw(t, "before"), rapid.SampledFrom(modes).Draw(t, "mode"), rapid.Float64Range(-2, 2).Draw(t, "cval")}
		x := ad.Of(0.0)
		n := 1
		for _, d := range shape {
			n *= d
		}
		x = ad.Const(rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(t, "x"), shape...)
		got, err := ad.Eval(f.along(x, axis), f.convolved(x, axis))
		if err != nil {
			t.Fatal(err)
		}
		a, b := got[0].Data().([]float64), got[1].Data().([]float64)
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-13 {
				t.Fatalf("element %d: matrix %g, convolution %g", i, a[i], b[i])
			}
		}
	})
}

// Filters keep constants where the continuation does, splines reproduce what they are given, and a zoom there keeps the
// ends.
func TestConstantsAndEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(2, 60).Draw(t, "n"), rapid.IntRange(2, 90).Draw(t, "m")
		mode := rapid.SampledFrom(modes).Draw(t, "mode")
		order := rapid.IntRange(0, 5).Draw(t, "order")
		x := rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(t, "x")
		zoomed := Zoom(ad.Const(x), ZoomSettings{Factor: []float64{float64(m) / float64(n)}, Order: order, Mode: mode})
		flat := []*ad.Node{}
		if mode != Constant {
			c := ad.Full(1.5, n)
			flat = append(flat, Gaussian(c, GaussianSettings{Sigma: []float64{2.5}, Mode: mode}), Uniform(c, BoxSettings{Size: []int{4}, Mode: mode}), Median(c, BoxSettings{Size: []int{5}, Mode: mode}))
		}
		got, err := ad.Eval(append(flat, zoomed)...)
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range got[:len(flat)] {
			for _, v := range y.Data().([]float64) {
				if math.Abs(v-1.5) > 1e-14 {
					t.Fatalf("a constant 1.5 became %g", v)
				}
			}
		}
		y := got[len(flat)].Data().([]float64)
		if len(y) != m || math.Abs(y[0]-x[0]) > 1e-13 || math.Abs(y[m-1]-x[n-1]) > 1e-13 {
			t.Fatalf("%d elements from %g to %g, want %d from %g to %g", len(y), y[0], y[m-1], m, x[0], x[n-1])
		}
	})
}

// A NaN reaches as far as the filter, and no further.
func TestNaN(t *testing.T) {
	x := make([]float64, 30)
	x[12] = math.NaN()
	for name, c := range map[string]struct {
		y      *ad.Node
		lo, hi int
	}{
		"gaussian": {Gaussian(ad.Const(x), GaussianSettings{Sigma: []float64{1.2}}), 7, 17},
		"uniform":  {Uniform(ad.Const(x), BoxSettings{Size: []int{4}}), 11, 14},
		"zoom":     {Zoom(ad.Const(x), ZoomSettings{Factor: []float64{59. / 30}, Order: 1}), 23, 25},
	} {
		got, err := ad.Eval(c.y)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got[0].Data().([]float64) {
			if math.IsNaN(v) != (i >= c.lo && i <= c.hi) {
				t.Errorf("%s: element %d is %g, want NaN from %d to %d", name, i, v, c.lo, c.hi)
			}
		}
	}
}

// Sigma 0 and boxes of one element change nothing, and neither does a zoom by 1; an axis of length 0 stays.
func TestNothingToDo(t *testing.T) {
	x := ad.Input("x", 4, 3)
	for name, y := range map[string]*ad.Node{
		"gaussian": Gaussian(x, GaussianSettings{Sigma: []float64{0, 0.1}}),
		"uniform":  Uniform(x, BoxSettings{Size: []int{1}}),
		"median":   Median(x, BoxSettings{Size: []int{1}}),
		"zoom":     Zoom(x, ZoomSettings{Factor: []float64{1.1}, Order: 3}),
	} {
		if y != x {
			t.Errorf("%s: %v, want the array itself", name, y)
		}
	}
	empty := ad.Full(0, 0, 3)
	for name, y := range map[string]*ad.Node{
		"gaussian": Gaussian(empty, GaussianSettings{Sigma: []float64{2}}),
		"uniform":  Uniform(empty, BoxSettings{Size: []int{3}}),
		"median":   Median(empty, BoxSettings{Size: []int{3}}),
	} {
		if y.Err() != nil || y.Size() != 0 {
			t.Errorf("%s of an empty array: %v, %v", name, y, y.Err())
		}
	}
}

func TestMistakes(t *testing.T) {
	x := ad.Input("x", 4, 3)
	for want, y := range map[string]*ad.Node{
		`did you mean "reflect"`:                    Gaussian(x, GaussianSettings{Sigma: []float64{1}, Mode: "reflekt"}),
		"3 standard deviations":                     Gaussian(x, GaussianSettings{Sigma: []float64{1, 2, 3}}),
		"standard deviation is -1":                  GaussianAlong(x, 0, -1, GaussianSettings{}),
		"no axis 2 in shape":                        GaussianAlong(x, 2, 1, GaussianSettings{}),
		"radius":                                    GaussianAlong(x, 0, 1e9, GaussianSettings{}),
		"an edge of the box has 0":                  Uniform(x, BoxSettings{Size: []int{0}}),
		"0 edges":                                   Median(x, BoxSettings{}),
		"order is 6":                                Zoom(x, ZoomSettings{Factor: []float64{2}, Order: 6}),
		"its factor is 0.1: want a new length":      Zoom(x, ZoomSettings{Factor: []float64{0.1}}),
		"there is no mode \"around\": use one of [": Zoom(x, ZoomSettings{Factor: []float64{2}, Mode: "around"}),
	} {
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// A filter of an array without a mistake is one; that of a mistake is the mistake.
func TestMistakesStay(t *testing.T) {
	bad := ad.Fail(fmt.Errorf("nothing measured"))
	for _, y := range []*ad.Node{Gaussian(bad, GaussianSettings{}), Uniform(bad, BoxSettings{}), Median(bad, BoxSettings{}), Zoom(bad, ZoomSettings{})} {
		if y != bad {
			t.Errorf("%v", y.Err())
		}
	}
}

// Sorting by comparisons of arrays sorts.
func TestExchange(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for k := 1; k <= mostCompared; k += 1 + k/8 {
		data := make([]float64, k)
		x := make([]*ad.Node, k)
		for i := range x {
			data[i] = float64(rng.IntN(20))
			x[i] = ad.Const(data[i : i+1])
		}
		exchange(x)
		got, err := ad.Eval(x[k/2])
		if err != nil {
			t.Fatal(err)
		}
		want := stat.Percentile(data, []float64{50}, stat.HigherMethod)[0]
		if k%2 == 1 {
			want = stat.Median(data)
		}
		if v := got[0].Data().([]float64)[0]; v != want {
			t.Errorf("%d numbers: median %g, want %g of %v", k, v, want, data)
		}
	}
}
