package optim

import (
	"fmt"
	"math"
	"strings"
)

// Result is the end of a fit.
type Result struct {
	Names     []string
	X         []float64
	Cost      float64   // scale^2/2 sum rho; half the chi-square for least squares
	Residuals []float64 // unweighted
	Grad      []float64 // of the cost
	// Active is -1 or 1 where a parameter lies on its lower or upper bound.
	Active []int
	NFev   int // evaluations of the residual
	NJev   int
	Status Status
	// Rank counts the directions that the data determine; SingularValues are
	// those of the Jacobian with columns of length 1.
	Rank           int
	SingularValues []float64
	// Cov is the covariance of the parameters, row-major; +Inf on the diagonal of
	// those that the data do not determine, 0 for fixed ones. FreeCov holds
	// parameters on their bounds fixed.
	Cov, FreeCov []float64
	// Undetermined lists combinations of parameters that the data say nothing of.
	Undetermined []string
	M            int // residuals
	NFree        int // fitted parameters
	Warnings     []string
}

// SD returns the standard deviations, the roots of Cov's diagonal.
func (r *Result) SD() []float64 { return roots(r.Cov, len(r.X)) }

// FreeSD returns the standard deviations with parameters on bounds held there.
func (r *Result) FreeSD() []float64 { return roots(r.FreeCov, len(r.X)) }

func roots(cov []float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Sqrt(cov[i*n+i])
	}
	return out
}

// DoF is the number of residuals less that of fitted parameters.
func (r *Result) DoF() int { return r.M - r.NFree }

// ChiSquared is the sum of squared residuals.
func (r *Result) ChiSquared() float64 { return dot(r.Residuals, r.Residuals) }

// ReducedChiSquared is ChiSquared per degree of freedom; NaN without any.
func (r *Result) ReducedChiSquared() float64 {
	if r.DoF() <= 0 {
		return math.NaN()
	}
	return r.ChiSquared() / float64(r.DoF())
}

// Value returns the fitted parameter of that name.
func (r *Result) Value(name string) float64 {
	for i, n := range r.Names {
		if n == name {
			return r.X[i]
		}
	}
	return math.NaN()
}

// String is a short table.
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
func (w *work) result(status Status) *Result {
	r := &Result{X: w.x, Cost: w.cost, Residuals: w.f, Grad: w.grad, NFev: w.nfev, NJev: w.njev, Status: status,
		M: w.m, NFree: w.n, Names: w.p.allNames(), Active: make([]int, w.n)}
	if w.p.bounded() {
		for i, x := range w.x {
			near := 1e-8 * max(1, math.Abs(x))
			switch {
			case x-w.p.Lower[i] <= near && w.grad[i] >= 0:
				r.Active[i] = -1
			case w.p.Upper[i]-x <= near && w.grad[i] <= 0:
				r.Active[i] = 1
			}
		}
	}
	for i, a := range r.Active {
		if a != 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s is at its bound %.6g: the data pull beyond it; widen the bound or fix the parameter", w.p.name(i), w.x[i]))
		}
	}
	w.covariances(r)
	return r
}

// spread puts the result of the free parameters among the fixed ones.
func (r *Result) spread(p *Problem, free []int, x []float64) {
	n, k := p.N, len(free)
	wide := func(a []float64) []float64 {
		out := make([]float64, n*n)
		for i, fi := range free {
			for j, fj := range free {
				out[fi*n+fj] = a[i*k+j]
			}
		}
		return out
	}
	grad, active := make([]float64, n), make([]int, n)
	for i, fi := range free {
		grad[fi], active[fi] = r.Grad[i], r.Active[i]
	}
	r.X, r.Names, r.Grad, r.Active = x, p.allNames(), grad, active
	r.Cov, r.FreeCov = wide(r.Cov), wide(r.FreeCov)
}
