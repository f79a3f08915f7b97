// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

// Schedule returns the learning rate of step t, counted from 0, and the momentum; NaN means the
// rule's own momentum.
type Schedule func(lr float64, t int) (rate, momentum float64)

// StepDecay multiplies the rate by gamma every size steps.
func StepDecay(size int, gamma float64) Schedule {
	return plainSchedule(func(lr float64, t int) float64 { return lr * math.Pow(gamma, float64(t/max(1, size))) })
}

// MultiStep multiplies the rate by gamma at each milestone.
func MultiStep(gamma float64, milestones ...int) Schedule {
	return plainSchedule(func(lr float64, t int) float64 {
		for _, m := range milestones {
			if t >= m {
				lr *= gamma
			}
		}
		return lr
	})
}

// Exponential multiplies the rate by gamma every step.
func Exponential(gamma float64) Schedule {
	return plainSchedule(func(lr float64, t int) float64 { return lr * math.Pow(gamma, float64(t)) })
}

// Cosine lowers the rate to low along half a cosine in period steps, and raises it again
// afterwards.
func Cosine(period int, low float64) Schedule {
	return plainSchedule(func(lr float64, t int) float64 {
		return low + (lr-low)*(1+math.Cos(math.Pi*float64(t)/float64(max(1, period))))/2
	})
}

// WarmRestarts is Cosine with a jump back to the start after each period; each period is longer
// than the one before by a factor (arXiv:1608.03983).
func WarmRestarts(period, factor int, low float64) Schedule {
	return plainSchedule(func(lr float64, t int) float64 {
		n := max(1, period)
		for t >= n {
			t -= n
			n *= max(1, factor)
		}
		return low + (lr-low)*(1+math.Cos(math.Pi*float64(t)/float64(n)))/2
	})
}

// Warmup raises the rate linearly from start times its value to its full value.
func Warmup(start float64, steps int) Schedule {
	return plainSchedule(func(lr float64, t int) float64 {
		return lr * (start + (1-start)*min(1, float64(t)/float64(max(1, steps))))
	})
}

// OneCycle raises the rate from lr/25 to lr over the first part, rise, of all steps and then lowers
// it to lr/25e4, both along cosines, while the momentum goes from 0.95 to 0.85 and back
// (arXiv:1708.07120).
func OneCycle(steps int, rise float64) Schedule {
	end := float64(max(1, steps-1))
	top := min(max(rise*float64(steps)-1, 1e-9), end-1e-9)
	between := func(a, b, part float64) float64 { return b + (a-b)/2*(1+math.Cos(math.Pi*part)) }
	return func(lr float64, t int) (rate, momentum float64) {
		if k := float64(t); k <= top {
			return between(lr/25, lr, k/top), between(0.95, 0.85, k/top)
		}
		part := min(1, (float64(t)-top)/(end-top))
		return between(lr, lr/25e4, part), between(0.85, 0.95, part)
	}
}

// Join follows one schedule for the first steps and then another, which counts from 0 again. It can
// put a warm-up before a cosine.
func Join(first Schedule, steps int, then Schedule) Schedule {
	return func(lr float64, t int) (rate, momentum float64) {
		if t < steps {
			return first(lr, t)
		}
		return then(lr, t-steps)
	}
}

func plainSchedule(f func(lr float64, t int) float64) Schedule {
	return func(lr float64, t int) (float64, float64) { return f(lr, t), math.NaN() }
}
