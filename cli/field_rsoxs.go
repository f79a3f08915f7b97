// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/runs"
)

// rsoxsField is resonant soft X-ray scattering.
func rsoxsField() field {
	return field{commands: []command{
		{verb: "sim", make: (*app).simRSoXS, takes: takesOut | takesResume | takesDevice | takesPrecision},
		{verb: "invert", make: (*app).invertRSoXS, takes: takesOut | takesResume | takesDevice},
		{verb: "reduce", make: (*app).reduceRSoXS},
		{verb: "plot", make: (*app).plotPattern},
		{verb: "plot", make: (*app).plotMorphology},
		{verb: "demo", make: (*app).demoRSoXS, takes: takesOut | onProcessor},
	},
		result: resultOfRSoXS}
}

// resultOfRSoXS says what runs of sim rsoxs and of inversions that do not sample have in place of draws.
func resultOfRSoXS(dir runs.Folder, command string) *runResult {
	if foreign.Exists(dir.Path(morph.SimulationRecordFile)) {
		return &runResult{what: "\"sim rsoxs\"", look: "euryale plot pattern " + string(dir)}
	}
	var inversion struct {
		Problem struct {
			Method string `json:"method"`
		} `json:"problem"`
	}
	if command != invertCommand || dir.Config(&inversion) != nil || inversion.Problem.Method == "nuts" {
		return nil
	}
	return &runResult{what: "\"invert rsoxs\" that fits and does not sample", file: "fit.json"}
}
