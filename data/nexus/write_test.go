// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// sample is a Result of nq x nphi bins and 60 delays, made up.
func sample(nq, nphi int) *Result {
	q := &QMap{Hash: "none", Names: []string{"q", "phi"}, Units: []string{"Å⁻¹", "deg"}, BeamX: 10, BeamY: 12, Distance: 4, PixelSize: 75e-6, Energy: 10}
	for i := range nq {
		q.Dynamic.Axis0 = append(q.Dynamic.Axis0, 0.001*float64(i+1))
	}
	for j := range nphi {
		q.Dynamic.Axis1 = append(q.Dynamic.Axis1, 30*float64(j))
	}
	for i := range nq * nphi {
		q.Dynamic.Cells = append(q.Dynamic.Cells, i)
	}
	m := &Multitau{Stride: 2, Average: 3, G2: NewMatrix(60, nq*nphi), Err: NewMatrix(60, nq*nphi)}
	for i := range 60 {
		m.Delay = append(m.Delay, float64(max(i+1, 1<<(i/6))))
		for k := range nq * nphi {
			rate := 40 * q.Q(k+1) * q.Q(k+1)
			m.G2.Set(i, k, 1+0.3*math.Exp(-2*rate*m.Delay[i]))
			m.Err.Set(i, k, 0.01)
		}
	}
	return &Result{FrameTime: 1e-3, CountTime: math.NaN(), Energy: 10, Start: "2025-01-31 12:00:00", QMap: q, Multitau: m,
		Attrs: map[string]string{"note": "synthetic"}, Metadata: map[string]string{"sample": "made up"}}
}

func TestWriteAndRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "demo_t0010_results.hdf")
	want := sample(12, 1)
	if err := Write(name, want); err != nil {
		t.Fatal(err)
	}
	got := open(t, name)
	if got.Flavour != Nexus || got.Label() != "demo_t10" || got.Start != want.Start || got.Attrs["note"] != "synthetic" || got.Metadata["sample"] != "made up" {
		t.Errorf("%+v", got)
	}
	if !math.IsNaN(got.CountTime) || got.Energy != 10 || got.QMap.BeamX != 10 || got.QMap.Label(3) != "q=0.00300 Å⁻¹" {
		t.Errorf("%+v", got.QMap)
	}
	if !reflect.DeepEqual(got.Delays(), want.Delays()) || got.Delays()[0] != 6e-3 {
		t.Error(got.Delays())
	}
	closeTo(t, got.Multitau.G2, want.Multitau.G2)
	closeTo(t, got.Multitau.Err, want.Multitau.Err)
	checkWithPython(t, name)
}

func closeTo(t *testing.T, got, want *Matrix) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("shape %s, want %s", got.shape(), want.shape())
	}
	for i, v := range want.Data {
		if math.Abs(got.Data[i]-v) > 1e-7*math.Abs(v) {
			t.Fatalf("element %d is %v, want %v", i, got.Data[i], v)
		}
	}
}

func checkWithPython(t *testing.T, name string) {
	t.Helper()
	for _, p := range []string{os.Getenv("EURYALE_PYTHON"), "../../.peers/bin/python"} {
		if p == "" || exec.Command(p, "-c", "import h5py").Run() != nil {
			continue
		}
		out, err := exec.Command(p, "-c", `
import h5py, numpy as np, sys
f = h5py.File(sys.argv[1])
g2 = f["/xpcs/multitau/normalized_g2"]
tau = f["/xpcs/multitau/delay_list"][()] * 2 * 3
q = f["/xpcs/qmap/dynamic_v_list_dim0"][()]
assert g2.shape == (60, 12) and g2.dtype == np.float32
assert np.allclose(g2[()], 1 + 0.3 * np.exp(-2 * 40 * q[None, :] ** 2 * tau[:, None] / 6), atol=1e-6)
assert f.attrs["note"] == "synthetic"
assert f["/xpcs/qmap/map_units"].asstr()[0] == "Å⁻¹"
assert f["/xpcs/qmap/dynamic_v_list_dim0"].attrs["unit"] == "Å⁻¹"
`, name).CombinedOutput()
		if err != nil {
			t.Errorf("h5py: %v\n%s", err, out)
		}
		return
	}
	t.Log("lacks Python with h5py (make peers, or EURYALE_PYTHON): the file was not checked with it")
}

