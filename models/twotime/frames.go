// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/median"
)

// c2 is divided by the intensities of its frames, so that a loss of intensity shows on the diagonal only: it is contrast + offset + 1/count.

// KindIntensity is the kind of flag in [Data.Readings] that says that the mean intensity of the frames steps or drifts, which raises the diagonal of
// many frames.
const KindIntensity = "changing intensity"

// Frames are called dim if the inverse of their count is larger than that of the brighter ones by this share of it, by so many standard
// deviations of neighbouring frames, and by so many of the diagonal.
const (
	dimmer    = 0.5
	dimScores = 7
	dimSelf   = 3
)

// lostIntensity returns the finding that some frames had fewer counts than the others by the diagonals of all angles.
func (b *byCells) lostIntensity(at Point) (check.Flag, bool) {
	n := len(b.d.Setup.Times)
	excess := make([]float64, n) // 1/count, mean over the angles
	step := b.d.Band + 1
	measured, variance := 0., 0.
	if n < 8+2*step {
		return check.Flag{}, false
	}
	for k, c2 := range b.d.C2 {
		if b.d.DiagonalReplaced(k) {
			continue
		}
		measured++
		self := max(0, at.Contrast[k]+at.Offset[k]-1+b.white[k].noise.InverseCount)
		variance += (2*self*self + 6*self*self*self) / b.white[k].noise.Speckles // as of a gamma distribution
		for i := range n {
			// what the diagonal has on top of its neighbours, whose contrast and fluctuations it shares
			excess[i] += c2[i*n+i] - at.Contrast[k]*b.forms[k].near[i] - beside(c2, n, i, step)
		}
	}
	if measured == 0 {
		return check.Flag{}, false
	}
	var steps, sorted []float64
	for i := range n {
		excess[i] /= measured
		if !math.IsNaN(excess[i]) {
			sorted = append(sorted, excess[i])
		}
		if i > 0 && !math.IsNaN(excess[i]-excess[i-1]) {
			steps = append(steps, math.Abs(excess[i]-excess[i-1]))
		}
	}
	if len(steps) < 5 {
		return check.Flag{}, false
	}
	slices.Sort(sorted)
	low := sorted[len(sorted)/4]
	scatter := median.InPlace(steps) / (0.6745 * math.Sqrt2)
	least := max(dimmer*max(low, 0), dimScores*scatter, dimSelf*math.Sqrt(variance)/measured)
	var dim []int
	lost := 0.
	for i, v := range excess {
		if v-low > least {
			dim = append(dim, i+1)
			lost += v
		}
	}
	if len(dim) == 0 {
		return check.Flag{}, false
	}
	return check.Flag{Kind: "loss of intensity", Where: "frames " + ranges(dim),
		Text:   fmt.Sprintf("the diagonal of C2 is higher by %.2g at %s of %d (%s), as of frames with fewer counts: the inverse of the mean count of a pixel, %.2g elsewhere, is part of the diagonal", lost/float64(len(dim))-low, errtext.Count(len(dim), "frame"), n, ranges(dim), max(low, 0)),
		Remedy: "look at the intensity of these frames (plot intensity), and fit without them (--frames)"}, true
}

// beside is the mean of a matrix (n, n) over the entries that are a step from the diagonal at a frame, by the upper triangle.
func beside(m []float64, n, frame, step int) float64 {
	switch after, before := frame+step, frame-step; {
	case before < 0:
		return m[frame*n+after]
	case after >= n:
		return m[before*n+frame]
	default:
		return (m[frame*n+after] + m[before*n+frame]) / 2
	}
}

// ranges writes ascending numbers as ranges, at most five of them.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d to %d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	if len(parts) > 5 {
		return strings.Join(parts[:5], ", ") + " and others"
	}
	return strings.Join(parts, ", ")
}
