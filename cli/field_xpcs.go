// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

// xpcsField is photon correlation: from frames to fits, and two-time correlations.
func xpcsField() field {
	f := field{commands: []command{
		{make: (*app).qmap, takes: takesDevice},
		{make: (*app).mask, takes: takesDevice},
		{make: (*app).correlate, takes: takesOut | takesDevice},
		{make: (*app).average},
		{verb: "reduce", make: (*app).reduceSAXS},
		{verb: "reduce", make: (*app).reduceAges},
		{verb: "reduce", make: (*app).reduceIntensity},
		{verb: "fit", make: (*app).fitG2, takes: takesOut | takesDevice},
		{verb: "fit", make: (*app).fitTwotime, takes: takesOut | takesDevice},
		{verb: "fit", make: (*app).fitGeometry},
		{verb: "sample", make: (*app).sampleG2, takes: takesOut | takesResume | takesDevice},
		{verb: "sample", make: (*app).sampleTwotime, takes: takesOut | takesResume | takesDevice},
		{verb: "sim", make: (*app).simTwotime, takes: onProcessor},
		{verb: "demo", make: (*app).demoG2, takes: takesOut | takesDevice},
		{verb: "demo", make: (*app).demoXPCS, takes: takesOut | onProcessor},
		{verb: "demo", make: (*app).demoTwotime, takes: takesOut | onProcessor},
	},
		explained: isConfiguration, explain: (*app).infoConfig,
		converted: isResult, convertFile: (*app).convertResult}
	for _, p := range resultPlots {
		f.commands = append(f.commands, command{verb: "plot", make: func(a *app) *cobra.Command { return a.plotResult(p) }})
	}
	for _, p := range qmapPlots {
		f.commands = append(f.commands, command{verb: "plot", make: func(a *app) *cobra.Command { return a.plotQMap(p) }})
	}
	return f
}
