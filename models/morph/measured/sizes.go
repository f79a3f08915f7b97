// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"slices"
)

// kindSizes is the finding that bodies have several sizes.
const kindSizes = "spread of sizes"

// sizes is the fit of bodies whose sizes spread, where the model has one size; nil where none can.
func (t *Task) sizes(s *Solution) []rival {
	name := t.Model.Spread
	if name == "" || t.has(name) {
		return nil
	}
	k, _ := t.altered(func(*Frame) bool { return true })
	for _, m := range k.models() {
		m.Closed, m.Wider, m.Spread, m.Morphology = m.Wider, nil, "", append(slices.Clone(m.Morphology), name)
	}
	k.StartAt(s.X)
	first := len(k.Params)
	k.Params = append(k.Params, Param{Name: name, Start: 0.1, Bounds: []float64{0.01, 0.4}})
	remedy := fmt.Sprintf(`add %q: {"start": 0.1} to the parameters of the model %q, which has one distribution of sizes; where residuals along q remain, two populations of sizes are tried by "second_size": {"start": 2} and "second_share": {"start": 0.2}`, name, t.Model.Ensemble)
	return []rival{{kind: kindSizes, first: first, off: []float64{0}, task: k, say: func(f *Solution) (string, string) {
		return fmt.Sprintf("bodies whose sizes differ, with a relative standard deviation of about %.2g, or sizes of two populations, would fit better", f.X[first]), remedy
	}}}
}
