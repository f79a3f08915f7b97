// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskpage

import (
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/models/xpcs"
	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// testPage is a page with an image that falls off with the distance from the beam, and a list of what it kept.
func testPage(t testing.TB, height, width int) (*Page, *[]mask.Recipe) {
	t.Helper()
	g := sim.Geometry{Height: height, Width: width, CenterRow: float64(height) / 2, CenterCol: float64(width) / 3, PixelSize: 75e-6, Distance: 5, Energy: 10}
	v := make([]float64, height*width)
	for i := range v {
		v[i] = 1e4 / (1 + math.Hypot(float64(i/width)-g.CenterRow, float64(i%width)-g.CenterCol))
	}
	var kept []mask.Recipe
	p, err := New(Settings{Name: "test", Image: &maskfile.Image{Height: height, Width: width, Values: v}, Geometry: g, Bins: xpcs.Setup{Dynamic: [2]int{36, 1}, Static: [2]int{360, 1}},
		Recipe:   mask.Recipe{Version: mask.Version, Height: height, Width: width},
		Autosave: func(r mask.Recipe, _ xpcs.Setup) error { kept = append(kept, r); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return p, &kept
}

// ask sends a request and returns the answer.
func ask(p *Page, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

// BenchmarkPage measures what a person waits for, on a detector of 1813 x 1558 pixels.
func BenchmarkPage(b *testing.B) {
	p, _ := testPage(b, 1813, 1558)
	for _, c := range []struct{ name, method, path, body string }{
		{"readout", "GET", "/at?row=700&col=800", ""}, {"step", "POST", "/step", `{"draw": [{"kind": "circle", "center": [900, 500], "radius": 40}]}`},
		{"image", "GET", "/image.png?low=1&high=1000&scale=log", ""}, {"mask", "GET", "/mask.png", ""}, {"threshold", "POST", "/preview", `{"threshold": {"low": 5}}`},
		{"rings", "POST", "/rings", `{"beamX": 500.5, "beamY": 900, "pixelSize": 75e-6, "distance": 5, "energy": 10}`},
		{"geometry", "POST", "/geometry", `{"beamX": 500.5, "beamY": 900, "pixelSize": 75e-6, "distance": 5, "energy": 10}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if w := ask(p, c.method, c.path, c.body); w.Code != 200 {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}
