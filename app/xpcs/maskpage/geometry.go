// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskpage

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"

	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// geometryDoc are the numbers of a geometry that the page edits; null stands for unknown.
type geometryDoc struct {
	BeamX    *float64 `json:"beamX"`     // column in pixels
	BeamY    *float64 `json:"beamY"`     // row in pixels
	Pixel    *float64 `json:"pixelSize"` // m
	Distance *float64 `json:"distance"`  // m
	Energy   *float64 `json:"energy"`    // keV
	Bins     string   `json:"bins,omitempty"`
}

func documentOf(g sim.Geometry) geometryDoc {
	known := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	positive := func(v float64) *float64 {
		if v > 0 {
			return &v
		}
		return nil
	}
	return geometryDoc{BeamX: known(g.CenterCol), BeamY: known(g.CenterRow), Pixel: positive(g.PixelSize), Distance: positive(g.Distance), Energy: positive(g.Energy)}
}

var binsPattern = regexp.MustCompile(`^([0-9]{1,4})\s*[xX,]\s*([0-9]{1,4})$`)

// mostBins bounds the number of bins that a page asks for.
const mostBins = 100_000

// geometryOf reads the geometry and the numbers of bins of a request.
func (p *Page) geometryOf(r *http.Request) (g sim.Geometry, bins [2]int, err error) {
	var d geometryDoc
	if err := read(r, &d); err != nil {
		return g, bins, err
	}
	or := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	g, bins = p.g, p.c.Bins.Dynamic
	g.CenterCol, g.CenterRow, g.PixelSize, g.Distance, g.Energy = or(d.BeamX), or(d.BeamY), or(d.Pixel), or(d.Distance), or(d.Energy)
	for name, v := range map[string]float64{"pixel size": g.PixelSize, "distance": g.Distance, "energy": g.Energy} {
		if v <= 0 {
			return g, bins, fmt.Errorf("the %s is %g: want a number above 0", name, v)
		}
	}
	if d.Bins != "" {
		m := binsPattern.FindStringSubmatch(d.Bins)
		if m == nil {
			return g, bins, fmt.Errorf("bins %q: want numbers along q and azimuth, such as 36x1", d.Bins)
		}
		bins[0], _ = strconv.Atoi(m[1])
		bins[1], _ = strconv.Atoi(m[2])
		if bins[0] < 1 || bins[1] < 1 || bins[0]*bins[1] > mostBins {
			return g, bins, fmt.Errorf("%d x %d bins: want at least 1 x 1, and at most %d in all", bins[0], bins[1], mostBins)
		}
	}
	return g, bins, nil
}

// setGeometry takes a geometry. Steps that depend on its maps are made again.
func (p *Page) setGeometry(r *http.Request) (any, error) {
	g, bins, err := p.geometryOf(r)
	if err != nil {
		return nil, err
	}
	return p.after(p.take(g, bins))
}

func (p *Page) take(g sim.Geometry, bins [2]int) error {
	maps, err := mapsOf(g)
	if err != nil {
		return err
	}
	s := p.source()
	s.Maps = maps
	h, err := mask.Restore(p.h.Recipe(), s)
	if err != nil {
		return err
	}
	p.h, p.g, p.maps, p.c.Bins.Dynamic, p.note = h, g, maps, bins, ""
	return p.changed()
}

// findCenter finds the direct beam near the current centre, or anywhere without one, and takes it.
func (p *Page) findCenter(*http.Request) (any, error) {
	var s mask.CenterSettings
	if !math.IsNaN(p.g.CenterRow + p.g.CenterCol) {
		s.Guess = &mask.Point{p.g.CenterRow, p.g.CenterCol}
	}
	now := p.now.Clone()
	for i, v := range p.c.Image.Values {
		now.Keep[i] = now.Keep[i] && !math.IsNaN(v)
	}
	c, err := mask.FindCenter(p.c.Image.Values, now, s)
	if err != nil {
		return nil, err
	}
	g := p.g
	g.CenterRow, g.CenterCol = c.Row, c.Col
	if err := p.take(g, p.c.Bins.Dynamic); err != nil {
		return nil, err
	}
	p.note = fmt.Sprintf("Beam at x %.6g ± %.1g, y %.6g ± %.1g.", c.Col, c.SDCol, c.Row, c.SDRow)
	if !c.Converged {
		p.note += " The search has not converged: drag the cross nearer, and find again."
	}
	return p.document(), nil
}

// ringsPNG draws the edges of the dynamic bins of a geometry, which need not be the current one.
func (p *Page) ringsPNG(r *http.Request) (any, error) {
	g, bins, err := p.geometryOf(r)
	if err != nil {
		return nil, err
	}
	if lacks := lacksOf(g); lacks != nil {
		return nil, fmt.Errorf("the geometry lacks %q: fill in the fields", lacks)
	}
	s := p.c.Bins
	s.Geometry, s.Dynamic = g, bins
	d, err := s.Partition(p.now.Keep)
	if err != nil {
		return nil, err
	}
	if g == p.g && bins == p.c.Bins.Dynamic {
		p.bins = d.Dynamic.Of
	}
	return edges(d.Dynamic.Of, g.Height, g.Width)
}

// saveDoc asks for a file.
type saveDoc struct {
	What    string `json:"what"`    // "mask" or "qmap"
	Replace bool   `json:"replace"` // whether an existing file may be replaced
}

// save writes the mask or the q map.
func (p *Page) save(r *http.Request) (any, error) {
	var d saveDoc
	if err := read(r, &d); err != nil {
		return nil, err
	}
	var err error
	switch d.What {
	case "mask":
		err = p.c.SaveMask(p.now, d.Replace)
		p.note = "Saved " + p.c.MaskName + "."
	case "qmap":
		if lacks := lacksOf(p.g); lacks != nil {
			return nil, fmt.Errorf("the geometry lacks %q: fill in the fields, then save the q map", lacks)
		}
		s := p.c.Bins
		s.Geometry = p.g
		q, e := s.Map(p.now.Keep)
		if e != nil {
			return nil, e
		}
		if len(q.Dynamic.Cells) == 0 {
			return nil, fmt.Errorf("the mask keeps no pixel, so every bin would be empty: undo a step")
		}
		err = p.c.SaveQMap(q, d.Replace)
		p.note = "Saved " + p.c.QMapName + "."
	default:
		return nil, fmt.Errorf("maskpage: %q cannot be saved: want mask or qmap", d.What)
	}
	if err != nil {
		p.note = ""
		return nil, &saveError{err}
	}
	return p.document(), nil
}

// done ends the server once this is answered.
func (p *Page) done(r *http.Request) (any, error) {
	io.Copy(io.Discard, r.Body)
	p.c.Done()
	return map[string]bool{"done": true}, nil
}
