// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"cmp"
	"fmt"
	"math"
)

// DefaultHigh is the intensity from which on pixels are masked if a Threshold does not give one.
const DefaultHigh = 1e8

// Threshold keeps the pixels whose intensity is at least Low and below High. NaN is never kept.
type Threshold struct {
	Low  float64 `json:"low"`            // lowest intensity that is kept, in the unit of the image. Default 0
	High float64 `json:"high,omitempty"` // intensity from which on pixels are masked, in the unit of the image. 0 stands for DefaultHigh
	// NoLow switches the lower limit off.
	NoLow bool `json:"noLow,omitempty"`
	// NoHigh switches the upper limit off.
	NoHigh bool `json:"noHigh,omitempty"`
}

// mask returns the pixels of an image between the limits.
func (t Threshold) mask(s Source) (*Mask, error) {
	if !s.hasImage() {
		return nil, fmt.Errorf("mask: a threshold is for an image, and there is none: give one")
	}
	high := cmp.Or(t.High, DefaultHigh)
	if math.IsNaN(t.Low) || math.IsNaN(high) {
		return nil, fmt.Errorf("mask: the threshold goes from %g to %g: want two numbers", t.Low, high)
	}
	m := New(s.Height, s.Width)
	if v, err := newSieve(s, 1); err != nil {
		return nil, err
	} else if v != nil {
		defer v.free()
		if err := v.run("threshold", s.whole(), t.Low, high, flag(t.NoLow), flag(t.NoHigh)); err != nil {
			return nil, err
		}
		return m, v.mask(m)
	}
	for i := range m.Keep {
		v := s.at(i)
		m.Keep[i] = v == v && (t.NoLow || v >= t.Low) && (t.NoHigh || v < high)
	}
	return m, nil
}
