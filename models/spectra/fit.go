// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// Fit is the fit of one star.
type Fit struct {
	Star  string
	Names []string
	X     []float64 // parameters at the minimum of -2 log posterior
	// SD holds marginal standard deviations, from the inverse Hessian of all free parameters; NaN
	// for a parameter that is fixed or at a bound, and with BadHessian.
	SD []float64
	// Conditional holds standard deviations with velocity and rotation held fixed, as the reference
	// reports them.
	Conditional []float64
	// Cov is the covariance of all parameters, row-major, with 0 for those without SD.
	Cov []float64
	// Velocity is the posterior of the velocity with all else held fixed. With Settings.PerExposure
	// it is that of the first exposure.
	Velocity VelocityPosterior
	// Exposures holds the labels of the exposures that have velocities of their own, in their
	// order. Velocities holds the posteriors of their velocities, whose ChiSquare is of their
	// spectra alone, and Common says whether they agree; it is nil for one exposure, or if a
	// velocity has no SD. All are nil without Settings.PerExposure.
	Exposures  []string
	Velocities []VelocityPosterior
	Common     *CommonVelocity
	// ChiSquare is -2 log L, including the terms of the continuum, without priors. LogPosterior
	// includes priors.
	ChiSquare, LogPosterior float64
	Spectra                 []SpectrumFit
	// AtBound holds the names of parameters at a bound, and Limits says of each on which side of
	// which value it lies.
	AtBound []string
	Limits  []Limit
	// Rotation says how slow and how fast the star may rotate, if its rotation is at 0 or within six
	// standard deviations of it; nil for others, and where a fixed value or a prior keeps the
	// rotation away from 0.
	Rotation *RotationProfile
	// Profile says where the velocity may be if the lines of the star are weak, so that the templates reduce the chi-square of the
	// continuum by less than 200; nil for others, for fixed velocities and with Settings.PerExposure. SD and Velocity.SD are those of
	// the profile where that is wider than the curvature says.
	Profile *VelocityProfile
	// BadHessian says that the Hessian of the free parameters is not positive definite.
	BadHessian bool
	// Spikes are runs of pixels that the fit did not use because they stand out of the model as cosmic rays do, and
	// Polynomials is the number of Chebyshev polynomials that the continuum has beside Settings.Continuum functions, because
	// the data call for them.
	Spikes      []Spike
	Polynomials int
	// Outside is the part of ChiSquare that is a penalty for lying outside the library; it is 0
	// inside. A network's library ends at hulls. Beyond a side at one value of a parameter, that
	// parameter is at its bound; beyond an oblique side, standard deviations include the penalty.
	Outside float64
	// Converged says that a search ended at a minimum; Status says how it ended.
	Converged bool
	Status    string
	// Evaluations is the number of evaluations of the objective and its derivatives in searches for the
	// minimum, without those of a RotationProfile.
	Evaluations int
	held        []float64 // standard deviations of the velocities with all else held
	// Verdict says whether the model agrees with the data; nil with Settings.NoVerdict.
	Verdict *check.Verdict
	again   *again // why the fit has to be made again; nil if it is done
	// Err says why there is no fit; nil if there is one.
	Err error
}

// SpectrumFit is the part of a fit that belongs to one spectrum.
type SpectrumFit struct {
	Arm string
	// ChiSquare is the sum of ((flux - model)/error)^2 over good pixels, Pixels their number, and
	// ContinuumOnly the same for the continuum alone.
	ChiSquare, ContinuumOnly float64
	Pixels                   int
	Model                    []float64 // product of template and continuum
	Template                 []float64 // template before it is multiplied by the continuum
	Coefficients             []float64 // coefficients of the continuum's functions
}

// job is one search of a star.
type job struct {
	star, start int
	d           *descent
	evaluations int
}

// Fit fits stars. The error of one star is in its Fit and does not affect the others; the error
// returned is that of ctx, or one that concerns all.
func (f *Fitter) Fit(ctx context.Context, stars []Star) ([]Fit, error) {
	if err := given.Args("spectra.Fit", "ctx", ctx); err != nil {
		return nil, err
	}
	fits, data, fitters := make([]Fit, len(stars)), slices.Clone(stars), slices.Repeat([]*Fitter{f}, len(stars))
	todo := make([]int, len(stars))
	for i := range stars {
		fits[i], todo[i] = Fit{Star: stars[i].Name, Names: f.names}, i
	}
	for round := range mostAttempts {
		if err := attempt(ctx, fitters, data, todo, fits, round == mostAttempts-1); err != nil {
			return fits, err
		}
		todo = slices.DeleteFunc(todo, func(i int) bool { return fits[i].again == nil })
		if len(todo) == 0 {
			break
		}
		for _, i := range todo {
			data[i], fitters[i] = fits[i].again.prepare(&stars[i], &data[i], &fits[i], fitters[i])
			fits[i] = Fit{Star: stars[i].Name, Names: fits[i].Names, Evaluations: fits[i].Evaluations}
		}
	}
	return fits, nil
}

