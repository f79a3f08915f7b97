package twotime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Compared is a fit with one scaling, and its information criterion.
type Compared struct {
	Scaling Scaling
	Fit     *Fit
	// BIC is that of Schwarz (doi:10.1214/aos/1176344136), with the number of entries that are independent: smaller is better, and a difference
	// of 10 is strong evidence. It is relative to the best.
	BIC float64
}

// CompareScalings fits the data with contrast and offset of each angle, with the same for all and, from 6 angles on, with Fourier series, best
// first. The entries' errors are taken from the fit of each angle, if none are given.
func CompareScalings(ctx context.Context, d Data, s Settings) ([]Compared, error) {
	if len(d.Setup.Angles) < 2 {
		return nil, errors.New("twotime: scalings of one angle are all the same: want at least 2 angles to compare them")
	}
	s.Scaling = Individual
	free, err := FitLeastSquares(ctx, d, s)
	if err != nil {
		return nil, err
	}
	shared, err := free.SharedErrors(ctx, d, s)
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
		s.Scaling, s.Start, s.Starts = other, free.Theta, 0
		f, err := FitLeastSquares(ctx, d, s)
		if err != nil {
			return nil, fmt.Errorf("scaling %s: %w", other, err)
		}
		all = append(all, Compared{Scaling: other, Fit: f})
	}
	best := math.Inf(1)
	for i := range all {
		c := &all[i]
		c.BIC = c.Fit.SSQ/variance*shared.Effective/float64(free.Points) + float64(len(c.Fit.X))*math.Log(shared.Effective)
		best = min(best, c.BIC)
	}
	for i := range all {
		all[i].BIC -= best
	}
	slices.SortStableFunc(all, func(a, b Compared) int { return cmp.Compare(a.BIC, b.BIC) })
	return all, nil
}
