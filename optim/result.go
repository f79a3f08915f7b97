// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Result is the result of a fit.
type Result struct {
	Names []string
	X     []float64
	// Cost is scale^2/2 sum rho, which is half of chi-square for least squares.
	Cost float64
	// Residuals are the unweighted residuals; those of priors come last.
	Residuals []float64
	// Jacobian is the Jacobian of the residuals, column by column: J[k*M+i]. It is 0 for fixed and
	// tied parameters, and nil if it was not stored.
	Jacobian []float64
	// Grad is the gradient of the cost.
	Grad []float64
	// Active is -1 or 1 where a parameter lies on its lower or upper bound, and otherwise 0.
	Active []int
	// NFev is the number of evaluations of the residual.
	NFev int
	NJev int
	// Steps is the number of accepted steps.
	Steps  int
	Status Status
	// Rank is the number of directions in parameter space that the data determine. SingularValues
	// are those of the Jacobian whose columns are scaled to length 1.
	Rank           int
	SingularValues []float64
	// Cov is the covariance of the parameters, row-major. Its diagonal is +Inf for parameters that
	// the data do not determine and 0 for fixed ones. FreeCov is the covariance with parameters at
	// their bounds held fixed. Both are nil if the Jacobian was not stored; see Variances.
	Cov, FreeCov []float64
	// NullVectors are directions of the fitted parameters that the data do not determine, scaled so
	// that the largest element is 1. Undetermined describes them by the names of the parameters,
	// and names parameters whose errors the model does not keep: see Warnings.
	NullVectors  [][]float64
	Undetermined []string
	// M is the number of residuals, including those of priors.
	M int
	// NFree is the number of fitted parameters.
	NFree int
	// Scale is the factor by which Cov was multiplied: LossFactor with RelativeSigma, and otherwise 1 or, under a robust
	// loss, LossFactor and at least what the loss costs where the residuals are normal.
	Scale float64
	// Absolute reports whether the errors of the residuals are 1, rather than known only up to a
	// factor.
	Absolute bool
	// PriorResiduals is the number of residuals, at the end of the list, that belong to Gaussian
	// priors and not to data.
	PriorResiduals int
	Warnings       []string

	// far is a Jacobian that is not stored.
	far       *operator
	loss      Loss
	lossScale float64
	// leastScale is a lower limit of Scale where it is estimated.
	leastScale float64
	// sum is the sum of squares, where the residuals are not kept.
	sum float64
	// free are the numbers of the fitted parameters, nil for all.
	free []int
	// tieJacobian is the derivative of all parameters with respect to the fitted ones, nil
	// where they are all.
	tieJacobian []float64
	// tieGradient sets g to the derivative of parameter i with respect to the fitted ones.
	// It is nil where all are fitted.
	tieGradient func(g []float64, i int)
}

// SD returns the standard deviations, which are the square roots of Cov's diagonal. They are NaN if
// there is no covariance.
func (r *Result) SD() []float64 { return roots(r.Cov, len(r.X)) }

// FreeSD returns the standard deviations with parameters at their bounds held fixed.
func (r *Result) FreeSD() []float64 { return roots(r.FreeCov, len(r.X)) }

func roots(cov []float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		if out[i] = math.NaN(); cov != nil {
			out[i] = math.Sqrt(cov[i*n+i])
		}
	}
	return out
}

// Correlation returns the correlations of the parameters, row-major. They are 1 on the diagonal,
// and NaN for parameters that are fixed or not determined.
func (r *Result) Correlation() []float64 {
	n := len(r.X)
	if r.Cov == nil {
		return nil
	}
	out, sd := make([]float64, n*n), r.SD()
	for i := range n {
		for j := range n {
			c := r.Cov[i*n+j] / (sd[i] * sd[j])
			if math.IsInf(sd[i], 1) || math.IsInf(sd[j], 1) {
				c = math.NaN()
			}
			if i == j {
				c = 1
			}
			out[i*n+j] = c
		}
	}
	return out
}

// DoF returns the number of degrees of freedom: the number of residuals minus the number of
// directions that they determine, which is the rank, or the number of fitted parameters if the
// Jacobian was not stored.
func (r *Result) DoF() int {
	if r.SingularValues == nil {
		return r.M - r.NFree
	}
	return r.M - r.Rank
}

// ChiSquared returns the sum of squared residuals.
func (r *Result) ChiSquared() float64 {
	if r.Residuals == nil {
		return r.sum
	}
	return linalg.Dot(r.Residuals, r.Residuals)
}

// ReducedChiSquared returns ChiSquared per degree of freedom. It is NaN if there are no degrees of
// freedom.
func (r *Result) ReducedChiSquared() float64 {
	if r.DoF() <= 0 {
		return math.NaN()
	}
	return r.ChiSquared() / float64(r.DoF())
}

