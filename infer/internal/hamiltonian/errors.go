// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import "errors"

// Faults of the density along a trajectory.
var (
	ErrReject   = errors.New("the point was rejected")
	ErrImproper = errors.New("infer: the step size grew past 1e7 and was still accepted, so the posterior is improper: give every parameter a prior")
	ErrNoStep   = errors.New("infer: the step size shrank to 0 without being accepted: check the gradient and the start")
	ErrInfinite = errors.New("the log density is +Inf, so it is unbounded: look for a scale that can reach 0")
)

// RecoverableError is the error of a model that concerns one point only.
type RecoverableError struct{ Err error }

func (e *RecoverableError) Error() string        { return e.Err.Error() }
func (e *RecoverableError) Unwrap() error        { return e.Err }
func (e *RecoverableError) Is(target error) bool { return target == ErrReject }

// AtPoint says that the fault is of these numbers, not of the model.
func (e *RecoverableError) AtPoint() bool { return true }

// Recoverable reports whether an error turns down the point alone, not the chain.
func Recoverable(err error) bool {
	var r *RecoverableError
	return errors.As(err, &r) || errors.Is(err, ErrReject)
}
