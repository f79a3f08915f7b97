// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !js

package app

import (
	"github.com/euryale-dev/euryale/app/assembly"
	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/formula"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/lists"
	"github.com/euryale-dev/euryale/app/machine"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/app/spectra"
	"github.com/euryale-dev/euryale/app/stan"
	"github.com/euryale-dev/euryale/app/view"
	"github.com/euryale-dev/euryale/app/xpcs"
)

// fields are the fields of the program.
func fields() []frame.Field {
	return []frame.Field{xpcs.Field(), spectra.Field(), rsoxs.Field(), assembly.Field(), formula.Field(), stan.Field(), draws.Field(), lists.Field(), machine.Field(), view.Field()}
}
