// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"errors"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/report"
)

// undated replaces the creation date in the morphology of a run, so that repeating the
// run gives the same bytes.
const undated = "that of the run"

// saveInversion writes the morphology at parameters x, the pictures and the report. If
// fit is not nil, its posterior is drawn too.
func saveInversion(ctx context.Context, a *frame.App, v *inversion, x []float64, table string, fit *infer.Fit, verdict check.Verdict) error {
	m, model, err := v.Predict(context.WithoutCancel(ctx), x)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	volume, err := morph.VolumeOf(m)
	if err != nil {
		return exit.With(exit.Bug, err)
	}
	volume.Creator, volume.Created = "euryale "+frame.Version(), undated
	var bad *data.FormatError
	if err := cyrsoxs.WriteMorphology(v.dir.Path("morphology.h5"), volume, cyrsoxs.WriteSettings{}); errors.As(err, &bad) && bad.Format == "cyrsoxs" {
		a.Note("no morphology.h5: %v", err) // for example because an order parameter exceeds 1
	} else if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	page := report.Morphology(report.Inversion{File: v.cfg.File, Task: v.Task, Table: table, Verdict: verdict, Morphology: volume, Pattern: model, Fit: fit}, draws.PageOf(a, &v.cfg.ChainConfig))
	return exit.With(exit.CannotWrite, page.Save(string(v.dir)))
}
