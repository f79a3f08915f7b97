// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import "math"

// DualAverage adapts the logarithm of the step size so that a statistic of the
// trajectories meets its target on average.
//
//	eta = 1/(c+t0),  sbar = (1-eta) sbar + eta (delta - a)
//	log eps = mu - sbar sqrt(c)/gamma,  xbar = (1-c^-kappa) xbar + c^-kappa log eps
//
// Reference: Hoffman and Gelman, JMLR 15 (2014) 1593, section 3.2.
type DualAverage struct {
	Delta float64
	mu    float64
	// count is c.
	count      float64
	sbar, xbar float64
	// MaxLog bounds log eps.
	MaxLog float64
	// settled says that the first step size is nearly right.
	settled bool
}

const (
	dualGamma = 0.05
	dualT0    = 10 // and kappa is 3/4
	// settledGamma is that of a step size that is nearly right. With the smaller one the step size of the first 100 draws jumps by so much that its mean is
	// too small: that of 50 draws realises 0.8 where 0.6 is asked for.
	settledGamma = 0.2
)

// Restart forgets all but the target and pulls towards 10 eps, or eps if that is nearly right.
func (d *DualAverage) Restart(eps float64) {
	d.mu, d.count, d.sbar, d.xbar = math.Log(10*eps), 0, 0, 0
	if d.settled {
		d.mu = math.Log(eps)
	}
}

// Update takes the statistic of a trajectory and returns the next step size.
func (d *DualAverage) Update(accept float64) float64 {
	d.count++
	eta := 1 / (d.count + dualT0)
	d.sbar = (1-eta)*d.sbar + eta*(d.Delta-math.Min(accept, 1))
	root := math.Sqrt(d.count)
	gamma := dualGamma
	if d.settled {
		gamma = settledGamma
	}
	x := math.Min(d.mu-d.sbar*root/gamma, d.MaxLog)
	k := 1 / (root * math.Sqrt(root)) // c^-kappa
	d.xbar = (1-k)*d.xbar + k*x
	return math.Exp(x)
}

// Final returns the step size to keep.
func (d *DualAverage) Final() float64 { return math.Exp(d.xbar) }
