// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/table"
)

// parametersDoc is what the documents of fits of one set of parameters have in common, each some of it.
type parametersDoc struct {
	Fits        []parametersDoc     `json:"fits"` // of fit twotime at several q
	File        string              `json:"file"`
	Bin         int                 `json:"bin"`
	Q           *Number             `json:"q"`
	Phi         []Number            `json:"phi"`
	Names       []string            `json:"names"`
	Units       map[string]string   `json:"units"`
	X           map[string]Number   `json:"x"`
	SD          map[string]Number   `json:"sd"`
	Independent map[string]Number   `json:"sd_independent"`
	Interval    map[string][]Number `json:"interval95"`
	Derived     map[string]struct { // of fits of formulas
		X  Number `json:"x"`
		SD Number `json:"sd"`
	} `json:"derived"`
	Fixed  []string       `json:"fixed"`
	Active map[string]int `json:"active"`
	Point  struct {
		Contrast []Number `json:"contrast"`
		Offset   []Number `json:"offset"`
	} `json:"point"`
	ContrastSD []Number  `json:"contrast_sd"`
	OffsetSD   []Number  `json:"offset_sd"`
	Reduced    *Number   `json:"chi2_reduced"`
	Status     string    `json:"status"`
	Message    string    `json:"message"`
	Warnings   []string  `json:"warnings"`
	Check      *CheckDoc `json:"model_check"`
}

// parameterRow is a row of the table of parameters.
type parameterRow struct {
	of                          *parametersDoc
	name                        string
	phi, value, sd, independent float64
	low, high                   float64
}

// ParameterTable makes a table with a row for each parameter from documents of fits, such as fit.json holds. The documents may be of earlier
// versions, whose parameters have no units and come in the order of their names.
func ParameterTable(docs ...any) (*table.Table, error) {
	var rows []parameterRow
	for _, doc := range docs {
		b, err := json.Marshal(doc)
		d := &parametersDoc{}
		if err == nil {
			err = json.Unmarshal(b, d)
		}
		if err != nil {
			return nil, err
		}
		if d.Fits == nil {
			rows = append(rows, d.rows()...)
		}
		for i := range d.Fits {
			rows = append(rows, d.Fits[i].rows()...)
		}
	}
	t := &table.Table{Name: "parameters"}
	texts := func(name string, of func(r *parameterRow) string) { t.Add(name, "", column(rows, of)) }
	known := func(name, unit string, of func(r *parameterRow) float64) {
		if v := column(rows, of); slices.ContainsFunc(v, func(x float64) bool { return !math.IsNaN(x) }) {
			t.Add(name, unit, v)
		}
	}
	texts("file", func(r *parameterRow) string { return r.of.File })
	if slices.ContainsFunc(rows, func(r parameterRow) bool { return r.of.Bin > 0 }) {
		t.Add("bin", "", column(rows, func(r *parameterRow) int64 { return int64(r.of.Bin) }))
	}
	known("q", "1/A", func(r *parameterRow) float64 { return optional(r.of.Q) })
	known("phi", "deg", func(r *parameterRow) float64 { return r.phi })
	texts("parameter", func(r *parameterRow) string { return r.name })
	t.Add("value", "", column(rows, func(r *parameterRow) float64 { return r.value }))
	t.Add("sd", "", column(rows, func(r *parameterRow) float64 { return r.sd }))
	known("sd_independent", "", func(r *parameterRow) float64 { return r.independent })
	known("low95", "", func(r *parameterRow) float64 { return r.low })
	known("high95", "", func(r *parameterRow) float64 { return r.high })
	texts("unit", func(r *parameterRow) string { return r.of.Units[r.name] })
	texts("bound", func(r *parameterRow) string { return BoundWord(r.of.Active[r.name]) })
	if slices.ContainsFunc(rows, func(r parameterRow) bool { return len(r.of.Fixed) > 0 }) {
		t.Add("fixed", "", column(rows, func(r *parameterRow) bool { return slices.Contains(r.of.Fixed, r.name) }))
	}
	known("chi2_reduced", "", func(r *parameterRow) float64 { return optional(r.of.Reduced) })
	texts("status", func(r *parameterRow) string { return r.of.Status })
	texts("model", func(r *parameterRow) string { return r.of.Check.Verdict() })
	texts("flags", func(r *parameterRow) string { return r.of.Check.Told(r.of.Warnings) })
	texts("message", func(r *parameterRow) string { return r.of.Message })
	return t, nil
}

// rows are the parameters, then quantities that follow from them, then the contrast and the offset of each angle. A fit that failed has one row without a parameter.
func (d *parametersDoc) rows() (rows []parameterRow) {
	names, nan := d.Names, math.NaN()
	if names == nil {
		names = slices.Sorted(maps.Keys(d.X))
	}
	named := func(m map[string]Number, name string) float64 {
		if v, ok := m[name]; ok {
			return float64(v)
		}
		return nan
	}
	add := func(name string, value, sd float64) {
		r := parameterRow{of: d, name: name, phi: nan, value: value, sd: sd, independent: named(d.Independent, name), low: nan, high: nan}
		if ends := d.Interval[name]; len(ends) == 2 {
			r.low, r.high = float64(ends[0]), float64(ends[1])
		}
		rows = append(rows, r)
	}
	for _, name := range names {
		add(name, named(d.X, name), named(d.SD, name))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Derived)) {
		add(name, float64(d.Derived[name].X), float64(d.Derived[name].SD))
	}
	for _, scale := range []struct {
		name       string
		values, sd []Number
	}{{"contrast", d.Point.Contrast, d.ContrastSD}, {"offset", d.Point.Offset, d.OffsetSD}} {
		for k, v := range scale.values {
			rows = append(rows, parameterRow{d, scale.name, place(d.Phi, k), float64(v), place(scale.sd, k), nan, nan, nan})
		}
	}
	if rows == nil {
		rows = []parameterRow{{d, "", nan, nan, nan, nan, nan, nan}}
	}
	return rows
}

// place is number k of a list, or NaN.
func place(list []Number, k int) float64 {
	if k < len(list) {
		return float64(list[k])
	}
	return math.NaN()
}

// optional is a number that a document may lack; then it is NaN.
func optional(v *Number) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// column makes a column of rows.
func column[T any](rows []parameterRow, of func(r *parameterRow) T) []T {
	all := make([]T, len(rows))
	for i := range rows {
		all[i] = of(&rows[i])
	}
	return all
}

// SaveParameters writes the document of a fit of one set of parameters, and its table.
func (to Outputs) SaveParameters(a *App, doc any) error {
	if to == (Outputs{}) {
		return nil
	}
	rows, err := ParameterTable(doc)
	if err != nil {
		return err
	}
	return to.Save(a, doc, rows)
}
