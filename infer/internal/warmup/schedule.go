// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

// MinAdaptive is the shortest warm-up that learns a metric.
const MinAdaptive = 20

// StanWindows returns the first draw that counts for a metric and the draws
// after which windows end. A window is twice as long as the one before and
// takes in the rest when the next would not fit, except the first.
func StanWindows(warmup int) (first int, ends []int) {
	if warmup < MinAdaptive {
		return warmup, nil
	}
	start, base, term := 75, 25, 50
	if start+base+term > warmup {
		start, term = warmup*15/100, warmup/10
		base = warmup - start - term
	}
	stop := warmup - term // first draw after the windows
	for from, size := start, base; from < stop; size *= 2 {
		to := from + size
		if from > start && to+2*size > stop {
			to = stop
		}
		ends = append(ends, to-1)
		from = to
	}
	return start, ends
}

// fisherPlan holds the constants of a Fisher schedule.
type fisherPlan struct {
	window float64
	// Early is the draw at which windows may outgrow firstWindow, and Freeze that at which
	// the metric is frozen.
	Early, Freeze int
	// every is true to estimate after every draw.
	every bool
	// costly is true where an estimate costs as much as many draws.
	costly bool
}

// Early windows that stay at 10 draws, as in nuts-rs, make twice as many
// gradients on eight schools and five times as many on a chain of 50 parameters
// with correlation 0.98 until the main phase: the directions are noise.
const (
	earlyWindow = 10.0  // usable draws that the first window must hold
	firstWindow = 80.0  // bound in the early phase, least in the main phase; more for more parameters
	largeWindow = 200.0 // but no more than that
	windowGrows = 1.5   // factor from window to window
)

// The first trajectories have no metric worth following for long; one stiff
// start could otherwise cost as much as the rest of the warm-up.
const (
	shallowDraws = 50
	shallowDepth = 7
)

// manyParameters is where estimates, cubic in the dimension, begin to cost more
// than the draws between them: 40 ms at 150 parameters. They wait longer, and one
// more is made of all draws before the metric is frozen.
const manyParameters = 50

// PlanFisher plans a warm-up of so many draws of dim parameters.
func PlanFisher(warmup, dim int, kind MetricKind) fisherPlan {
	p := fisherPlan{Early: warmup * 30 / 100, Freeze: warmup - warmup*15/100, window: min(max(firstWindow, float64(dim)), largeWindow)}
	if warmup < MinAdaptive {
		p.Freeze = 0
	}
	p.every = kind == DiagFisher || kind == DiagVariance // others cost more than a step
	p.costly = dim > manyParameters
	return p
}

// pause returns the draws to wait after an estimate from count draws: more of
// them change it less.
func (p fisherPlan) pause(count int) int {
	if p.every {
		return 1
	}
	if p.costly {
		return max(20, count)
	}
	return max(4, count/5)
}
