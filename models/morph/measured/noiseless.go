// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/infer/check"
)

// leastScatter is the mean squared residual, in units of the variance, below which numbers have no noise: that of n numbers with noise is
// 1 to within a few times the root of 2/n. leastRelative is the same for the root of a share of the numbers, where the variance is found
// from the residuals.
const leastScatter, leastRelative = 0.05, 1e-5

// kindNoiseless is the finding that data have no noise.
const kindNoiseless = "no noise"

// leastNumbers is the smallest number of numbers whose scatter is judged.
const leastNumbers = 30

// noiseless finds numbers that scatter far less than their likelihood says, as those of a simulation do.
func (c *inspection) noiseless() (check.Flag, bool) {
	k, own, square, size := 0, 0.0, 0.0, 0.0
	scaled := false
	for _, p := range c.single.parts {
		scaled = scaled || p.noise.scale != ""
		for i, v := range p.values {
			d := v - c.mean[k+i]
			square, size = square+d*d, size+v*v
			if p.noise.scale == "" {
				own += d * d / p.noise.variance(p, i, c.mean[k+i], 1)
			}
		}
		k += len(p.values)
	}
	n := float64(k - len(c.Params))
	f := check.Flag{Kind: kindNoiseless, Remedy: "check that the data were measured and not computed: of computed patterns, draw counts from the Poisson distribution, or say by the likelihood (\"loss\") which errors they have"}
	switch {
	case n < leastNumbers:
		return f, false
	case scaled:
		relative := math.Sqrt(square / size)
		f.Text = fmt.Sprintf("the data have no noise: they lie on the model to within %.2g of their size, and errors that are found from the residuals mean nothing", relative)
		return f, relative < leastRelative
	}
	f.Text = fmt.Sprintf("the data have no noise: their mean squared residual is %.2g of the variance that their likelihood has, and should be 1 to within %.2g", own/n, 3*math.Sqrt(2/n))
	return f, own/n < leastScatter
}
