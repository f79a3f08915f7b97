// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"time"

	"github.com/euryale-dev/euryale/infer/diag"
)

// StopRule ends a run early. RHat and ESS are judged on the first k draws of
// every chain, k a multiple of Every, and the fit is cut at the first k that
// satisfies both, so that the result does not depend on timing. MaxTime keeps
// whatever is finished then.
type StopRule struct {
	// RHat stops the run when no R-hat is larger. 0: not asked.
	RHat float64
	// ESS stops the run when no bulk or tail effective sample size is smaller. 0: not asked.
	ESS float64
	// MaxTime stops the run after this time. 0: not asked.
	MaxTime time.Duration
	// Every is the number of draws per chain between two judgements. Default 100.
	Every int
	// After leaves out the judgements at so many draws per chain or fewer, such as those that were made
	// before. Default 0: judge from the first.
	After int
}

// active reports whether the rule looks at draws.
func (s *StopRule) active() bool { return s.RHat > 0 || s.ESS > 0 }

// met reports whether the first k draws of all chains satisfy the rule.
func (s *StopRule) met(chains [][][]float64, k int) bool {
	if len(chains) == 0 || len(chains[0]) == 0 {
		return false
	}
	x := make([][]float64, len(chains))
	for col := range chains[0][0] {
		for c, rows := range chains {
			x[c] = column(rows[:k], col)
		}
		if constant(x) {
			continue
		}
		if s.RHat > 0 && !(diag.RHat(x) <= s.RHat) {
			return false
		}
		if s.ESS > 0 && !(math.Min(diag.ESSBulk(x), diag.ESSTail(x)) >= s.ESS) {
			return false
		}
	}
	return true
}

func column(rows [][]float64, i int) []float64 {
	out := make([]float64, len(rows))
	for k, row := range rows {
		out[k] = row[i]
	}
	return out
}

func constant(x [][]float64) bool {
	for _, c := range x {
		for _, v := range c {
			if v != x[0][0] {
				return false
			}
		}
	}
	return true
}
