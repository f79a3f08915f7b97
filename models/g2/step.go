// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/infer/check"
)

// KindStep is the kind of the note about a large step of the intensity, and of the flag of a bin whose g2 shows it.
const KindStep = "step of the intensity"

// step is a step of the mean intensity of the frames.
type step struct {
	at     float64 // share of the frames before it
	factor float64 // intensity after it over that before
	total  float64 // time that all frames take (s)
}

// stepOf returns the step of the intensity of a movie, or nil if there is none.
func stepOf(r *nexus.Result) *step {
	c, ok := r.Trace.Change()
	if !ok || !c.Step {
		return nil
	}
	frame := r.Trace.Frame
	first, each := frame[0], frame[1]-frame[0]
	frames := frame[len(frame)-1] - first + each
	return &step{at: (float64(c.Frame) - first) / frames, factor: c.Factor, total: frames * r.FrameTime}
}

// baseline returns what a step adds to the baseline of g2 at a delay if frames are not divided by their means, over what it adds
// at a delay of 0. With the intensities 1 and k before and after it, all times as shares of the movie, and the means L and R of the
// earlier and the later frames of pairs:
//
//	B(delay) = <I(t) I(t + delay)> / (L R)
//
// A normalisation that leaves a part of a step leaves this shape, to the leading order in k - 1.
func (s *step) baseline(delay float64) float64 {
	at := func(d float64) float64 {
		k, pairs := s.factor, 1-d
		before, after := max(s.at-d, 0), max(1-s.at-d, 0)
		left := min(s.at, pairs) + k*after
		right := before + k*(1-max(s.at, d))
		return (before+k*k*after+k*(pairs-before-after))*pairs/(left*right) - 1
	}
	return at(min(delay/s.total, 1-1e-9)) / at(0)
}

// direction is the departure of a bin that shows the step.
func (s *step) direction(column [][]float64) check.Direction {
	return check.Direction{Kind: KindStep, Columns: column, Holds: func(coef []float64) bool { return coef[0] > 0 },
		Say: func(coef, sd []float64) (string, string) {
			return fmt.Sprintf("a step of the intensity by a factor of %.3g after %.0f %% of the frames, of which the normalisation leaves about %s in g2 at short delays (a rough estimate), would fit better", s.factor, 100*s.at, check.Rough(coef[0])),
				"correlate the frames before and after the step alone (correlate --begin, --end)"
		}}
}

// ageingBesides looks for ageing in all frames or, where the intensity steps, in those before the step, as the intensity changes the noise
// of g2 with it. It does not look where the intensity drifts.
func ageingBesides(r *nexus.Result, s *step, delays []float64) (check.Alteration, bool) {
	m := r.Multitau
	if _, changes := r.Trace.Change(); !changes {
		return ageing(m, delays, delays[len(delays)-1])
	}
	n := len(m.Partial)
	if s == nil || n < 2 || len(m.PartialFrames) != n {
		return check.Alteration{}, false
	}
	all := m.PartialFrames[n-1]
	last := -1 // the longest part that ends before the step
	for k, frames := range m.PartialFrames {
		if frames <= s.at*all && (last < 0 || frames > m.PartialFrames[last]) {
			last = k
		}
	}
	if last < 1 {
		return check.Alteration{}, false
	}
	before := &nexus.Multitau{G2: m.Partial[last], Partial: slices.Clone(m.Partial[:last+1]), PartialFrames: m.PartialFrames[:last+1]}
	a, ok := ageing(before, delays, delays[len(delays)-1]*m.PartialFrames[last]/all)
	a.Text += fmt.Sprintf("; by the first %.0f frames alone, before the step of the intensity", m.PartialFrames[last])
	return a, ok
}

// unevenness is the departure that the spread of q in a bin makes where relaxation rates grow with the square of q, as those of
// diffusion do, or with q. With the standard deviation s of the rates of pixels over their mean, and rates of a gamma distribution:
//
//	<exp(-2 t/tau)> = (1 + s^2 u)^(-1/s^2),  u = 2 t/tau,  about exp(-u) (1 + s^2 u^2 / 2)
//
// The coefficient of its column is 1 for rates that grow with q^2, and a quarter for those that grow with q.
func (c Curve) unevenness(tau, contrast float64, weight func(func(x float64) float64) [][]float64) (check.Direction, bool) {
	s := 2 * c.spread
	if s < leastSpread {
		return check.Direction{}, false
	}
	return check.Direction{Kind: KindSpread, Expected: true, Columns: weight(func(x float64) float64 {
		u := 2 * x / tau
		return contrast * (math.Pow(1+s*s*u, -1/(s*s)) - math.Exp(-u))
	}), Holds: func(coef []float64) bool { return coef[0] > leastOfSpread && coef[0] < mostOfSpread },
		Say: func(coef, sd []float64) (string, string) {
			return fmt.Sprintf("the spread of q in the bin, %.2g %% of its q, makes relaxation rates differ between its pixels (by %.2g %% if they go with q^2), which would fit better: the departure is about %.2g times that of such rates", 100*c.spread, 100*s, coef[0]),
				"use narrower bins of q (qmap --dynamic)"
		}}, true
}

const (
	// KindSpread is the kind of flag that says that q differs too much within a bin.
	KindSpread = "spread of q in the bin"
	// leastSpread is the smallest spread of relaxation rates that is looked for.
	leastSpread = 0.02
	// leastOfSpread and mostOfSpread bound the coefficient of what the spread of q explains: rates that grow with q to a power of 0.8 to 3.
	leastOfSpread, mostOfSpread = 0.15, 2.3
)
