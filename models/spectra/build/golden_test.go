// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/npy"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// model is the analytic model of the reference's library.
type model struct {
	lines    *LineList
	lam      []float64 // of the spectra
	segments [][]float64
	arms     []Settings
}

func readModel(t testing.TB) *model {
	t.Helper()
	var f struct {
		Segments [][3]float64 `json:"hires_segments"`
		Native   float64      `json:"resolution0"`
		Arms     map[string]struct {
			Lambda0, Lambda1, Step float64
			Resolution             string `json:"resol_func"`
		}
	}
	golden.JSON(t, &f, "spectra", "library", "lines.json")
	m := &model{lines: must[*LineList](t)(ReadLines(golden.Path(t, "spectra", "library", "lines.json")))}
	for _, s := range f.Segments {
		m.segments = append(m.segments, arange(s[0], s[1], s[2]))
		m.lam = append(m.lam, m.segments[len(m.segments)-1]...)
	}
	for name, a := range f.Arms {
		m.arms = append(m.arms, Settings{Setup: name, Lam0: a.Lambda0, Lam1: a.Lambda1, Step: a.Step, Resolution: a.Resolution, Native: f.Native})
	}
	slices.SortFunc(m.arms, func(a, b Settings) int { return strings.Compare(a.Setup, b.Setup) })
	return m
}

// read returns spectra of the model.
func (m *model) read(e rvspecfit.Entry) (lam, flux []float64, err error) {
	flux, err = m.lines.Flux(e.Params, m.lam)
	return m.lam, flux, err
}

func worst(got, want []float64) (d float64) {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	for i, w := range want {
		if math.IsNaN(got[i]) != math.IsNaN(w) {
			return math.Inf(1)
		}
		if !math.IsNaN(w) {
			d = max(d, math.Abs(got[i]-w)/max(1, math.Abs(w)))
		}
	}
	return d
}

func TestLineListGolden(t *testing.T) {
	m := readModel(t)
	var samples []struct{ Params, Lam, Flux []float64 }
	golden.JSON(t, &samples, "spectra", "library", "model_samples.json")
	if len(samples) == 0 {
		t.Fatal("no samples")
	}
	for _, s := range samples {
		got := must[[]float64](t)(m.lines.Flux(s.Params, s.Lam))
		if d := worst(got, s.Flux); !(d < 1e-12) {
			t.Errorf("%v: the flux differs by %g", s.Params, d)
		}
	}
}

// Templates of single stars are the reference's in float64, by both normalisations.
func TestRebinGoldens(t *testing.T) {
	m := readModel(t)
	var all map[string]json.RawMessage
	golden.JSON(t, &all, "spectra", "library", "rebin.json")
	var nodes map[string][]float64
	if err := json.Unmarshal(all["node_params"], &nodes); err != nil {
		t.Fatal(err)
	}
	c := &rvspecfit.Catalog{ParNames: LineParams()}
	var names []string
	for id, params := range nodes {
		names = append(names, id)
		c.Entries = append(c.Entries, rvspecfit.Entry{File: id, Params: params})
	}
	for _, s := range m.arms {
		for by, kind := range map[Normalisation]string{LinearContinuum: "linear", Median: "median"} {
			s.Normalisation, s.Float64, s.Read, s.Threads = by, true, m.read, 1
			l := must[*rvspecfit.Library](t)(Rebin(context.Background(), c, s))
			lam, _ := npy.Read(t, "spectra", "library", "lam_"+s.Setup+".npy")
			if d := worst(l.Lam, lam); !(d < 1e-12) {
				t.Errorf("%s: the wavelengths differ by %g", s.Setup, d)
			}
			for i, id := range names {
				want, _ := npy.Read(t, "spectra", "library", fmt.Sprintf("rebin_%s_%s_log%s.npy", s.Setup, id, kind))
				if d := worst(l.Spectra.Float64s()[i*len(lam):(i+1)*len(lam)], want); !(d < 1e-9) {
					t.Errorf("%s, template %s, %s: the spectra differ by %g", s.Setup, id, kind, d)
				}
			}
		}
	}
}

// The whole library is the reference's, and on a regular grid its files are, too.
func TestLibraryGolden(t *testing.T) {
	m := readModel(t)
	for _, setup := range golden.Members(t, "spectra/library/specs_*.h5") {
		t.Run(setup, func(t *testing.T) { libraryGolden(t, m, setup) })
	}
}

func libraryGolden(t *testing.T, m *model, setup string) {
	at := slices.IndexFunc(m.arms, func(s Settings) bool { return s.Setup == setup })
	if at < 0 {
		t.Fatalf("lines.json has no arm %s", setup)
	}
	s := m.arms[at]
	want := must[*rvspecfit.Library](t)(rvspecfit.LoadTemplates(golden.Path(t, "spectra", "library", "specs_"+s.Setup+".h5"), s.Setup))
	c := &rvspecfit.Catalog{ParNames: want.ParNames}
	points, n := want.Points.Compact().Float64s(), len(want.FileIDs)
	for i, id := range want.FileIDs {
		e := rvspecfit.Entry{File: fmt.Sprint(id), ID: id}
		for k := range want.ParNames {
			e.Params = append(e.Params, points[k*n+i])
		}
		c.Entries = append(c.Entries, e)
	}
	// The segment of the arm is enough.
	for _, segment := range m.segments {
		if segment[0] < s.Lam0 && segment[len(segment)-1] > s.Lam1 {
			m.lam = segment
		}
	}
	s.Read, s.Normalisation, s.Revision = m.read, Median, want.Revision
	got := must[*rvspecfit.Library](t)(Rebin(context.Background(), c, s))
	if d := worst(got.Spectra.Float64s(), want.Spectra.Float64s()); !(d < 1e-6) { // both are float32
		t.Errorf("the spectra differ by %g", d)
	}
	if d := worst(got.LogNorms, want.LogNorms); !(d < 1e-9) {
		t.Errorf("the normalisations differ by %g", d)
	}
	if !slices.Equal(got.FileIDs, want.FileIDs) || !slices.Equal(got.Points.Float64s(), points) || !slices.Equal(got.Mapper.Log, want.Mapper.Log) || got.Revision != want.Revision {
		t.Errorf("%v %v %v", got.FileIDs, got.Mapper, got.Revision)
	}
	grid := must[*rvspecfit.Library](t)(Regular(got))
	ref := must[*rvspecfit.Library](t)(rvspecfit.Load(golden.Path(t, "spectra", "library"), s.Setup))
	for k, a := range ref.Grid.Axes {
		if d := worst(grid.Grid.Axes[k], a); !(d < 1e-15) { // NumPy's log10 rounds differently
			t.Errorf("axis %d is %v, want %v", k, grid.Grid.Axes[k], a)
		}
	}
	if !slices.Equal(grid.Grid.IDs.Float64s(), ref.Grid.IDs.Float64s()) || worst(grid.Points.Float64s(), ref.Points.Compact().Float64s()) > 1e-15 || grid.Grid.Regular != ref.Grid.Regular {
		t.Error("the nodes differ")
	}
	dir := t.TempDir()
	if err := grid.Save(dir); err != nil {
		t.Fatal(err)
	}
	again := must[*rvspecfit.Library](t)(rvspecfit.Load(dir, s.Setup))
	if d := worst(again.Spectra.Float64s(), ref.Spectra.Float64s()); !(d < 1e-6) || !slices.Equal(again.Grid.IDs.Float64s(), ref.Grid.IDs.Float64s()) {
		t.Errorf("the spectra of the files differ by %g", d)
	}
}
