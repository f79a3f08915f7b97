// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// drawnBy returns four chains of independent draws.
func drawnBy(seed uint64, of func(src *tensor.Stream) float64) [][]float64 {
	src := tensor.NewStream(seed, 1, 1)
	x := make([][]float64, 4)
	for c := range x {
		for range 1000 {
			x[c] = append(x[c], of(&src))
		}
	}
	return x
}

// student returns a draw of Student's t distribution with nu degrees of freedom.
func student(nu int) func(src *tensor.Stream) float64 {
	return func(src *tensor.Stream) float64 {
		sum := 0.0
		for range nu {
			z := src.Normal()
			sum += z * z
		}
		return src.Normal() / math.Sqrt(sum/float64(nu))
	}
}

// Means that do not exist are told by none of their draws, and nor are standard deviations; those that do exist are.
func TestHeavyTails(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func(src *tensor.Stream) float64
		none bool // whether there is no mean
		wide int  // how many of 100 sets are to tell no standard deviation, 5 more or less
	}{
		{"Cauchy", student(1), true, 100},
		{"half-Cauchy", func(src *tensor.Stream) float64 { return math.Abs(student(1)(src)) }, true, 100},
		{"1/u, whose mean is infinite", func(src *tensor.Stream) float64 { return 1 / (src.Float64() + 1e-300) }, true, 100},
		{"1/u^2", func(src *tensor.Stream) float64 { return math.Pow(src.Float64()+1e-150, -2) }, true, 100},
		{"4 % of it a hundred times as wide", func(src *tensor.Stream) float64 {
			if src.Float64() < 0.04 {
				return 100 * src.Normal()
			}
			return src.Normal()
		}, false, 0},
		{"t with 2", student(2), false, 97},
		{"t with 3", student(3), false, 18},
		{"t with 5", student(5), false, 0},
		{"normal", func(src *tensor.Stream) float64 { return src.Normal() }, false, 0},
		{"exponential", func(src *tensor.Stream) float64 { return -math.Log(src.Float64()) }, false, 0},
		{"lognormal", func(src *tensor.Stream) float64 { return math.Exp(src.Normal()) }, false, 0},
	} {
		flagged, wide, sets := 0, 0, tier.Of(4, 100)
		for seed := range uint64(sets) {
			s := Summarize([]string{"x"}, [][][]float64{drawnBy(seed, c.of)}, Settings{})
			report := adviseTails(s)
			if !report.OK() {
				flagged++
			}
			if len(report) > 0 {
				wide++
				if text := s.String(); !strings.Contains(text, "none") || !strings.Contains(report[0].Cause, "x") || !math.IsNaN(s.Rows[0].Values()[1]) || report[0].OK == math.IsNaN(s.Rows[0].Values()[0]) {
					t.Errorf("%s: the table is %s, and the advice %s", c.name, text, report[0])
				}
			}
		}
		if wrong := map[bool]int{true: sets - flagged, false: flagged}[c.none]; wrong > sets/25 {
			t.Errorf("%s: no mean is told for %d of %d sets of draws", c.name, flagged, sets)
		}
		if far := 100*wide/sets - c.wide; sets == 100 && (far > 5 || far < -5) {
			t.Errorf("%s: no standard deviation is told for %d of %d sets of draws, want about %d of 100", c.name, wide, sets, c.wide)
		}
	}
}
