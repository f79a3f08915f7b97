// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

// LossFactor is the variance of the estimates in units of the inverse of J^T J, as the scatter of the residuals shows it: the reduced
// chi-square for least squares and, under a robust loss (Huber and Ronchetti, Robust Statistics, 2009, section 7.6),
//
//	K^2 sum psi_i^2 / (M - N) / mean(psi')^2,  K = 1 + N/M var(psi')/mean(psi')^2
//
// with psi = rho'(z) r. It supposes that the scatter does not depend on where a residual is; see Sandwich. It is NaN without degrees of
// freedom, and infinite if most residuals lie where the loss falls off.
func (r *Result) LossFactor() float64 {
	if !r.Robust() || r.Residuals == nil {
		return r.ReducedChiSquared()
	}
	data := r.M - r.PriorResiduals
	return r.loss.factor(r.Residuals[:data], r.lossScale, r.PriorResiduals, r.DoF())
}

// influence returns psi and its derivative at a residual.
func (l Loss) influence(r, scale float64) (psi, slope float64) {
	z := r / scale * (r / scale)
	_, rho1, rho2 := l.Rho(z)
	return rho1 * r, rho1 + 2*rho2*z
}

// factor is LossFactor of residuals and of some more to which the loss does not apply, which are taken to be small.
func (l Loss) factor(residuals []float64, scale float64, more, dof int) float64 {
	if dof <= 0 {
		return math.NaN()
	}
	m := float64(len(residuals) + more)
	slope, slope2, square := float64(more)/m, float64(more)/m, 0.0
	for _, r := range residuals {
		psi, d := l.influence(r, scale)
		slope, slope2, square = slope+d/m, slope2+d*d/m, square+psi*psi
	}
	if !(slope > 0) {
		return math.Inf(1)
	}
	k := 1 + (m-float64(dof))/m*(slope2/(slope*slope)-1)
	return k * k * square / float64(dof) / (slope * slope)
}

// normalFactor is the factor where the residuals are a standard normal distribution, as they are if the errors of the data are right:
// the variance that the loss costs. It is 1.06 for huber and 2.3 for arctan at a scale of 1.
func (l Loss) normalFactor(scale float64) float64 {
	const steps, width = 400, 10.0
	slope, square := 0.0, 0.0
	for i := range steps + 1 {
		x := width * (2*float64(i)/steps - 1)
		w := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * 2 * width / steps
		psi, d := l.influence(x, scale)
		slope, square = slope+w*d, square+w*psi*psi
	}
	return square / (slope * slope)
}

// errorFactor is the factor of the covariance under a robust loss: what the residuals show, and at least least, which is normalFactor
// where the errors of the data are known, and 0 where they are not.
func (l Loss) errorFactor(residuals []float64, scale float64, more, dof int, least float64) float64 {
	f := l.factor(residuals, scale, more, dof)
	if math.IsNaN(f) && least > 0 {
		return least
	}
	return max(f, least)
}
