// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"fmt"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

// Posterior returns the Bayesian model of points on rings: q of each point is normal about that of
// its ring. Priors are normal about the numbers of the geometry, with standard deviations of 20
// pixels for the centre, 10 % of the distance, 0.1 % of the energy and 0.05 rad for swing angles,
// unless priors gives others by name. [Fit.Starts] returns starts of its chains.
func Posterior(g xpcs.Geometry, points []Point, s Settings, priors map[string]dist.Dist) (*infer.Model, error) {
	list, err := free(s.Free)
	if err != nil {
		return nil, err
	}
	for name := range priors {
		if _, err := free([]string{name}); err != nil {
			return nil, err
		}
	}
	if g.Reflection {
		return nil, fmt.Errorf("geometry: rings cannot be fitted in reflection: calibrate in transmission")
	}
	row, col, q, sd, err := columns(g, points)
	if err != nil {
		return nil, err
	}
	m := infer.NewModel("geometry")
	r, c := m.Data("row", row), m.Data("col", col)
	var p xpcs.Parameters
	for _, l := range list {
		at := *l.of(&g)
		width := l.width
		if l.scale {
			width *= at
		}
		if own, ok := priors[l.name]; ok {
			*l.node(&p) = m.Param(l.name, own)
			continue
		}
		*l.node(&p) = m.Param(l.name, dist.Normal(at, width), infer.Weak(), infer.NonCentred()) // chains then begin near the geometry
	}
	m.Observe("q", dist.Normal(g.Node("q", r, c, p), m.Data("q_err", sd)), q)
	return m, nil
}

// Starts returns dispersed starts of chains around the fit, for the Init of an infer.Settings.
func (f *Fit) Starts(post *infer.Posterior, chains int, seed uint64) ([][]float64, error) {
	return post.WarmStart(f.Names, f.X, f.Cov, chains, seed)
}

// CheckPosterior judges the posterior of the model that Posterior made for the same points.
func CheckPosterior(g xpcs.Geometry, points []Point, fit *infer.Fit) (check.Verdict, error) {
	phi, _ := azimuths(g, points)
	return fit.CheckModel(infer.CheckSettings{Axes: []check.Axis{{Name: "azimuth", Unit: "deg", Values: phi}}})
}
