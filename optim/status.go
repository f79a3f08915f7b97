// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "github.com/euryale-dev/euryale/optim/internal/marquardt"

// Status says how a fit ended.
type Status = marquardt.Status

// The statuses, numbered as in SciPy where SciPy has the same one.
const (
	// Failed means that a row of a batch could not be fitted; its Reason says why.
	Failed = marquardt.Failed
	// Interrupted means that the context ended the fit.
	Interrupted = marquardt.Interrupted
	// MaxEvaluations means that the fit used up its evaluations.
	MaxEvaluations = marquardt.MaxEvaluations
	// GradientSmall means that the gradient is smaller than GTol.
	GradientSmall = marquardt.GradientSmall
	// CostSettled means that the cost changes by less than FTol.
	CostSettled = marquardt.CostSettled
	// StepSmall means that the steps are smaller than XTol.
	StepSmall = marquardt.StepSmall
	// BothSettled means that the fit meets FTol and XTol at once.
	BothSettled = marquardt.BothSettled
	// Stuck means that no step lowers the cost any more.
	Stuck = marquardt.Stuck
	// Unbounded means that the value falls without limit.
	Unbounded = marquardt.Unbounded
)
