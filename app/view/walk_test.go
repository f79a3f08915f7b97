// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/tier"
)

// kindsOfFiles fills the folder of the test with a file or run of every kind that is quickly made, and returns how many items there are.
func kindsOfFiles(t *testing.T) {
	t.Helper()
	scan, err := os.ReadFile("../../data/scatter/testdata/classic.nc")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	film, err := os.ReadFile(apptest.VolumeFile(t, apptest.SampleVolume(), cyrsoxs.WriteSettings{}))
	if err != nil {
		t.Fatal(err)
	}
	problem, err := os.ReadFile(apptest.LineFile(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"latex.hdf": demo.Correlations(), "film.h5": film, "scan.nc": scan, "line.json": problem, "star.csv": []byte("wave,flux,err\n5000,1,.1\n5001,2,.1\n5002,nan,.1\n5003,2,.1\n"),
		"cells.csv": []byte("day,count\n1,5\n2,9\n3,20\n"), "tone.yaml": []byte("p: 0.1\nstimuli: {S: 30}\nareas: {A: {n: 300, k: 15}}\nwinners: [A]\nrun:\n  - {form: A, stimulus: S, steps: 5}\n  - {remember: f, area: A}\n  - {measure: kept, overlap: [A, f]}\n")} {
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 60, 1))
	for _, args := range [][]string{
		strings.Fields(apptest.QmapLine),
		{"correlate", "a.h5", "--qmap", "q.hdf", "--correlation", "both", "--parts", "2", "--save-pixels", "--out", "correlated"},
		{"fit", "g2", "latex.hdf", "--model", "single", "--bins", "1,2", "--out", "relaxed"},
		{"sample", "expr", "--problem", "line.json", "--out", "drawn", "--warmup", "60", "--draws", "60", "--retries", "0", "--no-report"},
		{"sim", "assembly", "tone.yaml", "--out", "heard"},
	} {
		if code, _, stderr := apptest.Do(t, append(args, "--quiet")...); code != exit.OK {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
	}
}

// Every picture of every kind can be zoomed, put on logarithmic axes and saved in all formats with its data, says what is under the cursor
// with a unit or a name, and shows a command line that draws it.
func TestEveryPictureOfEveryKind(t *testing.T) {
	tier.SlowOnly(t)
	kindsOfFiles(t)
	v := serve(t)
	var list struct {
		Items []struct{ ID, Name, Kind string }
	}
	v.get("shelf", nil, &list)
	seen, drawn := map[string]bool{}, map[string]bool{}
	for _, i := range list.Items {
		d := v.item(i.ID)
		seen[i.Kind] = true
		for _, p := range d.Pictures {
			t.Run(i.Name+": "+p.Title, func(t *testing.T) {
				title := i.Kind + ": " + p.Title
				drawn[title] = (&view{t, v.url}).offersAll(p.Line) || drawn[title]
			})
		}
		if d.Resume != "" {
			t.Errorf("%s has ended and can be resumed by %s", i.Name, d.Resume)
		}
		if len(d.Pictures)+len(d.Works)+len(d.Texts) == 0 {
			t.Errorf("%s: there is nothing to see or to do", i.Name)
		}
	}
	for title, ok := range drawn {
		if !ok {
			t.Errorf("no file has what %s shows", title)
		}
	}
	for _, kind := range []string{"Correlations", "Morphologies", "Measured patterns", "Problems", "Spectra", "Tables", "Assembly scripts", "Fits", "Runs", "Runs of assembly scripts", "Experiments"} {
		if !seen[kind] {
			t.Errorf("no %s are listed", kind)
		}
	}
}

// offersAll checks what a picture offers, and reports whether the file has what it shows. One that has not says so.
func (v *view) offersAll(args []string) bool {
	t := v.t
	var s struct {
		SVG, None, Line string
		Frames          []struct {
			X, Y   string
			Window [4]float64
			LogX   bool
			Image  bool
		}
	}
	if code, text := v.get("picture", line(args...), &s); code != http.StatusOK {
		t.Fatal(text)
	}
	if s.None != "" {
		return false
	}
	if !strings.Contains(s.Line, strings.Join(args[:2], " ")) || len(s.Frames) == 0 {
		t.Fatalf("the line is %q, and there are %d frames", s.Line, len(s.Frames))
	}
	if !strings.Contains(fmt.Sprint(args), "volume") && s.Frames[0].X+s.Frames[0].Y == "" {
		t.Error("the cursor has no names for its numbers")
	}
	w := s.Frames[0].Window
	q := with(line(args...), "panel", "0", "x0", fmt.Sprint(w[0]+(w[1]-w[0])/4), "x1", fmt.Sprint(w[0]+(w[1]-w[0])/2), "y0", fmt.Sprint(w[2]+(w[3]-w[2])/4), "y1", fmt.Sprint(w[2]+(w[3]-w[2])/2))
	if code, text := v.get("picture", q, nil); code != http.StatusOK {
		t.Errorf("zoom: %.200s", text)
	}
	if code, text := v.get("picture", with(line(args...), "panel", "0", "logx", fmt.Sprint(!s.Frames[0].LogX)), nil); code != http.StatusOK && !strings.Contains(text, "logarithmic axis can show") {
		t.Errorf("log: %.200s", text)
	}
	for format, begins := range map[string]string{"png": "\x89PNG", "pdf": "%PDF", "svg": "<?xml", "csv": "panel,name,kind"} {
		code, text := v.get("save", with(line(args...), "format", format), nil)
		if code != http.StatusOK || !strings.HasPrefix(text, begins) {
			t.Errorf("%s: %d, %.20q", format, code, text)
		}
		if format == "csv" && strings.Count(text, "\n") < 2 {
			t.Error("the CSV file has no data")
		}
	}
	if s.Frames[0].Image {
		var value struct{ Value string }
		v.get("value", with(line(args...), "panel", "0", "x", fmt.Sprint((w[0]+w[1])/2), "y", fmt.Sprint((w[2]+w[3])/2)), &value)
		if value.Value == "" {
			t.Error("the cursor says no value of the image")
		}
	}
	return true
}
