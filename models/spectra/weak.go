// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// VelocityProfile says where the velocity of a star with weak lines may be, from the least of -2 log posterior at each velocity, where
// all other parameters follow. The curvature at its minimum says little there: the lines that stand out of the noise are not all the
// star's, and at other velocities the templates find others.
type VelocityProfile struct {
	// Lower and Upper are where it is 1 above its minimum, in km/s.
	Lower, Upper float64
	// SD is the larger of half the width at 1 and a quarter of that at 4, in km/s.
	SD float64
	// Others are velocities of other minima that are less than 9 above the lowest, the lowest first.
	Others []OtherVelocity
}

// Lopsided reports whether one side of the interval about a velocity is longer than the other by more than half.
func (p *VelocityProfile) Lopsided(about float64) bool {
	up, down := p.Upper-about, about-p.Lower
	return max(up, down) > 1.5*min(up, down)
}

// OtherVelocity is a minimum of -2 log posterior beside the lowest.
type OtherVelocity struct {
	Vel  float64 // velocity in km/s
	Rise float64 // above the lowest minimum
}

const (
	// weakGain is the reduction of the chi-square of the continuum by the templates below which the velocity has a profile.
	weakGain = 200
	// closeRise is how much a minimum may be above the lowest one to be told: that of three standard deviations.
	closeRise = 9
	// scannedRise is the same for minima of a scan in which the other parameters do not follow.
	scannedRise = 25
	// mostMinima is the largest number of minima of a scan from which searches begin.
	mostMinima = 6
)

// weak is what is known of the velocity of a star with weak lines.
type weak struct {
	star  int
	ends  []OtherVelocity // ends of searches from other minima; Rise is their -2 log posterior until tell
	rises velocityRises
}

