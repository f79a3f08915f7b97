// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// Where the reference stops with an error or its two numbers contradict each
// other (too few draws, constants, NaN) ours is NaN.
func TestParetoKAgainstArviZ(t *testing.T) {
	k := newTally(t)
	compared, numbers := 0, 0
	for name, c := range readGoldens(t) {
		var want, draws golden.Float
		if c.Groups != nil || isError(c.Expected.KHat) || json.Unmarshal(c.Expected.KHat, &want) != nil {
			continue
		}
		numbers++
		got := ParetoK(c.draws())
		if w := float64(want); math.IsNaN(w) || math.IsInf(w, 0) {
			if !math.IsNaN(got) {
				t.Errorf("%s: got %v, want NaN", name, got)
			}
			continue
		}
		compared++
		k.check("k-hat", name, got, want, 1e-9)
		if json.Unmarshal(c.Expected.MinSS, &draws) == nil {
			k.check("least draws", name, ParetoMinDraws(got), draws, 1e-9)
		}
	}
	if compared < numbers/2 {
		t.Errorf("only %d of %d cases have a finite shape", compared, numbers)
	}
	k.report()
}

func TestParetoMinDraws(t *testing.T) {
	for k, want := range map[float64]float64{-3: 10, 0: 10, 0.5: 100, 1: math.Inf(1), 2: math.Inf(1)} {
		if got := ParetoMinDraws(k); math.Abs(got-want) > 1e-9*want && got != want {
			t.Errorf("k = %v needs %v draws, want %v", k, got, want)
		}
	}
}
