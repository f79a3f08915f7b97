// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Remarks are what the file of a curve says about its measurement, on which verdicts depend beside the points themselves. A run keeps them, as
// it is resumed without the file.
type Remarks struct {
	Flaws     []check.Alteration `json:"flaws,omitempty"`    // faults of the frames, and changes made to the points
	Spread    float64            `json:"spread,omitempty"`   // standard deviation of q over the pixels of the bin, divided by q; 0 if it is not known
	Step      []float64          `json:"step,omitempty"`     // step of the intensity: share of the frames before it, factor, and time of all frames in s; nil without one
	Lost      float64            `json:"lost,omitempty"`     // share of the photons that the detector misses at the mean counts
	Blind     float64            `json:"blind,omitempty"`    // share by which products of counts in neighbouring frames are too small
	Strays    [2]string          `json:"strays"`             // sentence on readings that are no photons, and the remedy
	Few       [2]string          `json:"few_photons"`        // sentence that photons are too few for errors of a normal distribution, and the remedy
	Unjudged  bool               `json:"unjudged,omitempty"` // photons are too few to judge residuals
	Saturated [2]string          `json:"saturated"`          // sentence that the counter is at its limit, and the remedy
}

// Remarks returns what the file of the curve says about its measurement.
func (c Curve) Remarks() *Remarks {
	known := func(v float64) float64 {
		if !linalg.Finite(v) {
			return 0
		}
		return v
	}
	r := &Remarks{Flaws: c.flaws, Spread: known(c.spread), Lost: known(c.lost), Blind: known(c.blind), Strays: c.strays, Few: c.few, Unjudged: c.unjudged, Saturated: c.full}
	if s := c.step; s != nil {
		r.Step = []float64{known(s.at), known(s.factor), known(s.total)}
	}
	return r
}

// With returns the curve with remarks; nil stands for none.
func (c Curve) With(r *Remarks) Curve {
	if r == nil {
		return c
	}
	c.flaws, c.spread, c.lost, c.blind, c.strays, c.few, c.unjudged, c.full = r.Flaws, r.Spread, r.Lost, r.Blind, r.Strays, r.Few, r.Unjudged, r.Saturated
	if len(r.Step) == 3 {
		c.step = &step{at: r.Step[0], factor: r.Step[1], total: r.Step[2]}
	}
	return c
}
