// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// The rates are those of PyTorch's schedule.
func TestPlateau(t *testing.T) {
	var f struct {
		Factor, Eps, Threshold float64
		Patience               int
		Losses                 []float64
		After                  []float64 `json:"lr_after"`
	}
	golden.JSON(t, &f, "spectra", "nn", "plateau.json")
	p := Plateau{Factor: f.Factor, Threshold: f.Threshold, Least: f.Eps, Patience: f.Patience}
	rate, lowest := f.After[0], math.Inf(1)
	for i, loss := range f.Losses {
		rate = p.Next(rate, loss)
		lowest = min(lowest, rate)
		if math.Abs(rate/f.After[i]-1) > 1e-12 {
			t.Fatalf("after loss %d: rate %v, want %v", i, rate, f.After[i])
		}
	}
	if lowest == f.After[0] {
		t.Error("the rate never fell")
	}
}