// A result read and written again is the same.
func TestCopy(t *testing.T) {
	each(t, func(t *testing.T, r *Result, _ expected) {
		name := filepath.Join(t.TempDir(), filepath.Base(r.File))
		if err := Write(name, r); err != nil {
			t.Fatal(err)
		}
		c := open(t, name)
		if _, err := c.ReadMaps(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ReadImage(); err != nil {
			t.Fatal(err)
		}
		if r.Twotime != nil {
			for i := range r.Twotime.Bins {
				a, err := r.ReadC2(i, 0, true)
				if err != nil {
					t.Fatal(err)
				}
				b, err := c.ReadC2(i, 0, true)
				if err != nil || !reflect.DeepEqual(a, b) {
					t.Errorf("map %d differs: %v", i, err)
				}
			}
		}
		c.File = r.File
		if d := different(reflect.ValueOf(c), reflect.ValueOf(r), "Result"); d != "" {
			t.Error("differs at", d)
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	for what, change := range map[string]func(r *Result){
		"neither Multitau nor Twotime":                               func(r *Result) { r.Multitau = nil },
		"the q map has no q":                                         func(r *Result) { r.QMap.Dynamic.Axis0 = nil },
		"the time between frames is 0 s":                             func(r *Result) { r.FrameTime = 0 },
		"g2 has the shape (60, 4), but there are 59 delays":          func(r *Result) { r.Multitau.Delay = r.Multitau.Delay[1:] },
		"the errors of g2 have the shape (1, 4), but g2 has (60, 4)": func(r *Result) { r.Multitau.Err = NewMatrix(1, 4) },
		"g2 has 4 bins, but the q map has 3":                         func(r *Result) { r.QMap.Dynamic.Cells = r.QMap.Dynamic.Cells[1:] },
		"partial g2 has the shape (2, 2), but G2 has (60, 4)":        func(r *Result) { r.Multitau.Partial = []*Matrix{NewMatrix(2, 2)} },
		"two-time map of bin 3 is not in memory":                     func(r *Result) { r.Twotime = &Twotime{Bins: []int{3}} },
	} {
		r := sample(2, 2)
		change(r)
		name := filepath.Join(t.TempDir(), "x.hdf")
		if err := Write(name, r); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %q", err, what)
		}
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Error("a file was left behind")
		}
	}
}

// Any g2, also with NaN and infinities, survives at the precision of float32.
func TestRoundTrip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.hdf")
	rapid.Check(t, func(t *rapid.T) {
		r := sample(rapid.IntRange(1, 4).Draw(t, "nq"), rapid.IntRange(1, 3).Draw(t, "nphi"))
		for i := range r.Multitau.G2.Data {
			r.Multitau.G2.Data[i] = float64(rapid.Float32().Draw(t, "g2"))
		}
		if rapid.Bool().Draw(t, "nan") {
			r.Multitau.G2.Data[0], r.Multitau.G2.Data[1] = math.NaN(), math.Inf(1)
		}
		r.Multitau.Delay[0] = rapid.Float64Range(0, 1).Draw(t, "delay")
		if err := Write(name, r); err != nil {
			t.Fatal(err)
		}
		back, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer back.Close()
		for i, v := range r.Multitau.G2.Data {
			if g := back.Multitau.G2.Data[i]; g != v && !(math.IsNaN(g) && math.IsNaN(v)) {
				t.Fatalf("element %d is %v, want %v", i, g, v)
			}
		}
		if !reflect.DeepEqual(back.Multitau.Delay, r.Multitau.Delay) || !reflect.DeepEqual(back.QMap.Qs(), r.QMap.Qs()) {
			t.Fatal("delays or q differ")
		}
	})
}

// write makes a file of single keys.
func write(t *testing.T, keys map[string]any, shapes map[string][]int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.hdf")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range keys {
		w.Write(k, v, hdf5.Layout{Shape: shapes[k]})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestOldFiles(t *testing.T) {
	name := write(t, map[string]any{
		"/xpcs/Version": "1.0", "/measurement/instrument/detector/exposure_period": []float64{0.5},
		"/exchange/tau": []float64{1, 2, 3}, "/exchange/norm-0-g2": []float64{1, 2, 3, 4, 5, 6}, "/exchange/norm-0-stderr": make([]float64, 6),
		"/xpcs/dqlist": []float64{0.1, 0.2}, "/xpcs/dphilist": []float64{5, 6},
	}, map[string][]int{"/measurement/instrument/detector/exposure_period": {1, 1}, "/exchange/tau": {1, 3},
		"/exchange/norm-0-g2": {3, 2}, "/exchange/norm-0-stderr": {3, 2}, "/xpcs/dqlist": {1, 2}, "/xpcs/dphilist": {1, 2}})
	r := open(t, name)
	if r.Flavour != Legacy || r.FrameTime != 0.5 || r.Delays()[2] != 1.5 || !reflect.DeepEqual(r.QMap.Qs(), []float64{0.1, 0.2}) {
		t.Errorf("%+v %v", r, r.QMap.Qs())
	}
}

func TestEmptyCellsAndOldPartialKeys(t *testing.T) {
	keys := map[string]any{
		keyFrame[0]: 1.0, keyTau[0]: []int{1, 2}, keyG2[0]: []float32{1, 2, 3, 4, 5, 6}, keyErr[0]: make([]float32, 6),
		keyDQ[0]: []float64{0.1, 0.2}, keyDPhi[0]: []float64{10, 20}, keyDIndex[0]: []uint8{0, 1, 3},
		keyPartial[1]: make([]float32, 12), keyPartialLabels[1]: []int{10, 20},
	}
	shapes := map[string][]int{keyG2[0]: {2, 3}, keyErr[0]: {2, 3}, keyPartial[1]: {2, 2, 3}}
	r := open(t, write(t, keys, shapes))
	if got := r.QMap.Qs(); !reflect.DeepEqual(got, []float64{0.1, 0.1, 0.2}) || r.QMap.Phi(3) != 20 {
		t.Error(got, r.QMap.Phis())
	}
	if len(r.Multitau.Partial) != 2 || r.Multitau.PartialFrames[1] != 20 || r.Flavour != Unknown {
		t.Error(r.Multitau.Partial, r.Flavour)
	}
	if got := r.QMap.Select(0.15, 1); !reflect.DeepEqual(got, []int{3}) {
		t.Error(got)
	}
	if got := r.QMap.Select(5, 6); len(got) != 3 {
		t.Error(got)
	}
	for _, missing := range []string{keyFrame[0], keyTau[0], keyDQ[0]} {
		without := map[string]any{}
		for k, v := range keys {
			if k != missing {
				without[k] = v
			}
		}
		_, err := Open(write(t, without, shapes))
		if !errors.Is(err, hdf5.ErrNotFound) || !strings.Contains(err.Error(), missing+": it is missing") {
			t.Errorf("without %s: %v", missing, err)
		}
	}
	keys[keyTau[0]] = []int{1, 2, 3}
	if _, err := Open(write(t, keys, shapes)); err == nil || !strings.Contains(err.Error(), "g2 has the shape (2, 3), but there are 3 delays") {
		t.Error(err)
	}
}

// A link that leads nowhere is named with its target, wherever it stands on the way.
func TestBrokenLinks(t *testing.T) {
	for want, link := range map[string]func(w *hdf5.Writer) error{
		keyG2[0] + ": it cannot be read: hdf5: .*: it is an external link to gone.hdf:/g2, and gone.hdf is not in": func(w *hdf5.Writer) error { return w.ExternalLink(keyG2[0], "gone.hdf", "/g2") },
		keyG2[0] + ": is a soft link to " + keyG2[0] + ", which leads nowhere: .*more than 32 links":               func(w *hdf5.Writer) error { return w.SoftLink(keyG2[0], keyG2[0]) },
		keyG2[0] + ": is a soft link to /nowhere, which leads nowhere: .*there is no /nowhere":                     func(w *hdf5.Writer) error { return w.SoftLink(keyG2[0], "/nowhere") },
		keyErr[0] + ": is a soft link to ../e, which leads nowhere":                                                func(w *hdf5.Writer) error { return w.SoftLink(keyErr[0], "../e") },
		"/xpcs/multitau: it cannot be read: hdf5: .*external link to gone.hdf:/m":                                  func(w *hdf5.Writer) error { return w.ExternalLink("/xpcs/multitau", "gone.hdf", "/m") },
	} {
		dir := t.TempDir()
		if err := Write(filepath.Join(dir, "r.hdf"), sample(1, 1)); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "link.hdf")
		w, _ := hdf5.Create(name)
		if err := link(w); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"/entry", "/xpcs/qmap", keyTau[0], keyG2[0], keyErr[0]} {
			if !strings.HasPrefix(want, k+":") && (!strings.HasPrefix(want, "/xpcs/multitau:") || !strings.HasPrefix(k, "/xpcs/multitau/")) {
				w.ExternalLink(k, "r.hdf", k)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(name); err == nil || errors.Is(err, ErrNoAnalysis) || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// A link to images in a file that is gone names that file.
func TestExternalImages(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "r.hdf")
	if err := Write(name, sample(1, 1)); err != nil {
		t.Fatal(err)
	}
	w, _ := hdf5.Create(filepath.Join(dir, "link.hdf"))
	for _, k := range []string{"/entry", "/xpcs/qmap", "/xpcs/multitau/delay_list", "/xpcs/multitau/normalized_g2", "/xpcs/multitau/normalized_g2_err"} {
		w.ExternalLink(k, "r.hdf", k)
	}
	w.ExternalLink(keyUnnormalized[0], "gone_G2.hdf", "/G2")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, filepath.Join(dir, "link.hdf"))
	if r.Bins() != 1 || r.FrameTime != 1e-3 {
		t.Error(r)
	}
	_, _, _, err := r.ReadUnnormalized(0)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "gone_G2.hdf") {
		t.Error(err)
	}
}

// TestMapsAreOfTheirBins checks that two-time maps, which files number from 1 on, are those of the bins that the file lists and not
// those of the bins with these numbers.
func TestMapsAreOfTheirBins(t *testing.T) {
	r := sample(3, 2)
	r.Twotime = &Twotime{Bins: []int{2, 5}, Stride: 1, Average: 1, Smooth: "sqmap"}
	for _, bin := range r.Twotime.Bins {
		half := NewMatrix(4, 4)
		for i := range 4 {
			for j := i; j < 4; j++ {
				half.Set(i, j, float64(bin))
			}
		}
		r.Twotime.Maps = append(r.Twotime.Maps, half)
	}
	name := filepath.Join(t.TempDir(), "two_results.hdf")
	if err := Write(name, r); err != nil {
		t.Fatal(err)
	}
	got := open(t, name)
	if d := got.TwotimeDelays(3); d[0] != 0 || d[2] != 2e-3 { // though the file lists none
		t.Errorf("delays are %v s", d)
	}
	for i, bin := range []int{2, 5} {
		c, err := got.ReadC2(i, 0, true)
		if err != nil || c.Bin != bin || c.At(0, 3) != float64(bin) || c.At(3, 0) != float64(bin) {
			t.Errorf("map %d: %+v, %v; want that of bin %d", i, c, err, bin)
		}
	}
}

// Parts of a file whose shapes do not belong together are an error when it is opened, not a panic when they are used.
func TestShapesThatDisagree(t *testing.T) {
	two := func(g2 *Matrix, partial ...*Matrix) func(w *Writer, r *Result) {
		return func(w *Writer, r *Result) {
			r.Twotime = &Twotime{Bins: []int{2, 5}, Delay: []float64{0, 1, 2, 3}, G2: g2, Partial: partial}
			for range r.Twotime.Bins {
				w.AddMap(make([]float32, 16), 4)
			}
		}
	}
	for want, change := range map[string]func(w *Writer, r *Result){
		"part of the frames has the shape (60, 3)": func(w *Writer, r *Result) { w.s.cube(keyPartial, []*Matrix{NewMatrix(60, 3)}) },
		"part of the frames has the shape (59, 4)": func(w *Writer, r *Result) { w.s.cube(keyPartialErr, []*Matrix{NewMatrix(59, 4)}) },
		"1 parts of the frames, but 0 errors": func(w *Writer, r *Result) {
			r.Multitau.Partial, r.Multitau.PartialFrames = []*Matrix{NewMatrix(60, 4)}, []float64{1, 2}
		},
		"2 bins, but its g2 has the shape (4, 1)": two(NewMatrix(4, 1)),
		"2 bins, but its g2 has the shape (4, 3)": two(NewMatrix(4, 2), NewMatrix(4, 3)),
		"pixel (0, 2) is in bin 1.5":              binned([]float32{1, 2, 1.5, 3, 4, 0}),
		"pixel (1, 0) is in bin -3":               binned([]float32{1, 2, 1, -3, 4, 0}),
		"pixel (0, 0) is in bin 4.294967296e+09":  binned([]float32{1 << 32, 2, 1, 3, 4, 0}),
		"pixel (0, 1) is in bin NaN: want 0 for ": binned([]float32{1, float32(math.NaN()), 1, 3, 4, 0}),
	} {
		name := filepath.Join(t.TempDir(), "x.hdf")
		w, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		r := sample(2, 2)
		change(w, r)
		if err := w.Close(r); err != nil {
			t.Fatal(err)
		}
		got, err := Open(name)
		if err == nil {
			_, err = got.ReadMaps()
			got.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// binned writes bins of 2 x 3 pixels.
func binned(bins []float32) func(w *Writer, r *Result) {
	return func(w *Writer, r *Result) {
		for _, k := range []key{keyMask, keyDynamic, keyStatic} {
			w.s.Write(k[0], bins, hdf5.Layout{Shape: []int{2, 3}})
		}
	}
}

// A q map must belong to its lists of bins before anything is computed with it.
func TestCheckOfQMap(t *testing.T) {
	for want, change := range map[string]func(q *QMap){
		"":                                    func(q *QMap) {},
		"(0, 1) in dynamic bin 3":             func(q *QMap) { q.Maps.Dynamic[1] = 3 },
		"(0, 1) in static bin 2000000000":     func(q *QMap) { q.Maps.Static[1] = 2_000_000_000 },
		"(1, 0) in dynamic bin -1":            func(q *QMap) { q.Maps.Dynamic[2] = -1 },
		"no pixels in dynamic bin 2 of the 2": func(q *QMap) { q.Maps.Dynamic[2], q.Maps.Dynamic[3] = 1, 1 },
		"lists no bins":                       func(q *QMap) { q.Dynamic.Axis0 = []float64{} },
		"bin 2 in cell 5 of a grid of 2 x 1":  func(q *QMap) { q.Dynamic.Cells = []int{0, 5} },
		"its mask leaves it out":              func(q *QMap) { q.Maps.Mask[0] = false },
	} {
		p := Partition{Axis0: []float64{1, 2}, Cells: []int{0, 1}}
		q := &QMap{Dynamic: p, Static: p, Maps: &Maps{Height: 2, Width: 2, Mask: []bool{true, true, true, true}, Dynamic: []int32{1, 1, 2, 2}, Static: []int32{1, 1, 2, 2}}}
		change(q)
		if err := q.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
