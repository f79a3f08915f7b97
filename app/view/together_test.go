// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/browser"
	"github.com/euryale-dev/euryale/internal/tier"
)

// looked is what the page knows about an item.
type looked struct {
	ID, Name, Kind string
	Pictures       []struct {
		Title string
		Line  []string
	}
	Texts  []struct{ Line []string }
	Works  []string
	Kept   []string
	Resume string
	Table  bool
}

func (v *view) item(ids ...string) (d looked) {
	v.t.Helper()
	if code, text := v.get("item", url.Values{"id": {strings.Join(ids, "\n")}}, &d); code != http.StatusOK {
		v.t.Errorf("%v: %s", ids, text)
	}
	return d
}

// results writes result files and a fit of the first one into a new folder.
func results(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		if err := os.WriteFile(name, demo.Correlations(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, stderr := apptest.Do(t, "fit", "g2", names[0], "--model", "single", "--bins", "1-4", "--out", "relaxed", "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
}

// Several files of a kind are drawn over each other and averaged.
func TestSeveralFilesTogether(t *testing.T) {
	results(t, "warm.hdf", "cold.hdf")
	v := serve(t)
	d := v.item("warm.hdf", "cold.hdf")
	if d.Name != "warm.hdf, cold.hdf" || strings.Join(d.Works, ",") != "fit g2,average" || len(d.Pictures) != 3 || strings.Join(d.Pictures[0].Line, " ") != "plot g2 warm.hdf cold.hdf" {
		t.Errorf("%+v", d)
	}
	var s struct {
		SVG, None, Line string
		Frames          []struct{ Title string }
	}
	if v.get("picture", line(append(d.Pictures[0].Line, "--bins=2,3")...), &s); len(s.Frames) != 2 || !strings.Contains(s.SVG, "cold") || s.Line == "" {
		t.Errorf("%d frames: %s", len(s.Frames), s.None)
	}
	if _, text := v.get("save", with(line(d.Pictures[0].Line...), "format", "csv"), nil); !strings.Contains(text, ",cold,line,") || !strings.Contains(text, ",warm,errors,") {
		t.Errorf("%.400s", text)
	}
	if code, text := v.get("item", url.Values{"id": {"warm.hdf\nrelaxed"}}, nil); code != http.StatusBadRequest || !strings.Contains(text, "one kind") {
		t.Errorf("%d: %s", code, text)
	}
	var form struct {
		File bool
		Out  string
	}
	if v.get("form", url.Values{"command": {"average"}, "id": {d.ID}}, &form); !form.File || form.Out != "average-warm.hdf" {
		t.Errorf("%+v", form)
	}
	if code, text := v.post("work", map[string]any{"command": "average", "item": d.ID, "flags": [][2]string{{"all", "true"}}, "out": form.Out}); code != http.StatusOK {
		t.Fatal(text)
	}
	if err := os.WriteFile(form.Out, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if v.get("form", url.Values{"command": {"average"}, "id": {d.ID}}, &form); form.Out != "average-warm-2.hdf" {
		t.Errorf("%+v", form)
	}
	var works []struct{ Line string }
	if v.get("works", nil, &works); !strings.HasSuffix(works[0].Line, "average warm.hdf cold.hdf --all=true average-warm.hdf") {
		t.Errorf("%+v", works)
	}
}

// Pictures of fits are drawn from their numbers: they zoom, and their numbers can be saved; and the table is that of the fit.
func TestPicturesOfFitsZoom(t *testing.T) {
	results(t, "warm.hdf")
	v := serve(t)
	d := v.item("relaxed")
	titles := ""
	for _, p := range d.Pictures {
		titles += p.Title + " "
	}
	if titles != "Fits Parameters Residuals " || len(d.Kept) != 0 || !d.Table {
		t.Fatalf("%s%+v", titles, d)
	}
	was, err := os.ReadFile(filepath.Join("relaxed", "plots", "parameters.svg"))
	if err != nil {
		t.Fatal(err)
	}
	var s shown
	if v.get("picture", line(d.Pictures[1].Line...), &s); s.SVG != string(was) || !s.Frames[0].LogX {
		t.Errorf("the picture is not that of the fit: %s", s.None)
	}
	if v.get("picture", with(line(d.Pictures[0].Line...), "panel", "1", "x0", "0.01", "x1", "0.1", "y0", "1", "y1", "1.1"), &s); s.Frames[1].Window != [4]float64{0.01, 0.1, 1, 1.1} {
		t.Errorf("%+v", s.Frames)
	}
	if _, text := v.get("save", with(line(d.Pictures[0].Line...), "format", "csv"), nil); !strings.Contains(text, ",data,points,") || !strings.Contains(text, ",model,line,") {
		t.Errorf("%.300s", text)
	}
	var rows struct{ Columns []string }
	if v.get("rows", url.Values{"id": {"relaxed"}}, &rows); len(rows.Columns) < 5 {
		t.Errorf("%+v", rows)
	}
	if err := os.WriteFile(filepath.Join("relaxed", "plots", "fits.figure"), []byte("no figure"), 0o644); err != nil {
		t.Fatal(err)
	}
	if v.get("picture", line(d.Pictures[0].Line...), &s); !strings.Contains(s.None, "fit again") {
		t.Errorf("%+v", s)
	}
}

// People choose several files with the mouse and see them together.
func TestChoosingSeveralInBrowser(t *testing.T) {
	results(t, "warm.hdf", "cold.hdf")
	p := browser.Open(t, serve(t).url)
	p.Wait("document.querySelectorAll('#list input').length === 2 && document.querySelector('.together')?.disabled")
	p.Eval("document.querySelectorAll('#list input').forEach((b) => b.click())", nil)
	p.ClickOn(".together")
	p.Wait("document.querySelector('.head h2')?.textContent === 'cold.hdf, warm.hdf'")
	p.Wait("document.querySelector('.card')?.picture.shown && document.querySelector('.card code').textContent.includes('plot g2 cold.hdf warm.hdf')")
	p.Eval("[...document.querySelectorAll('.actions button')].find((b) => b.textContent === 'Average').click()", nil)
	p.Wait("document.querySelector('#form').open && document.querySelector('#form-out').value === 'average-cold.hdf'")
	p.Key("Escape", "Escape", 27, 0)
	p.Wait("!document.querySelector('#form').open")
	// A click on a bin, once Choose is pressed, shows it in all pictures.
	p.Eval("[...document.querySelectorAll('#list li button')].find((b) => b.textContent === 'cold.hdf').click()", nil)
	p.Wait("document.querySelector('.head h2')?.textContent === 'cold.hdf' && document.querySelector('.card')?.picture.frames?.length > 2")
	p.Eval("document.querySelector('.card').picture.choose.click()", nil)
	var at [2]float64
	p.Eval("(() => { const c = document.querySelector('.card'); c.scrollIntoView(); const i = c.querySelector('img').getBoundingClientRect(), f = c.picture.frames[1].frame; return [i.left + (f[0] + f[2]) / 2 * i.width, i.top + (f[1] + f[3]) / 2 * i.height] })()", &at)
	p.Click(at[0], at[1])
	p.Wait("document.querySelector('.card code').textContent.includes('--bins=') && document.querySelector('.card').picture.frames.length === 1")
	for _, f := range p.Failures {
		t.Error(fmt.Sprint(f))
	}
}

// A fit whose bootstrap was interrupted is listed, and goes on from there.
func TestBootstrapsGoOn(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := "t,signal\n"
	for i := range 30 {
		rows += fmt.Sprintf("%d,%.3f\n", i, 2+0.5*float64(i)+0.1*float64(i*7%5-2))
	}
	if err := os.WriteFile("d.csv", []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "fit", "curve", "d.csv", "a + b*t", "--bootstrap", "60", "--out", "line", "--quiet"); code != 0 {
		t.Fatal(stderr)
	}
	v := serve(t)
	if d := v.item("line"); d.Resume != "" {
		t.Errorf("a fit that has ended: %+v", d)
	}
	for _, name := range []string{"fit.json", "fits.csv", "curve.csv", "report.html"} {
		if err := os.Remove(filepath.Join("line", name)); err != nil {
			t.Fatal(err)
		}
	}
	w := serve(t)
	d := w.item("line")
	if d.Kind != "Fits" || d.Resume != "fit curve" {
		t.Fatalf("%+v", d)
	}
	if code, text := w.post("work", map[string]any{"command": d.Resume, "item": d.ID, "resume": true}); code != http.StatusOK {
		t.Fatal(text)
	}
	for range 3000 {
		if exists(filepath.Join("line", "report.html")) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the fit has not ended")
}

// A factor that is slid in one picture of a script is that of its other pictures, and the page shows the text of the script. Along the rows of
// a picture of images of a fit people slide, too.
func TestSlidersInBrowser(t *testing.T) {
	tier.SlowOnly(t)
	t.Chdir(t.TempDir())
	script := "p: 0.1\nstimuli: {S: 30}\nareas: {A: {n: 300, k: 15}}\nwinners: [A]\nrun:\n  - {form: A, stimulus: S, steps: 5}\n  - {remember: f, area: A}\n  - {measure: kept, overlap: [A, f]}\n"
	if err := os.WriteFile("tone.yaml", []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "demo", "rsoxs", "--out", "scattering", "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	p := browser.Open(t, serve(t).url+"#tone.yaml")
	p.Wait("document.querySelectorAll('.card').length === 3 && document.querySelector('.card').picture.shown")
	p.Wait("document.querySelector('.file pre').textContent.includes('stimulus: S')")
	p.Eval("(() => { const s = document.querySelector('.card input[type=range]'); s.value = 2; s.dispatchEvent(new Event('input')) })()", nil)
	p.Wait("[...document.querySelectorAll('.card')].every((c) => c.querySelector('input[type=range]').value === document.querySelector('.card input[type=range]').value && (!c.picture.shown || c.querySelector('code').textContent.includes('--beta-times=')))")
	p.Eval("location.hash = 'scattering/fit'", nil)
	p.Wait("document.querySelector('.head h2')?.textContent === 'scattering/fit' && document.querySelector('#texts pre')?.textContent.includes('agrees') && document.querySelector('.card')?.picture.shown")
	p.Eval("(() => { const s = document.querySelector('.card input[type=range]'); s.value = 2; s.dispatchEvent(new Event('input')) })()", nil)
	p.Wait("document.querySelector('.card code').textContent.includes('--row=2') && document.querySelector('.card').picture.frames.length === 3")
	for _, f := range p.Failures {
		t.Error(fmt.Sprint(f))
	}
}
