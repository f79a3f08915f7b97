// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Examples are stimuli and their labels.
type Examples struct {
	// Stimuli has a row per example: the activities of all stimuli of the circuit, one after
	// another, either once for all steps or for each step in turn.
	Stimuli [][]float64
	Labels  []int
}

// Len returns the number of examples.
func (e Examples) Len() int { return len(e.Stimuli) }

// check returns an error unless the examples fit c; labels must be below classes unless that is 0.
func (e Examples) check(c *Circuit, classes int) error {
	n := c.inputs()
	if len(e.Stimuli) == 0 || len(e.Labels) != len(e.Stimuli) {
		return fmt.Errorf("connectome: there are %d stimuli and %s: give as many of each, and at least one", len(e.Stimuli), errtext.Count(len(e.Labels), "label"))
	}
	for i, x := range e.Stimuli {
		if len(x) != n && len(x) != n*c.Steps {
			return fmt.Errorf("connectome: example %d has %d activities: want %d, or %d for each of %s", i, len(x), n, n, errtext.Count(c.Steps, "step"))
		}
		for j, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("connectome: example %d has activity %g at position %d: want finite numbers", i, v, j)
			}
		}
		if l := e.Labels[i]; l < 0 || classes > 0 && l >= classes {
			return fmt.Errorf("connectome: example %d has label %d: want 0 to %d", i, l, classes-1)
		}
	}
	return nil
}

// classes returns one more than the largest label.
func (e Examples) classes() (n int) {
	for _, l := range e.Labels {
		n = max(n, l+1)
	}
	return n
}

// perStep reports whether stimuli change from step to step.
func (e Examples) perStep(c *Circuit) bool {
	for _, x := range e.Stimuli {
		if len(x) > c.inputs() {
			return true
		}
	}
	return false
}

// row returns the stimuli of example i in step t.
func (e Examples) row(c *Circuit, i, t int) []float64 {
	n := c.inputs()
	if x := e.Stimuli[i]; len(x) == n {
		return x
	}
	return e.Stimuli[i][t*n : (t+1)*n]
}
