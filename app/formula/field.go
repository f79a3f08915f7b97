// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"github.com/euryale-dev/euryale/app/frame"
)

// Field is models that a file describes by formulas.
func Field() frame.Field {
	return frame.Field{Commands: []frame.Command{
		{Verb: "fit", New: fitNLSQ, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "fit", New: fitCurve, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "sample", New: sampleExpr, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
		{Verb: "plot", New: plotTable},
		{Verb: "sample", New: sampleCurve, Takes: frame.TakesOut | frame.TakesResume | frame.TakesDevice},
	}, Converted: isProblem, ConvertFile: convertProblem, Look: look}
}
