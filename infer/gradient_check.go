// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// GradientError says that a target's gradient is not that of its log density.
type GradientError struct {
	// At is the unconstrained point.
	At []float64
	// Faults are the first faults found, at most maxFaults.
	Faults []GradientFault
}

// GradientFault is one derivative that is wrong.
type GradientFault struct {
	// Parameter is the name that the target gives, or q[3]. It is empty where no single
	// parameter is at fault.
	Parameter string
	// Given is the derivative from the target, NaN where it wrote nothing.
	Given float64
	// Expected is the derivative from differences of the log density.
	Expected float64
	// Uncertainty is that of Expected.
	Uncertainty float64
}

func (e *GradientError) Error() string {
	var parts []string
	for _, f := range e.Faults {
		name := "the derivative with respect to " + f.Parameter
		if f.Parameter == "" {
			name = "the derivative along some direction"
		}
		given := fmt.Sprintf("%.6g", f.Given)
		if math.IsNaN(f.Given) {
			given = "not set"
		}
		parts = append(parts, fmt.Sprintf("%s is %s, differences of the log density give %.6g +- %.1g", name, given, f.Expected, f.Uncertainty))
	}
	return fmt.Sprintf("infer: the gradient is not that of the log density at %s: %s: correct it, or set NoGradientCheck if it is inexact on purpose",
		brief(e.At), strings.Join(parts, "; "))
}

// brief lists the first numbers of q.
func brief(q []float64) string {
	if len(q) > 6 {
		return fmt.Sprintf("%.4g and %d more", q[:6], len(q)-6)
	}
	return fmt.Sprintf("%.4g", q)
}

// CheckGradient compares the gradient of a target with central differences of its
// log density at the given unconstrained points, or at three random ones if there
// are none. It returns a *GradientError that names the parameters, the numbers that
// the target gives and those expected, or nil.
//
// Up to 50 parameters are checked one by one. Beyond that the derivatives along four
// random directions are, and if one is wrong the parameter is searched for.
// A derivative counts as wrong if it differs by more than a part in ten thousand and
// by more than ten times the uncertainty of the differences, so that noise of the
// density alone is not reported as an error.
func CheckGradient(t Target, at ...[]float64) error {
	if err := given.Args("infer.CheckGradient", "t", t); err != nil {
		return err
	}
	c := newGradientCheck(context.Background(), t)
	if len(at) == 0 {
		cfg := Settings{InitRadius: 2}
		at = cfg.pointsToCheck(c)
	}
	for i, q := range at {
		if len(q) != t.Dim() {
			return fmt.Errorf("infer: CheckGradient: point %d has %d numbers: want %d, one for each unconstrained parameter", i, len(q), t.Dim())
		}
		lp, err := c.target.LogProbGrad(q, c.g)
		if err != nil && !hamiltonian.Recoverable(err) {
			return fmt.Errorf("infer: CheckGradient: point %d: %w", i, err)
		}
		if err != nil || !linalg.Finite(lp) {
			return fmt.Errorf("infer: CheckGradient: the log density is %g at point %d (%v): choose a point where it is finite", lp, i, err)
		}
		if err := c.at(q); err != nil {
			return err
		}
	}
	return nil
}

// checkFunc checks the gradient of a target made by Func or PerChain where chains
// start.
func (cfg *Settings) checkFunc(ctx context.Context, t Target) (err error) {
	if cfg.NoGradientCheck || cfg.Resume != "" || t.Dim() == 0 || !madeByFunc(t) {
		return nil
	}
	defer func() {
		if recover() != nil { // the chains will say so
			err = nil
		}
	}()
	c := newGradientCheck(ctx, t)
	for _, q := range cfg.pointsToCheck(c) {
		if err := c.at(q); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// madeByFunc reports whether Func or PerChain made t.
func madeByFunc(t Target) bool {
	switch t := t.(type) {
	case *funcTarget:
		return true
	case *outputTarget:
		return madeByFunc(t.Target)
	}
	return false
}

const purposeGradientCheck uint32 = 151

// pointsToCheck returns starts of the chains where density and gradient are finite.
func (cfg *Settings) pointsToCheck(c *gradientCheck) (points [][]float64) {
	random := tensor.NewStream(cfg.Seed, purposeGradientCheck, 0)
	for try := 0; try < 30 && len(points) < checkedPoints; try++ {
		q := make([]float64, len(c.q))
		start := &chain{cfg: cfg, id: cfg.FirstChain + try%max(1, cfg.Chains)}
		if err := start.propose(&random, start.prescribedStart(), q); err != nil {
			return points
		}
		if lp, err := c.target.LogProbGrad(q, c.g); err == nil && linalg.Finite(lp) {
			points = append(points, q)
		}
	}
	return points
}
