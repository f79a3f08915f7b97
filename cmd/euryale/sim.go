package main

import "github.com/spf13/cobra"

func (a *app) sim() *cobra.Command {
	return thing("sim", "Simulate", a.simRSoXS())
}

// anyPrecision marks commands that compute in single precision, too.
var anyPrecision = map[string]string{"precision": "32 or 64"}
