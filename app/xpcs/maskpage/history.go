// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskpage

import (
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/euryale-dev/euryale/sim/xpcs/mask"
	"github.com/euryale-dev/euryale/tensor/stat"
)

// stateDoc is what the page shows beside the pictures.
type stateDoc struct {
	Rev      int         `json:"rev"`
	Name     string      `json:"name"`
	Height   int         `json:"height"`
	Width    int         `json:"width"`
	Kept     int         `json:"kept"`
	At       int         `json:"at"`    // current record
	Records  int         `json:"len"`   // all records, those undone included
	Steps    []string    `json:"steps"` // what each record does
	Files    []string    `json:"files"`
	Geometry geometryDoc `json:"geometry"`
	Lacks    []string    `json:"lacks"`
	Maps     []string    `json:"maps"`
	Levels   [4]float64  `json:"levels"` // smallest positive count, two percentiles for colours, largest count
	Bins     string      `json:"bins"`
	Mask     string      `json:"maskName"`
	QMap     string      `json:"qmapName"`
	Recipe   string      `json:"recipeName"`
	Note     string      `json:"note"`
}

func (p *Page) state(*http.Request) (any, error) { return p.document(), nil }

func (p *Page) document() stateDoc {
	d := stateDoc{Rev: p.rev, Name: p.c.Name, Height: p.c.Image.Height, Width: p.c.Image.Width, Kept: p.now.Count(), At: p.h.At(), Records: p.h.Len(),
		Steps: describe(p.h.Recipe()), Files: append([]string{}, p.c.Files...), Geometry: documentOf(p.g), Lacks: append([]string{}, lacksOf(p.g)...), Maps: []string{},
		Levels: p.colours, Bins: fmt.Sprintf("%dx%d", p.c.Bins.Dynamic[0], p.c.Bins.Dynamic[1]), Mask: p.c.MaskName, QMap: p.c.QMapName, Recipe: p.c.RecipeName, Note: p.note}
	if p.maps != nil {
		for _, ch := range p.g.Channels() {
			d.Maps = append(d.Maps, ch.Name)
		}
	}
	return d
}

// describe returns a line for each record.
func describe(r mask.Recipe) []string {
	lines := []string{"every pixel"}
	if !r.Bare {
		lines = append(lines, map[bool]string{true: "no blemish file", false: "blemish " + r.Blemish}[r.Blemish == ""])
	}
	for _, s := range r.Steps {
		lines = append(lines, describeStep(s))
	}
	return lines
}

func describeStep(s mask.Step) string {
	switch s.Kind() {
	case "file":
		return "file " + s.File
	case "threshold":
		t, text := s.Threshold, "counts"
		if !t.NoLow {
			text = fmt.Sprintf("%.6g ≤ %s", t.Low, text)
		}
		if !t.NoHigh {
			high := t.High
			if high == 0 {
				high = mask.DefaultHigh
			}
			text += fmt.Sprintf(" < %.6g", high)
		}
		return text
	case "constraints":
		c := s.Constraints[0]
		text := fmt.Sprintf("%.4g ≤ %s ≤ %.4g", c.Begin, c.Map, c.End)
		if n := len(s.Constraints) - 1; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		return text
	case "pixels":
		return fmt.Sprintf("list of %d pixels", len(s.Pixels))
	case "draw":
		text := s.Draw[0].Kind
		if s.Draw[0].Inclusive {
			text = "inside of " + text
		}
		if n := len(s.Draw) - 1; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		return text
	}
	o := s.Outliers
	where := fmt.Sprintf("%d rings", o.Rings)
	if o.Tile > 0 {
		where = fmt.Sprintf("tiles of %d", o.Tile)
	}
	return fmt.Sprintf("outliers, %s %.3g, %s", o.Method, o.Cutoff, where)
}

// levels returns the smallest positive value, the percentiles 1 and 99.5 of the positive values, and the largest.
func levels(values []float64) [4]float64 {
	var v []float64
	for i := 0; i < len(values); i += 1 + len(values)/200_000 {
		if x := values[i]; x > 0 && !math.IsInf(x, 0) {
			v = append(v, x)
		}
	}
	most := 0.0
	for _, x := range values {
		if x > most && !math.IsInf(x, 0) {
			most = x
		}
	}
	if len(v) == 0 {
		return [4]float64{0.1, 0.1, 1, math.Max(most, 1)}
	}
	q := stat.Percentile(v, []float64{0, 1, 99.5}, stat.LinearMethod)
	return [4]float64{q[0], q[1], math.Max(q[2], q[1]*1.001), most}
}

// step applies a step.
func (p *Page) step(r *http.Request) (any, error) {
	var s mask.Step
	if err := read(r, &s); err != nil {
		return nil, err
	}
	changed, err := p.h.Apply(s)
	if err != nil {
		return nil, err
	}
	if p.note = ""; !changed {
		p.note = "This masks no further pixel, so nothing was added."
		return p.document(), nil
	}
	return p.after(p.changed())
}

// after answers with the state, unless there is an error.
func (p *Page) after(err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return p.document(), nil
}

func (p *Page) undo(*http.Request) (any, error) {
	if p.note = ""; !p.h.Undo() {
		p.note = "There is nothing to undo."
		return p.document(), nil
	}
	return p.after(p.changed())
}

func (p *Page) redo(*http.Request) (any, error) {
	if p.note = ""; !p.h.Redo() {
		p.note = "There is nothing to redo."
		return p.document(), nil
	}
	return p.after(p.changed())
}

func (p *Page) reset(*http.Request) (any, error) {
	p.note = ""
	p.h.Reset()
	return p.after(p.changed())
}

// pixelDoc is what is known about one pixel.
type pixelDoc struct {
	Row   int      `json:"row"`
	Col   int      `json:"col"`
	Value *float64 `json:"value"` // nil for NaN
	Kept  bool     `json:"kept"`
	Q     *float64 `json:"q,omitempty"`   // 1/angstrom
	Phi   *float64 `json:"phi,omitempty"` // degrees
	Bin   int32    `json:"bin,omitempty"` // dynamic bin, from 1
}

func (p *Page) at(r *http.Request) (any, error) {
	row, err1 := strconv.Atoi(r.FormValue("row"))
	col, err2 := strconv.Atoi(r.FormValue("col"))
	if err1 != nil || err2 != nil || row < 0 || col < 0 || row >= p.c.Image.Height || col >= p.c.Image.Width {
		return nil, fmt.Errorf("maskpage: the pixel (%q, %q) is not on the detector of %d x %d pixels: want a row and a column", r.FormValue("row"), r.FormValue("col"), p.c.Image.Height, p.c.Image.Width)
	}
	i := row*p.c.Image.Width + col
	d := pixelDoc{Row: row, Col: col, Kept: p.now.Keep[i]}
	if v := p.c.Image.Values[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
		d.Value = &v
	}
	if p.maps != nil {
		q, phi := p.maps["q"][i], p.maps["phi"][i]
		d.Q, d.Phi = &q, &phi
	}
	if p.bins != nil {
		d.Bin = p.bins[i]
	}
	return d, nil
}
