// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskpage

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// answered sends a request that succeeds and returns the state after it.
func answered(t *testing.T, p *Page, method, path, body string) (d stateDoc) {
	t.Helper()
	w := ask(p, method, path, body)
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != 200 {
		t.Fatalf("%s %s: %d %v %s", path, body, w.Code, err, w.Body)
	}
	return d
}

// pixels decodes a picture into its colours.
func pixels(t *testing.T, p *Page, method, path, body string) *image.Paletted {
	t.Helper()
	w := ask(p, method, path, body)
	m, err := png.Decode(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("%s %s: %d %v", path, body, w.Code, err)
	}
	return m.(*image.Paletted)
}

// Every change is kept before it is answered; a preview changes nothing.
func TestChangesAreKept(t *testing.T) {
	p, kept := testPage(t, 40, 60)
	const circle = `{"draw": [{"kind": "circle", "center": [10, 12], "radius": 5.2}]}`
	w := ask(p, "POST", "/preview", circle)
	if d := answered(t, p, "GET", "/state", ""); d.Rev != 0 || d.Kept != 2400 || d.At != 1 || w.Header().Get("X-Kept") != fmt.Sprint(2400-89) || len(*kept) != 0 {
		t.Errorf("after a preview: %+v, %v, %s", d, *kept, w.Header())
	}
	if d := answered(t, p, "POST", "/step", circle); d.Rev != 1 || d.Kept != 2400-89 || len(*kept) != 1 || len((*kept)[0].Steps) != 1 || d.Steps[2] != "circle" {
		t.Errorf("after a circle: %+v, %v", d, *kept)
	}
	if d := answered(t, p, "POST", "/step", circle); d.Rev != 1 || !strings.Contains(d.Note, "no further pixel") {
		t.Errorf("after the same circle: %+v", d)
	}
	m := pixels(t, p, "GET", "/mask.png", "")
	for i, k := range m.Pix {
		if inside := math.Hypot(float64(i/60)-10, float64(i%60)-12) <= 5.2; inside != (k == 1) {
			t.Fatalf("pixel %d has the colour %d", i, k)
		}
	}
	for _, c := range []struct {
		path string
		kept int
	}{{"undo", 2400}, {"redo", 2311}, {"undo", 2400}, {"undo", 2400}, {"redo", 2400}, {"redo", 2311}, {"reset", 2400}} {
		if d := answered(t, p, "POST", "/"+c.path, "{}"); d.Kept != c.kept {
			t.Errorf("after %s %d pixels are kept, want %d", c.path, d.Kept, c.kept)
		}
	}
	if d := answered(t, p, "POST", "/undo", "{}"); !strings.Contains(d.Note, "nothing to undo") || len(*kept) != 8 || !(*kept)[7].Bare {
		t.Errorf("%+v, %d kept", d, len(*kept))
	}
}

