// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"path/filepath"
	"strings"

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

// StanFit returns the page of the mode of a program of the Stan language, with the draws around it.
func StanFit(file string, a *infer.Approximation, v check.Verdict, warnings []string, s Settings) *Page {
	b := &Album{Note: s.Note, DPI: s.DPI}
	f := viz.Fact{Name: "verdict", Value: strings.Join(append([]string{v.Summary()}, warnings...), " "), Verdict: viz.Good}
	if !v.OK || len(warnings) > 0 {
		f.Verdict = viz.Bad
	}
	r := viz.Report{Title: filepath.Base(file), Facts: s.facts([]viz.Fact{{Name: "program", Value: file}, {Name: "seed", Value: fmt.Sprint(s.Seed)}}, f),
		Sections: []viz.Section{{Title: "Draws around the mode", Tables: []string{a.Summary().HTML()}}, modelSection(v, b)}}
	return &Page{Report: r, Album: *b}
}
