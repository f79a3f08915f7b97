// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

type floats []golden.Float

func (f floats) plain() []float64 {
	out := make([]float64, len(f))
	for i, x := range f {
		out[i] = float64(x)
	}
	return out
}

func rows(f []floats) [][]float64 {
	out := make([][]float64, len(f))
	for i := range f {
		out[i] = f[i].plain()
	}
	return out
}

// reference is the golden data about intensities and curves.
type reference struct {
	Intensity struct {
		Y      floats  `json:"y"`
		T0     float64 `json:"t0"`
		Freq   floats  `json:"fft_freq"`
		Amp    floats  `json:"fft_amp"`
		Smooth []struct {
			Window, Sampling int
			X                []int
			Y                floats
		}
	} `json:"intensity"`
	SAXS struct {
		Q          floats   `json:"q"`
		I          []floats `json:"Iq"`
		Background []floats `json:"bkg"`
		Weight     float64  `json:"bkg_weight"`
		Subtracted []floats `json:"subtracted"`
		Q2         []floats `json:"q2"`
		Q4         []floats `json:"q4"`
		I0         []floats `json:"I0_by_first_point"`
		Bug        []floats `json:"I0_reference_bug"`
	} `json:"saxs1d"`
	ROI struct {
		Geometry struct {
			Row   float64 `json:"beam_center_row"`
			Col   float64 `json:"beam_center_col"`
			Shape []int   `json:"shape"`
		}
		Cases []struct {
			Type    string
			Angles  [2]float64 `json:"angle_range"`
			Edges   floats
			Radius  [2]float64
			Bins    int    `json:"phi_num"`
			Centres floats `json:"bin_centres"`
			Mean    floats
			Count   []int
		}
	} `json:"roi"`
	Helpers struct {
		G2        []floats `json:"g2"`
		Err       []floats `json:"err"`
		Baseline  floats   `json:"baseline"`
		Corrected []floats `json:"baseline_corrected"`
		Max       []floats `json:"norm_max"`
		Mean      []floats `json:"norm_mean"`
		Std       []floats `json:"norm_std"`
		Scale2    []floats `json:"err_scale_2"`
		Power3    []floats `json:"err_power_3"`
		Log       []floats `json:"err_log"`
		Offset    []floats `json:"offset_first_row"`
	} `json:"g2_helpers"`
}

func expected(t *testing.T) (r reference) {
	t.Helper()
	golden.JSON(t, &r, "xpcs", "analysis", "analysis.json")
	return r
}

func close(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if math.IsNaN(got[i]) != math.IsNaN(want[i]) || math.Abs(got[i]-want[i]) > 1e-12*math.Max(math.Abs(want[i]), 1)*10 {
			t.Errorf("%s: number %d is %.15g, want %.15g", what, i, got[i], want[i])
			return
		}
	}
}

func TestIntensityOfReference(t *testing.T) {
	r := expected(t).Intensity
	f, a, err := Spectrum(r.Y.plain(), r.T0)
	if err != nil {
		t.Fatal(err)
	}
	close(t, "frequencies", f, r.Freq.plain())
	highest := slices.Index(a, slices.Max(a))
	for i := range a { // sums of hundreds: relative to the largest
		if math.Abs(a[i]-float64(r.Amp[i])) > 1e-12*a[highest] {
			t.Errorf("amplitude %d is %.15g, want %v", i, a[i], r.Amp[i])
		}
	}
	if p := Lines(a, 8); len(p) > 0 && !slices.Contains(p, highest) {
		t.Errorf("lines at %v, but the highest amplitude is number %d", p, highest)
	}
	for _, s := range r.Smooth {
		at, y, err := Smooth(r.Y.plain(), s.Window, s.Sampling)
		if err != nil || len(at) != len(s.X) {
			t.Fatal(err, len(at), len(s.X))
		}
		for i := range at {
			if at[i] != s.X[i] {
				t.Fatalf("window %d: sample %d, want %d", s.Window, at[i], s.X[i])
			}
		}
		close(t, "smooth", y, s.Y.plain())
	}
}

