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
		{"sim", (*app).simAssembly, takesOut | takesResume | takesDevice},
		{"sample", (*app).sampleAssembly, takesOut | takesResume | takesDevice},
		{"train", (*app).trainConnectome, takesOut | takesResume | takesDevice},
		{"demo", (*app).demoAssembly, takesOut | onProcessor},
	},
		result: resultOfAssembly}
	for _, p := range assemblyPlots {
		f.commands = append(f.commands, command{"plot", func(a *app) *cobra.Command { return a.plotAssembly(p) }, 0})
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
