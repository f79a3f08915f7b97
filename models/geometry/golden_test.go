// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"context"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

type reference struct {
	Pixels []struct {
		CenterX  float64 `json:"center_x"`
		CenterY  float64 `json:"center_y"`
		Energy   float64 `json:"energy_keV"`
		Pixel    float64 `json:"pix_mm"`
		Distance float64 `json:"dist_mm"`
		X        float64 `json:"pixel_x"`
		Y        float64 `json:"pixel_y"`
		Q        float64 `json:"q"`
		DX       float64 `json:"dq_dcx"`
		DY       float64 `json:"dq_dcy"`
		DD       float64 `json:"dq_ddist"`
	} `json:"q_at_pixel"`
	Objective []struct {
		Energy      float64      `json:"energy_keV"`
		Pixel       float64      `json:"pix_mm"`
		True        [3]float64   `json:"true"`
		Pixels      [][2]float64 `json:"pixels_xy"`
		Target      []float64    `json:"target_q"`
		Evaluations []struct {
			CenterX  float64   `json:"center_x"`
			CenterY  float64   `json:"center_y"`
			Distance float64   `json:"dist_mm"`
			Loss     float64   `json:"loss"`
			Grad     []float64 `json:"grad"`
		} `json:"evaluations"`
	} `json:"calibration_objective"`
	Rings []struct {
		Points  [][2]float64 `json:"points_xy"`
		True    [2]float64   `json:"true_center"`
		Initial [2]float64   `json:"initial"`
		Loss    float64      `json:"loss_initial"`
		Grad    [2]float64   `json:"grad_initial"`
		Descent struct {
			Center [2]float64 `json:"center"`
			Loss   float64    `json:"final_loss"`
		} `json:"gd_default"`
		Optimum struct {
			Center [2]float64 `json:"center"`
			Loss   float64    `json:"loss"`
		} `json:"optimum_of_variance_objective"`
	} `json:"ring_center"`
}

func expect(t *testing.T) (e reference) {
	golden.JSON(t, &e, "xpcs", "calibration", "calibration.json")
	return e
}

// evaluate returns a scalar node and its gradient by its inputs.
func evaluate(t *testing.T, y *ad.Node, inputs []*ad.Node, at ...float64) (float64, []float64) {
	t.Helper()
	prog, err := ad.Compile(append([]*ad.Node{y}, ad.Grad(y, inputs...)...), ad.Settings{Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	st := prog.NewState()
	for i, v := range at {
		st.Input(i)[0] = v
	}
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	var g []float64
	for i := range inputs {
		g = append(g, st.Output(1 + i)[0])
	}
	return st.Output(0)[0], g
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v (off by %.3g)", what, got, want, got-want)
	}
}

func apart(xy [][2]float64) (row, col []float64) {
	for _, p := range xy {
		row, col = append(row, p[1]), append(col, p[0])
	}
	return row, col
}

// q, the loss and their gradients have the values of a calculation in forty digits.
func TestGoldenLoss(t *testing.T) {
	e := expect(t)
	x, y, d := ad.Input("x"), ad.Input("y"), ad.Input("d")
	p := xpcs.Parameters{CenterCol: x, CenterRow: y, Distance: d}
	inputs := []*ad.Node{x, y, d}
	for _, c := range e.Pixels {
		g := xpcs.Geometry{Energy: c.Energy, PixelSize: c.Pixel, Convention: xpcs.SinTwo}
		q, grad := evaluate(t, g.Node("q", ad.Scalar(c.Y), ad.Scalar(c.X), p), inputs, c.CenterX, c.CenterY, c.Distance)
		near(t, "q", q, c.Q, 1e-12*c.Q)
		size := math.Hypot(c.DX, c.DY)
		near(t, "dq/dx", grad[0], c.DX, 1e-12*size)
		near(t, "dq/dy", grad[1], c.DY, 1e-12*size)
		near(t, "dq/ddistance", grad[2], c.DD, 1e-12*math.Abs(c.DD))
	}
	for _, c := range e.Objective {
		g := xpcs.Geometry{Energy: c.Energy, PixelSize: c.Pixel, Convention: xpcs.SinTwo}
		row, col := apart(c.Pixels)
		n := len(row)
		loss := Loss(g, ad.Const(row, n), ad.Const(col, n), ad.Const(c.Target, n), p)
		for _, v := range c.Evaluations {
			got, grad := evaluate(t, loss, inputs, v.CenterX, v.CenterY, v.Distance)
			near(t, "loss", got, v.Loss, 1e-12*v.Loss)
			size := math.Hypot(v.Grad[0], v.Grad[1])
			for i, want := range v.Grad {
				near(t, "gradient of the loss", grad[i], want, 1e-12*math.Max(size, math.Abs(want)))
			}
		}
	}
}

// A fit to the pixels of the reference returns the geometry that they were made with.
func TestGoldenTruth(t *testing.T) {
	for _, c := range expect(t).Objective {
		var points []Point
		for i, p := range c.Pixels {
			points = append(points, Point{Row: p[1], Col: p[0], Q: c.Target[i], SD: 0.1})
		}
		g := xpcs.Geometry{Energy: c.Energy, PixelSize: c.Pixel, Convention: xpcs.SinTwo, CenterRow: c.True[1] + 6, CenterCol: c.True[0] - 4, Distance: c.True[2] * 1.08}
		f, err := FitPoints(context.Background(), g, points, Settings{Outlier: -1})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "row", f.Geometry.CenterRow, c.True[1], 1e-7)
		near(t, "column", f.Geometry.CenterCol, c.True[0], 1e-7)
		near(t, "distance", f.Geometry.Distance, c.True[2], 1e-9*c.True[2])
	}
}

// The variance along rings, its gradient and its true optimum; the reference's descent stops far from it on arcs.
func TestGoldenRingCenters(t *testing.T) {
	for _, c := range expect(t).Rings {
		row, col := apart(c.Points)
		n := len(row)
		x, y := ad.Input("x"), ad.Input("y")
		v := RingVariance(ad.Const(row, n), ad.Const(col, n), y, x)
		loss, grad := evaluate(t, v, []*ad.Node{x, y}, c.Initial[0], c.Initial[1])
		near(t, "variance", loss, c.Loss, 1e-12*c.Loss)
		near(t, "derivative by x", grad[0], c.Grad[0], 1e-12*math.Hypot(c.Grad[0], c.Grad[1]))
		near(t, "derivative by y", grad[1], c.Grad[1], 1e-12*math.Hypot(c.Grad[0], c.Grad[1]))
		loss, _ = evaluate(t, v, []*ad.Node{x, y}, c.Descent.Center[0], c.Descent.Center[1])
		near(t, "variance where the descent stops", loss, c.Descent.Loss, 1e-12)

		var points [][2]float64
		for i := range row {
			points = append(points, [2]float64{row[i], col[i]})
		}
		r, err := RingCenter(context.Background(), points)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "row", r.Row, c.Optimum.Center[1], 1e-8)
		near(t, "column", r.Col, c.Optimum.Center[0], 1e-8)
		near(t, "least variance", r.Loss, c.Optimum.Loss, 1e-12*c.Optimum.Loss)
		if off := math.Hypot((r.Row-c.True[1])/r.SDRow, (r.Col-c.True[0])/r.SDCol); off > 4 {
			t.Errorf("the true centre is %.1f standard errors away", off)
		}
	}
}
