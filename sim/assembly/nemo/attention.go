// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

// change is a recurrent synapse that attention changed.
type change struct {
	source int32
	at     int // position in the row of the source
	was    float64
}

// attend sets the recurrent synapses from neurons that fired before onto the winners, which are
// marked, to 1 + Beta, and records their old weights.
func (a *Area) attend(before []int32) {
	if a.Recurrent == nil {
		return
	}
	for _, i := range before {
		r := a.Recurrent.rows[i]
		for k, j := range r.to {
			if a.wins[j] && r.weight[k] != 1+a.Beta {
				a.changed = append(a.changed, change{i, k, r.weight[k]})
				r.weight[k] = 1 + a.Beta
			}
		}
	}
}

// Decay restores all weights that attention changed. (The authors' program forgets the first
// increment of a synapse that was changed twice.)
func (a *Area) Decay() {
	for k := len(a.changed) - 1; k >= 0; k-- {
		c := a.changed[k]
		a.Recurrent.rows[c.source].weight[c.at] = c.was
	}
	a.changed = a.changed[:0]
}
