// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// page returns settings that name euryale as the author of a page and report missing
// pictures to the user.
func (a *app) page(seed uint64) report.Settings {
	return report.Settings{Program: version(), Seed: seed, DPI: pictureDPI, Note: func(text string) { a.note("%s", text) }}
}

// pageOf is page for a run that another version may have started.
func (a *app) pageOf(cfg *chainConfig) report.Settings {
	s := a.page(cfg.Seed)
	s.Program, s.Device = cfg.Version, cfg.Device
	return s
}

// drawsOf converts loaded draws to the form that the plots take.
func drawsOf(t *runs.Table) viz.Draws {
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

// pictureDPI is the resolution of the PNG files of reports in dots per inch, 0 for the default.
// Tests draw coarse pictures, which takes a tenth of the time.
var pictureDPI int
