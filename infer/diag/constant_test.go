// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"slices"
	"strings"
	"testing"
)

// Draws of which no quantity ever changes are stuck; a quantity that is constant beside others is not.
func TestNothingEverChanged(t *testing.T) {
	still := [][]float64{slices.Repeat([]float64{3}, 100), slices.Repeat([]float64{3}, 100)}
	moving := [][]float64{slices.Clone(still[0]), slices.Clone(still[0])}
	for c := range moving {
		for i := range moving[c] {
			moving[c][i] = float64((i*7919 + c*104729) % 101)
		}
	}
	only := Summarize([]string{"a"}, [][][]float64{still}, Settings{})
	if v := Diagnose(only, Evidence{}); v.OK() || !strings.Contains(v.String(), "no quantity ever changed in any chain") {
		t.Error(v)
	}
	both := Summarize([]string{"a", "b"}, [][][]float64{still, moving}, Settings{})
	if v := Diagnose(both, Evidence{}); strings.Contains(v.String(), "no quantity ever changed") {
		t.Error(v)
	}
}
