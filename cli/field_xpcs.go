// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

// xpcsField is photon correlation: from frames to fits, and two-time correlations.
func xpcsField() field {
	f := field{commands: []command{
		{"", (*app).qmap, takesDevice},
		{"", (*app).mask, takesDevice},
		{"", (*app).correlate, takesOut | takesDevice},
		{"", (*app).average, 0},
		{"reduce", (*app).reduceSAXS, 0},
		{"reduce", (*app).reduceAges, 0},
		{"reduce", (*app).reduceIntensity, 0},
		{"fit", (*app).fitG2, takesOut | takesDevice},
		{"fit", (*app).fitTwotime, takesOut | takesDevice},
		{"fit", (*app).fitGeometry, 0},
		{"sample", (*app).sampleG2, takesOut | takesResume | takesDevice},
		{"sample", (*app).sampleTwotime, takesOut | takesResume | takesDevice},
		{"sim", (*app).simTwotime, onProcessor},
		{"demo", (*app).demoG2, takesOut | takesDevice},
		{"demo", (*app).demoXPCS, takesOut | onProcessor},
		{"demo", (*app).demoTwotime, takesOut | onProcessor},
	},
		explained: isConfiguration, explain: (*app).infoConfig,
		converted: isResult, convertFile: (*app).convertResult}
	for _, p := range resultPlots {
		f.commands = append(f.commands, command{"plot", func(a *app) *cobra.Command { return a.plotResult(p) }, 0})
	}
	for _, p := range qmapPlots {
		f.commands = append(f.commands, command{"plot", func(a *app) *cobra.Command { return a.plotQMap(p) }, 0})
	}
	return f
}
