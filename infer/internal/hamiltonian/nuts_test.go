// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// The number of the leaf of a draw is that of the steps from the start, forwards or backwards.
func TestIndexCountsSteps(t *testing.T) {
	m := Metric{}
	for side, sign := range []float64{-1, 1} {
		momentum, choice := tensor.NewStream(1, 1, 0), tensor.NewStream(1, 2, 0)
		tree := NewTree(exacts[1], &m, 4, 1000, &momentum, &choice)
		tree.Forward = func() int { return side }
		p := NewPoint(3)
		if err := tree.Start(&p); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			from := NewPoint(3)
			from.Set(&p)
			before := momentum
			out, err := tree.Move(&p, 0.2)
			if err != nil {
				t.Fatal(err)
			}
			before.NormalTo(from.Z)
			m.Force(from.W, from.G)
			for range int(math.Abs(float64(out.Index))) {
				if err := tree.Leapfrog(&from, sign*0.2); err != nil {
					t.Fatal(err)
				}
			}
			for i, q := range p.Q {
				if math.Abs(q-from.Q[i]) > 1e-12 || sign*float64(out.Index) < 0 {
					t.Fatalf("side %d: leaf %d is at %v: its steps lead to %v", side, out.Index, p.Q, from.Q)
				}
			}
		}
	}
}
