// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"cmp"
	"context"
)

// Comparison tells how well hard assemblies do after training, and how well they do without it.
type Comparison struct {
	Train     Metrics // metrics of the training examples, with the trained circuit
	Untrained Metrics // metrics of the test examples, with the untrained circuit
	Hebbian   Metrics // metrics of the test examples, after plain Hebbian plasticity
}

// Compare evaluates the trained parameters x on the examples that they were trained on, and the
// untrained circuit and plain Hebbian plasticity on the test examples.
func (p *Problem) Compare(ctx context.Context, t *Trainee, x []float64) (*Comparison, error) {
	hebb, err := Hebbian(ctx, t.Circuit, t.Train, t.Readout, cmp.Or(p.Hebb, 0.02))
	if err != nil {
		return nil, err
	}
	out := &Comparison{}
	for _, m := range []struct {
		to *Metrics
		c  *Circuit
		x  []float64
		e  Examples
	}{{&out.Train, t.Circuit, x, t.Train}, {&out.Untrained, t.Circuit, t.Circuit.Start(), t.Test}, {&out.Hebbian, hebb, hebb.Start(), t.Test}} {
		if *m.to, err = m.c.Evaluate(ctx, m.x, m.e, t.Readout); err != nil {
			return nil, err
		}
	}
	return out, nil
}
