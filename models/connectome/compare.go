// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"cmp"
	"context"
)

// Comparison says how well hard assemblies do after training, beside what training is to
// beat.
type Comparison struct {
	Train     Metrics // trained, of the training examples
	Untrained Metrics // of the test examples
	Hebbian   Metrics // of the test examples, after plain Hebbian plasticity
}

// Compare evaluates trained parameters x on the examples that they were trained on, and the
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
