// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"path/filepath"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/viz"
)

// Stan returns the page of the posterior of a program of the Stan language.
func Stan(file string, fit *infer.Fit, v check.Verdict, s Settings) *Page {
	rep := fit.Diagnose()
	data := &Album{Note: s.Note, DPI: s.DPI}
	album := posteriorAlbum(viz.FromFit(fit), s)
	r := viz.Report{Title: filepath.Base(file), Facts: s.facts([]viz.Fact{{Name: "program", Value: file}, {Name: "seed", Value: fmt.Sprint(s.Seed)}}, verdictFact(rep, v)),
		Sections: []viz.Section{{Title: "Summary", Tables: []string{fit.Summary().HTML(), rep.HTML()}}}}
	r.Sections = append(r.Sections, modelSection(v, data), viz.Section{Title: "Posterior", Figures: album.Figures()})
	data.Append(album)
	return &Page{Report: r, Album: *data}
}