// weakAll gives the velocities of stars with weak lines profiles, and tells other minima. Where one of these turns out to be the lowest,
// it is the fit.
func (l *layout) weakAll(ctx context.Context, stars []Star, list []int, best map[int]*job, fits []Fit) error {
	if l.velocities != 1 || l.fixed[0] {
		return nil
	}
	var all []*weak
	for _, i := range list {
		if fit := &fits[i]; fit.Err == nil && fit.again == nil && fit.SD[0] > 0 && fit.gain() < weakGain {
			all = append(all, &weak{star: i})
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := l.otherMinima(ctx, stars, all, best, fits); err != nil {
		return err
	}
	for _, w := range all {
		w.rises = velocityRises{best: fits[w.star].X[0]}
	}
	const rounds = 3
	for round := range rounds {
		at := make([][]float64, len(all))
		for k, w := range all {
			if sd := fits[w.star].SD[0]; sd > 0 {
				at[k] = w.rises.next(round, sd, l)
			}
		}
		if err := l.raiseVelocities(ctx, stars, all, at, best); err != nil {
			return err
		}
	}
	for _, w := range all {
		l.tellWeak(w, best[w.star], &fits[w.star])
	}
	return nil
}

// otherMinima looks for other minima of the velocity, and takes a lower one for the fit.
func (l *layout) otherMinima(ctx context.Context, stars []Star, all []*weak, best map[int]*job, fits []Fit) error {
	starts, err := l.scanMinima(ctx, stars, all, fits)
	if err != nil {
		return err
	}
	var jobs []*job
	var of []*weak
	for k, w := range all {
		from := best[w.star]
		w.ends = []OtherVelocity{{from.d.at[0], from.d.best.total()}}
		for _, v := range starts[k] {
			s := slices.Clone(from.d.at)
			s[0] = v
			d := l.descentFrom(Start{Vel: v, Vsini: s[1], Params: s[2:]})
			jobs, of = append(jobs, &job{star: w.star, start: from.start, d: d}), append(of, w)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	if err := l.searchAll(ctx, stars, jobs); err != nil {
		return err
	}
	var lower []int
	for k, j := range jobs {
		i := j.star
		fits[i].Evaluations += j.evaluations
		if j.d.status == notFinite || j.d.status == tooManySteps {
			continue
		}
		of[k].ends = append(of[k].ends, OtherVelocity{j.d.at[0], j.d.best.total()})
		const visible = 1e-3
		if j.d.best.total() < best[i].d.best.total()-visible {
			best[i] = j
			if !slices.Contains(lower, i) {
				lower = append(lower, i)
			}
		}
	}
	if len(lower) == 0 {
		return nil
	}
	if err := l.restAll(ctx, stars, lower, best, fits); err != nil {
		return err
	}
	for _, i := range lower {
		fits[i] = Fit{Star: fits[i].Star, Names: fits[i].Names, Evaluations: fits[i].Evaluations}
	}
	return l.describeAll(ctx, stars, lower, best, fits, true)
}

// scanMinima returns other velocities of each star at which the template of its fit has a minimum.
func (l *layout) scanMinima(ctx context.Context, stars []Star, all []*weak, fits []Fit) ([][]float64, error) {
	workers := min(l.f.s.Threads, len(all))
	scanners, faults, found := make([]scanner, workers), make([]error, len(all)), make([][]float64, len(all))
	lower, upper := l.bounds()
	parallel.Do(workers, len(all), func(w, k int) {
		scanners[w].on = w % len(ad.Spread(l.f.s.Backend))
		if faults[k] = ctx.Err(); faults[k] != nil {
			return
		}
		fit := &fits[all[k].star]
		state, err := scanners[w].state(l, 0, &stars[all[k].star], fit.X)
		if err != nil {
			faults[k] = err
			return
		}
		vel := through(fit.X[0], lower[0], upper[0], l.f.s.VelStep)
		chi, err := l.each[0].chiSquares(state, vel)
		faults[k] = err
		if err == nil {
			found[k] = minimaOf(vel, chi)
		}
	})
	for _, one := range scanners {
		for _, s := range one.states {
			s.l.back(s)
		}
	}
	return found, errors.Join(faults...)
}

// minimaOf returns the velocities of the minima of a scan that are not much higher than the lowest, without that, the lowest first. Half
// the rise of one standard deviation at least lies between two minima.
func minimaOf(vel, chi []float64) (list []float64) {
	const barrier = 0.5
	type minimum struct{ vel, chi float64 }
	var found []minimum
	least := slices.Min(chi)
	at, top := -1, math.Inf(1) // place of the lowest value since the last barrier
	keep := func() {
		if at >= 0 && chi[at] > least && chi[at] < least+scannedRise {
			found = append(found, minimum{vel[at], chi[at]})
		}
	}
	for i, c := range chi {
		switch {
		case at < 0 && c < top-barrier: // down from a top by more than the barrier
			at = i
		case at < 0:
			top = max(c, top)
		case c < chi[at]:
			at = i
		case c > chi[at]+barrier:
			keep()
			at, top = -1, c
		}
	}
	keep()
	sort.Slice(found, func(a, b int) bool { return found[a].chi < found[b].chi })
	for _, m := range found[:min(mostMinima, len(found))] {
		list = append(list, m.vel)
	}
	return list
}

// raiseVelocities searches for the minima of stars at some velocities each.
func (l *layout) raiseVelocities(ctx context.Context, stars []Star, all []*weak, at [][]float64, best map[int]*job) error {
	var jobs []*job
	var of []*weak
	for k, w := range all {
		from := best[w.star].d
		for _, v := range at[k] {
			d := l.descentFrom(Start{Vel: v, Vsini: from.at[1], Params: from.at[2:]})
			d.fixed = slices.Clone(l.fixed)
			d.fixed[0], d.lower[0], d.upper[0] = true, v, v
			d.steps = mostSteps - profileSteps
			jobs, of = append(jobs, &job{star: w.star, d: d}), append(of, w)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	if err := l.searchAll(ctx, stars, jobs); err != nil {
		return err
	}
	for k, j := range jobs {
		if s := j.d.status; s != notFinite {
			of[k].rises.add(j.d.at[0], j.d.best.total()-best[j.star].d.best.total())
		}
	}
	return nil
}

// tellWeak fills the profile of a fit, and its error where the profile is wider than the curvature says.
func (l *layout) tellWeak(w *weak, best *job, fit *Fit) {
	p := &w.rises
	if sd := fit.SD[0]; len(p.points) > 0 && sd > 0 {
		lower, upper := l.bounds()
		reach := func(level float64) (down, up float64) {
			return p.reach(level, sd, lower[0]), p.reach(level, sd, upper[0])
		}
		down1, up1 := reach(1)
		down4, up4 := reach(4)
		fit.Profile = &VelocityProfile{Lower: down1, Upper: up1, SD: max((up1-down1)/2, (up4-down4)/4)}
		const parabola = 1.05
		if ratio := fit.Profile.SD / sd; ratio > parabola {
			n := len(fit.X)
			for k := range n {
				fit.Cov[k] *= ratio
				fit.Cov[k*n] *= ratio
			}
			fit.SD[0] = fit.Profile.SD
			fit.Velocity.SD = max(fit.Velocity.SD, fit.SD[0])
		}
	}
	least := best.d.best.total()
	sort.Slice(w.ends, func(a, b int) bool { return w.ends[a].Rise < w.ends[b].Rise })
	var others []OtherVelocity
	apart := l.f.s.VelStep
	if fit.SD[0] > apart { // it is NaN at a bound
		apart = fit.SD[0]
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < apart }
	for _, e := range w.ends {
		if e.Rise -= least; e.Rise < closeRise && !near(e.Vel, fit.X[0]) && !slices.ContainsFunc(others, func(o OtherVelocity) bool { return near(e.Vel, o.Vel) }) {
			others = append(others, OtherVelocity{e.Vel, max(e.Rise, 0)})
		}
	}
	if len(others) == 0 {
		return
	}
	if fit.Profile == nil {
		fit.Profile = &VelocityProfile{Lower: math.NaN(), Upper: math.NaN(), SD: math.NaN()}
	}
	fit.Profile.Others = others
	if fit.Verdict != nil {
		fit.Verdict.OK = false
		f := sayOthers(fit.Names[0], others)
		if k := slices.IndexFunc(fit.Verdict.Flags, func(g check.Flag) bool { return g.Kind == f.Kind && g.Where == f.Where }); k >= 0 {
			fit.Verdict.Flags[k].Text += "; " + f.Text
			return
		}
		fit.Verdict.Flags = append(fit.Verdict.Flags, f)
	}
}

// sayOthers flags other velocities.
func sayOthers(name string, others []OtherVelocity) check.Flag {
	var list []string
	for _, o := range others {
		list = append(list, fmt.Sprintf("%.4g km/s (%.1f)", o.Vel, o.Rise))
	}
	return check.Flag{Kind: check.KindUnknown, Where: name,
		Text:   fmt.Sprintf("the spectra fit almost as well at other velocities, where chi-square is higher by less than %d: %s", closeRise, strings.Join(list, ", ")),
		Remedy: "add up exposures, or give the velocity a prior"}
}

// velocityRises are the rises of -2 log posterior at velocities above that of the best one.
type velocityRises struct {
	best   float64
	points [][2]float64 // velocity and rise, ascending, without the best one
}

func (p *velocityRises) add(v, rise float64) {
	i := sort.Search(len(p.points), func(k int) bool { return p.points[k][0] >= v })
	p.points = slices.Insert(p.points, i, [2]float64{v, max(rise, 0)})
}

// rise returns the rise at a velocity. Over the square of the distance it is almost constant, and straight lines join its values.
func (p *velocityRises) rise(v float64) float64 {
	square := func(x float64) float64 { return (x - p.best) * (x - p.best) }
	at := func(k int) float64 { return p.points[k][1] / square(p.points[k][0]) }
	side := func(k int) bool { return k >= 0 && k < len(p.points) && (p.points[k][0] > p.best) == (v > p.best) }
	i := sort.Search(len(p.points), func(k int) bool { return p.points[k][0] > v })
	switch {
	case side(i-1) && side(i):
		a, b := p.points[i-1][0], p.points[i][0]
		return (at(i-1) + (at(i)-at(i-1))*(v-a)/(b-a)) * square(v)
	case side(i):
		return at(i) * square(v)
	case side(i - 1):
		return at(i-1) * square(v)
	}
	return math.NaN()
}

// reach returns the velocity towards an end of the range at which the rise first reaches a level, and the end if it does not, or not
// within ten standard deviations.
func (p *velocityRises) reach(level, sd, end float64) float64 {
	const steps, most = 1000, 10
	to := p.best + math.Copysign(min(most*sd, math.Abs(end-p.best)), end-p.best)
	for k := range steps {
		a, b := p.best+(to-p.best)*float64(k)/steps, p.best+(to-p.best)*float64(k+1)/steps
		if p.rise(b) < level {
			continue
		}
		for range 50 {
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

// next returns velocities at which to compute the rise: one and two standard deviations from the best, and then where the rise is 1 and
// 4 as far as it is known, until there are points nearby.
func (p *velocityRises) next(round int, sd float64, l *layout) (list []float64) {
	lower, upper := l.bounds()
	for _, end := range []float64{lower[0], upper[0]} {
		for _, level := range []float64{1, 4} {
			v := p.best + math.Copysign(math.Sqrt(level)*sd, end-p.best)
			if round > 0 {
				if v = p.reach(level, sd, end); math.IsNaN(v) {
					continue
				}
			}
			const nearby = 0.1
			known := slices.ContainsFunc(p.points, func(x [2]float64) bool { return math.Abs(x[0]-v) < nearby*sd })
			if v > lower[0] && v < upper[0] && !known {
				list = append(list, v)
			}
		}
	}
	return list
}
