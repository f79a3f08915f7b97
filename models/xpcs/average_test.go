// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

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
	if _, err := Average(context.Background(), files, filepath.Join(dir, "none.hdf"), AverageSettings{Low: 1e6, High: 2e6}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("none of %d files was good", len(files))) {
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

// repeat writes a result of a detector of 2 x 3 pixels, with intensities and correlations of pixels, that change may change.
func repeat(t *testing.T, name string, change func(r *nexus.Result)) string {
	t.Helper()
	r := small(6, 3)
	r.QMap.Maps.Height, r.QMap.Maps.Width = 2, 3
	r.Multitau.G2, r.Multitau.Err = nexus.NewMatrix(3, 6), nexus.NewMatrix(3, 6)
	for i := range r.Multitau.G2.Data {
		r.Multitau.G2.Data[i], r.Multitau.Err.Data[i] = 1, 0.1
	}
	for range 6 {
		r.Multitau.Cov = append(r.Multitau.Cov, []float64{4, 1, 1, 1, 4, 1, 1, 1, 4})
		r.Multitau.Skew = append(r.Multitau.Skew, []float64{0.5, 0.25, 1})
		r.Multitau.Pixels = append(r.Multitau.Pixels, 1)
	}
	r.Trace = &nexus.Trace{Frame: []float64{0, 1}, Mean: []float64{2, 4}}
	r.SAXS = []float64{1, 2, 3, 4, 5, 6}
	r.Image = &nexus.Matrix{Rows: 2, Cols: 3, Data: r.SAXS}
	change(r)
	w, err := nexus.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	m := r.QMap.Maps
	for d := range r.Multitau.Delay {
		v, later, earlier := make([]float64, m.Height*m.Width), make([]float64, m.Height*m.Width), make([]float64, m.Height*m.Width)
		for i := range v {
			v[i], later[i], earlier[i] = float64(1+d+i), float64(2+i), float64(3+2*i)
		}
		if err := w.AddPixels(len(r.Multitau.Delay), m.Height, m.Width, v, later, earlier); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(r); err != nil {
		t.Fatal(err)
	}
	return name
}

// An average is of what all repeats have: what one lacks is left out rather than divided by too large a number, and repeats of other
// delays in seconds, or that stand twice, are not used.
func TestAverageOfUnlikeRepeats(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	a := repeat(t, at("a.hdf"), func(*nexus.Result) {})
	dark := repeat(t, at("dark.hdf"), func(r *nexus.Result) { r.Trace, r.Image = nil, nil })
	slow := repeat(t, at("slow.hdf"), func(r *nexus.Result) { r.Multitau.Stride = 2 })
	if err := os.Symlink("a.hdf", at("again.hdf")); err != nil {
		t.Fatal(err)
	}
	repeats, err := Average(context.Background(), []string{a, dark, slow, at("again.hdf")}, at("mean.hdf"), AverageSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "", "its delays differ", "averaged already"} {
		if r := repeats[i]; r.Used != (want == "") || !strings.Contains(r.Why, want) {
			t.Errorf("%+v: want %q", r, want)
		}
	}
	mean, err := nexus.Open(at("mean.hdf"))
	if err != nil {
		t.Fatal(err)
	}
	defer mean.Close()
	if mean.Trace != nil || mean.HDF5().Has("/xpcs/temporal_mean/scattering_2d") {
		t.Errorf("a mean of what one repeat lacks: %v", mean.Trace)
	}
	compare(t, "SAXS", mean.SAXS, []float64{1, 2, 3, 4, 5, 6})
	compare(t, "skewness", mean.Multitau.Skew[2], []float64{0.25, 0.125, 0.5})
	if _, err := Average(context.Background(), []string{a}, at("one.hdf"), AverageSettings{}); err != nil {
		t.Fatal(err)
	}
	one, err := nexus.Open(at("one.hdf"))
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	compare(t, "covariance of one", one.Multitau.Cov[0], []float64{4, 1, 1, 1, 4, 1, 1, 1, 4})
	compare(t, "skewness of one", one.Multitau.Skew[0], []float64{0.5, 0.25, 1})
}

// Pixels are grouped anew only by a map of the same detector, without those that were not kept, and intensities are those of its bins.
func TestRegroupByOtherMaps(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	a := repeat(t, at("a.hdf"), func(*nexus.Result) {})
	part := repeat(t, at("part.hdf"), func(r *nexus.Result) {
		r.QMap.Maps.Mask[5], r.QMap.Maps.Dynamic[5], r.QMap.Maps.Static[5] = false, 0, 0
		r.QMap.Dynamic.Cells, r.QMap.Dynamic.Axis0 = r.QMap.Dynamic.Cells[:5], r.QMap.Dynamic.Axis0[:5]
		r.QMap.Static, r.SAXS, r.QMap.Hash = r.QMap.Dynamic, r.SAXS[:5], ""
		r.Multitau.G2, r.Multitau.Err, r.Multitau.Cov = nexus.NewMatrix(3, 5), nil, nil
		r.Multitau.Skew, r.Multitau.Pixels = nil, nil
	})
	wide := repeat(t, at("wide.hdf"), func(r *nexus.Result) {
		r.QMap.Maps.Height, r.QMap.Maps.Width, r.QMap.Hash, r.Image = 3, 2, "", nil
	})
	by := func(change func(q *nexus.QMap)) *nexus.QMap {
		p := nexus.Partition{Axis0: []float64{0.1, 0.2}, Axis1: []float64{0}, Cells: []int{0, 1}}
		q := &nexus.QMap{Hash: "y", Dynamic: p, Static: p, BeamX: 1, Distance: 1, PixelSize: 1e-4, Energy: 10,
			Maps: &nexus.Maps{Height: 2, Width: 3, Mask: []bool{true, true, true, true, true, true}, Dynamic: []int32{1, 1, 1, 2, 2, 2}, Static: []int32{1, 1, 1, 2, 2, 2}}}
		change(q)
		return q
	}
	none := func(*nexus.QMap) {}
	for _, c := range []struct {
		files []string
		q     *nexus.QMap
		want  string
	}{
		{[]string{a}, by(func(q *nexus.QMap) { q.Maps.Height, q.Maps.Width = 3, 2 }), "3 x 2 pixels, but the results have 2 x 3"},
		{[]string{a}, by(func(q *nexus.QMap) { q.Maps.Dynamic[0] = 7 }), "dynamic bin 7"},
		{[]string{a, wide}, by(none), "3 x 2 pixels, but the q map has 2 x 3"},
	} {
		if _, err := Average(context.Background(), c.files, at("none.hdf"), AverageSettings{All: true, Pixels: true, Map: c.q}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := Average(context.Background(), []string{a}, at("b.hdf"), AverageSettings{Pixels: true, Map: by(none)}); err != nil {
		t.Fatal(err)
	}
	r, err := nexus.Open(at("b.hdf"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	compare(t, "SAXS", r.SAXS, []float64{2, 5})
	compare(t, "segments", r.Segments.Data, []float64{2, 5})
	if _, err := Average(context.Background(), []string{part}, at("c.hdf"), AverageSettings{All: true, Pixels: true, Map: by(none)}); err != nil {
		t.Fatal(err)
	}
	q, err := nexus.OpenQMap(at("c.hdf"))
	if err != nil {
		t.Fatal(err)
	}
	if m := q.Maps; m.Dynamic[5] != 0 || m.Static[5] != 0 || m.Mask[5] || !m.Mask[4] {
		t.Errorf("a pixel whose correlation is not known is in a bin: %+v", m)
	}
}

// Many repeats are averaged without as many open files.
func TestAverageOfMany(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range mostOpen + 6 {
		files = append(files, repeat(t, filepath.Join(dir, fmt.Sprintf("%d.hdf", i)), func(r *nexus.Result) {
			r.Multitau.G2.Data[0] = float64(i)
		}))
	}
	open := func() int {
		all, _ := os.ReadDir("/proc/self/fd") // none on other systems
		return len(all)
	}
	before, most := open(), 0
	out := filepath.Join(dir, "mean.hdf")
	repeats, err := Average(context.Background(), files, out, AverageSettings{All: true, Pixels: true, Progress: func(int, int) { most = max(most, open()) }})
	if err != nil || most > before+mostOpen+2 {
		t.Fatalf("%d files are open: %v", most-before, err)
	}
	for _, r := range repeats {
		if !r.Used {
			t.Errorf("%+v", r)
		}
	}
	mean, err := nexus.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer mean.Close()
	if got, want := mean.Multitau.G2.Data[0], float64(len(files)-1)/2; math.Abs(got-want) > 1e-6 {
		t.Errorf("g2 is %g, want %g", got, want)
	}
	if p, earlier, later, err := mean.ReadUnnormalized(2); err != nil || p.At(1, 2) != 8 || later.At(1, 2) != 7 || earlier.At(1, 2) != 13 {
		t.Errorf("%v, %v, %v, %v", p, earlier, later, err)
	}
	d, err := mean.HDF5().Dataset("/xpcs/multitau/unnormalized_G2")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := d.Slab([]int{2, 0, 1, 2}, []int{1, 3, 1, 1}).Float64s(); err != nil || v[0] != 8 || v[1] != 7 || v[2] != 13 {
		t.Errorf("products, later and earlier frames are %v in the file, %v", v, err)
	}
	if v := mean.Multitau.Cov[1][0]; math.Abs(v-4/float64(len(files))) > 1e-12 {
		t.Errorf("the variance is %g", v)
	}
}