// attempt fits those stars of a list with a fitter for each.
func attempt(ctx context.Context, fitters []*Fitter, stars []Star, list []int, fits []Fit, last bool) error {
	groups := map[*layout][]int{}
	var order []*layout
	for _, i := range list {
		l, err := fitters[i].layoutOf(&stars[i])
		if err != nil {
			fits[i].Err = fmt.Errorf("%s: %w", stars[i].Name, err)
			continue
		}
		fits[i].Names = l.names
		if groups[l] == nil {
			order = append(order, l)
		}
		groups[l] = append(groups[l], i)
	}
	for _, l := range order {
		if err := l.place(); err != nil {
			return err
		}
		if err := l.fit(ctx, stars, groups[l], fits, last); err != nil {
			return err
		}
	}
	return nil
}

// layoutOf checks a star and its starts, and returns its layout.
func (f *Fitter) layoutOf(star *Star) (*layout, error) {
	if len(star.Spectra) > 0 && len(star.Starts) == 0 {
		return nil, errors.New("the star has no parameters to start from: give it Starts")
	}
	labels, _ := f.exposures(star)
	for _, s := range star.Starts {
		if err := f.checkStart(s, len(labels)); err != nil {
			return nil, err
		}
	}
	return f.layoutOfSpectra(star)
}

