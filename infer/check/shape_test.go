// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"strings"
	"testing"
)

// The words name the moment that is farthest off, of values as sines, rounded exponentials and Student's t have them.
func TestShapeInWords(t *testing.T) {
	for _, c := range []struct {
		skew, kurtosis float64
		want           string
	}{{-0.16, -1.5, "lighter tails"}, {0.8, -0.3, "are skewed (skewness +0.8)"}, {0.3, -0.5, "are skewed"}, {0.1, 2, "heavier tails"}, {0.05, -0.1, "do not scatter as"}} {
		if f := sayShape(c.skew, c.kurtosis, "a normal distribution allows"); !strings.Contains(f.Text, c.want) {
			t.Errorf("%g, %g: %s, want %q", c.skew, c.kurtosis, f.Text, c.want)
		}
	}
	sines := make([]float64, 400)
	for i := range sines {
		sines[i] = math.Sin(7 * float64(i*i))
	}
	if skew, kurtosis := standardise(sines); kurtosis > -1.3 || math.Abs(skew) > 0.2 {
		t.Errorf("sines have a skewness of %g and an excess kurtosis of %g", skew, kurtosis)
	}
}
