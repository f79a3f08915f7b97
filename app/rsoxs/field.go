// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/runs"
)

// Field is resonant soft X-ray scattering.
func Field() frame.Field {
	return frame.Field{Commands: []frame.Command{
		{Verb: "sim", New: simRSoXS, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice | frame.TakesPrecision},
		{Verb: "invert", New: invertRSoXS, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "reduce", New: reduceRSoXS},
		{Verb: "reduce", New: reduceNEXAFS},
		{Verb: "plot", New: plotPattern},
		{Verb: "plot", New: plotMeasured},
		{Verb: "plot", New: plotMorphology},
		{Verb: "plot", New: plotVolume},
		{Verb: "demo", New: demoRSoXS, Takes: frame.TakesOut | frame.OnProcessor},
	},
		Result: resultOfRSoXS, Look: look}
}

// resultOfRSoXS says what runs of sim rsoxs and of inversions that do not sample have in place of draws.
func resultOfRSoXS(dir runs.Folder, command string) *frame.RunResult {
	if foreign.Exists(dir.Path(morph.SimulationRecordFile)) {
		return &frame.RunResult{What: "\"sim rsoxs\"", Look: "euryale plot pattern " + string(dir)}
	}
	var inversion struct {
		Problem struct {
			Method string `json:"method"`
		} `json:"problem"`
	}
	if command != invertCommand || dir.Config(&inversion) != nil || inversion.Problem.Method == "nuts" {
		return nil
	}
	return &frame.RunResult{What: "\"invert rsoxs\" that fits and does not sample", File: "fit.json"}
}
