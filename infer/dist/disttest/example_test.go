// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package disttest_test

import (
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
)

// halfLogistic is a distribution that package dist lacks: the absolute value of a logistic number of scale s.
//
//	log p = log 2 - log s - x/s - 2 log(1 + exp(-x/s))
func halfLogistic(s any) dist.Dist {
	p := dist.Nodes(s)
	ratio := func(x *ad.Node) *ad.Node { return ad.Div(x, p[0]) }
	tail := func(x *ad.Node) *ad.Node { return ad.Log1p(ad.Exp(ad.Neg(ratio(x)))) }
	quantile := func(u float64, p []float64) float64 { return 2 * p[0] * math.Atanh(u) }
	return dist.Dist{Name: "halflogistic", Params: p, Support: dist.Positive,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Sub(ad.Sub(ad.Scalar(math.Ln2), ad.Log(p[0])), ad.Add(ratio(x), ad.Scale(2, tail(x))))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return ad.Log(ad.Tanh(ad.Scale(0.5, ratio(x)))) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return ad.Sub(ad.Scalar(math.Ln2), ad.Add(ratio(x), tail(x))) },
		RandOf:     func(src dist.Source, p []float64) float64 { return quantile(src.Float64(), p) },
		CDFOf:      func(x float64, p []float64) float64 { return math.Tanh(max(x, 0) / (2 * p[0])) },
		QuantileOf: quantile,
	}
}

var family = dist.Family{Name: "halflogistic", Params: []string{"s"}, Want: []dist.Support{dist.Positive},
	Make: func(p ...any) dist.Dist { return halfLogistic(p[0]) }, At: [][]float64{{1}, {20}}}

// checkFamily is what the test of the distribution calls. It checks density, tails, quantiles, gradients and draws.
func checkFamily(t *testing.T) { disttest.Family(t, family) }

// A package that defines a distribution of its own tests it with one call, as checkFamily does. Unevenness is what one of
// the checks looks at: how far the shares of a sample are from what the distribution says.
func Example() {
	d, p := family.New(20), []float64{20}
	var right, wrong []float64
	for i := range 1000 {
		u := (float64(i) + 0.5) / 1000
		right, wrong = append(right, d.Quantile(u, p)), append(wrong, 40*u)
	}
	fmt.Printf("quantiles %.3f, uniform numbers %.3f\n", disttest.Unevenness(d, p, right), disttest.Unevenness(d, p, wrong))
	hasCDF := disttest.Has(family, func(d dist.Dist, x *ad.Node) *ad.Node { return d.LogCDF(x) })
	fmt.Println("has a distribution function as a graph:", hasCDF)
	// Output:
	// quantiles 0.000, uniform numbers 0.223
	// has a distribution function as a graph: true
}
