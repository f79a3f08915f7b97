// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package penalty turns priors into what least squares can add to a sum of squares: residuals and bounds. The minimum is then the most
// probable point, in which positive parameters with a lognormal prior count by their logarithms.
package penalty

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/optim"
)

// Of returns the Gaussian prior that a distribution of a parameter adds, which is nil for a uniform one, and the interval in which it
// holds the parameter. It returns an error for distributions whose density is neither that of a normal distribution nor constant.
func Of(name string, d dist.Dist) (prior *optim.Prior, bounds [2]float64, err error) {
	bounds = [2]float64{math.Inf(-1), math.Inf(1)}
	numbers, err := dist.Numbers(d)
	if err != nil {
		return nil, bounds, err
	}
	v := func(i int) float64 { return numbers[i][0] }
	var p optim.Prior
	switch d.Name {
	case "normal":
		p = optim.Gaussian(name, v(0), v(1))
	case "lognormal":
		bounds[0], p = 0, optim.LogGaussian(name, v(0), v(1))
	case "halfnormal":
		bounds[0], p = 0, optim.Gaussian(name, 0, v(0))
	case "truncatednormal":
		bounds, p = [2]float64{v(2), v(3)}, optim.Gaussian(name, v(0), v(1))
	case "uniform":
		return nil, [2]float64{v(0), v(1)}, nil
	default:
		return nil, bounds, fmt.Errorf("%s is no penalty of a fit: give %s a normal, lognormal, halfnormal, truncatednormal or uniform prior, or sample the posterior", d, name)
	}
	return &p, bounds, nil
}

// Told says in one sentence what priors made of a fit; it is "" if there are none.
func Told(priors map[string]dist.Dist) string {
	if len(priors) == 0 {
		return ""
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(priors)) {
		all = append(all, fmt.Sprintf("%s ~ %s", name, priors[name]))
	}
	return "this is the most probable point given the priors, not that of least squares alone: " + strings.Join(all, ", ")
}
