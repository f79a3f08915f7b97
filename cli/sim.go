// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func (a *app) sim() *cobra.Command {
	return thing("sim", "Simulate scattering, correlations or neurons", withDevice(withResume(withFolder(a.simRSoXS()))), withDevice(withResume(withFolder(a.simAssembly()))), onProcessor(a.simTwotime()))
}

// anyPrecision marks commands that can also compute in single precision.
var anyPrecision = map[string]string{"precision": "32 or 64"}

// complete offers values of a flag for shell completion.
func complete(c *cobra.Command, flag string, values []string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
