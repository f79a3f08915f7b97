// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/xpcs"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/tensor"
)

// correlated makes a movie with its q map and results of two correlations in a new folder, where the test goes on.
func correlated(t *testing.T) *nexus.Result {
	t.Helper()
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 200, 21))
	for _, line := range []string{apptest.QmapLine, "correlate a.h5 --qmap q.hdf --correlation both --bins 2,3 --parts 2", "correlate a.h5 --qmap q.hdf --suffix _half --end 100"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	r, err := nexus.Open("a_results.hdf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// table runs a command and returns its table, without the header.
func table(t *testing.T, line string) (head []string, rows [][]float64) {
	t.Helper()
	code, out, stderr := apptest.Do(t, strings.Fields(line)...)
	if code != 0 {
		t.Fatalf("%s: exit %d: %s", line, code, stderr)
	}
	c := csv.NewReader(strings.NewReader(out))
	c.Comment = '#'
	all, err := c.ReadAll()
	if err != nil || len(all) < 2 {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
	for _, r := range all[1:] {
		var row []float64
		for _, cell := range r {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil && cell != "" {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return all[0], rows
}

// Intensities are those of the file after the arithmetic that flags ask for.
func TestReduceSAXS(t *testing.T) {
	r := correlated(t)
	q, line := r.QMap.Static.Axis0, r.Profile().Lines.Row(0)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	head, rows := table(t, "reduce saxs a_results.hdf a_half_results.hdf")
	if len(head) != 3 || head[1] != "a (counts per pixel and frame)" || len(rows) != len(q) {
		t.Fatal(head, len(rows))
	}
	for i, row := range rows {
		near("q", row[0], q[i])
		near("I", row[1], line[i])
	}
	_, rows = table(t, "reduce saxs a_results.hdf --background a_half_results.hdf --weight 0.25 --scale 2 --times 2 --every 3")
	half, err := nexus.Open("a_half_results.hdf")
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	for i, row := range rows {
		near("q", row[0], q[3*i])
		near("q^2 I", row[1], 2*(line[3*i]-0.25*half.Profile().Lines.At(0, 3*i))*q[3*i]*q[3*i])
	}
	_, rows = table(t, "reduce saxs a_results.hdf --over-first --q-range 0.0005:0.01")
	if first := slices.IndexFunc(q, func(v float64) bool { return v >= 0.0005 }); rows[0][1] != 1 || rows[0][0] != q[first] {
		t.Errorf("the first point is %v", rows[0])
	}
	if head, rows = table(t, "reduce saxs a_results.hdf --parts"); len(head) != 4 {
		t.Errorf("parts: %v", head)
	}
	if mean := (rows[4][2] + rows[4][3]) / 2; math.Abs(mean/rows[4][1]-1) > 1e-6 { // files have float32
		t.Errorf("the mean of the parts is %g, that of all frames %g", mean, rows[4][1])
	}
}

// Sectors that make a whole circle have the mean of the whole; a ring of speckles without direction is flat.
func TestReduceRegions(t *testing.T) {
	r := correlated(t)
	_, rows := table(t, "reduce saxs a_results.hdf --sector -90:90 --sector 90:-90 --bins 6")
	m, err := r.ReadImage()
	if err != nil || len(rows) != 6 {
		t.Fatal(err, len(rows))
	}
	mean := 0.0
	for _, v := range m.Data {
		mean += v / float64(len(m.Data))
	}
	for _, row := range rows[1:5] { // the sample scatters 2 counts everywhere
		if math.Abs(row[1]/mean-1) > 0.1 || math.Abs(row[2]/mean-1) > 0.1 {
			t.Errorf("at %g: %g and %g, the mean of the image is %g", row[0], row[1], row[2], mean)
		}
	}
	head, rows := table(t, "reduce saxs a_results.hdf --ring 5:15 --bins 8 --background a_half_results.hdf --weight 0")
	if head[0] != "phi (deg)" || len(rows) != 8 {
		t.Fatal(head, rows)
	}
	for _, row := range rows {
		if math.Abs(row[1]/mean-1) > 0.1 {
			t.Errorf("at %g degrees: %g, the mean of the image is %g", row[0], row[1], mean)
		}
	}
}

// Ages of C2 are the table that fit g2 takes.
func TestReduceAges(t *testing.T) {
	r := correlated(t)
	code, stdout, stderr := apptest.Do(t, strings.Fields("reduce ages a_results.hdf ages.csv --bin 3 --ages 50,150 --half 10 --all-delays --json")...)
	var doc xpcs.AgesDoc
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != 0 {
		t.Fatal(code, err, stderr)
	}
	c, err := r.ReadC2(1, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for i := 39; i <= 59; i++ { // the middle of (i, i+3), rounded down, is 40 to 60
		want += c.At(i, i+3) / 21
	}
	if got := float64(doc.Ages[0].G2[2]); math.Abs(got-want) > 1e-12 || doc.Bin != 3 || float64(doc.Delay[2]) != 0.03 {
		t.Errorf("g2 at delay %g is %g, want %g", float64(doc.Delay[2]), got, want)
	}
	if code, stdout, stderr := apptest.Do(t, "fit", "g2", "ages.csv", "--json"); code != 0 || strings.Count(stdout, `"status": "converged"`) != 2 {
		t.Errorf("exit %d: %s %s", code, stdout, stderr)
	}
}

// Ages have errors, so that their fits do, also in a copy of the result; without what they need, and at all delays, they have none.
func TestErrorsOfAges(t *testing.T) {
	r := correlated(t)
	if err := nexus.Write("copy.hdf", r); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("correlate a.h5 --qmap q.hdf --correlation twotime --bins 3 --no-age-errors --suffix _bare")...); code != 0 {
		t.Fatal(stderr)
	}
	ages := func(line string) (doc xpcs.AgesDoc) {
		code, stdout, stderr := apptest.Do(t, strings.Fields("reduce ages --bin 3 --json "+line)...)
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != 0 {
			t.Fatal(line, code, err, stderr)
		}
		return doc
	}
	a, again := ages("a_results.hdf ages.csv"), ages("copy.hdf")
	if len(a.Ages) != 5 || len(a.Ages[2].Err) != len(a.Delay) || !(a.Ages[2].Err[0] > 1e-4) || !(a.Ages[2].Err[0] < 0.1) || !math.IsNaN(float64(a.Ages[2].Err[len(a.Delay)-1])) != !math.IsNaN(float64(a.Ages[2].G2[len(a.Delay)-1])) {
		t.Errorf("%d ages with errors %v", len(a.Ages), a.Ages[2].Err)
	}
	if again.Ages[2].Err[0] != a.Ages[2].Err[0] {
		t.Errorf("the error of a copy is %g, not %g", again.Ages[2].Err[0], a.Ages[2].Err[0])
	}
	for _, line := range []string{"a_bare_results.hdf bare.csv", "a_results.hdf --all-delays"} {
		if d := ages(line); d.Ages[0].Err != nil {
			t.Errorf("%s: errors %v", line, d.Ages[0].Err)
		}
	}
	whole := fitted(t, "a_results.hdf --bins 3").Bins[0]
	for _, b := range fitted(t, "ages.csv").Bins {
		sd := float64(b.SD["tau"])
		if z := float64(b.X["tau"]-whole.X["tau"]) / sd; math.Abs(z) > 4 || !(sd > float64(whole.SD["tau"])) || !(b.Reduced > 0.3) || !(b.Reduced < 3) {
			t.Errorf("age %d: tau %g +- %g, chi-square %g; of all frames %g +- %g", b.Bin, b.X["tau"], sd, b.Reduced, whole.X["tau"], whole.SD["tau"])
		}
	}
}

// A vibration of the intensity is found in its spectrum, and the moving average is that of the trace.
func TestReduceIntensity(t *testing.T) {
	r := correlated(t)
	for i := range r.Trace.Mean {
		r.Trace.Mean[i] += 0.2 * math.Sin(2*math.Pi*12.5*float64(i)*r.FrameTime)
	}
	if err := nexus.Write("shaken.hdf", r); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := apptest.Do(t, strings.Fields("reduce intensity shaken.hdf trace.csv --window 8 --json")...)
	var doc xpcs.IntensityDoc
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != 0 {
		t.Fatal(code, err, stderr)
	}
	if len(doc.Lines) == 0 || !slices.ContainsFunc(doc.Lines, func(l xpcs.SpectralDoc) bool { return l.Frequency == 12.5 }) {
		t.Errorf("lines %v", doc.Lines)
	}
	mean := 0.0
	for _, v := range r.Trace.Mean[1:9] {
		mean += v / 8
	}
	if math.Abs(float64(doc.Mean[0])-mean) > 1e-6 || math.Abs(float64(doc.Time[0])-0.045) > 1e-12 {
		t.Errorf("%g at %g s, want %g at 0.045 s", doc.Mean[0], doc.Time[0], mean)
	}
	if _, rows := table(t, "reduce intensity shaken.hdf --spectrum"); rows[25][0] != 12.5 || rows[25][1] < 10 {
		t.Errorf("the spectrum has %v", rows[25])
	}
}

// What convert writes holds what the result holds, and its table gives the same fit.
func TestConvertResult(t *testing.T) {
	r := correlated(t)
	for _, line := range []string{"convert a_results.hdf g2.csv", "convert a_results.hdf all.npz --twotime", "convert a_results.hdf all.zarr"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	b, err := os.Open("all.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	st, _ := b.Stat()
	arrays, err := tensor.ReadNPZ(b, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	if g := arrays["g2"].Data().([]float64); !slices.Equal(g, r.Multitau.G2.Data) {
		t.Error("g2 of the NPZ file is another one")
	}
	if c := arrays["g2_cov"].Data().([]float64); !slices.Equal(c[:len(r.Multitau.Cov[0])], r.Multitau.Cov[0]) {
		t.Error("the covariance of the NPZ file is another one")
	}
	c, _ := r.ReadC2(1, 0, true)
	if s := arrays["c2"].Shape(); s[0] != 2 || !slices.Equal(arrays["c2"].Data().([]float64)[200*200:], c.Data) {
		t.Errorf("C2 of the NPZ file has shape %v", s)
	}
	tree, err := zarr.Open("all.zarr")
	if err != nil {
		t.Fatal(err)
	}
	if d, err := tree.Group("multitau"); err != nil || !slices.Equal(d.Var("g2_err").Floats(), r.Multitau.Err.Data) || !slices.Equal(d.Var("q").Floats(), r.QMap.Qs()) {
		t.Error("the Zarr folder has other errors or q", err)
	}
	if code, stdout, stderr := apptest.Do(t, "fit", "g2", "g2.csv", "--json"); code != 0 || strings.Count(stdout, `"status": "converged"`) != 4 {
		t.Errorf("exit %d: %s %s", code, stdout, stderr)
	}
}

// Two maps become one, whose hash is its own.
func TestMergeQMaps(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{apptest.QmapLine, strings.Replace(apptest.QmapLine, "q.hdf", "two.hdf", 1) + " --phi-offset 5deg", "qmap both.hdf --merge q.hdf,two.hdf"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	a, err := nexus.OpenQMap("q.hdf")
	if err != nil {
		t.Fatal(err)
	}
	both, err := nexus.OpenQMap("both.hdf")
	if err != nil {
		t.Fatal(err)
	}
	if both.Hash == a.Hash || both.Dynamic.Bins() != a.Dynamic.Bins() || len(both.Dynamic.Axis0) != 2*len(a.Dynamic.Axis0) || !slices.Equal(both.Maps.Dynamic, a.Maps.Dynamic) {
		t.Errorf("%d bins of %d, hash %s", both.Dynamic.Bins(), len(both.Dynamic.Axis0), both.Hash)
	}
}

func TestWrongReductions(t *testing.T) {
	correlated(t)
	for line, want := range map[string]string{
		"reduce saxs iq.csv": "needs input", "reduce saxs q.hdf": "q.hdf", "reduce saxs a_results.hdf --times 3": "0, 2 or 4", "reduce saxs a_results.hdf --q-range 2": "--q-range",
		"reduce saxs a_results.hdf --sector 1:2 --ring 3:4": "one of them", "reduce saxs a_results.hdf --ring 9:4": "smaller one first", "reduce saxs a_results.hdf --sector 3:300": "between -180 and 180",
		"reduce saxs a_results.hdf --ring 900:901": "0 pixels", "reduce saxs a_half_results.hdf --parts": "--parts", "reduce saxs a_results.hdf --sector 0:10 --q-range 7:8": "requested region",
		"reduce ages a_half_results.hdf": "--correlation twotime", "reduce ages a_results.hdf --bin 1": "bins [2 3]", "reduce ages a_results.hdf --ages 200": "0 to 199", "reduce ages a_results.hdf x": "ends in .csv",
		"reduce intensity a_results.hdf --window 200": "the window is 200", "convert a_results.hdf x.pdf": "csv, npz", "convert a_half_results.hdf x.npz --twotime": "--correlation both", "convert a.h5 x.nc --twotime": "leave it out",
		"qmap x.hdf --merge q.hdf": "two q maps", "qmap x.hdf --merge q.hdf,none.hdf": "none.hdf",
	} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code == 0 || code == exit.Bug || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s, want %q", line, code, stderr, want)
		}
	}
}
