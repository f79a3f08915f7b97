// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
)

var inf = math.Inf(1)

// The magnitudes between which sums of squares of numbers are 64-bit numbers, also where residuals are smaller by some digits.
const (
	largestSquared  = 1e152
	smallestSquared = 1e-150
)

// enough returns an error if there are fewer rows than parameters that a fit would move.
func (p *Problem) enough(names []string, vectors map[string]vector, rows int) error {
	free := 0
	for _, name := range names {
		if _, fixed := p.Fixed[name]; !fixed && p.Tied[name] == "" {
			free += len(vectors[name].elements(name))
		}
	}
	if rows >= free {
		return nil
	}
	return fmt.Errorf("%s cannot determine %s: want %d or more rows, or hold %d with --fixed (the field fixed of a problem file)", errtext.Count(rows, "row"), errtext.Count(free, "parameter"), free, free-rows)
}

// squarable returns an error if the squares of observed values, of values in units of their errors, or of a column of the formula are beyond the range of
// 64-bit numbers, in which sums of squares and covariances are computed.
func (p *Problem) squarable(f *formula.Formula, y []float64) error {
	if err := p.inRange(p.Y, y); err != nil {
		return err
	}
	if c, ok := p.Data[p.Sigma]; ok && c.Labels == nil && len(c.Values) == len(y) {
		ratio := make([]float64, len(y))
		for i, v := range y {
			ratio[i] = v / c.Values[i]
		}
		if err := p.inRange(p.Y+"/"+p.Sigma, ratio); err != nil {
			return err
		}
	}
	for _, name := range f.Names() {
		if c, ok := p.Data[name]; ok && c.Labels == nil {
			if err := p.inRange(name, c.Values); err != nil {
				return err
			}
		}
	}
	return nil
}

// Squarable returns an error that names the first value of y, its errors or a column of the formula whose square is no 64-bit number, as likelihoods need it.
func (p *Problem) Squarable() error {
	f, err := p.formula()
	if err != nil {
		return err
	}
	y, err := p.Observed()
	if err != nil {
		return err
	}
	return p.squarable(f, y)
}

// inRange returns an error that names the first value of a column whose square overflows, or the largest value if all squares vanish.
func (p *Problem) inRange(name string, values []float64) error {
	for i, v := range values {
		if math.Abs(v) > largestSquared {
			return fmt.Errorf("%s is %.6g in %s, whose square is beyond the range of 64-bit numbers: correct it, leave the row out, or give the column in another unit", name, v, p.Row(i))
		}
	}
	if most := linalg.MaxAbs(values); most > 0 && most < smallestSquared {
		return fmt.Errorf("the largest value of %s is %.6g, whose square is below the smallest 64-bit number: give the column in another unit", name, most)
	}
	return nil
}
