// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/npy"
)

type expectedShape struct {
	Type     string  `json:"type"`
	Vertices []Point `json:"vertices_row_col"`
	Center   Point   `json:"center_row_col"`
	Radius   float64 `json:"radius"`
	Sides    int     `json:"n_vertices"`
	Axes     Point   `json:"axes_row_col"`
	Size     Point   `json:"size_h_w"`
	Angle    float64 `json:"angle_deg"`
	From     Point   `json:"p0"`
	To       Point   `json:"p1"`
	Width    float64 `json:"width"`
	Mode     string  `json:"mode"`
}

func (s expectedShape) shape() Shape {
	return Shape{Kind: s.Type, Inclusive: s.Mode == "inclusive", Vertices: s.Vertices, Center: s.Center, Radius: s.Radius, Sides: s.Sides,
		Axes: s.Axes, Size: s.Size, AngleDeg: s.Angle, From: s.From, To: s.To, Width: s.Width}
}

type expected struct {
	Threshold []struct {
		Low     float64 `json:"low"`
		High    float64 `json:"high"`
		UseLow  bool    `json:"low_enable"`
		UseHigh bool    `json:"high_enable"`
		Masked  int     `json:"n_masked"`
		Flat    []int   `json:"masked_flat_index"`
	} `json:"threshold"`
	Parameter []struct {
		File        string   `json:"file"`
		Constraints [][5]any `json:"constraints"`
		Valid       int      `json:"n_valid"`
	} `json:"parameter"`
	Draw []struct {
		File string          `json:"file"`
		ROIs []expectedShape `json:"rois"`
		Keep int             `json:"n_keep"`
	} `json:"draw"`
	Outlier []struct {
		Kind       string      `json:"kind"`
		Method     string      `json:"method"`
		Cutoff     float64     `json:"cutoff"`
		Percentile [2]float64  `json:"percentile"`
		Rings      int         `json:"num"`
		Box        int         `json:"box_size"`
		Rows       [][]float64 `json:"saxs1d_rows_q_ref_thr_max_avg"`
		BoxRows    [][]float64 `json:"saxs1d_rows_rank_ref_thr_max_avg"`
		Bad        [][2]int    `json:"bad_row_col"`
	} `json:"outlier"`
	History []struct {
		Op      string `json:"op"`
		Valid   int    `json:"n_valid"`
		At      int    `json:"ptr"`
		Records int    `json:"records"`
	} `json:"history"`
	Center []struct {
		File   string  `json:"file"`
		True   Point   `json:"true_row_col"`
		Guess1 Point   `json:"guess_1"`
		Guess2 Point   `json:"guess_2"`
		Radius float64 `json:"max_radius_2"`
		Noisy  bool    `json:"noisy"`
	} `json:"find_center"`
	Ellipse struct {
		Params struct {
			X     float64 `json:"x0"`
			Y     float64 `json:"y0"`
			Angle float64 `json:"angle"`
			Major float64 `json:"major_axis"`
			Minor float64 `json:"minor_axis"`
		} `json:"params"`
		Mask string `json:"mask"`
		Rho  string `json:"rho"`
		Phi  string `json:"phi_radians"`
	} `json:"ellipse"`
}

func expect(t *testing.T) (e expected) {
	golden.JSON(t, &e, "xpcs", "mask", "expected.json")
	return e
}

func (e expected) constraints(k int) (out []Constraint) {
	for _, c := range e.Parameter[k].Constraints {
		out = append(out, Constraint{Map: c[0].(string), Logic: c[1].(string), Unit: c[2].(string), Begin: c[3].(float64), End: c[4].(float64)})
	}
	return out
}

func array(t *testing.T, name string) ([]float64, []int) {
	return npy.Read(t, "xpcs", "mask", name)
}

