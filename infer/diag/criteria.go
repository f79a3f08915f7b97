// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

// Criteria are thresholds that draws must meet; the zero value is the default.
type Criteria struct {
	RHat        float64 // largest accepted R-hat. Default 1.01
	ESS         float64 // smallest accepted bulk and tail effective sample size. Default 400: quantiles to about 5 % of a standard deviation
	Divergences int     // largest accepted number of divergences. Default 0
}

// Accepts reports whether draws meet the criteria. An R-hat or ESS that cannot
// be computed, as with one chain, does not.
func (c Criteria) Accepts(s Summary, divergences int) bool {
	if c.RHat == 0 {
		c.RHat = 1.01
	}
	if c.ESS == 0 {
		c.ESS = 400
	}
	if divergences > c.Divergences {
		return false
	}
	for _, r := range s.judged() {
		if !r.Constant && !(r.RHat <= c.RHat && r.ESSBulk >= c.ESS && r.ESSTail >= c.ESS) {
			return false
		}
	}
	return len(s.Rows) > 0 && s.Chains > 1 && s.Draws >= 4
}
