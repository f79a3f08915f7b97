package xpcs

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

type floats = []golden.Float

// analysis is the part of the reference about averages and grouping.
type analysis struct {
	Averaging struct {
		Window, Bin int
		QIndex      int     `json:"qindex"`
		Low         float64 `json:"blmin"`
		High        float64 `json:"blmax"`
		Files       []struct {
			G2  []floats `json:"g2"`
			Err []floats `json:"g2_err"`
		}
		Baseline   floats
		Accepted   []bool
		G2         []floats `json:"g2"`
		Err        []floats `json:"g2_err"`
		Quadrature []floats `json:"g2_err_quadrature"`
	} `json:"averaging"`
	Regroup struct {
		Static  [][]int32    `json:"sqmap"`
		Dynamic [][]int32    `json:"dqmap"`
		Pixels  [][][]floats `json:"G2"`
		G2      []floats     `json:"g2"`
		Err     []floats     `json:"g2_err"`
	} `json:"regroup"`
	NonZero struct {
		Files   [][][][]floats `json:"G2_files"`
		Plain   [][][]floats   `json:"mean_plain"`
		NonZero [][][]floats   `json:"mean_nonzero"`
	} `json:"average_G2_nonzero"`
}

func flat(rows []floats) (v []float64) {
	for _, row := range rows {
		for _, x := range row {
			v = append(v, float64(x))
		}
	}
	return v
}

func table(rows []floats) *nexus.Matrix {
	return &nexus.Matrix{Rows: len(rows), Cols: len(rows[0]), Data: flat(rows)}
}

// small returns a result of a small detector with one static and one dynamic bin for each of n columns.
func small(n, delays int) *nexus.Result {
	m := &nexus.Maps{Height: 1, Width: n, Mask: make([]bool, n), Dynamic: make([]int32, n), Static: make([]int32, n)}
	p := nexus.Partition{Axis1: []float64{0}}
	for i := range n {
		m.Mask[i], m.Dynamic[i], m.Static[i] = true, int32(i+1), int32(i+1)
		p.Axis0, p.Cells = append(p.Axis0, float64(i+1)*1e-3), append(p.Cells, i)
	}
	r := &nexus.Result{Flavour: nexus.Nexus, FrameTime: 0.1, QMap: &nexus.QMap{Hash: "x", Dynamic: p, Static: p, BeamX: 1, BeamY: 1, Distance: 1, PixelSize: 1e-4, Energy: 10, Maps: m},
		Multitau: &nexus.Multitau{}}
	for i := range delays {
		r.Multitau.Delay = append(r.Multitau.Delay, float64(i+1))
	}
	return r
}

func TestAverageOfReference(t *testing.T) {
	var a analysis
	golden.JSON(t, &a, "xpcs", "analysis", "analysis.json")
	dir := t.TempDir()
	var files []string
	for i, f := range a.Averaging.Files {
		r := small(len(f.G2[0]), len(f.G2))
		r.Multitau.G2, r.Multitau.Err = table(f.G2), table(f.Err)
		files = append(files, filepath.Join(dir, fmt.Sprintf("f%d_results.hdf", i)))
		if err := nexus.Write(files[i], r); err != nil {
			t.Fatal(err)
		}
	}
	for _, customary := range []bool{true, false} {
		out := filepath.Join(dir, "mean.hdf")
		repeats, err := Average(context.Background(), files, out, AverageSettings{Bin: a.Averaging.QIndex + 1, Window: a.Averaging.Window, Low: a.Averaging.Low, High: a.Averaging.High, Customary: customary})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range repeats {
			if r.Used != a.Averaging.Accepted[i] || math.Abs(r.Baseline-float64(a.Averaging.Baseline[i])) > 1e-6 || r.Used != (r.Why == "") {
				t.Errorf("file %d: %+v, want %v, %v", i, r, a.Averaging.Accepted[i], a.Averaging.Baseline[i])
			}
		}
		got, err := nexus.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		compare(t, "g2", got.Multitau.G2.Data, flat(a.Averaging.G2))
		want := a.Averaging.Quadrature
		if customary {
			want = a.Averaging.Err
		}
		compare(t, "errors", got.Multitau.Err.Data, flat(want))
	}
	if _, err := Average(context.Background(), files, filepath.Join(dir, "none.hdf"), AverageSettings{Low: 5, High: 6}); err == nil || !strings.Contains(err.Error(), "none of 6 files was good") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "none.hdf")); err == nil {
		t.Error("there is an average of nothing")
	}
}

func TestRegroupOfReference(t *testing.T) {
	var a analysis
	golden.JSON(t, &a, "xpcs", "analysis", "analysis.json")
	maps := correlate.Maps{Height: len(a.Regroup.Static), Width: len(a.Regroup.Static[0])}
	for i := range a.Regroup.Static {
		maps.Static, maps.Dynamic = append(maps.Static, a.Regroup.Static[i]...), append(maps.Dynamic, a.Regroup.Dynamic[i]...)
	}
	r, err := correlate.Regroup(maps, len(a.Regroup.Pixels), func(d int) (x, y, z []float64, err error) {
		p := a.Regroup.Pixels[d]
		return flat(p[0]), flat(p[1]), flat(p[2]), nil
	}, correlate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	g2, sd := r.G2, r.Err
	for d := range g2 {
		for b := range g2[d] {
			if math.Abs(g2[d][b]-float64(a.Regroup.G2[d][b])) > 1e-12 || math.Abs(sd[d][b]-float64(a.Regroup.Err[d][b])) > 1e-12 {
				t.Errorf("delay %d, bin %d: %g +- %g, want %v +- %v", d, b+1, g2[d][b], sd[d][b], a.Regroup.G2[d][b], a.Regroup.Err[d][b])
			}
		}
	}
}

func TestMeanOfPixelsOfReference(t *testing.T) {
	var a analysis
	golden.JSON(t, &a, "xpcs", "analysis", "analysis.json")
	for d := range a.NonZero.Plain {
		for k := range a.NonZero.Plain[d] {
			for nonZero, want := range map[bool][]floats{false: a.NonZero.Plain[d][k], true: a.NonZero.NonZero[d][k]} {
				var m meanImage
				for _, f := range a.NonZero.Files {
					m.add(flat(f[d][k]), nonZero)
				}
				for i, v := range m.mean() {
					if math.Abs(v-flat(want)[i]) > 1e-12 {
						t.Errorf("delay %d, image %d, pixel %d: %g, want %g", d, k, i, v, flat(want)[i])
					}
				}
			}
		}
	}
}
