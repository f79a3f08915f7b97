// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"encoding/json"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/table"
)

// Field is stellar spectra.
func Field() frame.Field {
	return frame.Field{Commands: []frame.Command{
		{Verb: "fit", New: fitSpectra, Takes: frame.TakesOut | frame.TakesDevice | frame.TakesPrecision | frame.Continues},
		{Verb: "sample", New: sampleSpectrum, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "build", New: buildCatalogue},
		{Verb: "build", New: buildLibrary},
		{Verb: "build", New: buildConvert},
		{Verb: "train", New: trainSpectrum, Takes: frame.OnProcessor},
		{Verb: "plot", New: plotSpectrum, Takes: frame.TakesDevice},
		{Verb: "plot", New: plotLibrary},
		{Verb: "demo", New: demoSpectrum, Takes: frame.TakesOut | frame.TakesDevice},
	}, Look: look, FitTables: map[string]func([]json.RawMessage) (*table.Table, error){"spectra": tableOfStars}}
}
