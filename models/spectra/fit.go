package spectra

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// Settings are the settings of fits. The zero value is the default.
type Settings struct {
	// Continuum is the number of functions of the continuum. Default 5; DESI spectra take 10.
	Continuum int
	// Chebyshev uses Chebyshev polynomials in place of three powers and Gaussians.
	Chebyshev bool
	// Rotation says how templates are broadened. With Rotation.None there is no vsini.
	Rotation spectra.Rotation
	// MinVel and MaxVel bound the velocity, in km/s. Default -1000 and 1000.
	MinVel, MaxVel float64
	// Floor is added to the errors in quadrature, in the likelihood, by arm.
	Floor map[string]float64
	// Fixed are the values of parameters that are not fitted: vel, vsini, or those of the library.
	Fixed map[string]float64
	// Priors are those of parameters. Default: flat.
	Priors map[string]dist.Dist
	// VelStep is the step of the first scan of velocities, and LeastVelStep that below which scans are not
	// refined, in km/s. Default 10 and 0.2.
	VelStep, LeastVelStep float64
	// Batch is the number of stars that are fitted side by side in one program. Results do not depend on who
	// is beside a star; their last bits depend on Batch. Default 16.
	Batch int
	// Velocities is the number of velocities of a scan that are computed at a time. Default 64.
	Velocities int
	// NoVerdict leaves out the verdict about model and data.
	NoVerdict bool
	// Threads is the number of programs that run at the same time. Default GOMAXPROCS.
	Threads int
	// Backend runs the programs. Default: one thread of the processor for each.
	Backend ad.Backend
}

func (s Settings) defaults() Settings {
	number := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	count := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	count(&s.Continuum, 5)
	count(&s.Batch, 16)
	count(&s.Velocities, 64)
	count(&s.Threads, runtime.GOMAXPROCS(0))
	if s.MinVel == 0 && s.MaxVel == 0 {
		s.MinVel, s.MaxVel = -1000, 1000
	}
	number(&s.VelStep, 10)
	number(&s.LeastVelStep, 0.2)
	number(&s.Rotation.MaxVsini, 500)
	if s.Backend == nil {
		s.Backend = ad.CPU{Threads: 1}
	}
	return s
}

// Names of the parameters that every library has.
const (
	Vel   = "vel"
	Vsini = "vsini"
)

// Fitter fits stars with one library. It is safe for concurrent use.
type Fitter struct {
	library *Library
	s       Settings
	names   []string // of all parameters: vel, vsini, and those of the library
	fixed   []bool
	values  []float64 // of those that are fixed

	mu      sync.Mutex
	arms    map[string]*spectra.Arm
	layouts map[string]*layout
}

