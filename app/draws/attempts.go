// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
)

// A second attempt whose chains agree does not explain why those of the first did not, nor where a mode that the first one lacked has
// gone: all chains may be in one of several modes. What chains of an earlier attempt held on to is therefore kept, and so are the modes
// that it lacked. Both are compared with the draws of the last one.

// disagreed is what one chain of an earlier attempt held on to while others were elsewhere.
type disagreed struct {
	Quantity string  `json:"quantity"`
	Attempt  int     `json:"attempt"` // counted from 1
	Chain    int     `json:"chain"`   // counted from 1
	Median   float64 `json:"median"`
	// LogDensity is the median of the log density, and Dimension the number of unconstrained parameters: a chain that was far
	// below the others was stuck at a place of no weight.
	LogDensity float64 `json:"log_density"`
	Dimension  int     `json:"dimension"`
}

// missedBefore is a mode that the draws of an earlier attempt lacked.
type missedBefore struct {
	Attempt int       `json:"attempt"` // counted from 1
	At      []float64 `json:"at"`      // unconstrained
}

// starts returns where chains start, or where the search for modes begins.
func (cfg *ChainConfig) starts() [][]float64 {
	if cfg.MethodKind() != infer.SMC {
		return cfg.Starts
	}
	return append(slices.Clone(cfg.Starts), cfg.Places...)
}

// Remember keeps what a finished attempt says about the modes of the posterior.
func (cfg *ChainConfig) Remember(fit *infer.Fit) {
	cfg.Disagreed = append(cfg.Disagreed, heldOn(fit, cfg.Attempt+1)...)
	for _, m := range fit.MissedModes() {
		if m.At != nil {
			cfg.Missed, cfg.Places = append(cfg.Missed, missedBefore{cfg.Attempt + 1, m.At}), append(cfg.Places, m.At)
		}
	}
	for c := range fit.Chains() {
		cfg.Places = append(cfg.Places, fit.Unconstrained(c, fit.Len(c)-1))
	}
}

// Recall tells a fit of what earlier attempts found, unless its draws explain that.
func (cfg *ChainConfig) Recall(fit *infer.Fit) {
	if fit.Evidence() != nil {
		return // it weighed the modes about the Places
	}
	for _, m := range cfg.Missed {
		fit.FindModes(fmt.Sprintf("attempt %d", m.Attempt), m.At)
	}
	fit.AddMissedModes(unexplained(cfg.Disagreed, fit)...)
}

// apart is the R-hat from which chains are said to be at different places rather than to mix slowly.
const apart = 1.1

// heldOn returns where the chains of a fit were in the quantity that they disagree on most, or nothing if they agree.
func heldOn(fit *infer.Fit, attempt int) (out []disagreed) {
	name, worst := "", apart
	for _, r := range fit.Summary().Rows {
		if r.RHat > worst && !math.IsInf(r.RHat, 0) {
			name, worst = r.Name, r.RHat
		}
	}
	if name == "" {
		return nil
	}
	lp := fit.Stat("lp")
	for c, x := range fit.Draws(name) {
		if len(x) == 0 {
			continue
		}
		out = append(out, disagreed{Quantity: name, Attempt: attempt, Chain: c + 1, Median: middle(x), LogDensity: middle(lp[c]), Dimension: len(fit.Unconstrained(c, 0))})
	}
	return out
}

func middle(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[len(s)/2]
}

// unexplained returns the places of earlier attempts that the draws do not cover, although the log density there was no
// lower than that of a mode may be.
func unexplained(earlier []disagreed, fit *infer.Fit) (out []diag.MissedMode) {
	level := math.Inf(1)
	for _, lp := range fit.Stat("lp") {
		if len(lp) > 0 {
			level = min(level, middle(lp))
		}
	}
	for _, e := range earlier {
		m := diag.MissedMode{Name: e.Quantity, Value: e.Median, Lowest: math.Inf(1), Highest: math.Inf(-1), Share: math.NaN(), By: fmt.Sprintf("attempt %d", e.Attempt)}
		for _, x := range fit.Draws(e.Quantity) {
			for _, v := range x {
				m.Lowest, m.Highest = min(m.Lowest, v), max(m.Highest, v)
			}
		}
		covered := e.Median >= m.Lowest && e.Median <= m.Highest
		told := len(out) > 0 && out[len(out)-1].By == m.By
		if covered || told || e.LogDensity < level-10-2*float64(e.Dimension) {
			continue
		}
		out = append(out, m)
	}
	return out
}
