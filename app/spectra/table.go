// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/internal/median"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// starTable is a table with a row for each star. The velocity is the mean of its posterior where there is one, as in DESI's tables.
func starTable(p *fitfile.Pipeline, stars []spectra.Star, outcomes []fitfile.Outcome) *table.Table {
	n := len(outcomes)
	texts := func(of func(i int, f *spectra.Fit) string) []string {
		all := make([]string, n)
		for i := range outcomes {
			all[i] = of(i, &outcomes[i].Fit)
		}
		return all
	}
	numbers := func(of func(i int, f *spectra.Fit) float64) []float64 {
		all := make([]float64, n)
		for i := range outcomes {
			if all[i] = math.NaN(); outcomes[i].Fit.Err == nil {
				all[i] = of(i, &outcomes[i].Fit)
			}
		}
		return all
	}
	t := &table.Table{Name: "stars"}
	t.Add("star", "", texts(func(_ int, f *spectra.Fit) string { return f.Star }))
	for _, name := range parametersOf(outcomes) {
		value := func(of func(f *spectra.Fit, k int) float64) []float64 {
			return numbers(func(_ int, f *spectra.Fit) float64 {
				if k := slices.Index(f.Names, name); k >= 0 {
					return of(f, k)
				}
				return math.NaN()
			})
		}
		posterior := func(f *spectra.Fit, k int) bool {
			return k == 0 && f.Exposures == nil && f.Velocity.SD > 0 && !math.IsNaN(f.SD[0])
		}
		t.Add(name, spectra.Unit(name), value(func(f *spectra.Fit, k int) float64 {
			if posterior(f, k) {
				return f.Velocity.Vel
			}
			return f.X[k]
		}))
		t.Add(name+"_sd", spectra.Unit(name), value(func(f *spectra.Fit, k int) float64 {
			if posterior(f, k) {
				return max(f.SD[k], f.Velocity.SD)
			}
			return f.SD[k]
		}))
	}
	t.Add("at_bound", "", texts(func(_ int, f *spectra.Fit) string { return strings.Join(f.AtBound, " ") }))
	t.Add("chi2", "", numbers(func(_ int, f *spectra.Fit) float64 {
		chi := 0.0
		for _, s := range f.Spectra {
			chi += s.ChiSquare
		}
		return chi
	}))
	pixels := make([]int64, n)
	for i := range outcomes {
		for _, s := range outcomes[i].Fit.Spectra {
			pixels[i] += int64(s.Pixels)
		}
	}
	t.Add("pixels", "", pixels)
	t.Add("sn", "", numbers(func(i int, _ *spectra.Fit) float64 { return signalToNoise(&stars[i]) }))
	warn := make([]int64, n)
	for i := range outcomes {
		if warn[i] = survey.WarnSpectrum; outcomes[i].Fit.Err == nil {
			row := p.Row(&outcomes[i])
			warn[i] = row.WarningFlags
		}
	}
	t.Add("rvs_warn", "", warn)
	t.Add("status", "", texts(func(_ int, f *spectra.Fit) string {
		if f.Err != nil {
			return "failed"
		}
		return f.Status
	}))
	t.Add("model", "", texts(func(_ int, f *spectra.Fit) string {
		if f.Verdict == nil {
			return "not judged"
		}
		return f.Verdict.Word()
	}))
	t.Add("message", "", texts(func(_ int, f *spectra.Fit) string {
		if f.Err != nil {
			return f.Err.Error()
		}
		return ""
	}))
	return t
}

// parametersOf lists the parameters of all fits, in their order.
func parametersOf(outcomes []fitfile.Outcome) (names []string) {
	for _, o := range outcomes {
		for _, name := range o.Fit.Names {
			if o.Fit.Err == nil && !slices.Contains(names, name) {
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
