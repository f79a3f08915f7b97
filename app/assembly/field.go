// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// Field is neural assemblies.
func Field() frame.Field {
	f := frame.Field{Commands: []frame.Command{
		{Verb: "sim", New: simAssembly, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "sample", New: sampleAssembly, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "train", New: trainConnectome, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "plot", New: plotExperiment},
		{Verb: "plot", New: plotScript},
		{Verb: "plot", New: plotWeights},
		{Verb: "demo", New: demoAssembly, Takes: frame.TakesOut | frame.OnProcessor},
	},
		Result: resultOfAssembly, Look: look, Explore: explore}
	for _, p := range report.Assemblies() {
		f.Commands = append(f.Commands, frame.Command{Verb: "plot", New: func(a *frame.App) *cobra.Command { return plotAssembly(a, p) }})
	}
	return f
}

// resultOfAssembly says what simulations and trained connections have in place of draws.
func resultOfAssembly(dir runs.Folder, command string) *frame.RunResult {
	has := &frame.RunResult{What: fmt.Sprintf("%q", command), File: "summary.json"}
	switch command {
	case simAssemblyCommand:
		has.Look = "euryale plot support " + string(dir)
	case trainCommand:
	default:
		return nil
	}
	return has
}
