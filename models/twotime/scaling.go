// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Scaling says how contrast and offset depend on the angle.
type Scaling string

const (
	Individual Scaling = "individual" // contrast and offset of each angle, free of those of others
	Averaged   Scaling = "averaged"   // contrast and offset that are the same for all angles
	Fourier    Scaling = "fourier"    // sum of a constant, cos phi, sin phi, cos 2 phi and sin 2 phi
	Constant   Scaling = "constant"   // contrast and offset of each angle as they are given
)

// basis returns the functions of the angle that contrast and offset are combinations of, a row for each angle; nil for Constant.
func (s Scaling) basis(angles []float64) (rows [][]float64, err error) {
	for k, phi := range angles {
		switch a := phi * math.Pi / 180; s {
		case Individual, "":
			row := make([]float64, len(angles))
			row[k] = 1
			rows = append(rows, row)
		case Averaged:
			rows = append(rows, []float64{1})
		case Fourier:
			rows = append(rows, []float64{1, math.Cos(a), math.Sin(a), math.Cos(2 * a), math.Sin(2 * a)})
			if len(angles) < len(rows[0]) {
				return nil, fmt.Errorf("twotime: the contrast has 5 coefficients, but there are only %s: take %s or %s", errtext.Count(len(angles), "angle"), Individual, Averaged)
			}
		case Constant:
			return nil, nil
		default:
			return nil, fmt.Errorf("twotime: the scaling is %q: want %s, %s, %s or %s", s, Individual, Averaged, Fourier, Constant)
		}
	}
	return rows, nil
}

// Compared is a fit with one scaling, and its information criterion.
type Compared struct {
	Scaling Scaling
	Fit     *Fit
	// BIC is the criterion of Schwarz (doi:10.1214/aos/1176344136), with the number of independent
	// entries: smaller is better, and a difference of 10 is strong evidence. It is relative to the
	// best.
	BIC float64
}

// CompareScalings fits the data with contrast and offset of each angle, with the same for all and,
// from 6 angles on, with Fourier series, best first. A scaling with which no fit converges is left
// out. The entries' errors are taken from the fit of each angle, if none are given.
func CompareScalings(ctx context.Context, d Data, s Settings) ([]Compared, error) {
	if len(d.Setup.Angles) < 2 {
		return nil, errors.New("twotime: with one angle all scalings are the same: give at least 2 angles to compare them")
	}
	s.Scaling = Individual
	free, err := FitLeastSquares(ctx, d, s)
	if err != nil {
		return nil, err
	}
	effective, err := free.effective(ctx, d, s)
	if err != nil {
		return nil, err
	}
	variance := 1.0
	if d.Sigma == nil {
		variance = free.SSQ / float64(max(1, free.Points-len(free.X)))
	}
	all := []Compared{{Scaling: Individual, Fit: free}}
	for _, other := range []Scaling{Averaged, Fourier} {
		if other == Fourier && len(d.Setup.Angles) < 6 {
			continue
		}
		if s.Scaling = other; free.Outside == nil {
			s.Start, s.Starts = free.Theta, 0
		}
		f, err := FitLeastSquares(ctx, d, s)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if ad.IsDeviceFault(err) {
			return nil, err
		}
		if err != nil { // with the contrasts of few coefficients no search came to an end
			continue
		}
		all = append(all, Compared{Scaling: other, Fit: f})
	}
	best := math.Inf(1)
	for i := range all {
		c := &all[i]
		c.BIC = c.Fit.SSQ/variance*effective/float64(free.Points) + float64(len(c.Fit.X))*math.Log(effective)
		best = min(best, c.BIC)
	}
	for i := range all {
		all[i].BIC -= best
	}
	slices.SortStableFunc(all, func(a, b Compared) int { return cmp.Compare(a.BIC, b.BIC) })
	return all, nil
}