func reference(t *testing.T, name string) *Mask {
	t.Helper()
	v, shape := array(t, name)
	m, err := From(v, shape[0], shape[1])
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// source is the image of the reference with its maps.
func source(t *testing.T) Source {
	image, shape := array(t, "image.npy")
	q, _ := array(t, "in_q.npy")
	phi, _ := array(t, "in_phi.npy")
	return Source{Height: shape[0], Width: shape[1], Image: image, Maps: map[string][]float64{"q": q, "phi": phi}}
}

// same compares a step's mask with a raster of the reference, pixel by pixel.
func same(t *testing.T, s Source, step Step, file string, count int) {
	t.Helper()
	m, _, err := step.Mask(s, nil)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if m.Count() != count {
		t.Errorf("%s: %d pixels kept, want %d", file, m.Count(), count)
	}
	want := reference(t, file)
	for i, k := range want.Keep {
		if m.Keep[i] != k {
			t.Errorf("%s: pixel (%d, %d) is %v, want %v", file, i/m.Width, i%m.Width, m.Keep[i], k)
		}
	}
}

func TestGoldenThresholds(t *testing.T) {
	s := source(t)
	for _, c := range expect(t).Threshold {
		m, _, err := Step{Threshold: &Threshold{Low: c.Low, High: c.High, NoLow: !c.UseLow, NoHigh: !c.UseHigh}}.Mask(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		var masked []int
		for i, k := range m.Keep {
			if !k {
				masked = append(masked, i)
			}
		}
		if len(masked) != c.Masked || c.Flat != nil && !slices.Equal(masked, c.Flat) {
			t.Errorf("%+v: %d masked: %v", c, len(masked), masked)
		}
	}
}

func TestGoldenConstraints(t *testing.T) {
	s, e := source(t), expect(t)
	for k, c := range e.Parameter {
		same(t, s, Step{Constraints: e.constraints(k)}, c.File, c.Valid)
	}
}

func TestGoldenShapes(t *testing.T) {
	s := source(t)
	for _, c := range expect(t).Draw {
		var shapes []Shape
		for _, r := range c.ROIs {
			shapes = append(shapes, r.shape())
		}
		same(t, s, Step{Draw: shapes}, c.File, c.Keep)
	}
}

func TestGoldenOutliers(t *testing.T) {
	s, now := source(t), reference(t, "outlier_in_mask.npy")
	for _, c := range expect(t).Outlier {
		t.Run(fmt.Sprintf("%s %s %d", c.Kind, c.Method, c.Rings+c.Box), func(t *testing.T) {
			m, regions, err := Step{Outliers: &Outliers{Method: c.Method, Cutoff: c.Cutoff, Percentiles: c.Percentile, Rings: c.Rings, Tile: c.Box}}.Mask(s, now)
			if err != nil {
				t.Fatal(err)
			}
			bad := map[[2]int]bool{}
			for _, p := range c.Bad {
				bad[p] = true
			}
			for i, k := range m.Keep {
				if p := [2]int{i / m.Width, i % m.Width}; k == bad[p] {
					t.Errorf("pixel %v is kept: %v", p, k)
				}
			}
			rows := c.Rows
			if c.Kind == "boxes" {
				rows = c.BoxRows
			}
			if len(regions) != len(rows[0]) {
				t.Fatalf("%d regions, want %d", len(regions), len(rows[0]))
			}
			for k, r := range regions {
				for j, got := range []float64{r.At, r.Reference, r.Limit, r.Max, r.Mean} {
					if want := rows[j][k]; !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
						t.Errorf("region %d, row %d: %v, want %v", k, j, got, want)
					}
				}
			}
		})
	}
}

// operate does what the words of the reference say. The words are those of its file; last is the step that was applied last.
func (e expected) operate(t *testing.T, h *History, op string, last *Step) {
	t.Helper()
	apply := func(step Step) {
		t.Helper()
		*last = step
		if _, err := h.Apply(step); err != nil {
			t.Fatal(err)
		}
	}
	words := strings.Fields(op)
	var k int
	switch words[0] {
	case "init":
	case "undo":
		times := 1
		if len(words) > 1 {
			fmt.Sscanf(words[1], "x%d", &times)
		}
		for range times {
			h.Undo()
		}
	case "redo":
		h.Redo()
	case "reset":
		h.Reset()
	case "same":
		apply(*last)
	case "threshold":
		var s Threshold
		if _, err := fmt.Sscanf(op, "threshold low=%g high=%g apply", &s.Low, &s.High); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		apply(Step{Threshold: &s})
	case "parameter":
		if _, err := fmt.Sscanf(op, "parameter constraints[%d] apply", &k); err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		apply(Step{Constraints: e.constraints(k)})
	case "list":
		var pixels [][2]int
		for _, m := range regexp.MustCompile(`\((\d+),(\d+)\)`).FindAllStringSubmatch(op, -1) {
			row, _ := strconv.Atoi(m[1])
			col, _ := strconv.Atoi(m[2])
			pixels = append(pixels, [2]int{row, col})
		}
		apply(Step{Pixels: pixels})
	case "draw":
		for _, d := range e.Draw {
			if strings.HasPrefix(d.File, "roi_"+words[1]+"_") && len(d.ROIs) == 1 {
				roi := d.ROIs[0].shape()
				roi.Inclusive = words[2] == "inclusive"
				apply(Step{Draw: []Shape{roi}})
				return
			}
		}
		t.Fatalf("%s: the reference draws no such shape", op)
	default:
		t.Fatalf("%q: this test does not know the operation", op)
	}
}

func TestGoldenHistory(t *testing.T) {
	s, e := source(t), expect(t)
	h, err := NewHistory(s, "")
	if err != nil {
		t.Fatal(err)
	}
	var last Step
	for _, c := range e.History {
		e.operate(t, h, c.Op, &last)
		if n := h.Mask().Count(); n != c.Valid || h.At() != c.At || h.Len() != c.Records {
			t.Errorf("%s: %d pixels at %d of %d records, want %d at %d of %d", c.Op, n, h.At(), h.Len(), c.Valid, c.At, c.Records)
		}
	}
}

func TestGoldenEllipse(t *testing.T) {
	c := expect(t).Ellipse
	m := reference(t, c.Mask)
	e, err := Moments(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range [][2]float64{{e.Col, c.Params.X}, {e.Row, c.Params.Y}, {e.Angle, c.Params.Angle}, {e.Major, c.Params.Major}, {e.Minor, c.Params.Minor}} {
		if !(math.Abs(v[0]-v[1]) <= 1e-12*math.Abs(v[1])) {
			t.Errorf("%v, want %v", v[0], v[1])
		}
	}
	rho, phi, err := e.Maps(m.Height, m.Width)
	if err != nil {
		t.Fatal(err)
	}
	wantRho, _ := array(t, c.Rho)
	wantPhi, _ := array(t, c.Phi)
	for i := range rho {
		if !(math.Abs(rho[i]-wantRho[i]) <= 1e-12*wantRho[i]) || !(math.Abs(phi[i]*math.Pi/180-wantPhi[i]) <= 2e-12) {
			t.Errorf("pixel %d: rho %v, want %v; phi %v, want %v rad", i, rho[i], wantRho[i], phi[i], wantPhi[i])
		}
	}
}
