// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package machine has the commands about the program and the machine that it runs on.
package machine

import "github.com/euryale-dev/euryale/app/frame"

// Field is what the program says of itself and of the machine.
func Field() frame.Field {
	return frame.Field{Commands: []frame.Command{
		{Verb: "bench", New: benchGPU, Takes: frame.TakesDevice},
		{New: infoCommand},
	}}
}
