// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gp

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// jitter replaces missing noise, in units of the mean variance. It is large enough for
// close points and too small to be visible.
const jitter = 1e-10

// Cholesky returns the lower triangle L with L L^T = cov + diag(noise). cov is a square
// matrix. noise is a variance, one number or one per point; nil stands for 1e-10 of the
// mean variance. If rounding leaves no factor, a run fails with a
// *autodiff.NotPositiveDefiniteError; more noise helps.
func Cholesky(cov *ad.Node, noise any) *ad.Node {
	d := ad.Diag(cov)
	if d.Err() != nil {
		return d
	}
	n := cov.Shape()[0]
	add := ad.Scale(jitter, ad.StopGradient(ad.Mean(d)))
	if noise != nil {
		add = ad.Of(noise)
	}
	return ad.Cholesky(ad.Add(cov, ad.DiagMatrix(ad.Broadcast(add, n))))
}

// Marginal is the distribution of observations of the process at the points x. A nil mean
// stands for 0. noise is a variance, one number or one per point.
//
//	y ~ MultivariateNormal(mean, K(x, x) + diag(noise))
func Marginal(k Kernel, x, mean, noise any) dist.Dist {
	p := ad.Of(x)
	return dist.MultivariateNormalCholesky(level(mean, p), Cholesky(k.Cov(p, p), noise))
}

// Prior is the distribution of the process itself at the points x.
func Prior(k Kernel, x, mean any) dist.Dist { return Marginal(k, x, mean, nil) }

// Latent returns the process at the points x as mean + L z, where z are independent
// standard normal numbers, one per point. Samplers work well with this form.
func Latent(k Kernel, x, mean any, z *ad.Node) *ad.Node {
	p := ad.Of(x)
	return ad.Add(level(mean, p), ad.MatMul(Cholesky(k.Cov(p, p), nil), z))
}

// level returns the mean as a vector with one number per point.
func level(mean any, x *ad.Node) *ad.Node {
	if mean == nil {
		mean = 0.
	}
	return constant(ad.Of(mean), x)
}

// Prediction is the distribution of the process at new points, given observations.
type Prediction struct {
	Mean *ad.Node // mean at the new points
	Cov  *ad.Node // covariance between the new points, without noise
	Var  *ad.Node // variance at the new points, the diagonal of Cov computed without the full matrix
}

// Condition returns the process at the points at, given observations y at the points x
// with noise of the given variance. mean is the mean of the process, a number; nil stands
// for 0.
//
//	L = chol(K(x, x) + diag(noise)), v = L^-1 K(x, at), w = L^-1 (y - mean)
//	Mean = mean + v^T w, Cov = K(at, at) - v^T v
//
// Gradient: with respect to everything. Reference: Rasmussen and Williams, Gaussian
// Processes for Machine Learning (2006), algorithm 2.1.
func Condition(k Kernel, x, y, mean, noise, at any) Prediction {
	p, q := ad.Of(x), ad.Of(at)
	l := Cholesky(k.Cov(p, p), noise)
	v := ad.SolveTriangular(l, k.Cov(p, q), true, false)
	w := ad.SolveTriangular(l, ad.Sub(ad.Of(y), level(mean, p)), true, false)
	return Prediction{
		Mean: ad.Add(level(mean, q), ad.MatMul(ad.T(v), w)),
		Cov:  ad.Sub(k.Cov(q, q), ad.MatMul(ad.T(v), v)),
		Var:  ad.Sub(k.Var(q), ad.SumAxes(ad.Square(v), 0)),
	}
}

// Distribution returns the distribution of observations at the new points with noise of
// the given variance; nil gives the process itself.
func (p Prediction) Distribution(noise any) dist.Dist {
	return dist.MultivariateNormalCholesky(p.Mean, Cholesky(p.Cov, noise))
}
