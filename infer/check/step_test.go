// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"testing"
)

func TestStepOf(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{1.5, 2, 0.3}, 0.1}, {[]float64{1200, 300}, 100}, {[]float64{2e-9, 3.14e-7}, 1e-9}, {[]float64{0, 0}, 0}, {[]float64{math.Pi, 1}, 1e-12}, {[]float64{-6.06, 1.02}, 0.01}} {
		if got := StepOf(c.values); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("the step of %v is %g, want %g", c.values, got, c.want)
		}
	}
}

// Five points of a line that a constant describes badly are flagged although the size of their errors is not known, as their residuals are far larger than the decimals of the data; where they are not, nothing is said.
func TestFewPointsFarFromTheModel(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		step float64
		ok   bool
	}{{[]float64{2, 4, 6, 8.1, 9.9}, 0.1, false}, {[]float64{2, 4, 6, 8.1, 9.9}, 0, true}, {[]float64{0.1, 0.2, 0.3, 0.4, 0.5}, 0.1, true}, {[]float64{3, 1.4, 2.9, 1.1, 2.2}, 0.01, true}} {
		mean := 0.0
		for _, v := range c.y {
			mean += v / 5
		}
		d := Data{Relative: true, Step: c.step, Names: []string{"a"}, Jacobian: []float64{1, 1, 1, 1, 1}, Axes: []Axis{{Name: "x", Values: []float64{1, 2, 3, 4, 5}}}}
		for _, v := range c.y {
			d.Z = append(d.Z, v-mean)
		}
		v, err := Judge(d, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if v.OK != c.ok {
			t.Errorf("%v in steps of %g: %s", c.y, c.step, v.Summary())
		}
	}
}
