// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
)

// filterCase is a case of any of the filters.
type filterCase struct {
	Input             string
	Sigma, Size, Zoom golden.Array
	Axis, Order       int
	Mode              Mode
	Truncate, Cval    float64
	Radius            int
	Weights           golden.Array
	Out               golden.Array
}

type filterFile struct {
	Inputs                map[string]golden.Array
	GaussianFilter        []filterCase `json:"gaussian_filter"`
	GaussianFilter1D      []filterCase `json:"gaussian_filter1d"`
	GaussianKernelWeights []filterCase `json:"gaussian_kernel_weights"`
	UniformFilter         []filterCase `json:"uniform_filter"`
	MedianFilter          []filterCase `json:"median_filter"`
	Zoom                  []filterCase
}

var withNaN = regexp.MustCompile(`^(\w+) with \[(\d+),(\d+)\]=NaN$`)

// input returns the array that a case names, which may have a NaN put into it.
func (f filterFile) input(t *testing.T, name string) golden.Array {
	m := withNaN.FindStringSubmatch(name)
	if m == nil {
		a, ok := f.Inputs[name]
		if !ok {
			t.Fatalf("no input %q", name)
		}
		return a
	}
	a := f.Inputs[m[1]]
	i, _ := strconv.Atoi(m[2])
	j, _ := strconv.Atoi(m[3])
	a.Data = append([]float64(nil), a.Data...)
	a.Data[i*a.Shape[1]+j] = math.NaN()
	return a
}

func node(a golden.Array) *ad.Node { return ad.Const(a.Data, a.Shape...) }

func TestGoldenFilters(t *testing.T) {
	golden.Each(t, "xpcs/numerics/*.json", func(t *testing.T, name string) {
		var f filterFile
		golden.JSON(t, &f, name)
		f.check(t)
	})
}

// Modes, orders and sizes that the reference has not; testdata/scipy.json names its producer.
func TestSciPyFilters(t *testing.T) {
	b, err := os.ReadFile("testdata/scipy.json")
	if err != nil {
		t.Fatal(err)
	}
	var f filterFile
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	f.check(t)
}

// check holds the filters against all cases of a file.
func (f filterFile) check(t *testing.T) {
	each := func(kind string, cases []filterCase, filter func(x *ad.Node, c filterCase) *ad.Node) {
		for i, c := range cases {
			y := filter(node(f.input(t, c.Input)), c)
			compare(t, fmt.Sprintf("%s %d (%s %s sigma %v size %v zoom %v order %d)", kind, i, c.Input, c.Mode, c.Sigma.Data, c.Size.Data, c.Zoom.Data, c.Order), y, c.Out)
		}
		t.Logf("%d cases of %s", len(cases), kind)
	}
	each("gaussian", f.GaussianFilter, func(x *ad.Node, c filterCase) *ad.Node {
		return Gaussian(x, GaussianSettings{Sigma: c.Sigma.Data, Mode: c.Mode, Truncate: c.Truncate, CVal: c.Cval})
	})
	each("gaussian of one axis", f.GaussianFilter1D, func(x *ad.Node, c filterCase) *ad.Node {
		return GaussianAlong(x, c.Axis, c.Sigma.Data[0], GaussianSettings{Mode: c.Mode, Truncate: c.Truncate, CVal: c.Cval})
	})
	each("uniform", f.UniformFilter, func(x *ad.Node, c filterCase) *ad.Node {
		return Uniform(x, BoxSettings{Size: c.Size.Ints(), Mode: c.Mode, CVal: c.Cval})
	})
	each("median", f.MedianFilter, func(x *ad.Node, c filterCase) *ad.Node {
		return Median(x, BoxSettings{Size: c.Size.Ints(), Mode: c.Mode, CVal: c.Cval})
	})
	each("zoom", f.Zoom, func(x *ad.Node, c filterCase) *ad.Node {
		return Zoom(x, ZoomSettings{Factor: c.Zoom.Data, Order: c.Order, Mode: c.Mode})
	})
	for _, c := range f.GaussianKernelWeights {
		w := GaussianWeights(c.Sigma.Data[0], c.Truncate)
		if len(w) != 2*c.Radius+1 {
			t.Errorf("weights of sigma %v: %d, want radius %d", c.Sigma.Data, len(w), c.Radius)
		}
		compare(t, fmt.Sprintf("weights of sigma %v", c.Sigma.Data), ad.Const(w), c.Weights)
	}
}

// compare evaluates y and holds it against an array.
func compare(t *testing.T, what string, y *ad.Node, want golden.Array) {
	t.Helper()
	got, err := ad.Eval(y)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if fmt.Sprint([]int(got[0].Shape())) != fmt.Sprint(want.Shape) {
		t.Errorf("%s: shape %v, want %v", what, got[0].Shape(), want.Shape)
		return
	}
	near(t, what, got[0].Data().([]float64), want.Data)
}

// near compares to 1e-12 of a number and 1e-13; NaN must be at the same places.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		if g := got[i]; !(math.Abs(g-w) <= 1e-12*math.Abs(w)+1e-13) && !(math.IsNaN(g) && math.IsNaN(w)) {
			t.Errorf("%s: element %d is %.17g, want %.17g", what, i, g, w)
			return
		}
	}
}
