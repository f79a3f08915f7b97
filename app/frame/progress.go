// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import "github.com/euryale-dev/euryale/viz/term"

// Meter shows the progress of chains on standard error.
func (a *App) Meter() *term.Meter {
	s := term.MeterSettings{}
	if a.Quiet {
		s.Mode = term.Quiet
	}
	return term.NewMeter(a.Screen, s)
}

// BarSettings returns the settings of a progress bar with a name and a total.
func (a *App) BarSettings(name string, total int) term.BarSettings {
	s := term.BarSettings{Name: name, Total: total}
	if a.Quiet {
		s.Mode = term.Quiet
	}
	return s
}
