// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/viz"
)

// mostModels is the number of draws, spread over all of them, whose models make a band.
const mostModels = 200

// StarPoints returns the parameters of a star, in the order of its fit, for some draws of every chain.
// The function draws returns the draws of a parameter as [chain][draw], or nil for one that was not
// sampled, which keeps the value of the fit.
func StarPoints(fit *spectra.Fit, draws func(name string) [][]float64) [][]float64 {
	var points [][]float64
	for k, name := range fit.Names {
		chains := draws(name)
		var all []float64
		for _, c := range chains {
			all = append(all, c...)
		}
		if len(all) == 0 {
			continue
		}
		count := min(len(all), mostModels)
		for len(points) < count {
			points = append(points, slices.Clone(fit.X))
		}
		for i := range points {
			points[i][k] = all[(2*i+1)*len(all)/(2*count)]
		}
	}
	return points
}

// StarDraws draws the spectra of a star with the models of posterior draws, given as
// [draw][spectrum][pixel]: their median, and the band that holds 95 % of them. Below are the residuals
// from the median, with the band, in standard deviations of the data.
func StarDraws(star *spectra.Star, models [][][]float64) (*viz.Figure, error) {
	if len(models) == 0 {
		return nil, fmt.Errorf("report: %s has no draws whose models could be drawn: pass at least one", star.Name)
	}
	var plots []viz.Lines
	for i, s := range star.Spectra {
		data, model := viz.Line{Name: "data", Thin: true}, viz.Line{Name: "posterior, 95 %"}
		res, band := viz.Line{Name: "residual", Thin: true}, viz.Line{Name: "posterior, 95 %"}
		values := make([]float64, len(models))
		for k := range s.Lam {
			if s.Bad != nil && s.Bad[k] {
				continue
			}
			for d := range models {
				values[d] = models[d][i][k]
			}
			slices.Sort(values)
			low, mid, high := quantile(values, 0.025), quantile(values, 0.5), quantile(values, 0.975)
			data.X, data.Y = append(data.X, s.Lam[k]), append(data.Y, s.Flux[k])
			model.Y, model.Low, model.High = append(model.Y, mid), append(model.Low, low), append(model.High, high)
			res.Y, band.Y = append(res.Y, (s.Flux[k]-mid)/s.Err[k]), append(band.Y, 0)
			band.Low, band.High = append(band.Low, (low-mid)/s.Err[k]), append(band.High, (high-mid)/s.Err[k])
		}
		if len(data.X) == 0 {
			continue
		}
		model.X, res.X, band.X = data.X, data.X, data.X
		plots = append(plots, viz.Lines{Title: fmt.Sprintf("%s: models of %d draws", s.Arm, len(models)), XLabel: "wavelength (Å)", YLabel: "flux", Curves: []viz.Line{data, model}},
			viz.Lines{XLabel: "wavelength (Å)", YLabel: "residual (sd)", Curves: []viz.Line{res, band}})
	}
	return viz.Plots(star.Name, plots...)
}

// quantile interpolates between sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(math.Floor(at))
	return sorted[i] + (at-float64(i))*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
}
