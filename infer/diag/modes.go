// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
)

// CheckModes is the check for modes of the posterior that the draws do not represent. It appears in a report only if it
// fails.
const CheckModes Check = "modes"

// MissedMode is a place of high density that no chain of a run visited, although a search for starts, or the chains of an earlier
// attempt, came there.
type MissedMode struct {
	Name  string  // parameter or quantity in which the mode differs most from the draws
	Value float64 // value of that quantity at the mode
	// Lowest and Highest are the smallest and the largest value among the draws.
	Lowest, Highest float64
	// Share is an estimate of the part of the posterior that belongs to the mode, from 0 to 1; NaN if there is none.
	Share float64
	By    string // finder of the mode, such as "the search for starts"
	// At is the place of the mode in unconstrained coordinates; nil if it is not known.
	At []float64
}

func adviseMode(m MissedMode) Advice {
	cause := fmt.Sprintf("%s found a mode at %s = %.4g, but all draws of %s lie between %.4g and %.4g, and chains do not cross the low density between them", m.By, m.Name, m.Value, m.Name, m.Lowest, m.Highest)
	if !math.IsNaN(m.Share) {
		cause += fmt.Sprintf("; it holds about %.2g of the posterior by Laplace's approximation", m.Share)
	}
	a := fail(CheckModes, cause, "tell the modes apart by the priors or by bounds, such as an order of exchangeable parameters, or run chains from both; their numbers of draws say nothing about the weights of the modes")
	a.Of = m.Name
	a.reason = fmt.Sprintf("a mode at %s = %.4g is missing from the draws", m.Name, m.Value)
	return a
}