// Robust reports whether the loss reduced the weight of large residuals.
func (r *Result) Robust() bool { return !r.loss.plain() }

// Value returns the fitted value of the parameter with the given name.
func (r *Result) Value(name string) float64 {
	for i, n := range r.Names {
		if n == name {
			return r.X[i]
		}
	}
	return math.NaN()
}

// String returns the fitted parameters as a short table.
func (r *Result) String() string {
	var b strings.Builder
	sd := r.SD()
	for i, n := range r.Names {
		fmt.Fprintf(&b, "%-12s %12.6g +- %.2g\n", n, r.X[i], sd[i])
	}
	fmt.Fprintf(&b, "cost %.6g, %d evaluations: %s", r.Cost, r.NFev, r.Status.Message())
	for _, w := range r.Warnings {
		b.WriteString("\nwarning: " + w)
	}
	return b.String()
}

// result collects what a fit found.
func (w *iterate) result(status Status) *Result {
	r := &Result{X: w.x, Cost: w.cost, Residuals: w.f, Grad: w.grad, NFev: w.nfev, NJev: w.njev, Steps: w.steps, Status: status,
		M: w.rows, NFree: w.n, Names: w.p.allNames(), Active: make([]int, w.n), Scale: 1, Absolute: !w.s.RelativeSigma,
		loss: w.s.Loss, lossScale: w.s.LossScale, leastScale: w.s.LeastScale, PriorResiduals: w.p.extra}
	if w.p.bounded() {
		w.active(r)
	}
	if d, ok := w.model.(*dense); ok {
		r.Jacobian = d.unweighted()
		d.covariances(r)
		w.tellBounds(r)
		return r
	}
	r.far, _ = w.model.(*operator)
	r.scaleErrors(w.s.RelativeSigma)
	w.tellBounds(r)
	return r
}

// usualSize is the size of a parameter, in changes that move the residuals by 1, below which it is small for its unit.
const usualSize = 1e3

// size returns how large parameter k is, for tolerances: its value or, if that is near 0, at most 1 and less for a parameter in a large unit, such as a time
// of nanoseconds in seconds.
func (w *iterate) size(k int) float64 {
	return max(math.Abs(w.x[k]), min(1, usualSize/w.longest[k])) // 1 if it changes nothing
}

// active fills the mask of parameters on bounds.
func (w *iterate) active(r *Result) {
	for i, x := range w.x {
		near := 1e-8 * w.size(i)
		switch {
		case x-w.p.Lower[i] <= near && w.grad[i] >= 0:
			r.Active[i] = -1
		case w.p.Upper[i]-x <= near && w.grad[i] <= 0:
			r.Active[i] = 1
		}
	}
}

// beyondChance is the number of standard deviations by which the data have to take a parameter beyond its bound to warn of it: where the
// truth is at a bound, half of all fits end there.
const beyondChance = 3

// WidenBound is what warnings of parameters on bounds advise.
const WidenBound = "widen the bound or fix the parameter"

// tellBounds warns of parameters that the data would take far beyond their bounds, and that are not named as undetermined.
func (w *iterate) tellBounds(r *Result) {
	for i, a := range r.Active {
		if a == 0 || slices.Contains(r.Undetermined, w.p.name(i)) {
			continue
		}
		bound, how := w.p.Lower[i], "the data pull beyond it"
		if a > 0 {
			bound = w.p.Upper[i]
		}
		if r.Cov != nil {
			pull := r.BeyondBound(i, math.Sqrt(r.Scale/r.Cov[i*w.n+i]))
			if !(pull >= beyondChance) {
				continue
			}
			how = fmt.Sprintf("the data would take it %.2g standard deviations beyond it", pull)
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s is at its bound %.6g: %s; %s", w.p.name(i), bound, how, WidenBound))
	}
}

// BeyondBound returns by how many standard deviations the data would take parameter k beyond the bound that it is on. The length own is that of
// its column of the Jacobian outside those of the parameters that would follow. Errors that are known up to a factor have the size that
// the residuals would have without the bound.
func (r *Result) BeyondBound(k int, own float64) float64 {
	move, scale := math.Abs(r.Grad[k])/own, r.Scale
	if !r.Absolute && !r.Robust() {
		scale = max(0, r.ChiSquared()-move*move) / float64(r.DoF())
	}
	return move / math.Sqrt(scale)
}

// unweighted returns the Jacobian without the weights of a robust loss.
func (d *dense) unweighted() []float64 {
	if d.weights == nil {
		return d.j
	}
	out := slices.Clone(d.j)
	for k := range d.n {
		for i, v := range d.weights {
			out[k*d.m+i] /= v
		}
	}
	return out
}
