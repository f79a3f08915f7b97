// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

// These are the names of the parameters that a calibration may free.
const (
	CenterRow       = "center_row"       // row of the beam centre, in pixels
	CenterCol       = "center_col"       // column of the beam centre, in pixels
	Distance        = "distance"         // distance from sample to detector, in m
	Energy          = "energy"           // photon energy, in keV
	SwingHorizontal = "swing_horizontal" // horizontal swing angle, in rad
	SwingVertical   = "swing_vertical"   // vertical swing angle, in rad
)

// Units are the units of the parameters, by name.
var Units = map[string]string{CenterRow: "px", CenterCol: "px", Distance: "m", Energy: "keV", SwingHorizontal: "rad", SwingVertical: "rad"}

// parameter is a number of a geometry that can be free.
type parameter struct {
	name  string
	of    func(g *xpcs.Geometry) *float64
	node  func(p *xpcs.Parameters) **ad.Node
	width float64 // usual uncertainty: of the prior, relative if scaled
	scale bool    // whether width is relative
}

var parameters = []parameter{
	{CenterRow, func(g *xpcs.Geometry) *float64 { return &g.CenterRow }, func(p *xpcs.Parameters) **ad.Node { return &p.CenterRow }, 20, false},
	{CenterCol, func(g *xpcs.Geometry) *float64 { return &g.CenterCol }, func(p *xpcs.Parameters) **ad.Node { return &p.CenterCol }, 20, false},
	{Distance, func(g *xpcs.Geometry) *float64 { return &g.Distance }, func(p *xpcs.Parameters) **ad.Node { return &p.Distance }, 0.1, true},
	{Energy, func(g *xpcs.Geometry) *float64 { return &g.Energy }, func(p *xpcs.Parameters) **ad.Node { return &p.Energy }, 0.001, true},
	{SwingHorizontal, func(g *xpcs.Geometry) *float64 { return &g.SwingHorizontal }, func(p *xpcs.Parameters) **ad.Node { return &p.SwingHorizontal }, 0.05, false},
	{SwingVertical, func(g *xpcs.Geometry) *float64 { return &g.SwingVertical }, func(p *xpcs.Parameters) **ad.Node { return &p.SwingVertical }, 0.05, false},
}

// free returns the parameters of the names; none stand for centre and distance.
func free(names []string) ([]parameter, error) {
	if len(names) == 0 {
		return parameters[:3], nil
	}
	var all []string
	for _, p := range parameters {
		all = append(all, p.name)
	}
	var out []parameter
	for i, n := range names {
		k := slices.Index(all, n)
		switch {
		case k < 0:
			return nil, fmt.Errorf("geometry: there is no parameter %q: choose from %q%s", n, all, meant(n, all))
		case slices.Contains(names[:i], n):
			return nil, fmt.Errorf("geometry: the parameter %s is named twice: name it once", n)
		}
		out = append(out, parameters[k])
	}
	return out, nil
}

func meant(name string, names []string) string {
	if m := spelling.Meant(name, names); m != "" {
		return "; did you mean " + m + "?"
	}
	return ""
}