func TestProfilesOfReference(t *testing.T) {
	r := expected(t).SAXS
	p := Profile{r.Q.plain(), rows(r.I)}
	sub, err := p.Subtract(Profile{p.Q, rows(r.Background)}, r.Weight)
	if err != nil {
		t.Fatal(err)
	}
	for l := range p.Lines {
		close(t, "background", sub.Lines[l], r.Subtracted[l].plain())
		close(t, "q^2 I", p.Times(2).Lines[l], r.Q2[l].plain())
		close(t, "q^4 I", p.Times(4).Lines[l], r.Q4[l].plain())
		close(t, "I/I0", p.OverFirst().Lines[l], r.I0[l].plain())
		if bug := r.Bug[l].plain(); !slices.Equal(bug, r.I0[l].plain()) && slices.Equal(p.OverFirst().Lines[l], bug) {
			t.Error("lines are divided by the first line, as in the viewer")
		}
	}
	shifted := Profile{append([]float64{1.03 * p.Q[0]}, p.Q[1:]...), p.Lines}
	if _, err := p.Subtract(shifted, 1); err == nil {
		t.Error("a background of another q was taken away")
	}
	scaled := Profile{p.Q, [][]float64{p.Lines[0], p.Scale(0.25).Lines[0]}}
	if f := scaled.Onto(); math.Abs(f[1]-4) > 1e-12 || f[0] != 1 {
		t.Errorf("factors %v", f)
	}
	own := Profile{[]float64{0.003, 0.006, 0.009, 0.012, 0.015, 0.018, 0.021, 0.024, 0.027, 0.033}, [][]float64{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}}
	if b := own.Between(0.01, 0.03, 2); !slices.Equal(b.Q, []float64{0.012, 0.018, 0.024}) || !slices.Equal(b.Lines[0], []float64{3, 5, 7}) {
		t.Errorf("%v", b)
	}
	close(t, "log10", Log10([]float64{100, 0, -1, math.NaN(), 10}), []float64{2, 1, 1, 1, 1})
}

func npy(t *testing.T, name string) []float64 {
	t.Helper()
	f, err := os.Open(golden.Path(t, "xpcs/analysis", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := tensor.ReadNPY(f)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, x.Size())
	switch v := x.Data().(type) {
	case []float64:
		copy(out, v)
	case []float32:
		for i := range v {
			out[i] = float64(v[i])
		}
	case []int32:
		for i := range v {
			out[i] = float64(v[i])
		}
	case []int64:
		for i := range v {
			out[i] = float64(v[i])
		}
	case []bool:
		for i := range v {
			if v[i] {
				out[i] = 1
			}
		}
	default:
		t.Fatalf("%s is %T", name, v)
	}
	return out
}

func TestRegionsOfReference(t *testing.T) {
	r := expected(t).ROI
	image, q, phi, m := npy(t, "roi_image.npy"), npy(t, "roi_q.npy"), npy(t, "roi_phi.npy"), npy(t, "roi_mask.npy")
	mask := make([]bool, len(m))
	for i, v := range m {
		mask[i] = v > 0
	}
	for _, c := range r.Cases {
		var got *Means
		var err error
		if c.Type == "pie" {
			got, err = Wedge(image, q, phi, mask, Sector{c.Angles[0], c.Angles[1], c.Edges.plain()})
		} else {
			got, err = Ring(image, phi, mask, r.Geometry.Shape[1], Annulus{r.Geometry.Row, r.Geometry.Col, c.Radius[0], c.Radius[1], c.Bins})
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range got.Pixels {
			if n != c.Count[i] {
				t.Errorf("%s: bin %d has %d pixels, want %d", c.Type, i, n, c.Count[i])
			}
		}
		close(t, c.Type, got.Mean, c.Mean.plain())
		if c.Type == "ring" {
			close(t, "azimuths", got.X, c.Centres.plain())
		}
	}
}

func TestCurvesOfReference(t *testing.T) {
	r := expected(t).Helpers
	columns := func(f []floats) [][]float64 {
		out := make([][]float64, len(f[0]))
		for _, row := range f {
			for j, v := range row {
				out[j] = append(out[j], float64(v))
			}
		}
		return out
	}
	g2, err := columns(r.G2), columns(r.Err)
	offset, fail := Offset(g2)
	if fail != nil {
		t.Fatal(fail)
	}
	for j := range g2 {
		close(t, "baseline", Shift(g2[j], float64(r.Baseline[j])), columns(r.Corrected)[j])
		for how, want := range map[string][]floats{ByMax: r.Max, ByMean: r.Mean, ByStd: r.Std} {
			got, fail := Normalize(g2[j], how)
			if fail != nil {
				t.Fatal(fail)
			}
			close(t, how, got, columns(want)[j])
		}
		close(t, "errors of 2 g2", ScaledErr(err[j], 2), columns(r.Scale2)[j])
		close(t, "errors of g2^3", PowerErr(g2[j], err[j], 3), columns(r.Power3)[j])
		close(t, "errors of ln g2", LogErr(g2[j], err[j]), columns(r.Log)[j])
		close(t, "offsets", offset[j], columns(r.Offset)[j])
	}
	if _, fail := Normalize(g2[0], "median"); fail == nil {
		t.Error("an unknown normalisation was taken")
	}
}
