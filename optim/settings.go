// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"errors"
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Method is an algorithm for least squares.
type Method string

// The methods: Auto takes LM where there are no bounds and TRF where there are
// or where the Jacobian is not stored.
const (
	Auto   Method = ""
	LM     Method = "lm"     // Levenberg-Marquardt (Moré, Lecture Notes in Mathematics 630, 1978); no bounds
	TRF    Method = "trf"    // trust region reflective (Branch, Coleman & Li, doi:10.1137/S1064827595289108)
	Dogbox Method = "dogbox" // dogleg in a box (Voglis & Lagaris 2004); for bounds that many parameters reach
)

// Solver finds the step in a trust region of TRF.
type Solver string

// The solvers: AutoSolver takes Exact where the Jacobian is stored.
const (
	AutoSolver Solver = ""
	Exact      Solver = "exact" // from the singular values of the Jacobian
	LSMR       Solver = "lsmr"  // in the plane of the gradient and an iterative Gauss-Newton step: products with the Jacobian only
)

// Settings of LeastSquares. The zero value is the default.
type Settings struct {
	// Method is the method. Default Auto.
	Method Method
	// Solver is how steps are found. Default AutoSolver.
	Solver Solver
	// Geodesic adds to each step of LM the second-order correction along the
	// geodesic, which follows curved valleys in fewer steps (Transtrum & Sethna,
	// arXiv:1201.5885). Graphs and Problem.Second make it exact.
	Geodesic bool
	// Loss and LossScale forgive outliers: residuals well above LossScale count
	// less than their square. Default: least squares, scale 1.
	Loss      Loss
	LossScale float64
	// FTol, XTol and GTol end the fit on small relative changes of the cost and of
	// the parameters, and on a small gradient (the cosine between residuals and
	// Jacobian columns). Default 1e-8; negative switches one off.
	FTol, XTol, GTol float64
	// MaxEvaluations bounds the evaluations of the residual. Default 400 times
	// the number of parameters.
	MaxEvaluations int
	// XScale holds the customary size of each parameter, which shapes the trust
	// region. Default: the inverse of the longest Jacobian column so far.
	XScale []float64
	// FirstStep is the radius of the first trust region in lengths of the start,
	// both scaled. Default 1. MINPACK takes 100, which throws some fits (NIST's
	// BoxBOD) onto plateaus.
	FirstStep float64
	// NoPolish leaves the result as the tolerances found it. By default Gauss-
	// Newton steps follow, with parameters at their bounds held there, while they
	// lower the cost: they bring the minimum to rounding error.
	NoPolish bool
	// Fixed holds parameters, by name, at a value.
	Fixed map[string]float64
	// Tied makes parameters, by name, expressions of others: graphs of scalar
	// inputs that bear the names of those.
	Tied map[string]*ad.Node
	// Priors are Gaussian beliefs about parameters: more residuals, after those of
	// the data, which Loss leaves alone.
	Priors []Prior
	// RelativeSigma scales the covariance by the reduced chi-square, for
	// residuals whose errors are known only up to a factor.
	RelativeSigma bool
	// Progress, if given, hears of every accepted step.
	Progress func(Progress)
}

// Progress is what a running fit or minimisation tells.
type Progress struct {
	Step, NFev int
	Cost       float64
	// X holds the parameters. It is valid during the call.
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
		bad("LossScale is %g: want it above 0", s.LossScale)
	}
	if !(s.FirstStep > 0) {
		bad("FirstStep is %g: want it above 0", s.FirstStep)
	}
	if s.MaxEvaluations < 1 {
		bad("MaxEvaluations is %d: want at least 1", s.MaxEvaluations)
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
		if tooLarge := p.M > denseMost/max(1, p.N); p.large() && (tooLarge || s.Method == Auto || s.Method == TRF) {
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
	switch s.Method {
	case LM, TRF, Dogbox:
	default:
		return unknown("method", string(s.Method), []string{string(LM), string(TRF), string(Dogbox)})
	}
	switch {
	case s.Method == LM && p.bounded():
		return fmt.Errorf("optim: method lm takes no bounds: use trf")
	case s.Method != TRF && s.Solver == LSMR:
		return fmt.Errorf("optim: method %s stores the Jacobian: use trf with solver lsmr", s.Method)
	case s.Solver == Exact && p.M > denseMost/max(1, p.N):
		return fmt.Errorf("optim: a Jacobian of %d x %d is too large to store: use solver lsmr", p.M, p.N)
	case s.Geodesic && s.Method != LM:
		return fmt.Errorf("optim: Geodesic goes with method lm, not %s", s.Method)
	}
	return nil
}
