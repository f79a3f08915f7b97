// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/report"
)

// Field is photon correlation: from frames to fits, and two-time correlations.
func Field() frame.Field {
	f := frame.Field{Commands: []frame.Command{
		{New: qmapCommand, Takes: frame.TakesDevice},
		{New: maskCommand, Takes: frame.TakesDevice},
		{New: correlateCommand, Takes: frame.TakesOut | frame.TakesDevice | frame.Continues},
		{New: averageCommand},
		{Verb: "reduce", New: reduceSAXS},
		{Verb: "reduce", New: reduceAges},
		{Verb: "reduce", New: reduceIntensity},
		{Verb: "fit", New: fitG2, Takes: frame.TakesOut | frame.TakesDevice},
		{Verb: "fit", New: fitTwotime, Takes: frame.TakesOut | frame.TakesDevice},
		{Verb: "fit", New: fitGeometry, Takes: frame.TakesOut},
		{Verb: "sample", New: sampleG2, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "sample", New: sampleTwotime, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "sim", New: simTwotime, Takes: frame.OnProcessor},
		{Verb: "plot", New: plotFrames},
		{Verb: "demo", New: demoG2, Takes: frame.TakesOut | frame.TakesDevice},
		{Verb: "demo", New: demoXPCS, Takes: frame.TakesOut | frame.OnProcessor},
		{Verb: "demo", New: demoTwotime, Takes: frame.TakesOut | frame.OnProcessor},
	},
		Explained: isConfiguration, Explain: infoConfig,
		Converted: isResult, ConvertFile: convertResult,
		Look: look, FitTables: map[string]func([]json.RawMessage) (*table.Table, error){"g2": tableOfG2}}
	for _, p := range report.Results() {
		f.Commands = append(f.Commands, frame.Command{Verb: "plot", New: func(a *frame.App) *cobra.Command { return plotResult(a, p) }})
	}
	for _, p := range report.QMaps() {
		f.Commands = append(f.Commands, frame.Command{Verb: "plot", New: func(a *frame.App) *cobra.Command { return plotQMap(a, p) }})
	}
	return f
}
