// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/given"
)

// Sentinels for errors.Is.
var (
	// ErrReject marks an error of Target.LogProbGrad as local to the point: see Reject.
	ErrReject = hamiltonian.ErrReject
	// ErrImproper means that no step is too long: the density is not normalisable.
	ErrImproper = hamiltonian.ErrImproper
	// ErrScale means that a prior is too wide for the steps of a sampler.
	ErrScale = errors.New("infer: the posterior is far wider than the steps that a sampler can make")
	// ErrNoStep means that no step is short enough.
	ErrNoStep = hamiltonian.ErrNoStep
	// ErrInfinite means that the log density is +Inf somewhere.
	ErrInfinite = hamiltonian.ErrInfinite
	// ErrCheckpoint is wrapped by every error of reading a checkpoint.
	ErrCheckpoint = errors.New("infer: checkpoint")
	// ErrNotSaved is wrapped by errors of writing a checkpoint: what the last one that
	// was written holds is not lost.
	ErrNotSaved = errors.New("infer: the checkpoint was not written")
	// ErrLaplace is wrapped by errors of Settings.Laplace that concern the model or other settings.
	ErrLaplace = errors.New("infer: Laplace's approximation")
)

// Reject wraps an error of the model that concerns one point only, such as a
// solver that fails there: the sampler counts a divergence and goes on.
func Reject(err error) error { return &Recoverable{Err: err} }

// Recoverable is the error made by Reject, with the Err it was given; it matches
// ErrReject too.
type Recoverable = hamiltonian.RecoverableError

// UnboundedError says that a search for the mode of a density found none: the log
// density keeps rising while a parameter runs to a bound or to infinity.
type UnboundedError struct {
	Parameter string
	// Value is the value that the parameter had reached.
	Value float64
}

func (e *UnboundedError) Error() string {
	return fmt.Sprintf("the log density has no maximum: it keeps rising while %s runs to %.2g: %s", e.Parameter, e.Value, diag.AwayFrom(e.Parameter))
}

// InitError says why a chain found no place to start.
type InitError struct {
	Chain int // number of the chain, from 0; texts count from 1
	Tries int
	// Detail says what was not finite at the last try.
	Detail string
	// Err is the error of the model, if there was one.
	Err error
}

func (e *InitError) Error() string {
	return fmt.Sprintf("infer: chain %d found no start in %d tries: %s: check the priors and the likelihood, or give the chains a start", e.Chain+1, e.Tries, e.Detail)
}

func (e *InitError) Unwrap() error { return e.Err }

// DrawError is an error of the model inside a chain.
type DrawError struct {
	// Chain and Draw are where it happened. Both count from 0, Draw with the warm-up. The text counts from 1.
	Chain, Draw int
	// Warmup is true if the draw belonged to the warm-up.
	Warmup bool
	Err    error
}

func (e *DrawError) Error() string {
	phase := "sampling"
	if e.Warmup {
		phase = "warm-up"
	}
	return fmt.Sprintf("infer: chain %d, draw %d (%s): %v", e.Chain+1, e.Draw+1, phase, e.Err)
}

func (e *DrawError) Unwrap() error { return e.Err }

// PanicError is a panic of the model, turned into an error, with its Value and its Stack.
type PanicError = given.PanicError

// firstLine returns the first line of an error.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
