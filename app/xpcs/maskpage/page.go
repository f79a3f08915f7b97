// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package maskpage is the page in which people draw the mask of a detector.
//
// A Page holds an image, a geometry and a mask.History. The browser sends steps and shows the pictures that it is
// sent; everything is computed here, so that the page and the command make the same mask. Every change is handed to
// Settings.Autosave before it is answered.
//
//	p, err := maskpage.New(config)
//	if err != nil { ... }
//	err = server.Serve(ctx, p) // server is a localweb.Server
package maskpage

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs"
	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

//go:embed page.html page.css page.js view.js panel.js icon.svg
var assets embed.FS

// Settings describes a page. All fields except Files, Open and Recipe are required.
type Settings struct {
	Name     string // name of the image, as the page shows it
	Image    *maskfile.Image
	Geometry sim.Geometry // numbers that are NaN are not known yet
	Bins     xpcs.Setup   // division of the pixels into bins; its Geometry is not used

	Files  []string                              // mask files that steps may name
	Open   func(name string) (*mask.Mask, error) // reads one of Files
	Recipe mask.Recipe                           // steps with which the history begins

	MaskName, QMapName, RecipeName string // names of the files to write, as the page shows them

	// SaveMask and SaveQMap write files. If the file exists and replace is false, the error wraps
	// fs.ErrExist.
	SaveMask func(m *mask.Mask, replace bool) error
	SaveQMap func(q *nexus.QMap, replace bool) error
	// Autosave keeps what would be lost with the process.
	Autosave func(r mask.Recipe, s xpcs.Setup) error
	// Done ends the server.
	Done func()
}

// Page answers the requests of one page. It serves several at a time, one after another.
type Page struct {
	c       Settings
	mux     *http.ServeMux
	mu      sync.Mutex
	h       *mask.History
	g       sim.Geometry
	now     *mask.Mask           // current mask, which nobody changes
	maps    map[string][]float64 // of the geometry; nil where it lacks something
	bins    []int32              // dynamic bin of each pixel, in the current geometry and mask; nil until asked for
	rev     int                  // counts the changes
	colours [4]float64           // levels of the image
	note    string               // what the person should know about the last change
}

// New makes a page whose history begins with the recipe.
func New(c Settings) (*Page, error) {
	p := &Page{c: c, mux: http.NewServeMux(), g: c.Geometry, colours: levels(c.Image.Values)}
	var err error
	if p.maps, err = mapsOf(p.g); err != nil {
		return nil, err
	}
	if p.h, err = mask.Restore(c.Recipe, p.source()); err != nil {
		return nil, err
	}
	p.now = p.h.Mask()
	p.routes()
	return p, nil
}

// Mask returns a copy of the current mask.
func (p *Page) Mask() *mask.Mask {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.Clone()
}

// ServeHTTP answers a request.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

func (p *Page) routes() {
	files := http.FileServerFS(assets)
	p.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "page.html") })
	for _, name := range []string{"page.css", "page.js", "view.js", "panel.js", "icon.svg"} {
		p.mux.Handle("GET /"+name, files)
	}
	for path, answer := range map[string]func(r *http.Request) (any, error){
		"GET /state": p.state, "GET /at": p.at,
		"POST /step": p.step, "POST /undo": p.undo, "POST /redo": p.redo, "POST /reset": p.reset,
		"POST /geometry": p.setGeometry, "POST /center": p.findCenter, "POST /save": p.save, "POST /done": p.done,
		"GET /image.png": p.imagePNG, "GET /bar.png": p.barPNG, "GET /mask.png": p.maskPNG, "POST /preview": p.previewPNG, "POST /rings": p.ringsPNG,
	} {
		p.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { p.answer(w, r, answer) })
	}
}

// picture is an answer that is a PNG and not JSON.
type picture struct {
	png  []byte
	kept int
}

// answer writes what a handler found, as JSON or as a picture, or its error. Only the handler holds the page: a client that sends its
// request slowly or does not read the answer keeps nobody else waiting.
func (p *Page) answer(w http.ResponseWriter, r *http.Request, f func(*http.Request) (any, error)) {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var v any
	if err == nil {
		v, err = p.handled(f, r)
	}
	var b []byte
	pic, ok := v.(picture)
	if err == nil && !ok {
		if b, err = json.Marshal(v); err != nil {
			err = fmt.Errorf("maskpage: the result contains infinite or undefined numbers: %w: correct the geometry", err)
		}
	}
	if err != nil {
		status := http.StatusBadRequest
		var large *http.MaxBytesError
		var saving *saveError
		switch {
		case errors.Is(err, fs.ErrExist):
			status = http.StatusConflict
		case errors.As(err, &large):
			status = http.StatusRequestEntityTooLarge
		case errors.As(err, &saving):
			status = http.StatusInternalServerError
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
		return
	}
	if ok {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("X-Kept", fmt.Sprint(pic.kept))
		w.Write(pic.png)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(b, '\n'))
}

func (p *Page) handled(f func(*http.Request) (any, error), r *http.Request) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return f(r)
}

// saveError is the failure to write a file, which is not the fault of a request.
type saveError struct{ err error }

func (e *saveError) Error() string { return e.err.Error() }
func (e *saveError) Unwrap() error { return e.err }

// read reads the JSON of a request; fields that are not known are an error.
func read(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("unexpected data follows the document")
		}
	}
	if err != nil {
		return fmt.Errorf("maskpage: the request cannot be parsed: %w: reload the page", err)
	}
	return nil
}

// source is what steps make masks from.
func (p *Page) source() mask.Source {
	return mask.Source{Height: p.c.Image.Height, Width: p.c.Image.Width, Image: p.c.Image.Values, Maps: p.maps, Open: p.open}
}

// open returns the mask of a file that was named when the program was started, and of no other.
func (p *Page) open(name string) (*mask.Mask, error) {
	for _, f := range append([]string{p.c.Recipe.Blemish}, p.c.Files...) {
		if f == name && name != "" && p.c.Open != nil {
			return p.c.Open(name)
		}
	}
	return nil, fmt.Errorf("maskpage: the file %q was not allowed on the command line, only %q were: start the page again with --allow-file and the name", name, strings.Join(p.c.Files, ", "))
}

// mapsOf returns the maps of a geometry, or nil where it lacks something.
func mapsOf(g sim.Geometry) (map[string][]float64, error) {
	if lacksOf(g) != nil {
		return nil, nil
	}
	m, err := g.QMap()
	if err != nil {
		return nil, err
	}
	maps := map[string][]float64{}
	for i, ch := range m.Channels {
		maps[ch.Name] = m.Values[i]
	}
	return maps, nil
}

// lacksOf names what a geometry does not have.
func lacksOf(g sim.Geometry) (names []string) {
	for _, v := range []struct {
		name  string
		value float64
	}{{"beam centre", g.CenterRow + g.CenterCol}, {"pixel size", g.PixelSize}, {"distance", g.Distance}, {"energy", g.Energy}} {
		if math.IsNaN(v.value) || v.name != "beam centre" && v.value == 0 {
			names = append(names, v.name)
		}
	}
	return names
}

// changed counts a change and keeps it.
func (p *Page) changed() error {
	p.rev++
	p.bins, p.now = nil, p.h.Mask()
	s := p.c.Bins
	s.Geometry = p.g
	if err := p.c.Autosave(p.h.Recipe(), s); err != nil {
		return &saveError{fmt.Errorf("%w (the change is in effect, but it will be lost when the program ends)", err)}
	}
	return nil
}
