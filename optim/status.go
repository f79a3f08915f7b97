// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "github.com/euryale-dev/euryale/optim/internal/marquardt"

// Status says how a fit ended.
type Status = marquardt.Status

// The ways to end, numbered as SciPy numbers them where it has the same.
const (
	// Failed is a row of a batch that could not be fitted; its Reason says why.
	Failed = marquardt.Failed
	// Interrupted is a fit that the context ended.
	Interrupted = marquardt.Interrupted
	// MaxEvaluations is a fit that used up its evaluations.
	MaxEvaluations = marquardt.MaxEvaluations
	// GradientSmall is a fit whose gradient is smaller than GTol.
	GradientSmall = marquardt.GradientSmall
	// CostSettled is a fit whose cost changes by less than FTol.
	CostSettled = marquardt.CostSettled
	// StepSmall is a fit whose steps are smaller than XTol.
	StepSmall = marquardt.StepSmall
	// BothSettled is a fit that meets FTol and XTol at once.
	BothSettled = marquardt.BothSettled
	// Stuck is a fit in which no step lowers the cost any more.
	Stuck = marquardt.Stuck
	// Unbounded is a fit whose value falls without limit.
	Unbounded = marquardt.Unbounded
)
