// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/median"
	"github.com/euryale-dev/euryale/tensor/interp"
)

func middle(v []float64) float64 { return median.Of(slices.Clone(v)) }

// Shift moves a curve so that a baseline becomes 1.
func Shift(g2 []float64, baseline float64) []float64 {
	return each(g2, func(_ int, v float64) float64 { return v - baseline + 1 })
}

// The ways of Normalize are ByMax, ByMean and ByStd.
const (
	ByMax  = "max"  // division by the largest value
	ByMean = "mean" // division by the mean
	ByStd  = "std"  // subtraction of the mean and division by the standard deviation
)

// Normalize scales a curve in one of these ways.
func Normalize(g2 []float64, how string) ([]float64, error) {
	if len(g2) == 0 {
		return nil, fmt.Errorf("reduce: the curve has no points, so it cannot be scaled: leave it out")
	}
	mean := 0.0
	for _, v := range g2 {
		mean += v / float64(len(g2))
	}
	variance := 0.0
	for _, v := range g2 {
		variance += (v - mean) * (v - mean) / float64(len(g2))
	}
	switch how {
	case ByMax:
		most := slices.Max(g2)
		return each(g2, func(_ int, v float64) float64 { return v / most }), nil
	case ByMean:
		return each(g2, func(_ int, v float64) float64 { return v / mean }), nil
	case ByStd:
		return each(g2, func(_ int, v float64) float64 { return (v - mean) / math.Sqrt(variance) }), nil
	}
	return nil, fmt.Errorf("reduce: the normalisation is %q: want max, mean or std", how)
}

// Offset moves curves so that their first points are at the mean of their first points.
func Offset(curves [][]float64) ([][]float64, error) {
	first := 0.0
	for i, c := range curves {
		if len(c) == 0 {
			return nil, fmt.Errorf("reduce: curve %d has no points: leave it out", i+1)
		}
		first += c[0] / float64(len(curves))
	}
	out := make([][]float64, len(curves))
	for i, c := range curves {
		out[i] = each(c, func(_ int, v float64) float64 { return v - c[0] + first })
	}
	return out, nil
}

// ScaledErr returns the errors of factor times g2.
func ScaledErr(err []float64, factor float64) []float64 {
	return each(err, func(_ int, e float64) float64 { return e * math.Abs(factor) })
}

// PowerErr returns the errors of g2 to a power.
func PowerErr(g2, err []float64, power float64) []float64 {
	return each(err, func(i int, e float64) float64 { return math.Abs(power*math.Pow(g2[i], power-1)) * e })
}

// LogErr returns the errors of the natural logarithm of g2.
func LogErr(g2, err []float64) []float64 {
	return each(err, func(i int, e float64) float64 { return e / math.Abs(g2[i]) })
}

// Resample returns a curve at other delays, by cubic splines; beyond its ends it is NaN. Delays
// must ascend.
func Resample(delay, g2, at []float64) ([]float64, error) {
	f, err := interp.New(delay, g2, interp.Settings{Kind: interp.Cubic, Outside: interp.Fill, Below: math.NaN(), Above: math.NaN()})
	if err != nil {
		return nil, fmt.Errorf("reduce: %w", err)
	}
	return f.At(at)
}

func each(v []float64, f func(i int, x float64) float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = f(i, x)
	}
	return out
}
