// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/models/g2"
)

// fitUnits are the units of the numbers of a fit, by the name of the column.
func fitUnits(model g2.Model, of g2.Curve) map[string]string {
	units := map[string]string{"age": "s", "phi": "deg", "q": "1/A"}
	if of.Axis != "" {
		units["q"] = of.AxisUnit
	}
	for _, p := range model.Params {
		units[p.Name] = p.Unit
	}
	return units
}

// g2Row is a row of the table of fits.
type g2Row struct {
	file string
	binDoc
}

// fitsTable is a table with a row for each bin of each file. Parameters that lie on a bound are told in a column of their own, as lower or upper.
// Documents of earlier versions have no units: those of the model are taken.
func fitsTable(docs ...fitDoc) *table.Table {
	t := &table.Table{Name: "fits"}
	if len(docs) == 0 {
		return t
	}
	var rows []g2Row
	for _, d := range docs {
		for _, b := range d.Bins {
			rows = append(rows, g2Row{d.File, b})
		}
	}
	first := docs[0]
	names, units := parametersOfFit(first)
	texts := func(of func(r *g2Row) string) []string { return each(rows, of) }
	numbers := func(of func(r *g2Row) frame.Number) []float64 {
		return each(rows, func(r *g2Row) float64 { return float64(of(r)) })
	}
	t.Add("file", "", texts(func(r *g2Row) string { return r.file }))
	t.Add("bin", "", each(rows, func(r *g2Row) int64 { return int64(r.Bin) }))
	for _, place := range []struct {
		name, unit string
		of         func(r *g2Row) frame.Number
	}{{"age", "s", func(r *g2Row) frame.Number { return r.Age }}, {cmp.Or(first.Axis, "q"), units["q"], func(r *g2Row) frame.Number { return r.Q }}, {"phi", "deg", func(r *g2Row) frame.Number { return r.Phi }}} {
		if v := numbers(place.of); slices.ContainsFunc(v, func(x float64) bool { return x == x && (x != 0 || place.name != "age") }) {
			t.Add(place.name, place.unit, v)
		}
	}
	nan := frame.Number(math.NaN())
	fitted := func(of func(r *g2Row) frame.Number) []float64 { // a bin that could not be fitted has its start and errors of -1
		return numbers(func(r *g2Row) frame.Number {
			if v := of(r); r.Status != "failed" && len(r.X) > 0 {
				return v
			}
			return nan
		})
	}
	for _, name := range names {
		t.Add(name, units[name], fitted(func(r *g2Row) frame.Number { return r.X[name] }))
		t.Add(name+"_sd", units[name], fitted(func(r *g2Row) frame.Number { return r.SD[name] }))
		t.Add(name+"_bound", "", texts(func(r *g2Row) string { return frame.BoundWord(r.Active[name]) }))
	}
	t.Add("chi2_reduced", "", fitted(func(r *g2Row) frame.Number { return r.Reduced }))
	t.Add("status", "", texts(func(r *g2Row) string { return r.Status }))
	t.Add("model", "", texts(func(r *g2Row) string { return r.Check.Verdict() }))
	t.Add("flags", "", texts(func(r *g2Row) string { return r.Check.Told(r.Warnings) }))
	t.Add("message", "", texts(func(r *g2Row) string { return strings.TrimSpace(r.Message) }))
	return t
}

// tableOfG2 makes the table of documents of one file or of several, such as those of earlier versions.
func tableOfG2(docs []json.RawMessage) (*table.Table, error) {
	var all []fitDoc
	for _, d := range docs {
		var one fitDoc
		var several fitsDoc
		if err := errors.Join(json.Unmarshal(d, &one), json.Unmarshal(d, &several)); err != nil {
			return nil, err
		}
		if several.Files == nil {
			all = append(all, one)
		}
		for _, f := range several.Files {
			all = append(all, fitDoc{Engine: several.Engine, Model: several.Model, File: f.File, Units: several.Units, Bins: f.Bins})
		}
	}
	for _, d := range all {
		if d.Model != all[0].Model {
			return nil, fmt.Errorf("the fits are of the models %s and %s: make a table of each model", all[0].Model, d.Model)
		}
	}
	return fitsTable(all...), nil
}

// parametersOfFit returns the parameters of a document in the order of the model, with the units of all columns.
func parametersOfFit(d fitDoc) (names []string, units map[string]string) {
	model, err := g2.ByName(d.Model)
	units = d.Units
	if units == nil {
		units = fitUnits(model, g2.Curve{Axis: d.Axis})
	}
	if err == nil {
		for _, p := range model.Params {
			names = append(names, p.Name)
		}
		return names, units
	}
	seen := map[string]bool{}
	for _, b := range d.Bins {
		for name := range b.X {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen)), units
}

// each makes a column of rows.
func each[T any](rows []g2Row, of func(r *g2Row) T) []T {
	all := make([]T, len(rows))
	for i := range rows {
		all[i] = of(&rows[i])
	}
	return all
}
