// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// expected is what pyXpcsViewer loads from the reference files: see
// reference/xpcs/README.md.
type expected map[string]any

func (e expected) sub(keys ...string) any {
	var v any = map[string]any(e)
	for _, k := range keys {
		v = v.(map[string]any)[k]
	}
	return v
}

// numbers flattens nested lists; NaN is a string.
func numbers(v any) []float64 {
	switch v := v.(type) {
	case float64:
		return []float64{v}
	case string:
		return []float64{map[string]float64{"NaN": math.NaN(), "Inf": math.Inf(1), "-Inf": math.Inf(-1)}[v]}
	case []any:
		var all []float64
		for _, x := range v {
			all = append(all, numbers(x)...)
		}
		return all
	}
	return nil
}

func texts(v any) []string {
	var all []string
	for _, x := range v.([]any) {
		all = append(all, x.(string))
	}
	return all
}

// same compares at relative tolerance 1e-6, float32's.
func same(t *testing.T, what string, got []float64, want any) {
	t.Helper()
	w := numbers(want)
	if len(got) != len(w) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(w))
		return
	}
	worst := 0.0
	for i := range got {
		if math.IsNaN(got[i]) && math.IsNaN(w[i]) {
			continue
		}
		d := math.Abs(got[i]-w[i]) / math.Max(math.Abs(w[i]), 1e-30)
		if !(d <= 1e-6) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], w[i])
			return
		}
		worst = math.Max(worst, d)
	}
	t.Logf("%s: %d numbers, worst relative deviation %.1e", what, len(w), worst)
}

// each runs a test on the reference results: file result_NAME.hdf has expectations NAME.
func each(t *testing.T, test func(t *testing.T, r *Result, want expected)) {
	t.Helper()
	var all map[string]json.RawMessage
	golden.JSON(t, &all, "xpcs", "hdf5", "expected.json")
	golden.Each(t, "xpcs/hdf5/result_*.hdf", func(t *testing.T, file string) {
		name := strings.TrimPrefix(golden.Base(file), "result_")
		if all[name] == nil {
			t.Skipf("expected.json has no %s", name)
		}
		var want expected
		if err := json.Unmarshal(all[name], &want); err != nil {
			t.Fatal(err)
		}
		test(t, open(t, golden.Path(t, file)), want)
	})
}

