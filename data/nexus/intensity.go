// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Change is a step or a drift of the mean intensity of frames.
type Change struct {
	Step   bool    // a change from one frame to the next, not a drift
	Frame  int     // first frame after a step, counted from 0
	Factor float64 // mean intensity after a step over that before, or at the end of a drift over that at its beginning
}

// Large reports whether the intensity changes by a fifth or more, so that fits to all frames are in doubt.
func (c Change) Large() bool { return math.Abs(math.Log(c.Factor)) > largeChange }

const (
	largeChange   = 0.2  // ln of the factor from which a change is large
	changedFrames = 40   // frames from which a change is sought
	changeBlocks  = 50   // about how many blocks of frames are compared
	changeShare   = 0.85 // share of the variance of blocks that a change explains
	leastStep     = 0.05 // smallest step that is told, in ln of the factor
	leastDrift    = 0.1  // the same for a drift
	stepEdge      = 0.02 // share of the frames at either end in which steps are not sought
)

// Change returns the step or the drift that explains most of how the mean intensity of frames changes. It returns false if neither does, as where
// intensities scatter from frame to frame, or rise and fall. Frames without counts are left out.
func (t *Trace) Change() (Change, bool) {
	if t == nil || len(t.Frame) != len(t.Mean) {
		return Change{}, false
	}
	var x, frame []float64
	for i, v := range t.Mean {
		if v > 0 && !math.IsInf(v, 0) {
			x, frame = append(x, v), append(frame, t.Frame[i])
		}
	}
	if len(x) < changedFrames {
		return Change{}, false
	}
	at, before, after := bestStep(x)
	first, last := line(x)
	blocks := len(x) / max(1, len(x)/changeBlocks)
	total, step, drift := 0.0, 0.0, 0.0
	all := meanOf(x)
	for k := range blocks {
		from, to := k*len(x)/blocks, (k+1)*len(x)/blocks
		mean, stepped, drifted := meanOf(x[from:to]), 0.0, 0.0
		for i := from; i < to; i++ {
			if i < at {
				stepped += before / float64(to-from)
			} else {
				stepped += after / float64(to-from)
			}
			drifted += (first + (last-first)*float64(i)/float64(len(x)-1)) / float64(to-from)
		}
		total, step, drift = total+(mean-all)*(mean-all), step+(mean-stepped)*(mean-stepped), drift+(mean-drifted)*(mean-drifted)
	}
	stepFactor, driftFactor := after/before, last/first
	switch {
	case step <= drift && 1-step/total > changeShare && math.Abs(math.Log(stepFactor)) > leastStep:
		return Change{true, int(frame[at]), stepFactor}, true
	case drift < step && 1-drift/total > changeShare && first > 0 && last > 0 && math.Abs(math.Log(driftFactor)) > leastDrift:
		return Change{false, 0, driftFactor}, true
	}
	return Change{}, false
}

// bestStep returns where two constants describe numbers best, and the constants.
func bestStep(x []float64) (at int, before, after float64) {
	sums := make([]float64, len(x)+1)
	for i, v := range x {
		sums[i+1] = sums[i] + v
	}
	n, edge, best := len(x), max(1, int(stepEdge*float64(len(x)))), math.Inf(-1)
	for k := edge; k <= n-edge; k++ {
		a, b := sums[k], sums[n]-sums[k]
		if v := a*a/float64(k) + b*b/float64(n-k); v > best {
			at, best = k, v
		}
	}
	return at, sums[at] / float64(at), (sums[n] - sums[at]) / float64(n-at)
}

// line returns the values at both ends of the line that fits numbers best.
func line(x []float64) (first, last float64) {
	n := float64(len(x))
	mean, slope := meanOf(x), 0.0
	for i, v := range x {
		slope += (float64(i) - (n-1)/2) * v
	}
	slope *= 12 / (n * (n*n - 1))
	return mean - slope*(n-1)/2, mean + slope*(n-1)/2
}

func meanOf(x []float64) (mean float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	return mean
}

// DescribeIntensity says in words how the mean intensity of frames changes, and what to do about it; both are "" if it does not.
func DescribeIntensity(t *Trace) (text, remedy string) {
	if c, ok := t.Change(); ok {
		return c.describe()
	}
	return "", ""
}

func (c Change) describe() (text, remedy string) {
	if c.Step {
		return fmt.Sprintf("the mean intensity of the frames steps by a factor of %.3g from frame %d on, as where the beam, an attenuator or the sample moved: noise, a background and its share change there, and may look like a second decay or like ageing", c.Factor, c.Frame),
			fmt.Sprintf("correlate both parts alone (correlate --end %d, and --begin %[1]d) and compare them", c.Frame)
	}
	return fmt.Sprintf("the mean intensity of the frames drifts by a factor of %.3g from the first to the last, as of a beam that moves or a sample that changes or is damaged: noise, a background and its share change with it, and may look like a second decay or like ageing", c.Factor),
		"look at it (plot intensity), and correlate parts of the frames alone (correlate --begin, --end) to compare them"
}

// OpenTrace reads the mean intensity of the frames of a result file alone, nil if it has none.
func OpenTrace(name string) (*Trace, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &loader{file: f}
	t := l.trace()
	return t, l.err
}

// OpenReplaced reads the numbers of the frames of the movie that were bad and were replaced, counted from 0 and ascending, of a result file.
func OpenReplaced(name string) ([]int, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &loader{file: f}
	var all []int
	for part := range strings.SplitSeq(l.attrs()[AttrReplaced], ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if isRange && err == nil {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b < a || b > 1<<30 {
			continue // of another program
		}
		for i := a; i <= b; i++ {
			all = append(all, i)
		}
	}
	return all, l.err
}
