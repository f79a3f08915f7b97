// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import "errors"

// Errors of requests that come before anything was learnt or while nothing fires, for errors.Is.
var (
	// ErrUntaught says that all synapses are as Wiring drew them: any answer would be chance.
	ErrUntaught = errors.New("nothing has been learnt yet")
	// ErrSilent says that nothing fires where an answer is to be read.
	ErrSilent = errors.New("nothing fires")
)
