// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Method is an algorithm for least squares: LM, TRF or Dogbox.
type Method string

// Auto uses LM if there are no bounds, and TRF if there are bounds or the Jacobian is not stored.
const Auto Method = ""

// method is how a Method works. Its file registers it.
type method struct {
	run      func(w *iterate, ctx context.Context) Status
	bounds   bool // whether it keeps to bounds
	on       bool // whether it may begin on a bound, and not only within
	products bool // whether products with the Jacobian are enough
}

// methods are the registered methods.
var methods = map[Method]method{}

// Solver is the way in which TRF finds the step in its trust region.
type Solver string

// The solvers. AutoSolver uses Exact if the Jacobian is stored.
const (
	AutoSolver Solver = ""
	// Exact finds the step from the singular values of the Jacobian.
	Exact Solver = "exact"
	// LSMR finds the step in the plane of the gradient and an iterative Gauss-Newton step. It needs
	// only products with the Jacobian.
	LSMR Solver = "lsmr"
)

// Settings are the settings of LeastSquares. The zero value is the default.
type Settings struct {
	// Method is the algorithm. Default Auto.
	Method Method
	// Solver is the way in which steps are found. Default AutoSolver.
	Solver Solver
	// Geodesic adds to each step of LM the second-order correction along the
	// geodesic, which follows curved valleys in fewer steps (Transtrum & Sethna,
	// arXiv:1201.5885). Graphs and Problem.Second make it exact.
	Geodesic bool
	// Loss and LossScale reduce the weight of outliers: residuals well above LossScale count less
	// than their square. Default: least squares with scale 1.
	Loss      Loss
	LossScale float64
	// The tolerances FTol and XTol end the fit when the relative changes of the cost and of the
	// parameters are small, and GTol ends it when the gradient (the cosine between residuals and
	// Jacobian columns) is small. Default 1e-8; a negative value switches a test off.
	FTol, XTol, GTol float64
	// Patience ends the fit as CostSettled when this many evaluations have lowered the cost by less
	// than FTol of itself, even if the trust region cut every step: where the data determine next to
	// nothing of a parameter, a fit could follow it for long without gain. Default: no such test.
	Patience int
	// MaxEvaluations limits the number of evaluations of the residual. Default 400 times the number
	// of parameters.
	MaxEvaluations int
	// XScale holds the typical size of each parameter, which shapes the trust region. Default: the
	// inverse of the length of the longest Jacobian column so far.
	XScale []float64
	// FirstStep is the radius of the first trust region relative to the length of the start, both
	// in scaled parameters. Default 1. MINPACK uses 100, which throws some fits (such as NIST's
	// BoxBOD) onto plateaus.
	FirstStep float64
	// NoPolish leaves the result as the tolerances found it. By default, Gauss-Newton steps follow
	// as long as they lower the cost, with parameters at their bounds held there; they bring the
	// minimum to rounding error.
	NoPolish bool
	// Fixed holds parameters at given values, by name.
	Fixed map[string]float64
	// Tied makes parameters, by name, functions of others. Each expression is a graph of scalar
	// inputs that have the names of those other parameters.
	Tied map[string]*ad.Node
	// Priors are Gaussian priors on parameters. They add residuals after those of the data; Loss
	// does not act on them.
	Priors []Prior
	// RelativeSigma scales the covariance by the reduced chi-square, for
	// residuals whose errors are known only up to a factor.
	RelativeSigma bool
	// LeastScale is a lower limit of the variance that RelativeSigma finds, such as that of the rounding of data that the fit meets more closely by chance. Default 0.
	LeastScale float64
	// Progress, if not nil, is called after every accepted step.
	Progress func(Progress)
}

// Progress describes a fit or minimisation that is running.
type Progress struct {
	Step, NFev int
	Cost       float64
	// X holds the parameters. It is valid only during the call.
	X []float64
}

func (s Settings) withDefaults(p *Problem) (Settings, error) {
	tol := func(v *float64) { *v = max(orDefault(*v, 1e-8), 0) }
	tol(&s.FTol)
	tol(&s.XTol)
	tol(&s.GTol)
	s.LossScale, s.FirstStep = orDefault(s.LossScale, 1), orDefault(s.FirstStep, 1)
	if s.MaxEvaluations == 0 {
		s.MaxEvaluations = 400 * max(1, p.N)
	}
	errs := []error{s.Loss.check(), s.checkMethod(p)}
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("optim: "+format, a...)) }
	if !(s.LossScale > 0) {
		bad("the scale of the loss is %g: want a number above 0", s.LossScale)
	}
	if !(s.FirstStep > 0) {
		bad("the first step is %g: want a number above 0", s.FirstStep)
	}
	if s.Patience < 0 {
		bad("the patience is %d evaluations: want at least 1, or 0 for no such test", s.Patience)
	}
	if s.MaxEvaluations < 1 {
		bad("the largest number of evaluations is %d: want at least 1", s.MaxEvaluations)
	}
	if s.XScale != nil {
		errs = append(errs, positive("XScale", s.XScale, p.N))
	}
	return s, errors.Join(errs...)
}

// checkMethod finds what method and solver cannot do.
func (s *Settings) checkMethod(p *Problem) error {
	switch s.Solver {
	case AutoSolver:
		s.Solver = Exact
		if tooLarge := p.M > denseMost/max(1, p.N); p.large() && (tooLarge || s.Method == Auto || methods[s.Method].products) {
			s.Solver = LSMR
		}
	case Exact, LSMR:
	default:
		return unknown("solver", string(s.Solver), []string{string(Exact), string(LSMR)})
	}
	if s.Method == Auto {
		if s.Method = LM; p.bounded() || s.Solver == LSMR {
			s.Method = TRF
		}
	}
	m, known := methods[s.Method]
	switch {
	case !known:
		var names []string
		for name := range methods {
			names = append(names, string(name))
		}
		slices.Sort(names)
		return unknown("method", string(s.Method), names)
	case !m.bounds && p.bounded():
		return fmt.Errorf("optim: method %s cannot keep to bounds: use trf", s.Method)
	case !m.products && s.Solver == LSMR:
		return fmt.Errorf("optim: method %s needs a stored Jacobian, which solver lsmr does not have: use method trf", s.Method)
	case s.Solver == Exact && p.M > denseMost/max(1, p.N):
		return fmt.Errorf("optim: a Jacobian of %d x %d is too large to store: use solver lsmr", p.M, p.N)
	case s.Geodesic && s.Method != LM:
		return fmt.Errorf("optim: Geodesic works with method lm only, not with %s: use lm, or switch Geodesic off", s.Method)
	}
	return nil
}
