// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"slices"
	"sort"
)

// RotationProfile says how slow a rotation may be, and how fast, from the least of -2 log posterior at each rotation, where
// all other parameters follow. Slow rotation changes a spectrum by its square, so that a standard deviation from the
// curvature at the best value says little there.
type RotationProfile struct {
	// Lower and Upper are where it is 1 above its minimum, in km/s. Lower is 0 if it is not even there.
	Lower, Upper float64
	// Below95 is the rotation below which there is 95 % of exp(-1/2 of it), in km/s.
	Below95 float64
}

// slowerThan is the number of standard deviations from 0 within which a rotation has a profile: three standard deviations
// of its square.
const slowerThan = 6

// profileSteps is the number of steps from the best fit within which a search at another rotation has to end.
const profileSteps = 25

// profile is what is known of one: the rise at squares of rotations above that of the best one.
type profile struct {
	star   int
	best   float64      // square of the best rotation
	top    float64      // the largest rotation
	points [][2]float64 // square and rise, ascending, without the best one
}

// add adds a point.
func (p *profile) add(square, rise float64) {
	i := sort.Search(len(p.points), func(k int) bool { return p.points[k][0] >= square })
	p.points = slices.Insert(p.points, i, [2]float64{square, max(rise, 0)})
}

// rise returns the rise at a rotation. Over the distance of the squares from rest, or over its square from elsewhere, it
// is almost constant, and straight lines join its values.
func (p *profile) rise(v float64) float64 {
	unit := func(square float64) float64 {
		if p.best == 0 {
			return square
		}
		return (square - p.best) * (square - p.best)
	}
	square := v * v
	i := sort.Search(len(p.points), func(k int) bool { return p.points[k][0] > square })
	at := func(k int) float64 { return p.points[k][1] / unit(p.points[k][0]) }
	var ratio float64
	switch {
	case len(p.points) == 0:
		return math.NaN()
	case i == 0 && p.best == 0 && len(p.points) > 1:
		i = 1 // the line goes on to rest
		fallthrough
	case i > 0 && i < len(p.points):
		a, b := p.points[i-1][0], p.points[i][0]
		ratio = max(0, at(i-1)+(at(i)-at(i-1))*(square-a)/(b-a))
	case i == 0:
		ratio = at(0)
	default:
		ratio = at(i - 1)
	}
	return ratio * unit(square)
}

// up returns the rotation above the best one at which the rise reaches a level, and down that below it, at least 0.
func (p *profile) up(level float64) float64   { return p.reach(level, math.Sqrt(p.best), p.top) }
func (p *profile) down(level float64) float64 { return p.reach(level, math.Sqrt(p.best), 0) }

func (p *profile) reach(level, from, to float64) float64 {
	const steps = 2000
	for k := range steps {
		a, b := from+(to-from)*float64(k)/steps, from+(to-from)*float64(k+1)/steps
		if p.rise(b) < level {
			continue
		}
		for range 60 {
			if m := (a + b) / 2; p.rise(m) < level {
				a = m
			} else {
				b = m
			}
		}
		return b
	}
	return to
}

// below returns the rotation below which there is a share of the posterior.
func (p *profile) below(share float64) float64 {
	const steps = 4000
	top := p.up(40)
	sums := make([]float64, steps+1)
	for k := range steps {
		sums[k+1] = sums[k] + math.Exp(-p.rise((float64(k)+0.5)/steps*top)/2)
	}
	want := share * sums[steps]
	k := sort.SearchFloat64s(sums, want)
	if k < 1 || k > steps {
		return math.NaN()
	}
	return (float64(k) - (sums[k]-want)/(sums[k]-sums[k-1])) / steps * top
}

// profileAll gives profiles to the stars whose rotation is near 0, and the limits that follow from them to those that
// do not rotate.
func (l *layout) profileAll(ctx context.Context, stars []Star, list []int, best map[int]*job, fits []Fit) error {
	v := l.velocities
	lower, upper := l.bounds()
	if l.fixed[v] || lower[v] != 0 {
		return nil
	}
	var all []*profile
	for _, i := range list {
		fit := &fits[i]
		if fit.Err != nil || fit.again != nil || fit.X[v] > slowerThan*fit.SD[v] || fit.X[v] > 0 && !(fit.SD[v] > 0) {
			continue
		}
		all = append(all, &profile{star: i, best: fit.X[v] * fit.X[v], top: upper[v]})
	}
	for round := range 3 {
		at := make([][]float64, len(all))
		for k, p := range all {
			at[k] = p.next(round, fits[p.star].SD[v])
		}
		if err := l.riseAll(ctx, stars, all, at, best); err != nil {
			return err
		}
	}
	for _, p := range all {
		if len(p.points) == 0 {
			continue
		}
		fit := &fits[p.star]
		fit.Rotation = &RotationProfile{Lower: p.down(1), Upper: p.up(1), Below95: p.below(0.95)}
		for k := range fit.Limits {
			if one := &fit.Limits[k]; one.Name == Vsini && one.Bound == 0 && l.flatAtRest(0) {
				one.Limit95 = fit.Rotation.Below95
			}
		}
	}
	return nil
}

// next returns rotations at which to compute the rise: first some about the best one, then those of some rises as far
// as they are known.
func (p *profile) next(round int, sd float64) []float64 {
	x := math.Sqrt(p.best)
	var list []float64
	switch {
	case round == 0 && p.best == 0:
		list = []float64{5, 20, 60}
	case round == 0:
		list = []float64{0, math.Sqrt(max(0, p.best-2*x*sd)), math.Sqrt(p.best + 2*x*sd)}
	case round == 1:
		list = []float64{p.up(1), p.up(6)}
	default:
		list = []float64{p.up(1), p.up(3), p.up(9)}
	}
	if round > 0 && p.best > 0 {
		list = append(list, p.down(1))
	}
	return slices.DeleteFunc(list, func(y float64) bool {
		near := func(z float64) bool { return math.Abs(y-z) < 1e-3*(y+z) || y == z }
		return !(y >= 0 && y <= p.top) || near(x) || slices.ContainsFunc(p.points, func(q [2]float64) bool { return near(math.Sqrt(q[0])) })
	})
}

// riseAll searches for the minima of stars at some rotations each.
func (l *layout) riseAll(ctx context.Context, stars []Star, all []*profile, at [][]float64, best map[int]*job) error {
	v := l.velocities
	lower, upper := l.bounds()
	held := slices.Clone(l.fixed)
	held[v] = true
	var jobs []*job
	var of []*profile
	for k, p := range all {
		from := best[p.star].d
		for i, y := range at[k] {
			if slices.Contains(at[k][:i], y) {
				continue
			}
			start := slices.Clone(from.at)
			start[v] = y
			d := newDescent(start, lower, upper, from.least, held)
			d.rough, d.rounding, d.steps = from.rough, from.rounding, mostSteps-profileSteps
			jobs, of = append(jobs, &job{star: p.star, d: d}), append(of, p)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	if err := l.searchAll(ctx, stars, jobs); err != nil {
		return err
	}
	for k, j := range jobs {
		if s := j.d.status; s != notFinite && s != tooManySteps {
			of[k].add(j.d.at[v]*j.d.at[v], j.d.best.total()-best[j.star].d.best.total())
		}
	}
	return nil
}
