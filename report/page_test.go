// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/sim/assembly/script"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/viz"
)

// files checks that a page left its report and some pictures.
func files(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Figures that cannot be drawn are told of and left out.
func TestAlbum(t *testing.T) {
	var told []string
	b := &report.Album{Note: func(text string) { told = append(told, text) }}
	f, err := viz.Plots("one", viz.Lines{Curves: []viz.Line{{Name: "y", X: []float64{1, 2}, Y: []float64{1, 2}}}})
	b.Add("one", f, err)
	b.Add("two", nil, errors.New("no data"))
	if len(b.Figures()) != 1 || len(told) != 1 || told[0] != "the plot two is left out: no data" {
		t.Errorf("%v %q", b.Figures(), told)
	}
	dir := t.TempDir()
	if err := b.Save(dir); err != nil {
		t.Fatal(err)
	}
	files(t, dir, "plots/one.svg", "plots/one.png")
	(&report.Album{}).Add("two", nil, errors.New("no data")) // nobody to tell
}

func TestPosterior(t *testing.T) {
	m := infer.NewModel("m")
	m.Param("x", dist.Normal(0, 1))
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Chains: 2, Warmup: 50, Draws: 50, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	page := report.Posterior("a model", fit, check.Verdict{OK: true}, report.Settings{Program: "test 1"})
	if err := page.Save(dir); err != nil || !strings.Contains(page.HTML(), "test 1") {
		t.Error(err)
	}
	files(t, dir, "report.html", "plots/trace.svg", "plots/rank.png")
}

// The demonstrations make their pages from Go as the commands do.
func TestCurveFits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "g2.hdf")
	if err := os.WriteFile(file, demo.Correlations(), 0o644); err != nil {
		t.Fatal(err)
	}
	curves, err := g2.OpenCurves(file)
	if err != nil {
		t.Fatal(err)
	}
	model, err := g2.ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	fits, err := g2.FitAll(context.Background(), model, curves[:3], g2.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := report.CurveFits(file, model, fits, report.Settings{}).Save(dir); err != nil {
		t.Error(err)
	}
	files(t, dir, "report.html", "plots/fits.svg", "plots/parameters.svg", "plots/residuals.svg")
	var b strings.Builder
	if err := report.WriteFits(&b, model, fits, true); err != nil || strings.Count(b.String(), "\n") != 5 || !strings.Contains(b.String(), "q (1/A)") {
		t.Errorf("%v %s", err, &b)
	}
	for i := range fits {
		fits[i].Curve.Axis, fits[i].Curve.AxisUnit = "x", "pixel"
	}
	if html := report.CurveFits(file, model, fits, report.Settings{}).HTML(); !strings.Contains(html, "<th>x (pixel)</th>") {
		t.Error("the axis of the map has another name")
	}
}

func TestMorphology(t *testing.T) {
	tier.SlowOnly(t)
	dir, ctx := t.TempDir(), context.Background()
	if err := demo.WriteParticle(ctx, dir, "test"); err != nil {
		t.Fatal(err)
	}
	task, err := morph.OpenTask(filepath.Join(dir, "problem.json"), 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := task.Fit(ctx, morph.FitSettings{})
	if err != nil {
		t.Fatal(err)
	}
	m, pattern, err := task.Predict(ctx, f.X)
	if err != nil {
		t.Fatal(err)
	}
	v, err := morph.VolumeOf(m)
	if err != nil {
		t.Fatal(err)
	}
	page := report.Morphology(report.Inversion{File: "problem.json", Task: task, Table: report.Parameters(task.Names(), f), Verdict: f.Check, Morphology: v, Pattern: pattern}, report.Settings{})
	if err := page.Save(dir); err != nil || !strings.Contains(page.HTML(), "<td>radius</td>") {
		t.Error(err)
	}
	files(t, dir, "report.html", "plots/patterns.png", "plots/iq.svg", "plots/aq.svg", "plots/morphology.png")
	for _, cuts := range []bool{false, true} {
		rows, err := report.PatternRows(pattern, rsoxs.Reduction{Radii: rsoxs.TrueRadii}, report.Rows(pattern), 0, cuts)
		if err != nil || len(rows) != 3 || len(rows[0].Plots) == 0 {
			t.Error(err, len(rows))
		}
	}
	if s := report.Slice(v, report.SliceSettings{Axis: 2, At: -1, Subsample: 2}); s.NY != 5 || s.NX != 12 || s.Normal != "x" {
		t.Errorf("%d x %d across %s", s.NY, s.NX, s.Normal)
	}
}

func TestAssembly(t *testing.T) {
	x := demo.Experiments()[1]
	s, err := script.Parse(x.Name, x.Script())
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), script.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if b := report.Assembly(s, r, report.Settings{}); len(b.Figures()) < 2 {
		t.Errorf("%d figures", len(b.Figures()))
	}
	var unknown *report.UnknownError
	if _, err := report.Overlaps(r, []string{"none"}); !errors.As(err, &unknown) || unknown.Name != "none" || len(unknown.Known) == 0 {
		t.Error(err)
	}
	if _, err := report.Raster(r, nil); !errors.Is(err, report.ErrNoWinners) {
		t.Error(err)
	}
}
