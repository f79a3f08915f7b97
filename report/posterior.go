// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/viz"
)

// Posterior returns the page of a posterior; v is the verdict about its model.
func Posterior(title string, fit *infer.Fit, v check.Verdict, s Settings) *Page {
	rep := fit.Diagnose()
	album := posteriorAlbum(viz.FromFit(fit), s)
	return &Page{Album: *album, Report: viz.Report{Title: title, Facts: s.facts([]viz.Fact{{Name: "seed", Value: fmt.Sprint(s.Seed)}}, verdictFact(rep, v)),
		Sections: []viz.Section{{Title: "Summary", Tables: []string{fit.Summary().HTML(), rep.HTML()}}, {Title: "Posterior", Figures: album.Figures()}}}}
}

// posteriorAlbum draws the figures by which a posterior is judged.
func posteriorAlbum(d viz.Draws, s Settings) *Album {
	b := &Album{Note: s.Note, DPI: s.DPI}
	for _, p := range []struct {
		name string
		draw func(viz.Draws, ...string) (*viz.Figure, error)
	}{{"trace", viz.Trace}, {"rank", viz.Rank}, {"pair", viz.Pair}, {"density", viz.Density}, {"forest", viz.Forest}, {"autocorrelation", viz.Autocorrelation}, {"ess", viz.ESSEvolution}} {
		f, err := p.draw(d)
		b.Add(p.name, f, err)
	}
	if d.Energy != nil {
		f, err := viz.Energy(d)
		b.Add("energy", f, err)
	}
	return b
}
