// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"slices"
)

// flatAtRest says whether the likelihood has no slope in the rotation at a lower bound: without rotation, which changes
// a spectrum by its square. From there a search would see no way to a minimum elsewhere, so that searches stay above
// leastVsini, and restAll tells which stars do not rotate. The kernel of the reference has a slope at 0.
func (l *layout) flatAtRest(lower float64) bool {
	return lower == 0 && !l.fixed[l.velocities] && !l.f.s.Rotation.Compat
}

// restAll searches again without rotation for the stars whose search ended at the least of rotations, and keeps what is
// better. It gives all searches the bounds of the parameters.
func (l *layout) restAll(ctx context.Context, stars []Star, list []int, best map[int]*job, fits []Fit) error {
	v := l.velocities
	lower, upper := l.bounds()
	if !l.flatAtRest(lower[v]) || !(upper[v] > leastVsini) {
		return nil
	}
	held := slices.Clone(l.fixed)
	held[v] = true
	var jobs []*job
	for _, i := range list {
		d := best[i].d
		if d.status == notFinite || d.at[v] > leastVsini {
			continue
		}
		at := slices.Clone(d.at)
		at[v] = 0
		rest := newDescent(at, slices.Clone(d.lower), d.upper, d.least, held)
		rest.lower[v], rest.trial[v] = 0, 0
		rest.rough, rest.rounding, rest.steps = d.rough, d.rounding, d.steps+1
		jobs = append(jobs, &job{star: i, start: best[i].start, d: rest})
	}
	if len(jobs) > 0 {
		if err := l.searchAll(ctx, stars, jobs); err != nil {
			return err
		}
	}
	for _, j := range jobs {
		fits[j.star].Evaluations += j.evaluations
		if j.d.status != notFinite && j.d.best.total() <= best[j.star].d.best.total() {
			j.d.fixed, j.d.resting = l.fixed, true
			best[j.star] = j
		}
	}
	for _, i := range list {
		best[i].d.lower[v] = lower[v]
	}
	return nil
}
