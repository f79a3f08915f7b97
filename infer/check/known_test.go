// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// A departure whose size is known is flagged if it moves a parameter, with by how much it would move with it in the model, and is noted
// otherwise; residuals that are right change nothing about that.
func TestKnownDepartures(t *testing.T) {
	const n = 100
	z := tensor.NewStream(1, 0, 0)
	d := Data{Z: make([]float64, n), Names: []string{"level"}, Jacobian: make([]float64, n)}
	mean := 0.0
	for i := range n {
		d.Z[i], d.Jacobian[i] = z.Normal(), 1
		mean += d.Z[i] / n
	}
	for i := range n {
		d.Z[i] -= mean
	}
	for shift, flagged := range map[float64]bool{2: true, 0.31: true, 0.2: false} { // in standard deviations of the level, 1/10
		column := make([]float64, n)
		for i := range column {
			column[i] = -shift / 10 * float64(i%2*2)
		}
		d.Directions = []Direction{{Kind: "dead time", Known: true, Columns: [][]float64{column}, Say: func(coef, sd []float64) (string, string) { return "photons are missed", "attenuate the beam" }}}
		v, err := Judge(d, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if v.OK == flagged || !strings.Contains(v.String(), "photons are missed; with it in the model, level would move by +"+size(shift)+" standard deviations") {
			t.Errorf("a shift of %g: %v", shift, v)
		}
	}
}
