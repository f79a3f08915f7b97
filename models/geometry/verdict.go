// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

// most is the share of points that may be left out without a flag.
const most = 0.1

// poor is the relative error from which on a distance or an energy counts as not determined.
const poor = 0.1

// judge computes the verdict.
func (f *Fit) judge(list []parameter) (err error) {
	d := check.FromFit(f.Result)
	if d.Names, d.Jacobian, err = f.jacobian(list); err != nil {
		return err
	}
	for i, l := range list {
		if l.scale && f.SD[i] > poor*f.X[i] && !slices.Contains(d.Unknown, l.name) {
			d.Unknown = append(d.Unknown, fmt.Sprintf("%s (to %.2g %%)", l.name, 100*f.SD[i]/f.X[i]))
		}
	}
	phi, q := azimuths(f.Geometry, f.Points)
	d.Axes = []check.Axis{{Name: "azimuth", Unit: "deg", Values: phi}, {Name: "q", Unit: "1/Å", Values: q}}
	if n := len(f.Outliers); n > 0 {
		d.Altered = append(d.Altered, check.Alteration{Kind: "outliers left out", Count: n, Note: float64(n) <= most*float64(n+len(f.Points)),
			Text:   fmt.Sprintf("%d of %s lay far from %s and %s left out", n, errtext.Count(n+len(f.Points), "point"), errtext.Agree(n, "its ring", "their rings"), errtext.Agree(n, "was", "were")),
			Remedy: "mask pixels that do not belong to the rings, and check the q of the rings"})
	}
	d.Directions, err = f.departures(phi)
	if err != nil {
		return err
	}
	f.Check, err = check.Judge(d, check.Settings{})
	return err
}

// jacobian returns the derivatives at places that lie on the fitted rings. Those at the points themselves follow the
// points' own errors, and differences between such columns would resemble the residuals.
func (f *Fit) jacobian(list []parameter) (names []string, j []float64, err error) {
	row, col := f.Geometry.DisplayCenter()
	on := slices.Clone(f.Points)
	for i := range on {
		p := &on[i]
		// The residual is the distance from the ring in units of SD.
		stretch := 1 - f.Result.Residuals[i]*p.SD/math.Hypot(p.Row-row, p.Col-col)
		p.Row, p.Col = row+(p.Row-row)*stretch, col+(p.Col-col)*stretch
	}
	prob, err := problem(f.Geometry, on, list)
	if err != nil {
		return nil, nil, err
	}
	j = make([]float64, prob.M*prob.N)
	return f.Names, j, prob.Jacobian(j, f.X)
}

// azimuths returns the azimuth of points in degrees, and their q.
func azimuths(g xpcs.Geometry, points []Point) (phi, q []float64) {
	row, col := g.DisplayCenter()
	for _, p := range points {
		phi, q = append(phi, math.Atan2(row-p.Row, p.Col-col)*180/math.Pi), append(q, p.Q)
	}
	return phi, q
}

// departures are the usual ways in which rings differ from a geometry.
func (f *Fit) departures(phi []float64) ([]check.Direction, error) {
	_, _, q, sd, err := columns(f.Geometry, f.Points)
	if err != nil {
		return nil, err
	}
	column := func(of func(i int) float64) []float64 {
		out := make([]float64, len(q))
		for i := range out {
			out[i] = of(i) / sd[i]
		}
		return out
	}
	wave := func(i int, harmonic float64) (cos, sin float64) {
		sin, cos = math.Sincos(harmonic * phi[i] * math.Pi / 180)
		return cos, sin
	}
	return []check.Direction{
		{Kind: "elliptical rings", Columns: [][]float64{
			column(func(i int) float64 { c, _ := wave(i, 2); return q[i] * c }), column(func(i int) float64 { _, s := wave(i, 2); return q[i] * s })},
			Say: func(coef, sd []float64) (string, string) {
				return fmt.Sprintf("elliptical rings would fit better, whose radii vary by about %.2g %% with twice the azimuth (a rough estimate)", 100*math.Hypot(coef[0], coef[1])),
					"free the swing angles if the detector may be tilted, and check whether pixels are square"
			}},
		{Kind: "tilted detector", Columns: [][]float64{
			column(func(i int) float64 { c, _ := wave(i, 1); return q[i] * q[i] * c }), column(func(i int) float64 { _, s := wave(i, 1); return q[i] * q[i] * s })},
			Say: func(coef, sd []float64) (string, string) {
				return "outer rings that are shifted against inner ones, as on a tilted detector, would fit better", "free " + SwingHorizontal + " and " + SwingVertical
			}},
		{Kind: "shifted orders", Columns: [][]float64{column(func(i int) float64 { return 1 })},
			Say: func(coef, sd []float64) (string, string) {
				return fmt.Sprintf("rings that are all shifted by the same amount, about %s 1/Å (a rough estimate), would fit better", check.Rough(coef[0])), "check that each ring has the q of its own order, and that the sample is the calibrant"
			}},
	}, nil
}
