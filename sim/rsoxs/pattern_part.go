// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"
)

// PatternOf computes only the images of energies from to to-1, with exactly the same numbers as
// Pattern (on GPUs up to rounding), so that many energies need not be in memory together. The
// constants o are those of all energies.
func (s *Simulator) PatternOf(ctx context.Context, o Optics, from, to int) (*Pattern, error) {
	n := len(s.cfg.Energies)
	if from < 0 || to > n || from >= to || len(o) != n {
		return nil, fmt.Errorf("rsoxs: energies %d to %d of %d, with constants of %d: want a part of the energies, and constants of all", from, to, n, len(o))
	}
	if err := s.ready(ctx, o, n == 1); err != nil {
		return nil, err
	}
	part := *s
	part.cfg.Energies = s.cfg.Energies[from:to]
	return part.Pattern(ctx, o[from:to])
}

// Beam is the orientation of one beam.
type Beam struct {
	K        [3]float64    // unit vector along the light
	Rotation [3][3]float64 // smallest rotation that takes +Z to K
	// Base is the angle in degrees, from 0 to 360, by which the electric field is rotated about the
	// beam into the plane y = 0 before the angles are applied.
	Base float64
}

// Beams returns the orientations of the beams of a measurement.
func (c Config) Beams() ([]Beam, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	var list []Beam
	for _, k := range c.K {
		r := fromZ(k)
		b := Beam{K: k, Rotation: r}
		if c.Case != Transmission {
			b.Base = baseAngle(r.times(vec{1, 0, 0}), r.times(vec{0, 1, 0})) * 180 / math.Pi
		}
		list = append(list, b)
	}
	return list, nil
}
