// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeCounts is the random stream that places counts within their probability.
const purposeCounts uint32 = 151

// counts fills z with the quantile residuals of counts.
func (c *inspection) counts(z []float64) error {
	src := tensor.NewStream(uint64(len(z)), purposeCounts, 0)
	rate := make([]float64, len(c.mean))
	for i, m := range c.mean {
		rate[i] = max(m, 1e-30)
	}
	return dist.Poisson(ad.Input("rate", len(z))).Scores(z, c.comparison.data, []int{len(z)}, [][]float64{rate}, func(int) float64 { return src.Float64() })
}

// derivatives fills the Jacobian of the residuals. For counts it takes the Jacobian of
// their means over scale, which is how quantile residuals move on average.
func (c *inspection) derivatives(j []float64) error {
	if c.Loss != PoissonLoss {
		return c.jacobian(j, c.x)
	}
	plain := *c.Inversion
	plain.Loss, plain.Sigma, plain.Data = SquareLoss, 1, c.Data.Copy()
	for i, d := range plain.Data.Data().([]float64) {
		if d < 0 {
			plain.Data.Data().([]float64)[i] = math.NaN()
		}
	}
	l, err := plain.linear()
	if err != nil {
		return err
	}
	if err := l.jacobian(j, c.x); err != nil {
		return err
	}
	for k := range j {
		j[k] /= c.scale[k%len(c.scale)]
	}
	return nil
}

// CountStrength is the mean change of a count's quantile residual per change of the count's
// mean, in units of the root of the mean:
//
//	a(m) = m^-1/2 sum_k phi(Phi^-1(F(k; m)))
//
// where F is the Poisson distribution function. It approaches 1 for large means and falls
// to 0 with the mean: a pixel that is dark anyway carries little information.
func CountStrength(m float64) float64 {
	if m > 100 {
		return 1
	}
	if m = max(m, 1e-300); m < 1e-12 {
		return math.Sqrt(m * 2 * math.Log(1/m))
	}
	sum := 0.0
	for k := 0.0; k < m+12*math.Sqrt(m)+12; k++ {
		above := mathext.GammaIncReg(k+1, m) // 1 - F
		if !(above > 1e-300) {
			break
		}
		z := -mathext.NormalQuantile(min(above, 1-1e-16))
		sum += math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	}
	return min(1, sum/math.Sqrt(m))
}
