// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
	"github.com/euryale-dev/euryale/tensor"
)

// Sample describes what Simulate measures: the parameters of the motion, contrast and offset of
// each angle, the number of speckles in the mean, each a pixel that is independent of the others,
// and the mean count of one in a frame (0 for no shot noise). An offset above 1 is a brightness of
// pixels that does not change.
type Sample struct {
	Theta            []float64
	Contrast, Offset []float64
	Speckles         int
	MeanCount        float64
	Seed             uint64
}

// Simulate draws frames of photons of a sample and correlates them into matrices (frames, frames)
// for each angle, with the diagonal as it would be measured. Noise of the result records the
// numbers of speckles and counts.
func Simulate(ctx context.Context, s transport.Setup, sample Sample) (*Data, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := s.Domain(sample.Theta); err != nil {
		return nil, err
	}
	angles, n := len(s.Angles), len(s.Times)
	if len(sample.Contrast) != angles || len(sample.Offset) != angles {
		return nil, fmt.Errorf("twotime: there are %d contrasts and %s for %s: give one for each", len(sample.Contrast), errtext.Count(len(sample.Offset), "offset"), errtext.Count(angles, "angle"))
	}
	if sample.Speckles < 2 || !(sample.MeanCount >= 0) || math.IsInf(sample.MeanCount, 1) {
		return nil, fmt.Errorf("twotime: there are %d speckles of %g counts: want at least 2, and a finite count of at least 0", sample.Speckles, sample.MeanCount)
	}
	inverse := 0.0
	if sample.MeanCount > 0 {
		inverse = 1 / sample.MeanCount
	}
	f, err := noise.NewFields(s)
	if err != nil {
		return nil, err
	}
	d := &Data{Setup: s}
	for k, angle := range s.Angles {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !(sample.Contrast[k] > 0 && sample.Contrast[k] <= 1) || !(sample.Offset[k] >= 1) || math.IsInf(sample.Offset[k], 1) {
			return nil, fmt.Errorf("twotime: angle %d has contrast %g and offset %g: to simulate speckles, give a contrast in (0, 1] and an offset of at least 1",
				k, sample.Contrast[k], sample.Offset[k])
		}
		_, parts, err := f.At(sample.Theta, angle)
		if err != nil {
			return nil, err
		}
		source, err := noise.NewSpeckles(parts, n, sample.Contrast[k], sample.Offset[k], inverse)
		if err != nil {
			return nil, err
		}
		c2 := source.Correlated(sample.Speckles, tensor.NewStream(sample.Seed, drawSimulation, uint32(k)))
		if slices.ContainsFunc(c2, math.IsNaN) {
			return nil, fmt.Errorf("twotime: angle %d has frames without a photon (%d speckles of %g counts on average), which have no correlation: take more of either", k, sample.Speckles, sample.MeanCount)
		}
		d.C2 = append(d.C2, c2)
		d.Noise = append(d.Noise, Noise{Speckles: float64(sample.Speckles), InverseCount: inverse})
	}
	return d, nil
}

// Purposes of random numbers.
const (
	drawSimulation = 1 + iota
	drawCovariance
	drawPrior
	drawScores
)

// inParallel runs f for each angle on threads, and returns the first error.
func inParallel(ctx context.Context, threads, angles int, f func(hand, angle int) error) error {
	errs := make([]error, angles)
	parallel.Do(max(1, threads), angles, func(hand, angle int) {
		if errs[angle] = ctx.Err(); errs[angle] == nil {
			errs[angle] = f(hand, angle)
		}
	})
	return errors.Join(errs...)
}
