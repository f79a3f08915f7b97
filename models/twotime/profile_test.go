// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Intervals are those of a linear model where the noise is small. Where a decay of less than e is measured with few speckles, contrast and offset
// make up for each other, and their intervals reach far to one side.
func TestIntervalsFollowTheModel(t *testing.T) {
	s := transport.Setup{Model: transport.Static, Times: times(24), Q: 0.0054, Angles: []float64{0}}
	truth := []float64{12000, 0.1, 0}
	d, err := Simulate(t.Context(), s, Sample{Theta: truth, Contrast: []float64{0.5}, Offset: []float64{1}, Speckles: 400, MeanCount: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	settings := Settings{Start: truth, Fixed: []string{"D_offset"}}
	fit, err := FitLeastSquares(t.Context(), *d, settings)
	if err != nil {
		t.Fatal(err)
	}
	for _, speckles := range []float64{400, 1e8} {
		d.Noise = []Noise{{Speckles: speckles, InverseCount: 1}}
		e, err := fit.SharedErrors(t.Context(), *d, settings)
		if err != nil {
			t.Fatal(err)
		}
		for i, ends := range e.Intervals {
			lower, upper := fit.X[i]-ends[0], ends[1]-fit.X[i]
			if root := math.Sqrt((lower*lower + upper*upper) / 2); !(lower > 0) || !(upper > 0) || e.SD[i] < 0.999*root/profiled {
				t.Errorf("%g speckles: %s is %g +- %g with the interval %v", speckles, fit.Names[i], fit.X[i], e.SD[i], ends)
			}
			if linear := profiled * e.SD[i]; speckles > 1e6 && (math.Abs(lower/linear-1) > 0.06 || math.Abs(upper/linear-1) > 0.06) {
				t.Errorf("of a linear model: %s has an interval from -%g to +%g, want %g", fit.Names[i], lower, upper, linear)
			}
		}
		if rough := e.Rough(); slices.Contains(rough, 0) != (speckles < 1e6) {
			t.Errorf("%g speckles: the parameters %v have lopsided intervals, which are %v", speckles, rough, e.Intervals)
		}
	}
}
