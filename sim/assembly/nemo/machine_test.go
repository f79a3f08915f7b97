// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Random tables with the default settings: each transition is learnt, and long inputs
// are read right.
func TestRandomMachines(t *testing.T) {
	for seed := range uint64(6) {
		src := tensor.NewStream(seed, 1, 0)
		states, symbols := 2+src.IntN(3), 1+src.IntN(4)
		next := make([][]int, states)
		var list []Transition
		for from := range states {
			for symbol := range symbols {
				next[from] = append(next[from], src.IntN(states))
				list = append(list, Transition{from, symbol, next[from][symbol]})
			}
		}
		m, err := LearnMachine(list, MachineSettings{Seed: seed})
		must(t, err)
		var input, want []int
		at := 0
		for range 40 {
			s := src.IntN(symbols)
			at = next[at][s]
			input, want = append(input, s), append(want, at)
		}
		got, err := m.Run(0, input)
		must(t, err)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%d states, %d symbols: state %d after %v, want %d", states, symbols, got[i], input[:i+1], want[i])
				break
			}
		}
	}
}
