// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

type meta struct {
	Convention  string    `json:"convention"`
	Energy      float64   `json:"energy_keV"`
	Row         float64   `json:"beam_center_row"`
	Col         float64   `json:"beam_center_col"`
	Shape       [2]int    `json:"shape"`
	PixelMM     float64   `json:"pixel_size_mm"`
	DistanceMM  float64   `json:"detector_distance_mm"`
	PixelM      float64   `json:"pixel_size_m"`
	DistanceM   float64   `json:"detector_distance_m"`
	Horizontal  float64   `json:"swing_horizontal_deg"`
	Vertical    float64   `json:"swing_vertical_deg"`
	Incidence   float64   `json:"alpha_i_deg"`
	Orientation string    `json:"orientation"`
	Display     []float64 `json:"display_center_row_col"`
	K0          float64   `json:"k0"`
	Maps        map[string]struct {
		DType string `json:"dtype"`
		Unit  string `json:"unit"`
	} `json:"maps"`
}

func (m meta) geometry() Geometry {
	g := Geometry{Height: m.Shape[0], Width: m.Shape[1], CenterRow: m.Row, CenterCol: m.Col, PixelSize: m.PixelM + m.PixelMM/1e3,
		Distance: m.DistanceM + m.DistanceMM/1e3, Energy: m.Energy, SwingHorizontal: m.Horizontal * math.Pi / 180, SwingVertical: m.Vertical * math.Pi / 180,
		Incidence: m.Incidence * math.Pi / 180, Orientation: m.Orientation}
	switch {
	case strings.HasPrefix(m.Convention, "reflection"):
		g.Reflection = true
	case strings.HasPrefix(m.Convention, "viewer"):
		g.Convention = ViewerSin
	case strings.HasPrefix(m.Convention, "sin2theta"):
		g.Convention = SinTwo
	}
	return g
}

// TestGoldenMaps compares every map of the reference, with its own units and integers.
func TestGoldenMaps(t *testing.T) {
	golden.Each(t, "xpcs/qmap/*", func(t *testing.T, name string) {
		var m meta
		golden.JSON(t, &m, name, "meta.json")
		g := m.geometry()
		ours, err := g.QMap()
		if err != nil {
			t.Fatal(err)
		}
		if m.K0 != 0 && math.Abs(ours.Geometry.K0()/m.K0-1) > 1e-13 {
			t.Errorf("K0 is %v, want %v", g.K0(), m.K0)
		}
		if m.Display != nil {
			row, col := g.DisplayCenter()
			if math.Hypot(row-m.Display[0], col-m.Display[1]) > 1e-9 {
				t.Errorf("displayed centre (%v, %v), want %v", row, col, m.Display)
			}
		}
		files, _ := filepath.Glob(filepath.Join(golden.Path(t, name), "*.npy"))
		if len(files) == 0 {
			t.Fatal("no maps")
		}
		for _, file := range files {
			channel := strings.TrimSuffix(filepath.Base(file), ".npy")
			scale, relative, absolute := 1.0, 1e-12, 1e-12
			if m.Display != nil {
				absolute = 1e-10 // the reference takes the angle as an arc cosine near 1, which keeps so many digits
			}
			switch m.Maps[channel].DType {
			case "float32":
				relative, absolute = 1e-6, 1e-8
			case "int32":
				continue // counted from the centre or not, by the reference's program
			}
			if strings.HasPrefix(m.Maps[channel].Unit, "RADIANS") {
				scale = 180 / math.Pi
			}
			of := ours
			switch channel {
			case "alpha":
				channel = "TTH"
			case "q_exact":
				exact := g
				exact.Convention = Exact
				if of, err = exact.QMap("q"); err != nil {
					t.Fatal(err)
				}
				channel = "q"
			case "x", "y":
				continue
			}
			got, err := of.Channel(channel)
			if err != nil {
				t.Fatal(err)
			}
			want := array(t, file)
			for i, w := range want {
				if w *= scale; !(math.Abs(got[i]-w) <= absolute+relative*math.Abs(w)) {
					t.Errorf("%s at pixel %d: %v, want %v (difference %.3g)", filepath.Base(file), i, got[i], w, got[i]-w)
					break
				}
			}
		}
	})
}

func array(t *testing.T, file string) []float64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := tensor.ReadNPY(f)
	if err != nil {
		t.Fatal(err)
	}
	return a.Float64s()
}

// TestGoldenGradients compares q, the calibration loss and their gradients with forty digits.
func TestGoldenGradients(t *testing.T) {
	var c struct {
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
	}
	golden.JSON(t, &c, "xpcs", "calibration", "calibration.json")
	near := func(what string, got, want, size float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*size) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for _, p := range c.Pixels {
		v := atPixels(t, p.Energy, p.Pixel, [][2]float64{{p.X, p.Y}}, nil, p.CenterX, p.CenterY, p.Distance)
		size := math.Hypot(p.DX, p.DY)
		near("q", v[0], p.Q, p.Q)
		near("dq/dx", v[1], p.DX, size)
		near("dq/dy", v[2], p.DY, size)
		near("dq/ddistance", v[3], p.DD, math.Abs(p.DD))
	}
	for _, o := range c.Objective {
		for _, e := range o.Evaluations {
			v := atPixels(t, o.Energy, o.Pixel, o.Pixels, o.Target, e.CenterX, e.CenterY, e.Distance)
			near("loss", v[0], e.Loss, e.Loss)
			size := math.Hypot(e.Grad[0], e.Grad[1])
			for i, want := range e.Grad {
				// terms of both signs cancel
				near("gradient of the loss", v[1+i], want, 10*max(size, math.Abs(want)))
			}
		}
	}
}

// atPixels returns the sum of q over pixels, or of squared differences from target, with its gradient by the
// column and row of the centre and the distance.
func atPixels(t *testing.T, energy, pixel float64, xy [][2]float64, target []float64, cx, cy, distance float64) [4]float64 {
	t.Helper()
	col, row := make([]float64, len(xy)), make([]float64, len(xy))
	for i, p := range xy {
		col[i], row[i] = p[0], p[1]
	}
	x, y, d := ad.Input("x"), ad.Input("y"), ad.Input("d")
	q := Geometry{Energy: energy, PixelSize: pixel, Convention: SinTwo}.Node("q", ad.Const(row, len(xy)), ad.Const(col, len(xy)), Parameters{CenterCol: x, CenterRow: y, Distance: d})
	if target != nil {
		q = ad.Square(ad.Sub(q, ad.Const(target, len(xy))))
	}
	sum := ad.Sum(q)
	prog, err := ad.Compile(append([]*ad.Node{sum}, ad.Grad(sum, x, y, d)...), ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	st := prog.NewState()
	for i, v := range []float64{cx, cy, distance} {
		st.Input(i)[0] = v
	}
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	return [4]float64{st.Output(0)[0], st.Output(1)[0], st.Output(2)[0], st.Output(3)[0]}
}
