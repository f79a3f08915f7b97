// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/connectome"
	"github.com/euryale-dev/euryale/viz"
)

// AssemblyPosterior returns the page of a posterior of measured assemblies: the measurements with the band in which the model expects new
// ones, and the posterior of the parameters.
func AssemblyPosterior(file string, m *connectome.Measured, fit *infer.Fit, v check.Verdict, s Settings) *Page {
	rep, p := fit.Diagnose(), m.Points()
	data := &Album{Note: s.Note, DPI: s.DPI}
	if m.Dynamics == "" || m.Dynamics == "emulated" || m.Fit != "formation" { // other simulators run anew for each draw
		f, err := predictiveBand(viz.Curve{Title: "Predictive check", XLabel: p.XLabel, YLabel: p.YLabel}, p.Observation, p.X, p.Y, nil, fit)
		data.Add("predictive", f, err)
	}
	album := posteriorAlbum(viz.FromFit(fit), s)
	r := viz.Report{Title: "assemblies: " + m.Fit, Facts: s.facts([]viz.Fact{{Name: "file", Value: file}, {Name: "fit", Value: m.Fit},
		{Name: "points", Value: fmt.Sprint(len(p.Y))}, {Name: "seed", Value: fmt.Sprint(s.Seed)}}, verdictFact(rep, v)),
		Sections: []viz.Section{{Title: "Summary", Tables: []string{fit.Summary().HTML(), rep.HTML()}}}}
	if figures := data.Figures(); len(figures) > 0 {
		r.Sections = append(r.Sections, modelSection(v, data), viz.Section{Title: "Data and model", Text: "The line is the median of what the model expects of new measurements, and the bands hold half and 95 % of them.", Figures: figures})
	}
	r.Sections = append(r.Sections, viz.Section{Title: "Posterior", Figures: album.Figures()})
	data.Append(album)
	return &Page{Report: r, Album: *data}
}
