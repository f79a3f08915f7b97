// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"github.com/euryale-dev/euryale/app/frame"
)

// Field is the work with draws, whatever made them.
func Field() frame.Field {
	return frame.Field{Commands: []frame.Command{
		{New: summaryCommand},
		{New: diagnoseCommand},
		{New: looCommand},
		{New: compareCommand},
		{New: sbcCommand, Takes: frame.TakesDevice},
		{New: convertCommand},
		{New: plotCommand},
		{Verb: "plot", New: plotFigure},
	}, Look: look}
}
