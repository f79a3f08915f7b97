// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// Fits of ErrorsOfCounts end after mostWeightings, or when no predicted count moves by more than sameWeights of its error.
const (
	mostWeightings = 50
	sameWeights    = 1e-7
)

// ErrorsOfCounts replaces the column of errors of counts by the roots of the counts that the formula predicts, and returns the parameters of the fit with
// these errors. The fit is repeated until both agree: its gradient is then that of the Poisson likelihood, so that the parameters are those of its maximum,
// and low counts do not draw them.
//
// It returns nil and leaves the errors as they were where the fit predicts a count that is not above 0, or does not settle.
func (p *Problem) ErrorsOfCounts(ctx context.Context, b ad.Backend) ([]float64, error) {
	given := p.Data[p.Sigma]
	var x, last []float64
	for range mostWeightings {
		problem, s, err := p.LeastSquaresOn(b)
		if err != nil {
			return nil, err
		}
		if x != nil {
			problem.Start = x
		}
		r, err := optim.LeastSquares(ctx, problem, s)
		if err != nil {
			return nil, err
		}
		mean, err := p.Predicted(r)
		if err != nil {
			return nil, err
		}
		if !(slices.Min(mean) > 0) {
			break
		}
		roots, moved := make([]float64, len(mean)), math.Inf(1)
		if last != nil {
			moved = 0
		}
		for i, m := range mean {
			roots[i] = math.Sqrt(m)
			if last != nil {
				moved = max(moved, math.Abs(m-last[i])/roots[i])
			}
		}
		x, last = r.X, mean
		p.Data[p.Sigma] = Column{Values: roots}
		if moved < sameWeights {
			return x, nil
		}
	}
	p.Data[p.Sigma] = given
	return nil, ctx.Err()
}

// purposeCounts is the random stream that places counts within their probability.
const purposeCounts uint32 = 163

// asCounts takes the residuals of counts whose errors are the roots of the predicted counts as the quantiles of their Poisson distributions, as counts of a few
// are skewed.
func (p *Problem) asCounts(d *check.Data, y []float64) error {
	for i, v := range y {
		if v < 0 || v != math.Trunc(v) || !(d.Mean[i] > 0) || math.Abs(d.Sigma[i]*d.Sigma[i]/d.Mean[i]-1) > 1e-5 {
			return nil
		}
	}
	d.Counts, d.AtPoint = true, false // the quantiles add up to 0 along the parameters on average only
	z := make([]float64, len(y))
	random := tensor.NewStream(uint64(len(y)), purposeCounts, 0)
	err := dist.Poisson(ad.Input("rate", len(y))).Scores(z, y, []int{len(y)}, [][]float64{d.Mean}, func(int) float64 { return random.Float64() })
	d.Z = z
	return err
}

// nearCount is the relative distance of a predicted count from the observed one within which the residual of the deviance is a series.
const nearCount = 1e-3

// devianceResidual returns the signed root of the deviance of a count n whose mean is m, 2 (m - n + n log(n/m)), and its derivative along m. Both are NaN where n has no probability.
func devianceResidual(n, m float64) (r, slope float64) {
	if m < 0 || n > 0 && m == 0 {
		return math.NaN(), math.NaN()
	}
	if n == 0 {
		r = math.Sqrt(2 * m)
		return r, 1 / r
	}
	e := m/n - 1
	if math.Abs(e) < nearCount {
		return math.Sqrt(n) * e * (1 - e/3 + 7*e*e/36), (1 - 2*e/3 + 7*e*e/12) / math.Sqrt(n)
	}
	r = math.Copysign(math.Sqrt(2*n*(e-math.Log1p(e))), e)
	return r, (1 - n/m) / r
}

// Deviance returns the problem of counts whose residuals are those of LeastSquares, with the deviance of the Poisson distribution in their place: its least sum is that of the likelihood, and its profiles
// and contours are those of the likelihood, in which errors follow the predicted counts.
func (p *Problem) Deviance(problem *optim.Problem) (*optim.Problem, error) {
	y, err := p.Observed()
	if err != nil {
		return nil, err
	}
	sigma, inner := p.Data[p.Sigma].Values, problem.Clone()
	out := &optim.Problem{M: problem.M, N: problem.N, Names: problem.Names, Lower: problem.Lower, Upper: problem.Upper, Start: problem.Start}
	f := make([]float64, problem.M)
	out.Residual = func(r, x []float64) error {
		if err := inner.Residual(r, x); err != nil {
			return err
		}
		for i, n := range y {
			r[i], _ = devianceResidual(n, n+sigma[i]*r[i])
		}
		return nil
	}
	out.Jacobian = func(j, x []float64) error {
		if err := inner.Residual(f, x); err != nil {
			return err
		}
		if err := inner.Jacobian(j, x); err != nil {
			return err
		}
		for i, n := range y {
			_, slope := devianceResidual(n, n+sigma[i]*f[i])
			for k := range problem.N {
				j[k*problem.M+i] *= slope * sigma[i]
			}
		}
		return nil
	}
	return out, nil
}

// DevianceOf is the sum of the deviances of the counts for a result of Fit, +Inf where the formula predicts none for a count.
func (p *Problem) DevianceOf(r *optim.Result) (float64, error) {
	y, err := p.Observed()
	if err != nil {
		return math.NaN(), err
	}
	mean, err := p.Predicted(r)
	if err != nil {
		return math.NaN(), err
	}
	sum := 0.0
	for i, n := range y {
		d, _ := devianceResidual(n, mean[i])
		if math.IsNaN(d) {
			return math.Inf(1), nil
		}
		sum += d * d
	}
	return sum, nil
}
