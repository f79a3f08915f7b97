package nemo

import "errors"

// Errors of things that are asked before they can be answered, in errors.Is.
var (
	// ErrUntaught says that all synapses are as Wiring drew them: answers would be chance.
	ErrUntaught = errors.New("nothing was learnt yet")
	// ErrSilent says that nothing fires where an answer should be read.
	ErrSilent = errors.New("nothing fires")
)