// A request that is not what it seems changes nothing, and an answer that is not JSON is an error.
func TestMalformedRequests(t *testing.T) {
	p, _ := testPage(t, 20, 30)
	for body, want := range map[string]string{
		`{"draw": [{"kind": "circle", "center": [5], "radius": 3}]}`:         "two numbers",
		`{"draw": [{"kind": "circle", "center": [5, 6, 7], "radius": 3}]}`:   "two numbers",
		`{"draw": [{"kind": "circle", "center": [5, null], "radius": 3}]}`:   "two numbers",
		`{"pixels": [[1, 2], [3]]}`:                                          "two numbers",
		`{"pixels": [[1, 2, 3]]}`:                                            "two numbers",
		`{"pixels": [[1, 2]], "more": 1}`:                                    "more",
		`{"pixels": [[1, 2]]} {"pixels": [[1, 3]]}`:                          "unexpected data follows",
		`{"draw": [{"kind": "circle", "center": [5, 6], "radius": 3}]} also`: "unexpected data follows",
	} {
		if w := ask(p, "POST", "/step", body); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if d := answered(t, p, "GET", "/state", ""); d.Rev != 0 || d.Kept != 600 {
		t.Errorf("%+v", d)
	}
	answered(t, p, "POST", "/geometry", `{"beamX": 5, "beamY": 5, "pixelSize": 1e308, "distance": 1e-308, "energy": 1e308}`)
	if w := ask(p, "GET", "/at?row=3&col=3", ""); w.Code != 400 || !strings.Contains(w.Body.String(), "infinite or undefined") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// What cannot be kept is said, and so is a file that exists.
func TestFailures(t *testing.T) {
	p, _ := testPage(t, 20, 30)
	p.c.Autosave = func(mask.Recipe, xpcs.Setup) error { return errors.New("the disk is full") }
	if w := ask(p, "POST", "/reset", "{}"); w.Code != 500 || !strings.Contains(w.Body.String(), "the disk is full") || !strings.Contains(w.Body.String(), "will be lost") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	p.c.SaveMask = func(m *mask.Mask, replace bool) error {
		if replace {
			return nil
		}
		return fmt.Errorf("mask.h5: %w", fs.ErrExist)
	}
	if w := ask(p, "POST", "/save", `{"what": "mask"}`); w.Code != 409 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(p, "POST", "/save", `{"what": "mask", "replace": true}`); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Steps that depend on q follow the geometry, and rings are where bins meet.
func TestGeometryIsFollowed(t *testing.T) {
	p, _ := testPage(t, 60, 90)
	q := func(row, col float64) float64 {
		return 4 * math.Pi * 10 / 12.39841984 * math.Sin(math.Atan(math.Hypot(row, col)*75e-6/5)/2)
	}
	limit := q(0, 12)
	answered(t, p, "POST", "/step", fmt.Sprintf(`{"constraints": [{"map": "q", "begin": %g, "end": 1}]}`, limit))
	d := answered(t, p, "POST", "/geometry", `{"beamX": 50, "beamY": 20, "pixelSize": 75e-6, "distance": 5, "energy": 10, "bins": "4x1"}`)
	if d.Bins != "4x1" || *d.Geometry.BeamX != 50 {
		t.Errorf("%+v", d)
	}
	for i, k := range p.h.Mask().Keep {
		if r := math.Hypot(float64(i/90)-20, float64(i%90)-50); math.Abs(r-12) > 1e-6 && k != (r > 12) {
			t.Fatalf("pixel %d at %g pixels from the beam is kept: %v", i, r, k)
		}
	}
	m := pixels(t, p, "POST", "/rings", `{"beamX": 50, "beamY": 20, "pixelSize": 75e-6, "distance": 5, "energy": 10, "bins": "4x1"}`)
	most := math.Hypot(39, 50)
	step := (most - 12) / 4
	found := 0
	for i, k := range m.Pix {
		if k == 0 {
			continue
		}
		found++
		r := (math.Hypot(float64(i/90)-20, float64(i%90)-50) - 12) / step
		if off := math.Abs(r-math.Round(r)) * step; off > 2 {
			t.Fatalf("pixel %d is on a ring, %g pixels from the edge of a bin", i, off)
		}
	}
	if found < 100 {
		t.Errorf("%d pixels on rings", found)
	}
	var at pixelDoc
	w := ask(p, "GET", "/at?row=35&col=80", "")
	if err := json.Unmarshal(w.Body.Bytes(), &at); err != nil || math.Abs(*at.Q/q(15, 30)-1) > 1e-9 || math.Abs(*at.Phi+math.Atan2(15, 30)*180/math.Pi) > 1e-9 || at.Bin != 2 || !at.Kept {
		t.Errorf("%v %s", err, w.Body)
	}
	if w := ask(p, "POST", "/geometry", `{"beamX": 50}`); w.Code != 400 || !strings.Contains(w.Body.String(), "q") || *documentOf(p.g).BeamY != 20 {
		t.Errorf("a geometry without q is taken though a step needs it: %d %s", w.Code, w.Body)
	}
}

// Colours rise with the counts, and what is not a number has its own.
func TestColours(t *testing.T) {
	p, _ := testPage(t, 20, 30)
	p.c.Image.Values[0], p.c.Image.Values[1], p.c.Image.Values[2], p.c.Image.Values[3] = math.NaN(), 0, 1e9, 100
	for _, scale := range []string{"log", "linear"} {
		m := pixels(t, p, "GET", "/image.png?low=1&high=10000&scale="+scale, "")
		want := map[string]uint8{"log": 126, "linear": 2}[scale]
		if m.Pix[0] != nothing || m.Pix[1] != 0 || m.Pix[2] != shades-1 || m.Pix[3] != want {
			t.Errorf("%s: %v, want %d", scale, m.Pix[:4], want)
		}
	}
}
