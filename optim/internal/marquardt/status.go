// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package marquardt

// Status says how a fit ended.
type Status int

// The ways to end, numbered as SciPy numbers them where it has the same.
const (
	// Failed is a row of a batch that could not be fitted.
	Failed Status = -2
	// Interrupted is a fit that the context ended.
	Interrupted    Status = -1
	MaxEvaluations Status = 0
	GradientSmall  Status = 1
	CostSettled    Status = 2
	StepSmall      Status = 3
	BothSettled    Status = 4
	// Stuck is a fit in which no step lowers the cost any more.
	Stuck Status = 5
	// Unbounded is a fit whose value falls without limit.
	Unbounded Status = 6
)

// None is the status of a fit that has not ended.
const None Status = -100

// Converged reports whether the result is a minimum to the tolerances asked.
func (s Status) Converged() bool { return s >= GradientSmall && s <= BothSettled }

// String is one word for tables and files.
func (s Status) String() string {
	switch {
	case s.Converged():
		return "converged"
	case s == MaxEvaluations:
		return "max_evaluations"
	case s == Interrupted:
		return "interrupted"
	case s == Failed:
		return "failed"
	case s == Unbounded:
		return "unbounded"
	}
	return "stuck"
}

// Message is a sentence, with what to try where the fit did not converge.
func (s Status) Message() string {
	switch s {
	case GradientSmall:
		return "the gradient is smaller than its tolerance"
	case CostSettled:
		return "the cost changes less than its tolerance"
	case StepSmall:
		return "the steps are smaller than their tolerance"
	case BothSettled:
		return "cost and steps change less than their tolerances"
	case MaxEvaluations:
		return "the most evaluations were reached: start nearer, hold a parameter, or raise the limit on evaluations"
	case Unbounded:
		return "the value falls without limit: bound the parameters or add a prior"
	case Failed:
		return "the fit could not begin: see the reason"
	case Interrupted:
		return "interrupted: the best point so far is returned"
	}
	return "no step lowers the cost, yet the gradient is not small: start nearer, or check the Jacobian and the scale of the parameters"
}