// layoutOfSpectra checks the spectra of a star and returns its layout.
func (f *Fitter) layoutOfSpectra(star *Star) (*layout, error) {
	if len(star.Spectra) == 0 {
		return nil, errors.New("the star has no spectra: give at least one")
	}
	for i := range star.Spectra {
		if err := star.Spectra[i].check(); err != nil {
			return nil, fmt.Errorf("spectrum %d, %w", i, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.layout(star)
}

// checkStart checks a start of a star with some exposures.
func (f *Fitter) checkStart(s Start, exposures int) error {
	switch {
	case len(s.Params) != len(f.library.Params):
		return fmt.Errorf("a start has %s: want %v", errtext.Count(len(s.Params), "parameter"), f.library.Params)
	case s.Vels != nil && !f.s.PerExposure:
		return errors.New("a start has velocities of the exposures: set Settings.PerExposure, or leave Vels out")
	case s.Vels != nil && len(s.Vels) != exposures:
		return fmt.Errorf("a start has %d velocities, but there are %d exposures: give one for each", len(s.Vels), exposures)
	}
	for _, v := range append([]float64{s.Vel}, s.Vels...) { // NaN asks for a scan
		if math.IsInf(v, 0) {
			return fmt.Errorf("the start %v is infinite: want finite numbers, or NaN for a velocity to be found by a scan", s)
		}
	}
	for _, x := range append([]float64{s.Vsini}, s.Params...) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("the start %v is not finite: want finite parameters and vsini", s)
		}
	}
	return nil
}

// leastVsini is where searches start that would start without rotation, in km/s: from 0 itself the slope on
// the other side cannot be seen.
const leastVsini = 1

// velScale and vsiniScale are standard deviations of velocities, in km/s, above which damped steps do not
// rely on them.
const velScale, vsiniScale = 100, 20

// descentFrom returns a search.
func (l *layout) descentFrom(s Start) *descent {
	n := len(l.names)
	at := slices.Clone(s.Vels)
	if at == nil {
		at = []float64{s.Vel}
		if l.velocities > 1 { // which one velocity may be far from, in a binary
			at = slices.Repeat([]float64{math.NaN()}, l.velocities)
		}
	}
	at = append(append(at, max(s.Vsini, leastVsini)), s.Params...)
	lower, upper := l.bounds()
	for k := range n {
		if l.fixed[k] {
			at[k], lower[k], upper[k] = l.values[k], l.values[k], l.values[k]
		}
	}
	least := slices.Repeat([]float64{1e-12}, n)
	// The likelihood is almost flat in the rotation of slow stars, far from its minimum.
	for k := range l.velocities {
		least[k] = 1.0 / (velScale * velScale)
	}
	least[l.velocities] = 1.0 / (vsiniScale * vsiniScale)
	d := newDescent(at, lower, upper, least, l.fixed)
	if l.f.s.Precision == 32 {
		d.rounding = roundingOf32
	}
	if v := l.velocities; l.flatAtRest(lower[v]) && upper[v] > leastVsini {
		d.lower[v] = leastVsini
	}
	for _, t := range l.templates {
		switch t.Interpolator.(type) {
		case *Regular, *Delaunay, *Nearest:
			d.rough = true
		}
	}
	return d
}

// fit fits the stars of a list, which have this layout.
func (l *layout) fit(ctx context.Context, stars []Star, list []int, fits []Fit, last bool) error {
	var jobs []*job
	for _, i := range list {
		for k, s := range stars[i].Starts {
			jobs = append(jobs, &job{star: i, start: k, d: l.descentFrom(s)})
		}
	}
	if err := l.firstVelocities(ctx, stars, jobs); err != nil {
		return err
	}
	if err := l.searchAll(ctx, stars, jobs); err != nil {
		return err
	}
	best := make(map[int]*job, len(list))
	for _, j := range jobs {
		b := best[j.star]
		if b == nil || j.d.status != notFinite && (b.d.status == notFinite || j.d.best.total() < b.d.best.total()) {
			best[j.star] = j
		}
		fits[j.star].Evaluations += j.evaluations
	}
	if err := l.restAll(ctx, stars, list, best, fits); err != nil {
		return err
	}
	if err := l.describeAll(ctx, stars, list, best, fits, last); err != nil {
		return err
	}
	if err := l.weakAll(ctx, stars, list, best, fits); err != nil {
		return err
	}
	return l.profileAll(ctx, stars, list, best, fits)
}

// firstVelocities replaces velocities that are not given by the best of a scan.
func (l *layout) firstVelocities(ctx context.Context, stars []Star, jobs []*job) error {
	type without struct {
		j        *job
		velocity int
	}
	var list []without
	for _, j := range jobs {
		for k := range l.velocities {
			if math.IsNaN(j.d.trial[k]) {
				list = append(list, without{j, k})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	workers := min(l.f.s.Threads, len(list))
	scanners, faults := make([]scanner, workers), make([]error, len(list))
	parallel.Do(workers, len(list), func(w, i int) {
		scanners[w].on = w % len(ad.Spread(l.f.s.Backend))
		if faults[i] = ctx.Err(); faults[i] != nil {
			return
		}
		j, k := list[i].j, list[i].velocity
		lower, upper := j.d.lower[k], j.d.upper[k]
		set := scanSettings{lower, upper, l.f.s.VelStep, math.Inf(1)}
		var v VelocityPosterior
		if v, faults[i] = scanners[w].scan(l, k, &stars[j.star], j.d.trial, lower, math.NaN(), set); faults[i] == nil {
			j.d.trial[k] = min(max(v.Vel, lower), upper)
		}
	})
	return errors.Join(faults...)
}

// searchAll runs searches side by side.
func (l *layout) searchAll(ctx context.Context, stars []Star, jobs []*job) error {
	backends := ad.Spread(l.f.s.Backend)
	batch, n := l.batch, len(l.names)
	workers := min(max(l.f.s.Threads, len(backends)), (len(jobs)+batch-1)/batch)
	programs := make([]*ad.Program, len(backends))
	for on := range min(workers, len(backends)) {
		var err error
		if programs[on], err = l.search(on); err != nil {
			return err
		}
	}
	helpers := 1
	if programs[0].Device() != "cpu" { // a program for each GPU, and goroutines for the steps of its stars
		workers = min(workers, len(backends))
		helpers = max(1, l.f.s.Threads/workers)
	}
	var mu sync.Mutex
	next := 0
	take := func() *job {
		mu.Lock()
		defer mu.Unlock()
		if next == len(jobs) || ctx.Err() != nil {
			return nil
		}
		next++
		return jobs[next-1]
	}
	faults := make([]error, workers)
	parallel.Do(workers, workers, func(_, w int) {
		s := l.lent(programs[w%len(backends)])
		slots := make([]*job, batch)
		for {
			busy := 0
			for i := range slots {
				if slots[i] == nil {
					if slots[i] = take(); slots[i] != nil {
						if faults[w] = s.fill(i, &stars[slots[i].star]); faults[w] != nil {
							return
						}
					}
				}
				if j := slots[i]; j != nil {
					busy++
					s.set(i, j.d.trial)
				}
			}
			if busy == 0 {
				l.back(s)
				return
			}
			if faults[w] = l.idle(s, slots, stars, jobs); faults[w] != nil {
				return
			}
			if faults[w] = errors.Join(ctx.Err(), s.run()); faults[w] != nil {
				return
			}
			f, g, h, pf, pg := s.output(0), s.output(1), s.output(2), s.output(3), s.output(4)
			if faults[w] = s.s.Err(); faults[w] != nil {
				return
			}
			const share = 16
			parallel.Do(helpers, (batch+share-1)/share, func(_, part int) {
				for i := part * share; i < min((part+1)*share, batch); i++ {
					j := slots[i]
					if j == nil {
						continue
					}
					j.evaluations++
					j.d.take(quadratic{f[i], g[i*n : (i+1)*n], h[i*n*n : (i+1)*n*n], pf[i], pg[i*n : (i+1)*n]})
					if j.d.status != searching {
						slots[i] = nil
					}
				}
			})
		}
	})
	return errors.Join(append(faults, ctx.Err())...)
}

// idle gives places without a search finite numbers once: those of the first job.
func (l *layout) idle(s *places, slots []*job, stars []Star, jobs []*job) error {
	for i, j := range slots {
		if j == nil && !s.filled[i] {
			if err := s.fill(i, &stars[jobs[0].star]); err != nil {
				return err
			}
			s.set(i, jobs[0].d.trial)
		}
	}
	return nil
}
