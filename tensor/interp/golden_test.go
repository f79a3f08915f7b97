// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package interp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

type curveCase struct {
	Kind           Kind
	FillValue      any `json:"fill_value"`
	BC             string
	X, Y, Xq, Out  golden.Array
	Deriv1, Deriv2 golden.Array
	Integral       golden.Float `json:"integral_full"`
}

type curveFile struct {
	Inputs   map[string]golden.Array
	Interp1d struct {
		X, Y    golden.Array
		Cases   []curveCase
		YND     golden.Array `json:"y_nd"`
		NDCubic curveCase    `json:"nd_cubic"`
	}
	CubicSpline []curveCase `json:"cubic_spline"`
	Grid        struct {
		X, Y, Xq, Yq    golden.Array
		F               string
		Linear, Nearest golden.Array
	} `json:"interp2d_regular_grid"`
}

// settings returns the settings of a case of interp1d.
func (c curveCase) settings(t *testing.T) Settings {
	s := Settings{Kind: c.Kind}
	switch v := c.FillValue.(type) {
	case nil:
	case string:
		if s.Outside = Extrapolate; v != "extrapolate" {
			t.Fatalf("fill value %q", v)
		}
	case []any:
		s.Outside, s.Below, s.Above = Fill, v[0].(float64), v[1].(float64)
	case float64:
		s.Outside, s.Below, s.Above = Fill, v, v
	}
	return s
}

func TestGoldenInterpolation(t *testing.T) {
	golden.Each(t, "xpcs/numerics/*.json", func(t *testing.T, name string) {
		var f curveFile
		golden.JSON(t, &f, name)
		x, y := f.Interp1d.X.Data, f.Interp1d.Y.Data
		for i, c := range f.Interp1d.Cases {
			what := fmt.Sprintf("interp1d %d, %s, fill %v", i, c.Kind, c.FillValue)
			s := c.settings(t)
			g, err := New(x, y, s)
			check(t, what, err)
			got, err := g.At(c.Xq.Data)
			check(t, what, err)
			near(t, what, got, c.Out.Data)
			if s.Outside != Refuse {
				continue
			}
			for _, at := range []float64{math.Nextafter(x[0], -1e9), math.Nextafter(x[len(x)-1], 1e9)} {
				var outside *RangeError
				if _, err := g.At([]float64{at}); !errors.As(err, &outside) {
					t.Errorf("%s: at %g: error %v, want a RangeError", what, at, err)
				}
			}
		}
		g, err := New(x, f.Interp1d.YND.Data, Settings{Kind: Cubic})
		check(t, "rows", err)
		got, err := g.At(f.Interp1d.NDCubic.Xq.Data)
		check(t, "rows", err)
		near(t, "rows", got, f.Interp1d.NDCubic.Out.Data)
		for i, c := range f.CubicSpline {
			splineCase(t, fmt.Sprintf("spline %d, %s", i, c.BC), c, x, y)
		}
		grid := f.Inputs[f.Grid.F]
		for _, nearest := range []bool{false, true} {
			g, err := NewGrid([][]float64{f.Grid.X.Data, f.Grid.Y.Data}, grid.Data, GridSettings{Nearest: nearest, Outside: Fill, Fill: math.NaN()})
			check(t, "grid", err)
			got, err := g.At(f.Grid.Xq.Data, f.Grid.Yq.Data)
			check(t, "grid", err)
			want := f.Grid.Linear
			if nearest {
				want = f.Grid.Nearest
			}
			near(t, fmt.Sprintf("grid, nearest %v", nearest), got, want.Data)
		}
	})
}

// splineCase holds a spline, its derivatives and its integral against a case, whose table is x and y unless it has one.
func splineCase(t *testing.T, what string, c curveCase, x, y []float64) {
	t.Helper()
	if c.X.Shape != nil {
		x = c.X.Data
	}
	if c.Y.Shape != nil {
		y = c.Y.Data
	}
	var g *Function
	var err error
	switch c.BC {
	case "pchip":
		g, err = PCHIP(x, y)
	case "akima":
		g, err = Akima(x, y)
	default:
		g, err = CubicSpline(x, y, CubicSettings{Start: Condition(c.BC), End: Condition(c.BC)})
	}
	check(t, what, err)
	for order, want := range []golden.Array{c.Out, c.Deriv1, c.Deriv2} {
		if want.Shape == nil {
			continue
		}
		at := c.Xq.Data
		if len(want.Data) < len(at) { // derivatives are given where the table is
			at = slices.DeleteFunc(slices.Clone(at), func(v float64) bool { return v < x[0] || v > x[len(x)-1] })
		}
		got, err := g.Derivative(at, order)
		check(t, what, err)
		near(t, fmt.Sprintf("%s, derivative %d", what, order), got, want.Data)
	}
	if c.Integral != 0 {
		got, err := g.Integral(x[0], x[len(x)-1])
		check(t, what, err)
		near(t, what+", integral", got, []float64{float64(c.Integral)})
	}
}

func check(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// near compares to 1e-12 of a number and 1e-13; NaN must be at the same places.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		if g := got[i]; !(math.Abs(g-w) <= 1e-12*math.Abs(w)+1e-13) && !(math.IsNaN(g) && math.IsNaN(w)) {
			t.Errorf("%s: number %d is %.17g, want %.17g", what, i, g, w)
			return
		}
	}
}