func open(t testing.TB, name string) *Result {
	t.Helper()
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestKind(t *testing.T) {
	each(t, func(t *testing.T, r *Result, want expected) {
		var kinds []string
		for _, a := range r.Analyses() {
			kinds = append(kinds, string(a))
		}
		if string(r.Flavour) != want["ftype"] || r.Label() != want["label"] || !reflect.DeepEqual(kinds, texts(want["analysis_type"])) {
			t.Error(r.Flavour, r.Label(), kinds)
		}
	})
}

func TestTree(t *testing.T) {
	each(t, func(t *testing.T, r *Result, want expected) {
		tree := want["tree"].(map[string]any)
		seen := map[string]bool{}
		err := r.HDF5().Walk(func(p string, group bool) error {
			if !group {
				seen[p] = true
				checkLeaf(t, r.HDF5(), p, tree[p])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for p, w := range tree {
			key, attrs := strings.CutPrefix(p, "attrs:")
			if attrs {
				checkAttrs(t, r.HDF5(), key, w.(map[string]any))
			} else if !seen[p] {
				t.Errorf("%s was not found", p)
			}
		}
		t.Logf("%d datasets", len(seen))
	})
}

func checkLeaf(t *testing.T, f *hdf5.File, p string, w any) {
	leaf, ok := w.(map[string]any)
	if !ok {
		t.Errorf("%s is not expected", p)
		return
	}
	d, err := f.Dataset(p)
	if err != nil {
		t.Error(err)
		return
	}
	compression := any(nil)
	if n := d.Filters(); len(n) > 0 {
		compression = n[0]
	}
	shape := []float64{}
	for _, n := range d.Shape() {
		shape = append(shape, float64(n))
	}
	if d.Type().String() != leaf["dtype"] || compression != leaf["compression"] || fmt.Sprint(shape) != fmt.Sprint(leaf["shape"]) {
		t.Errorf("%v %v, want %v", d, compression, leaf)
	}
	checkAttrs(t, f, p, leaf["attrs"].(map[string]any))
}

func checkAttrs(t *testing.T, f *hdf5.File, p string, want map[string]any) {
	all, err := f.Attrs(p)
	if err != nil || len(all) != len(want) {
		t.Errorf("%s: %d attributes, %v; want %d", p, len(all), err, len(want))
	}
	for _, a := range all {
		var got any
		if s, err := a.Text(); err == nil {
			got = s
		} else if v, err := a.Float64(); err == nil {
			got = v
		}
		if got != want[a.Name] {
			t.Errorf("%s@%s is %v, want %v", p, a.Name, got, want[a.Name])
		}
	}
}

func TestQMap(t *testing.T) {
	each(t, func(t *testing.T, r *Result, want expected) {
		q := r.QMap
		m := func(k string) any { return want.sub("qmap", k) }
		m2, err := r.ReadMaps()
		if err != nil {
			t.Fatal(err)
		}
		left, right, bottom, top := q.Extent(m2.Height, m2.Width)
		same(t, "k0", []float64{q.K0()}, m("k0"))
		same(t, "extent", []float64{left, right, bottom, top}, m("extent"))
		same(t, "dqlist", q.Dynamic.Axis0, m("dqlist"))
		same(t, "dplist", q.Dynamic.Axis1, m("dplist"))
		same(t, "sqlist", q.Static.Axis0, m("sqlist"))
		same(t, "splist", q.Static.Axis1, m("splist"))
		if !reflect.DeepEqual(q.Names, texts(m("map_names"))) || !reflect.DeepEqual(q.Units, texts(m("map_units"))) {
			t.Error(q.Names, q.Units)
		}
		for i, w := range texts(m("qbin_labels")) {
			if got := q.Label(i + 1); got != w {
				t.Errorf("label %q, want %q", got, w)
			}
		}
		for i, w := range texts(m("label_of_qbin")) {
			if got := q.BinLabel(i + 1); got != w {
				t.Errorf("label %q, want %q", got, w)
			}
		}
		for k, w := range m("qbinlist_at_qindex").(map[string]any) {
			var i int
			fmt.Sscan(k, &i)
			for j, bin := range q.At(i) {
				if float64(bin-1) != w.([]any)[j] {
					t.Errorf("bins at %d are %v, want one less than %v", i, q.At(i), w)
				}
			}
		}
		if q.BinLabel(0) != "invalid qbin" || q.Label(q.Dynamic.Bins()+1) != "invalid qbin" || !math.IsNaN(q.Q(-1)) {
			t.Error("bins that do not exist have labels")
		}
	})
}

func TestG2(t *testing.T) {
	each(t, func(t *testing.T, r *Result, want expected) {
		g := func(k string) any { return want.sub("g2_all", k) }
		same(t, "t_el", r.Delays(), g("t_el"))
		same(t, "g2", r.Multitau.G2.Data, g("g2"))
		sd, _ := r.Multitau.RepairedErr()
		same(t, "g2_err", sd.Data, g("g2_err"))
		same(t, "q_correct", r.QMap.Qs(), g("q_correct"))
		for i, w := range texts(g("labels")) {
			if got := r.QMap.BinLabel(i + 1); got != w {
				t.Errorf("label %q, want %q", got, w)
			}
		}
		checkRanged(t, r, want.sub("g2_ranged").(map[string]any))
		p := r.Multitau.Partial
		same(t, "partial shape", []float64{float64(len(p)), float64(p[0].Rows), float64(p[0].Cols)}, want.sub("g2_stability", "shape"))
		same(t, "partial frames", r.Multitau.PartialFrames, want.sub("g2_stability", "frame_labels"))
		if len(p) > 1 && !math.IsNaN(p[0].At(p[0].Rows-1, 0)) {
			t.Error("the first partial g2 reaches the last delay")
		}
	})
}

func checkRanged(t *testing.T, r *Result, want map[string]any) {
	q, tr := numbers(want["qrange"]), numbers(want["trange"])
	bins := r.QMap.Select(q[0], q[1])
	var qs, ts, g2 []float64
	var labels []string
	for _, b := range bins {
		qs, labels = append(qs, r.QMap.Q(b)), append(labels, r.QMap.BinLabel(b))
	}
	for i, x := range r.Delays() {
		if tr[0] <= x && x <= tr[1] {
			ts = append(ts, x)
			for _, b := range bins {
				g2 = append(g2, r.Multitau.G2.At(i, b-1))
			}
		}
	}
	same(t, "ranged q", qs, want["q_correct"])
	same(t, "ranged t", ts, want["t_el"])
	same(t, "ranged g2", g2, want["g2"])
	if !reflect.DeepEqual(labels, texts(want["labels"])) {
		t.Errorf("labels %q, want %q", labels, want["labels"])
	}
}

func TestIntensities(t *testing.T) {
	each(t, func(t *testing.T, r *Result, want expected) {
		p := r.Profile()
		same(t, "saxs q", p.Q, want.sub("saxs_1d", "q"))
		same(t, "saxs", p.Lines.Data, want.sub("saxs_1d", "Iq"))
		same(t, "saxs q2", p.Times(2).Data, want.sub("saxs_1d_q2", "Iq"))
		same(t, "saxs q4", p.Times(4).Data, want.sub("saxs_1d_q4", "Iq"))
		if over := p.OverFirst(); over.At(0, 0) != 1 || over.Rows > 1 && !math.IsNaN(over.At(1, 0)) && over.At(1, 0) != 1 {
			t.Error("lines are not divided by their own first points")
		}
		if !reflect.DeepEqual(p.Labels, texts(want.sub("saxs_1d", "labels"))) {
			t.Error(p.Labels)
		}
		same(t, "Iqp", r.SegmentProfiles().Data, want["Iqp"])
		same(t, "Int_t", append(append([]float64{}, r.Trace.Frame...), r.Trace.Mean...), want["Int_t"])
		m, err := r.ReadImage()
		if err != nil {
			t.Fatal(err)
		}
		sum, low, high := 0.0, math.Inf(1), 0.0
		for _, v := range m.Data {
			sum += v
			if v > 0 {
				low, high = math.Min(low, v), math.Max(high, v)
			}
		}
		same(t, "saxs_2d sum", []float64{sum}, want["saxs_2d_sum"])
		same(t, "saxs_2d range", []float64{math.Log10(low), math.Log10(high)}, want["saxs_2d_log_min_max"])
	})
}

func TestTwotime(t *testing.T) {
	each(t, func(t *testing.T, r *Result, want expected) {
		if r.Twotime == nil {
			t.Skip("a file without two-time data")
		}
		w := func(keys ...string) any { return want.sub(append([]string{"twotime"}, keys...)...) }
		var bins []float64
		for i, b := range r.Twotime.Bins {
			bins = append(bins, float64(b))
			if got := r.QMap.BinLabel(b); got != texts(w("labels"))[i] {
				t.Error(got)
			}
		}
		same(t, "processed bins", bins, w("processed_bins"))
		for key, want := range w().(map[string]any) {
			checkSelection(t, r, key, want)
		}
		n := len(r.Twotime.Bins)
		if _, err := r.ReadC2(n, 0, false); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("no two-time map at index %d: the file has %d maps", n, n)) {
			t.Error(err)
		}
	})
}

// checkSelection compares a two-time map with what the reference says of selectionI, selectionI_maxN or
// selectionI_uncorrected_diag_first5.
func checkSelection(t *testing.T, r *Result, key string, want any) {
	t.Helper()
	rest, ok := strings.CutPrefix(key, "selection")
	if !ok {
		return
	}
	number, kind, _ := strings.Cut(rest, "_")
	i, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	if size, ok := strings.CutPrefix(kind, "max"); ok {
		if most, err = strconv.Atoi(size); err != nil {
			t.Fatal(err)
		}
	}
	raw := strings.HasPrefix(kind, "uncorrected")
	c, err := r.ReadC2(i, most, raw)
	if err != nil {
		t.Fatal(err)
	}
	if raw {
		same(t, key, c.diagonal()[:len(numbers(want))], want)
		return
	}
	g2, parts := r.Twotime.Bin(i)
	for name, want := range want.(map[string]any) {
		var got []float64
		switch name {
		case "delta_t":
			got = []float64{c.Step}
		case "diag":
			got = c.diagonal()
		case "diag_first5":
			got = c.diagonal()[:len(numbers(want))]
		case "first_row":
			got = c.Row(0)
		case "g2_full":
			got = g2
		case "g2_partial":
			got = slices.Concat(parts...)
		case "file":
			checkNPY(t, c, want.(string))
			continue
		default:
			continue
		}
		same(t, key+" "+name, got, want)
	}
}

func (c *C2) diagonal() []float64 {
	d := make([]float64, c.Rows)
	for i := range d {
		d[i] = c.At(i, i)
	}
	return d
}

func checkNPY(t *testing.T, c *C2, file string) {
	f, err := os.Open(golden.Path(t, "xpcs", "hdf5", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	array, err := tensor.ReadNPY(f)
	if err != nil {
		t.Fatal(err)
	}
	want := array.Float64s()
	for i, v := range c.Data {
		if math.Abs(v-want[i]) > 2e-7*math.Abs(v) {
			t.Fatalf("C2 element %d is %v, want %v", i, v, want[i])
		}
	}
}

// The images behind g2 give it back: mean over the pixels of each static bin,
// then over the static bins of a dynamic one.
func TestUnnormalized(t *testing.T) {
	each(t, func(t *testing.T, r *Result, want expected) {
		if !r.HDF5().Has(keyUnnormalized[0]) {
			t.Skip("a file without images of g2")
		}
		m, err := r.ReadMaps()
		if err != nil {
			t.Fatal(err)
		}
		var g2 []float64
		for i := range r.Multitau.Delay {
			a, b, c, err := r.ReadUnnormalized(i)
			if err != nil {
				t.Fatal(err)
			}
			g2 = append(g2, regroup(m, r.Bins(), a, b, c)...)
		}
		same(t, "regrouped g2", g2, want.sub("regroup_G2", "g2"))
	})
}

func regroup(m *Maps, bins int, a, b, c *Matrix) []float64 {
	type sums struct{ a, b, c, n float64 }
	static := map[int32]*sums{}
	owner := map[int32]int32{}
	for i, s := range m.Static {
		if s == 0 {
			continue
		}
		if static[s] == nil {
			static[s] = &sums{}
			owner[s] = m.Dynamic[i]
		}
		x := static[s]
		x.a, x.b, x.c, x.n = x.a+a.Data[i], x.b+b.Data[i], x.c+c.Data[i], x.n+1
	}
	g2, n := make([]float64, bins), make([]float64, bins)
	for s, x := range static {
		g2[owner[s]-1] += x.a * x.n / (x.b * x.c)
		n[owner[s]-1]++
	}
	for i := range g2 {
		g2[i] /= n[i]
	}
	return g2
}

func TestFileID(t *testing.T) {
	var all struct {
		Cases []struct {
			Name  string `json:"fname"`
			Style string `json:"label_style"`
			ID    string
		} `json:"create_id"`
	}
	golden.JSON(t, &all, "xpcs", "hdf5", "expected.json")
	for _, c := range all.Cases {
		if got := FileID(c.Name, c.Style); got != c.ID {
			t.Errorf("FileID(%q, %q) = %q, want %q", c.Name, c.Style, got, c.ID)
		}
	}
}

func TestRepairedErr(t *testing.T) {
	m := &Multitau{G2: NewMatrix(3, 3), Err: &Matrix{3, 3, []float64{
		0.1, 0, 1e-6,
		0, 0, 0.5,
		0.3, 1e-7, math.NaN()}}}
	sd, n := m.RepairedErr()
	want := []float64{0.1, 1e-6, 0.5, 0.2, 1e-6, 0.5, 0.3, 1e-6, math.NaN()}
	for i, v := range sd.Data {
		if math.Abs(v-want[i]) > 1e-15 || math.IsNaN(v) != math.IsNaN(want[i]) {
			t.Errorf("error %d is %v, want %v", i, v, want[i])
		}
	}
	if n != 5 || m.Err.At(1, 0) != 0 {
		t.Errorf("%d replaced, want 5; the original must stay", n)
	}
	if sd, _ := (&Multitau{G2: NewMatrix(1, 1)}).RepairedErr(); sd != nil {
		t.Error("errors from nowhere")
	}
}

func TestOpenErrors(t *testing.T) {
	_, err := Open(golden.Path(t, golden.Glob(t, "xpcs/hdf5/qmap_*.hdf")[0]))
	if !errors.Is(err, ErrNoAnalysis) || !strings.Contains(err.Error(), "/xpcs/multitau/normalized_g2") {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.hdf")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A two-time map is made symmetric and its diagonal replaced as the viewer does.
func TestSymmetryOfReference(t *testing.T) {
	var all struct {
		Small struct {
			Half      [][]float64 `json:"half"`
			Full      [][]float64 `json:"full"`
			Corrected [][]float64 `json:"corrected"`
		} `json:"c2_small"`
	}
	golden.JSON(t, &all, "xpcs", "analysis", "analysis.json")
	n := len(all.Small.Half)
	r := &Result{FrameTime: 1, Twotime: &Twotime{Bins: []int{1}, Maps: []*Matrix{{n, n, slices.Concat(all.Small.Half...)}}}}
	for keep, want := range map[bool][][]float64{true: all.Small.Full, false: all.Small.Corrected} {
		c, err := r.ReadC2(0, 0, keep)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range slices.Concat(want...) {
			if math.Abs(c.Data[i]-v) > 1e-12 {
				t.Errorf("diagonal kept %v: number %d is %g, want %g", keep, i, c.Data[i], v)
			}
		}
	}
}

// Means of squares of a two-time map leave out the diagonal and what is not finite.
func TestMeansOfC2(t *testing.T) {
	const n = 5
	m := NewMatrix(n, n)
	for a := range n {
		for b := a; b < n; b++ {
			m.Set(a, b, float64(10*a+b))
		}
		m.Set(a, a, 1e9)
	}
	m.Set(0, 3, math.NaN())
	r := &Result{FrameTime: 0.5, Twotime: &Twotime{Bins: []int{1}, Maps: []*Matrix{m}}}
	c, err := r.ReadC2Means(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1, (2. + 12 + 13) / 3, 9, (2. + 12 + 13) / 3, 23, 29, 9, 29, math.NaN()}
	for i, v := range c.Data {
		if v != want[i] && !(math.IsNaN(v) && math.IsNaN(want[i])) {
			t.Errorf("number %d is %g, want %g", i, v, want[i])
		}
	}
	if c.Step != 1 {
		t.Errorf("a step of %g s, want 1", c.Step)
	}
}
