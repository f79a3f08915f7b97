// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/runs"
)

// assemblyField is neural assemblies.
func assemblyField() field {
	f := field{commands: []command{
		{verb: "sim", make: (*app).simAssembly, takes: takesOut | takesResume | takesDevice},
		{verb: "sample", make: (*app).sampleAssembly, takes: takesOut | takesResume | takesDevice},
		{verb: "train", make: (*app).trainConnectome, takes: takesOut | takesResume | takesDevice},
		{verb: "demo", make: (*app).demoAssembly, takes: takesOut | onProcessor},
	},
		result: resultOfAssembly}
	for _, p := range assemblyPlots {
		f.commands = append(f.commands, command{verb: "plot", make: func(a *app) *cobra.Command { return a.plotAssembly(p) }})
	}
	return f
}

// resultOfAssembly says what simulations and trained connections have in place of draws.
func resultOfAssembly(dir runs.Folder, command string) *runResult {
	has := &runResult{what: fmt.Sprintf("%q", command), file: "summary.json"}
	switch command {
	case simAssemblyCommand:
		has.look = "euryale plot support " + string(dir)
	case trainCommand:
	default:
		return nil
	}
	return has
}