// NewFitter checks the settings.
func NewFitter(l *Library, s Settings) (*Fitter, error) {
	if err := given.Args("spectra.NewFitter", "l", l); err != nil {
		return nil, err
	}
	f := &Fitter{library: l, s: s.defaults(), names: append([]string{Vel, Vsini}, l.Params...), arms: map[string]*spectra.Arm{}, layouts: map[string]*layout{}}
	f.fixed, f.values = make([]bool, len(f.names)), make([]float64, len(f.names))
	var bad []error
	say := func(format string, v ...any) { bad = append(bad, fmt.Errorf("spectra: "+format, v...)) }
	place := func(what, name string) int {
		k := slices.Index(f.names, name)
		if k < 0 {
			hint := ""
			if near := spelling.Meant(name, f.names); near != "" {
				hint = ": did you mean " + near + "?"
			}
			say("%s of %q: want one of %v%s", what, name, f.names, hint)
		}
		return k
	}
	for _, name := range slices.Sorted(maps.Keys(f.s.Fixed)) {
		v := f.s.Fixed[name]
		if k := place("a fixed value", name); k >= 0 {
			f.fixed[k], f.values[k] = true, v
			if math.IsNaN(v) || math.IsInf(v, 0) {
				say("%s is fixed at %v", name, v)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.s.Priors)) {
		if k := place("a prior", name); k >= 0 && f.s.Priors[name].Event > 0 {
			say("the prior of %s is one of vectors", name)
		}
	}
	for name, floor := range f.s.Floor {
		if _, err := l.Arm(name); err != nil || !(floor >= 0) || math.IsInf(floor, 1) {
			say("an error floor of %g for arm %q: want at least 0, for an arm of the library", floor, name)
		}
	}
	if f.s.Rotation.None {
		f.fixed[1], f.values[1] = true, 0
	}
	for _, n := range []struct {
		name string
		v    int
	}{{"Continuum", f.s.Continuum}, {"Batch", f.s.Batch}, {"Velocities", f.s.Velocities}, {"Threads", f.s.Threads}} {
		if n.v < 1 {
			say("%s is %d: want at least 1", n.name, n.v)
		}
	}
	if !(f.s.MinVel < f.s.MaxVel) || !(f.s.VelStep > 0) || !(f.s.LeastVelStep > 0) {
		say("velocities from %g to %g km/s in steps of %g, at least %g: want an ascending range and steps above 0", f.s.MinVel, f.s.MaxVel, f.s.VelStep, f.s.LeastVelStep)
	}
	for _, t := range l.Arms {
		if t.Dim() != len(l.Params) {
			say("arm %s of the library has %d parameters, the library %d", t.Name, t.Dim(), len(l.Params))
		}
	}
	return f, errors.Join(bad...)
}

// Names returns the names of the parameters in the order of Fit.X: vel, vsini, and those of the library.
func (f *Fitter) Names() []string { return slices.Clone(f.names) }

// Fit is the fit of one star.
type Fit struct {
	Star  string
	Names []string
	X     []float64 // parameters at the minimum of -2 log posterior
	// SD are marginal standard deviations, of the inverse Hessian of all free parameters; NaN where there is
	// none: fixed, at a bound, or BadHessian.
	SD []float64
	// Conditional are those with velocity and rotation held, as the reference reports them.
	Conditional []float64
	// Cov is the covariance of all parameters, row-major; 0 for those without SD.
	Cov []float64
	// Velocity is its posterior with all else held.
	Velocity VelocityPosterior
	// ChiSquare is -2 log L, with what the continuum adds, without priors. LogPosterior includes priors.
	ChiSquare, LogPosterior float64
	Spectra                 []SpectrumFit
	// AtBound are the names of parameters at a bound, whose errors are one-sided.
	AtBound []string
	// BadHessian says that the Hessian of the free parameters is not positive definite.
	BadHessian bool
	// Outside is the part of ChiSquare that is a penalty for being outside of the library: 0 inside.
	Outside float64
	// Converged says that a search ended at a minimum; Status says how it ended.
	Converged bool
	Status    string
	// Evaluations is the number of evaluations of the objective and its derivatives.
	Evaluations int
	held        float64 // standard deviation of the velocity with all else held
	// Verdict says whether the model agrees with the data; nil if Settings.NoVerdict.
	Verdict *check.Verdict
	// Err is why there is no fit; nil if there is one.
	Err error
}

// SpectrumFit is the part of one spectrum.
type SpectrumFit struct {
	Arm string
	// ChiSquare is the sum of ((flux - model)/error)^2 over good pixels, Pixels their number, and
	// ContinuumOnly the same for the continuum alone.
	ChiSquare, ContinuumOnly float64
	Pixels                   int
	Model                    []float64 // template and continuum
	Template                 []float64 // before the continuum
	Coefficients             []float64 // of the continuum's functions
}

// job is one search of a star.
type job struct {
	star, start int
	d           *descent
	evaluations int
}

// Fit fits stars. An error of one star is in its Fit and ends no other; the error returned is that of ctx, or
// one that concerns all.
func (f *Fitter) Fit(ctx context.Context, stars []Star) ([]Fit, error) {
	if err := given.Args("spectra.Fit", "ctx", ctx); err != nil {
		return nil, err
	}
	fits := make([]Fit, len(stars))
	groups := map[*layout][]int{}
	var order []*layout
	for i := range stars {
		fits[i] = Fit{Star: stars[i].Name, Names: f.names}
		l, err := f.layoutOf(&stars[i])
		if err != nil {
			fits[i].Err = fmt.Errorf("%s: %w", stars[i].Name, err)
			continue
		}
		if groups[l] == nil {
			order = append(order, l)
		}
		groups[l] = append(groups[l], i)
	}
	for _, l := range order {
		if err := l.fit(ctx, stars, groups[l], fits); err != nil {
			return fits, err
		}
	}
	return fits, nil
}

// layoutOf checks a star and returns its layout.
func (f *Fitter) layoutOf(star *Star) (*layout, error) {
	if len(star.Spectra) == 0 {
		return nil, errors.New("no spectra")
	}
	key := ""
	for i := range star.Spectra {
		if err := star.Spectra[i].check(); err != nil {
			return nil, err
		}
		key += star.Spectra[i].shape() + " "
	}
	if len(star.Starts) == 0 {
		return nil, errors.New("no parameters to start from")
	}
	for _, s := range star.Starts {
		if len(s.Params) != len(f.library.Params) {
			return nil, fmt.Errorf("a start with %d parameters: want %v", len(s.Params), f.library.Params)
		}
		for _, x := range append([]float64{s.Vsini}, s.Params...) {
			if math.IsNaN(x) || math.IsInf(x, 0) || math.IsInf(s.Vel, 0) {
				return nil, fmt.Errorf("a start at %v", s)
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.layouts[key]; l != nil {
		return l, nil
	}
	l, err := f.newLayout(star)
	if err == nil {
		f.layouts[key] = l
	}
	return l, err
}

// leastVsini is where searches start that would start without rotation, in km/s: from 0 itself the slope on
// the other side cannot be seen.
const leastVsini = 1

// velScale and vsiniScale are standard deviations of velocities, in km/s, above which damped steps do not
// rely on them.
const velScale, vsiniScale = 100, 20

// descentFrom returns a search.
func (f *Fitter) descentFrom(s Start) *descent {
	n := len(f.names)
	at := append([]float64{s.Vel, max(s.Vsini, leastVsini)}, s.Params...)
	lower, upper := f.bounds()
	for k := range n {
		if f.fixed[k] {
			at[k], lower[k], upper[k] = f.values[k], f.values[k], f.values[k]
		}
	}
	least := slices.Repeat([]float64{1e-12}, n)
	// The likelihood is almost flat in the rotation of slow stars, far from its minimum.
	least[0], least[1] = 1.0/(velScale*velScale), 1.0/(vsiniScale*vsiniScale)
	return newDescent(at, lower, upper, least, f.fixed)
}

// fit fits the stars of a list, which have this layout.
func (l *layout) fit(ctx context.Context, stars []Star, list []int, fits []Fit) error {
	var jobs []*job
	for _, i := range list {
		for k, s := range stars[i].Starts {
			jobs = append(jobs, &job{star: i, start: k, d: l.f.descentFrom(s)})
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
	return l.describeAll(ctx, stars, list, best, fits)
}

// firstVelocities replaces velocities that are not given by the best of a scan.
func (l *layout) firstVelocities(ctx context.Context, stars []Star, jobs []*job) error {
	var without []*job
	for _, j := range jobs {
		if math.IsNaN(j.d.trial[0]) {
			without = append(without, j)
		}
	}
	if len(without) == 0 {
		return nil
	}
	p, err := l.scan()
	if err != nil {
		return err
	}
	workers := min(l.f.s.Threads, len(without))
	states, faults := make([]*ad.State, workers), make([]error, len(without))
	parallel.Do(workers, len(without), func(w, i int) {
		if faults[i] = ctx.Err(); faults[i] != nil {
			return
		}
		if states[w] == nil {
			states[w] = p.NewState()
		}
		j := without[i]
		set := scanSettings{l.f.s.MinVel, l.f.s.MaxVel, l.f.s.VelStep, math.Inf(1)}
		var v VelocityPosterior
		if v, faults[i] = l.velocities(states[w], &stars[j.star], j.d.trial, l.f.s.MinVel, math.NaN(), set); faults[i] == nil {
			j.d.trial[0] = v.Vel
		}
	})
	return errors.Join(faults...)
}

// searchAll runs searches side by side.
func (l *layout) searchAll(ctx context.Context, stars []Star, jobs []*job) error {
	p, err := l.search()
	if err != nil {
		return err
	}
	batch, n := l.f.s.Batch, len(l.f.names)
	workers := min(l.f.s.Threads, (len(jobs)+batch-1)/batch)
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
		s := p.NewState()
		slots := make([]*job, batch)
		for {
			busy := 0
			for i := range slots {
				if slots[i] == nil {
					if slots[i] = take(); slots[i] != nil {
						l.fill(s, i, &stars[slots[i].star])
					}
				}
				if j := slots[i]; j != nil {
					busy++
					l.set(s, i, j.d.trial)
				} else if busy == 0 && i == batch-1 {
					return
				}
			}
			if busy == 0 {
				return
			}
			l.idle(s, slots, stars, jobs)
			if faults[w] = errors.Join(ctx.Err(), s.Run()); faults[w] != nil {
				return
			}
			f, g, h, pf, pg := s.Output(0), s.Output(1), s.Output(2), s.Output(3), s.Output(4)
			for i, j := range slots {
				if j == nil {
					continue
				}
				j.evaluations++
				j.d.take(quadratic{f[i], g[i*n : (i+1)*n], h[i*n*n : (i+1)*n*n], pf[i], pg[i*n : (i+1)*n]})
				if j.d.status != searching {
					slots[i] = nil
				}
			}
		}
	})
	return errors.Join(append(faults, ctx.Err())...)
}

// idle gives places without a search finite numbers once: those of the first job.
func (l *layout) idle(s *ad.State, slots []*job, stars []Star, jobs []*job) {
	for i, j := range slots {
		if j == nil && s.Input(4)[i*len(l.spectra[0].Lam)] == 0 { // errors are above 0 once they are given
			l.fill(s, i, &stars[jobs[0].star])
			l.set(s, i, jobs[0].d.trial)
		}
	}
}

// describeAll computes what is told of stars at their minima.
func (l *layout) describeAll(ctx context.Context, stars []Star, list []int, best map[int]*job, fits []Fit) error {
	describe, err := l.describe()
	if err != nil {
		return err
	}
	scan, err := l.scan()
	if err != nil {
		return err
	}
	batch := l.f.s.Batch
	parts := slices.Collect(slices.Chunk(list, batch))
	faults := make([]error, len(parts))
	type states struct{ describe, scan *ad.State }
	workers := min(l.f.s.Threads, len(parts))
	mine := make([]states, workers)
	parallel.Do(workers, len(parts), func(w, p int) {
		if mine[w].describe == nil {
			mine[w] = states{describe.NewState(), scan.NewState()}
		}
		if faults[p] = ctx.Err(); faults[p] != nil {
			return
		}
		s := mine[w].describe
		for i := range batch {
			star := parts[p][min(i, len(parts[p])-1)]
			l.fill(s, i, &stars[star])
			l.set(s, i, best[star].d.at)
		}
		if faults[p] = s.Run(); faults[p] != nil {
			return
		}
		for i, star := range parts[p] {
			l.tell(s, i, &stars[star], best[star], &fits[star])
			if fits[star].Err == nil && !l.f.fixed[0] {
				set := scanSettings{l.f.s.MinVel, l.f.s.MaxVel, l.f.s.VelStep, l.f.s.LeastVelStep}
				if fits[star].Velocity, faults[p] = l.velocities(mine[w].scan, &stars[star], fits[star].X, fits[star].X[0], fits[star].held, set); faults[p] != nil {
					return
				}
			}
		}
	})
	return errors.Join(faults...)
}

// velocities scans the velocity of a star whose other parameters are x.
//
// sd is the standard deviation that the fit gives; NaN for a scan without a fit.
func (l *layout) velocities(s *ad.State, star *Star, x []float64, near, sd float64, set scanSettings) (VelocityPosterior, error) {
	l.fill(s, 0, star)
	s.Input(1)[0] = x[1]
	copy(s.Input(2), x[2:])
	chiAt := func(vel []float64) ([]float64, error) {
		var chi []float64
		for part := range slices.Chunk(vel, l.f.s.Velocities) {
			v := s.Input(0)
			for i := range v {
				v[i] = part[min(i, len(part)-1)]
			}
			if err := s.Run(); err != nil {
				return nil, err
			}
			chi = append(chi, s.Output(0)[:len(part)]...)
		}
		return chi, nil
	}
	if math.IsNaN(sd) {
		return set.scan(near, chiAt)
	}
	return set.about(near, sd, chiAt)
}

// tell fills the fit of a star from place i of the outputs.
func (l *layout) tell(s *ad.State, i int, star *Star, j *job, fit *Fit) {
	n := len(l.f.names)
	fit.X = slices.Clone(j.d.at)
	fit.Status, fit.Converged = map[searchStatus]string{
		minimum:      "converged",
		kink:         "ended at a kink of the interpolation, from which no step leads down",
		tooManySteps: fmt.Sprintf("not converged within %d steps", mostSteps),
		notFinite:    "not finite at the start",
	}[j.d.status], j.d.status == minimum || j.d.status == kink
	if j.d.status == notFinite {
		fit.Err = fmt.Errorf("%s: the likelihood is not finite at the start %v: is it in the library?", star.Name, j.d.at)
		return
	}
	fit.ChiSquare, fit.Outside = s.Output(outChiSquare)[i], j.d.best.penalty
	fit.LogPosterior = -s.Output(outTotal)[i] / 2
	for k, x := range star.Spectra {
		pixels, of := len(x.Lam), func(what int) []float64 { return s.Output(outSpectra + k*perSpectrum + what) }
		row := func(what, n int) []float64 { return slices.Clone(of(what)[i*n : (i+1)*n]) }
		one := SpectrumFit{Arm: x.Arm, ChiSquare: of(ofTrue)[i], ContinuumOnly: of(ofContinuumOnly)[i], Pixels: pixels, Model: row(ofFit, pixels), Template: row(ofRaw, pixels), Coefficients: row(ofCoefficients, l.f.s.Continuum)}
		for _, bad := range x.Bad {
			if bad {
				one.Pixels--
			}
		}
		fit.Spectra = append(fit.Spectra, one)
	}
	fit.errors(s.Output(outHessian)[i*n*n:(i+1)*n*n], j.d)
	if !l.f.s.NoVerdict {
		fit.Verdict, fit.Err = l.judge(s, i, star, j.d, fit)
	}
}

// errors computes covariances from the Hessian of -2 log posterior.
func (fit *Fit) errors(h []float64, d *descent) {
	n := len(fit.X)
	fit.SD, fit.Conditional, fit.Cov = slices.Repeat([]float64{math.NaN()}, n), slices.Repeat([]float64{math.NaN()}, n), make([]float64, n*n)
	for k, x := range fit.X {
		if !d.fixed[k] && (x <= d.lower[k] || x >= d.upper[k]) {
			fit.AtBound = append(fit.AtBound, fit.Names[k])
		}
	}
	fit.held = math.Sqrt(2 / h[0])
	free := d.free()
	cov, good := inverse(h, n, free)
	fit.BadHessian = !good
	for a, k := range free {
		for b, l := range free {
			fit.Cov[k*n+l] = cov[a*len(free)+b]
		}
		fit.SD[k] = math.Sqrt(cov[a*len(free)+a])
	}
	var atmosphere []int
	for _, k := range free {
		if k >= 2 {
			atmosphere = append(atmosphere, k)
		}
	}
	cov, _ = inverse(h, n, atmosphere)
	for a, k := range atmosphere {
		fit.Conditional[k] = math.Sqrt(cov[a*len(atmosphere)+a])
	}
}

// inverse returns the covariance of some parameters, given the Hessian of -2 log L of all: twice the inverse
// of its part. Where that has a negative variance, twice one over the element of the Hessian stands for it,
// which is NaN in turn where that is negative, and the result is not good.
func inverse(h []float64, n int, list []int) (cov []float64, good bool) {
	m := len(list)
	if m == 0 {
		return nil, true
	}
	part := mat.NewDense(m, m, nil)
	for a, k := range list {
		for b, l := range list {
			part.Set(a, b, (h[k*n+l]+h[l*n+k])/4)
		}
	}
	cov, good = make([]float64, m*m), true
	var inv mat.Dense
	if err := inv.Inverse(part); err != nil && inv.IsEmpty() {
		good = false
	} else {
		for a := range m {
			for b := range m {
				cov[a*m+b] = inv.At(a, b)
			}
		}
	}
	for a := range m {
		if v := cov[a*m+a]; !(v > 0) || math.IsInf(v, 1) {
			good = false
			if cov[a*m+a] = 1 / part.At(a, a); !(cov[a*m+a] >= 0) {
				cov[a*m+a] = math.NaN()
			}
		}
	}
	return cov, good
}
