// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/internal/median"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// measured adds what tables hold besides the fit.
func (d *starDoc) measured(p *fitfile.Pipeline, star *spectra.Star, o *fitfile.Outcome) {
	sn, warn := frame.Number(signalToNoise(star)), int64(survey.WarnSpectrum)
	if o.Fit.Err == nil {
		warn = p.Row(o).WarningFlags
	}
	d.SN, d.Warn = &sn, &warn
}

// starTable is a table with a row for each star. The velocity is the mean of its posterior where there is one, as in DESI's tables.
func starTable(stars []starDoc) *table.Table {
	nan := math.NaN()
	texts := func(of func(d *starDoc) string) []string { return column(stars, of) }
	numbers := func(of func(d *starDoc) float64) []float64 {
		return column(stars, func(d *starDoc) float64 {
			if d.Status == "failed" {
				return nan
			}
			return of(d)
		})
	}
	t := &table.Table{Name: "stars"}
	t.Add("star", "", texts(func(d *starDoc) string { return d.Name }))
	for _, name := range parametersOf(stars) {
		t.Add(name, spectra.Unit(name), numbers(func(d *starDoc) float64 {
			if d.posterior(name) {
				return float64(d.Velocity.Vel)
			}
			return of(d.X, name)
		}))
		t.Add(name+"_sd", spectra.Unit(name), numbers(func(d *starDoc) float64 {
			if d.posterior(name) {
				return max(of(d.SD, name), float64(d.Velocity.SD))
			}
			return of(d.SD, name)
		}))
		t.Add(name+"_bound", "", texts(func(d *starDoc) string { return d.bound(name) }))
	}
	t.Add("chi2", "", numbers(func(d *starDoc) float64 {
		chi := 0.0
		for _, s := range d.Spectra {
			chi += float64(s.ChiSquare)
		}
		return chi
	}))
	t.Add("pixels", "", column(stars, func(d *starDoc) (pixels int64) {
		for _, s := range d.Spectra {
			pixels += int64(s.Pixels)
		}
		return pixels
	}))
	if !slices.ContainsFunc(stars, func(d starDoc) bool { return d.SN == nil || d.Warn == nil }) { // as in documents of earlier versions
		t.Add("sn", "", numbers(func(d *starDoc) float64 { return float64(*d.SN) }))
		t.Add("rvs_warn", "", column(stars, func(d *starDoc) int64 { return *d.Warn }))
	}
	t.Add("status", "", texts(func(d *starDoc) string { return d.Status }))
	t.Add("model", "", texts(func(d *starDoc) string { return d.Check.Verdict() }))
	t.Add("message", "", texts(func(d *starDoc) string { return d.Message }))
	return t
}

// tableOfStars makes the table of documents of fits.
func tableOfStars(docs []json.RawMessage) (*table.Table, error) {
	var all []starDoc
	for _, d := range docs {
		if name := tableOfDESI(d); name != "" {
			return nil, fmt.Errorf("fits of DESI's files have their numbers in tables of their own and not in this document: read the HDU RVTAB of %s, with astropy.table.Table.read, say", name)
		}
		var doc spectraDoc
		if err := json.Unmarshal(d, &doc); err != nil {
			return nil, err
		}
		all = append(all, doc.Stars...)
	}
	return starTable(all), nil
}

// tableOfDESI is the name of the first table that a document of fits of DESI's files lists, empty for other documents.
func tableOfDESI(doc json.RawMessage) string {
	var of desiDoc
	if json.Unmarshal(doc, &of) != nil || len(of.Files) == 0 {
		return ""
	}
	return of.Files[0].Table
}

// posterior reports whether the number of a parameter is that of the posterior of the velocity.
func (d *starDoc) posterior(name string) bool {
	return name == spectra.Vel && d.Exposures == nil && d.Velocity != nil && d.Velocity.SD > 0 && !math.IsNaN(of(d.SD, name))
}

// bound says which bound a parameter lies on: lower or upper, or only that one was reached where the data do not say how far it may lie from it.
func (d *starDoc) bound(name string) string {
	if !slices.Contains(d.AtBound, name) {
		return ""
	}
	for _, l := range d.Limits {
		switch {
		case l.Name == name && l.Limit95 > l.Bound:
			return frame.BoundWord(-1)
		case l.Name == name && l.Limit95 < l.Bound:
			return frame.BoundWord(1)
		}
	}
	return "reached"
}

// of is the number of a name, or NaN.
func of(m map[string]frame.Number, name string) float64 {
	if v, ok := m[name]; ok {
		return float64(v)
	}
	return math.NaN()
}

// column makes a column of the rows of stars.
func column[T any](stars []starDoc, of func(d *starDoc) T) []T {
	all := make([]T, len(stars))
	for i := range stars {
		all[i] = of(&stars[i])
	}
	return all
}

// parametersOf lists the parameters of all fits in their order, or by name in documents of earlier versions, which do not have it.
func parametersOf(stars []starDoc) (names []string) {
	for _, d := range stars {
		of := d.Names
		if of == nil {
			of = slices.Sorted(maps.Keys(d.X))
		}
		for _, name := range of {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// signalToNoise is the median of flux over error of all good pixels.
func signalToNoise(star *spectra.Star) float64 {
	var all []float64
	for _, s := range star.Spectra {
		for k, err := range s.Err {
			if (s.Bad == nil || !s.Bad[k]) && err > 0 {
				all = append(all, s.Flux[k]/err)
			}
		}
	}
	if len(all) == 0 {
		return math.NaN()
	}
	return median.Of(all)
}
