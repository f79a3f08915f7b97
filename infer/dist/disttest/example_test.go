// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package disttest_test

import (
	"fmt"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
)

// linear is a family that package dist lacks: the distribution on the interval from 0 to top whose density grows linearly.
var linear = dist.Family{
	Name: "linear", Params: []string{"top"}, Want: []dist.Support{dist.Positive},
	Make: func(p ...any) dist.Dist { return dist.Triangle(0, p[0], p[0]) },
	At:   [][]float64{{1}, {20}},
}

// checkLinear belongs into a test file as func TestLinear. It checks density, tails, quantiles, moments and draws.
func checkLinear(t *testing.T) { disttest.Family(t, linear) }

// A package that defines a distribution of its own tests it with one call, as checkLinear does. Unevenness shows what one
// of the checks looks at: how far draws are from the distribution function.
func Example() {
	tests := []testing.InternalTest{{Name: "TestLinear", F: checkLinear}}
	d := linear.New(20)
	var even []float64
	for i := range 1000 {
		even = append(even, d.Quantile((float64(i)+0.5)/1000, []float64{0, 20, 20}))
	}
	fmt.Printf("%s: unevenness %.3f\n", tests[0].Name, disttest.Unevenness(d, []float64{0, 20, 20}, even))
	hasCDF := disttest.Has(linear, func(d dist.Dist, x *ad.Node) *ad.Node { return d.LogCDF(x) })
	fmt.Println("has a distribution function as a graph:", hasCDF)
	// Output:
	// TestLinear: unevenness 0.000
	// has a distribution function as a graph: true
}
