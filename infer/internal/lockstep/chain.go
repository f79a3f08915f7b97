// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import "github.com/euryale-dev/euryale/infer/internal/hamiltonian"

// Chain is a chain of draws as a lane sees it.
type Chain interface {
	// Begin finds the start of the chain and its first step size.
	Begin() error
	// Tree returns the workspace of its transitions, and Point its place.
	Tree() *hamiltonian.Tree
	Point() *hamiltonian.Point
	// Data returns the values of Density.Given for this chain.
	Data() [][]float64
	// Step returns the step size of the next trajectory, whose settings it makes.
	Step() float64
	// Keep records a transition and adapts to it. It reports whether the chain is complete.
	Keep(out *hamiltonian.Transition) (complete bool, err error)
	// Fault returns an error of the chain with the number of its draw.
	Fault(err error) error
	// End is called once, when the chain is complete or has failed with err.
	End(err error)
}

// Queue hands out chains. Several runners may share what is behind it.
type Queue interface {
	// Next returns the next chain, or nil when there is none.
	Next() Chain
	// Stopped reports whether runners are to leave their chains as they are.
	Stopped() bool
}
