// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Folds of groups of unequal sizes are as even as the largest group lets them be, and two folds are enough.
func TestFoldsOfUnequalGroups(t *testing.T) {
	var group []int
	for g, size := range []int{1, 1, 1, 9, 1, 1, 8, 1, 1, 1, 1, 7} {
		for range size {
			group = append(group, g)
		}
	}
	for seed := range uint64(8) {
		folds, err := KFoldGroups(group, 3, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range folds {
			if len(f) != 11 {
				t.Errorf("seed %d: a fold has %d of 33 observations: want 11", seed, len(f))
			}
		}
		if folds, err = KFold(4, 2, seed); err != nil || len(folds) != 2 {
			t.Errorf("two folds: %v, %v", folds, err)
		}
	}
}

// Tables and sentences have the numbers that they tell.
func TestNumbersThatAreTold(t *testing.T) {
	e := ELPD{Method: methodLOO, ELPD: -100, SE: 4, P: 3, PSE: 0.5, Points: make([]PointELPD, 20)}
	cells := e.cells()
	if got := strings.Join(cells[3], " "); got != "looic 200.0 8.0" {
		t.Errorf("the line of looic is %q", got)
	}
	if lines := strings.Split(cells.markdown(), "\n"); lines[1] != "|---|---:|---:|" || strings.HasPrefix(lines[2], "|---") {
		t.Errorf("the table is %q", lines)
	}
	if got := fmt.Sprint(percent(3, 12)); got != "25" {
		t.Errorf("3 of 12 are %s %%", got)
	}
	x := [][]float64{make([]float64, 101)}
	for i := range x[0] {
		x[0][i] = float64((37 * i) % 101)
	}
	if r := describe("x", x, Settings{CI: 0.8}, nil); math.Abs(r.CI.Low-10) > 1e-9 || math.Abs(r.CI.High-90) > 1e-9 {
		t.Errorf("80 %% of 0 to 100 lie in %v", r.CI)
	}
	if got := meanExpError([][]float64{{-1, -1}, {-1, -1}}, -1); got != 0 {
		t.Errorf("equal likelihoods have the error %v", got)
	}
}
