// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// Page returns settings that name euryale as the author of a page and report missing
// pictures to the user.
func (a *App) Page(seed uint64) report.Settings {
	return report.Settings{Program: Version(), Seed: seed, DPI: tune.PictureDPI, Note: func(text string) { a.Note("%s", text) }}
}

// DrawsOf converts loaded draws to the form that the plots take.
func DrawsOf(t *runs.Table) viz.Draws {
	d := viz.Draws{Names: t.Names, X: t.X, Energy: t.Stat["energy"]}
	for _, c := range t.Stat["diverging"] {
		row := make([]bool, len(c))
		for i, v := range c {
			row[i] = v != 0
		}
		d.Diverging = append(d.Diverging, row)
	}
	return d
}
