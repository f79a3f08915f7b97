// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/euryale-dev/euryale/viz/term"

// meter shows the progress of chains on standard error.
func (a *app) meter() *term.Meter {
	s := term.MeterSettings{}
	if a.quiet {
		s.Mode = term.Quiet
	}
	return term.NewMeter(a.screen, s)
}

func (a *app) barSettings(name string, total int) term.BarSettings {
	s := term.BarSettings{Name: name, Total: total}
	if a.quiet {
		s.Mode = term.Quiet
	}
	return s
}
