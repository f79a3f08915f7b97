// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/euryale-dev/euryale/app/assembly"
	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/formula"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/machine"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/app/spectra"
	"github.com/euryale-dev/euryale/app/stan"
	"github.com/euryale-dev/euryale/app/xpcs"
)

// fields lists what a page can do: all but work lists and pages of its own.
func fields() []frame.Field {
	return []frame.Field{xpcs.Field(), spectra.Field(), rsoxs.Field(), assembly.Field(), formula.Field(), stan.Field(), draws.Field(), machine.Field()}
}
