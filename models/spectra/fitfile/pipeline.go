// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fitfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/ccf"
	sim "github.com/euryale-dev/euryale/sim/spectra"
)

// Settings are the settings of a pipeline.
type Settings struct {
	Config *rvspecfit.Config // configuration of the survey; default: rvspecfit.DefaultConfig
	// Continuum is the number of functions of the continuum. Default 10.
	Continuum int
	// Chebyshev uses Chebyshev polynomials for the continuum.
	Chebyshev bool
	// FixedContinuum and KeepSpikes are those of spectra.Settings.
	FixedContinuum, KeepSpikes bool
	// Resolution uses the resolution matrices of DESI's files.
	Resolution bool
	// BruteForce takes first guesses from a grid of parameters. By default they come from
	// cross-correlation.
	BruteForce bool
	// Conditional reports the errors of parameters with velocity and rotation held fixed, as the
	// reference does. By default errors come from the inverse Hessian of all parameters.
	Conditional bool
	// PerExposure gives each exposure of a star a velocity of its own.
	PerExposure bool
	Rotation    sim.Rotation
	Fixed       map[string]float64
	Priors      map[string]string  // priors by parameter, such as normal(5500,100); see dist.Parse
	Floor       map[string]float64 // errors added in quadrature to those of the data, by arm
	NoVerdict   bool
	Load        spectra.LoadSettings
	Threads     int // number of threads; default GOMAXPROCS
	// Batch is the number of stars that are fitted side by side. Default: that of spectra.Settings.
	Batch int
	// Precision and Backend are those of spectra.Settings. GPUs of autodiff.Several share the stars.
	Precision int
	Backend   ad.Backend
}

// Pipeline fits files of spectra with one library and the same settings. It is safe for concurrent use.
type Pipeline struct {
	s       Settings
	library string // file or folder of any format that rvspecfit.OpenLibrary knows
	priors  map[string]dist.Dist

	// identity returns what the library was when it was first asked for, since the engines keep what they have read.
	identity func() (string, error)

	mu      sync.Mutex
	engines map[string]*engine
}

// engine has what some arms need.
type engine struct {
	fitter   *spectra.Fitter
	params   []string
	lam      map[string][]float64 // wavelengths of the templates, by arm
	versions []survey.LibraryVersion
	guess    guesser
}

// guesser finds where the fits of stars begin: their Starts. Stars are those of one call of Fit; an error of
// one ends no other.
type guesser interface {
	guess(ctx context.Context, stars []spectra.Star) ([]firstGuess, error)
}

// firstGuess is what a guesser says of a star.
type firstGuess struct {
	starts []spectra.Start
	vel    float64 // km/s; NaN if only scans of the fit find it
	err    error
}

// New checks the settings. The library is read when it is needed.
func New(s Settings) (*Pipeline, error) {
	if s.Config == nil {
		s.Config = rvspecfit.DefaultConfig()
	}
	if s.Continuum == 0 {
		s.Continuum = 10
	}
	if s.Threads == 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	if err := s.Config.Check(); err != nil {
		return nil, err
	}
	dir, err := s.Config.Templates()
	if err != nil {
		return nil, err
	}
	p := &Pipeline{s: s, library: dir, priors: map[string]dist.Dist{}, engines: map[string]*engine{}}
	p.identity = sync.OnceValues(p.versionOfLibrary)
	for _, name := range slices.Sorted(maps.Keys(s.Priors)) {
		if p.priors[name], err = setting.Prior(name, s.Priors[name]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Library returns the folder or the file of the templates.
func (p *Pipeline) Library() string { return p.library }

// Arms lists the arms of the library.
func (p *Pipeline) Arms() ([]string, error) {
	names, e, err := p.arms()
	if err != nil || e == nil {
		return names, err
	}
	for _, v := range e.versions {
		names = append(names, v.Setup)
	}
	return names, nil
}

// arms returns the names of the library's arms or, if they cannot be found without reading all of it, what fits spectra of all arms.
func (p *Pipeline) arms() ([]string, *engine, error) {
	c, err := rvspecfit.OpenLibrary(p.library)
	if err != nil {
		return nil, nil, err
	}
	if c.Whole {
		e, err := p.engine(nil)
		return nil, e, err
	}
	names, err := c.Arms()
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s has no interp_SETUP.h5, so it is not a library of templates: name the folder of one", p.library)
		if c.Format != rvspecfit.FolderFormat {
			err = fmt.Errorf("%s, a library of templates in the format %s, has no arms: make it again", p.library, c.Format)
		}
	}
	return names, nil, err
}

// Params returns the names of the library's parameters.
func (p *Pipeline) Params() ([]string, error) {
	names, e, err := p.arms()
	if err == nil && e == nil {
		e, err = p.engine(names[:1])
	}
	if err != nil {
		return nil, err
	}
	return e.params, nil
}

// Versions says which templates are used for DESI's arms.
func (p *Pipeline) Versions(arms []string) ([]survey.LibraryVersion, error) {
	e, err := p.engine(setupsOf(arms))
	if err != nil {
		return nil, err
	}
	return e.versions, nil
}

// engine returns what fits spectra of some arms; nil stands for all arms.
func (p *Pipeline) engine(arms []string) (*engine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := strings.Join(arms, " ")
	if e := p.engines[key]; e != nil {
		return e, nil
	}
	library, err := rvspecfit.OpenLibrary(p.library)
	if err != nil {
		return nil, err
	}
	if arms == nil {
		if arms, err = library.Arms(); err != nil {
			return nil, err
		}
	}
	list, err := library.Read(arms)
	if err != nil {
		return nil, err
	}
	lib, err := spectra.From(list, p.s.Load)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.library, err)
	}
	floor, err := p.floorOf(library, arms)
	if err != nil {
		return nil, err
	}
	c := p.s.Config
	rotation := p.s.Rotation
	rotation.MaxVsini = c.MaxVsini
	e := &engine{params: lib.Params, lam: map[string][]float64{}}
	e.fitter, err = spectra.NewFitter(lib, spectra.Settings{Continuum: p.s.Continuum, Chebyshev: p.s.Chebyshev, FixedContinuum: p.s.FixedContinuum, KeepSpikes: p.s.KeepSpikes, Rotation: rotation, MinVel: c.MinVel, MaxVel: c.MaxVel, Floor: floor,
		Fixed: p.s.Fixed, Priors: p.priors, VelStep: c.VelStep, LeastVelStep: c.LeastVelStep, NoVerdict: p.s.NoVerdict, PerExposure: p.s.PerExposure, Batch: p.s.Batch, Threads: p.s.Threads, Precision: p.s.Precision, Backend: p.s.Backend})
	if err != nil {
		return nil, err
	}
	for _, l := range list {
		e.lam[l.Setup] = l.Lam
		e.versions = append(e.versions, survey.LibraryVersion{Setup: l.Setup, Revision: l.Revision, Software: l.Software})
	}
	if p.s.BruteForce {
		e.guess = bruteForce{e.fitter}
	} else {
		templates, err := p.correlationTemplates(library, arms)
		if err != nil {
			return nil, err
		}
		f, err := ccf.New(templates, ccf.Settings{MinVel: c.MinVel, MaxVel: c.MaxVel, Step: c.VelStep, Starts: mostStarts, Params: lib.Params, Threads: p.s.Threads, Backend: p.s.Backend})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.library, err)
		}
		e.guess = correlation{f}
	}
	p.engines[key] = e
	return e, nil
}

// floorOf returns the error floors of some arms. Those of arms that the library does not have are an error.
func (p *Pipeline) floorOf(library *rvspecfit.Contents, arms []string) (map[string]float64, error) {
	if len(p.s.Floor) == 0 {
		return nil, nil
	}
	all, err := library.Arms()
	if err != nil {
		return nil, err
	}
	floor := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(p.s.Floor)) {
		if !slices.Contains(all, name) {
			return nil, &setting.Error{Name: "floor", Text: "arm " + setting.Unknown(name, all)}
		}
		if slices.Contains(arms, name) {
			floor[name] = p.s.Floor[name]
		}
	}
	return floor, nil
}

// correlationTemplates returns the templates for cross-correlation of some arms.
func (p *Pipeline) correlationTemplates(library *rvspecfit.Contents, arms []string) (*ccf.Templates, error) {
	const try = "make them, or take first guesses from a grid of parameters (param_init bruteforce)"
	if library.Correlation == nil {
		return nil, fmt.Errorf("%s has no templates for cross-correlation: %s", p.library, try)
	}
	list, err := library.Correlation(arms, p.s.Config.Continuum)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no templates for cross-correlation: %w: %s", p.library, err, try)
	}
	if err != nil {
		return nil, err
	}
	for i, arm := range arms {
		if i >= len(list) || list[i] == nil {
			return nil, fmt.Errorf("%s has no templates of arm %s for cross-correlation: %s", p.library, arm, try)
		}
	}
	return ccf.NewTemplates(list...)
}

// Fitter returns the Fitter for stars with spectra of some arms.
func (p *Pipeline) Fitter(star *spectra.Star) (*spectra.Fitter, error) {
	e, err := p.engineFor([]spectra.Star{*star})
	if err != nil {
		return nil, err
	}
	return e.fitter, nil
}

// engineFor returns what the spectra of stars need.
func (p *Pipeline) engineFor(stars []spectra.Star) (*engine, error) {
	var arms []string
	for i := range stars {
		for _, s := range stars[i].Spectra {
			if !slices.Contains(arms, s.Arm) {
				arms = append(arms, s.Arm)
			}
		}
	}
	if len(arms) == 0 {
		return nil, errors.New("there are no spectra: name at least one file")
	}
	slices.Sort(arms)
	return p.engine(arms)
}

// Outcome is the result of a pipeline for one star.
type Outcome struct {
	Fit spectra.Fit
	// Guess is the velocity of the first guess in km/s; NaN if there is none.
	Guess float64
}

// Fit makes first guesses for stars that have none, and fits all. Stars have spectra of the same
// arms, named as in the library. The error of one star is in its Fit.
func (p *Pipeline) Fit(ctx context.Context, stars []spectra.Star) ([]Outcome, error) {
	var seen []spectra.Star
	out, place := make([]Outcome, len(stars)), []int{}
	for i := range stars {
		if len(stars[i].Spectra) > 0 {
			seen, place = append(seen, stars[i]), append(place, i)
			continue
		}
		out[i] = Outcome{Guess: math.NaN(), Fit: spectra.Fit{Star: stars[i].Name, Err: fmt.Errorf("%s has no usable data, because all pixels are masked, or their median flux is 0 or not a number: leave it out", stars[i].Name)}}
	}
	if len(seen) == 0 {
		return out, nil
	}
	e, err := p.engineFor(seen)
	if err != nil {
		return nil, err
	}
	fits, err := e.fit(ctx, seen)
	for k := range fits {
		out[place[k]] = fits[k]
	}
	return out, err
}

func (e *engine) fit(ctx context.Context, stars []spectra.Star) ([]Outcome, error) {
	out := make([]Outcome, len(stars))
	guesses, err := e.guess.guess(ctx, stars)
	if err != nil {
		return nil, err
	}
	var todo []spectra.Star
	var place []int
	for i := range stars {
		g := guesses[i]
		out[i] = Outcome{Fit: spectra.Fit{Star: stars[i].Name, Names: e.fitter.Names(), Err: g.err}, Guess: g.vel}
		if g.err != nil {
			continue
		}
		star := stars[i]
		if len(star.Starts) == 0 {
			star.Starts = g.starts
		}
		todo, place = append(todo, star), append(place, i)
	}
	fits, err := e.fitter.Fit(ctx, todo)
	for k := range fits {
		out[place[k]].Fit = fits[k]
	}
	return out, err
}

// value returns a parameter of a fit and its error; NaN for one that the library does not have.
func (p *Pipeline) value(f *spectra.Fit, name string) (x, sd float64) {
	k := slices.Index(f.Names, name)
	if k < 0 || k >= len(f.X) {
		return math.NaN(), math.NaN()
	}
	if p.s.Conditional {
		return f.X[k], f.Conditional[k]
	}
	return f.X[k], f.SD[k]
}

// correlation finds first guesses by cross-correlation.
type correlation struct{ f *ccf.Finder }

func (c correlation) guess(ctx context.Context, stars []spectra.Star) ([]firstGuess, error) {
	found, err := c.f.Find(ctx, stars)
	out := make([]firstGuess, len(stars))
	for i, g := range found {
		if out[i] = (firstGuess{vel: math.NaN(), starts: g.Starts, err: g.Err}); len(g.Starts) > 0 {
			out[i].vel = g.Starts[0].Vel
		}
	}
	return out, err
}

// Correlate cross-correlates a star with the templates of its arms. It returns velocities in km/s, and a guess whose curves have chi-square there.
// It returns an error if first guesses come from a grid of parameters.
func (p *Pipeline) Correlate(ctx context.Context, star *spectra.Star) (velocities []float64, g ccf.Guess, err error) {
	e, err := p.engineFor([]spectra.Star{*star})
	if err != nil {
		return nil, g, err
	}
	c, ok := e.guess.(correlation)
	if !ok {
		return nil, g, errors.New("first guesses come from a grid of parameters, so that nothing is cross-correlated: leave out bruteforce")
	}
	found, err := c.f.Find(ctx, []spectra.Star{*star})
	if err == nil {
		g, err = found[0], found[0].Err
	}
	return c.f.Velocities(), g, err
}

// bruteForce finds first guesses on a grid of parameters.
type bruteForce struct{ f *spectra.Fitter }

func (b bruteForce) guess(ctx context.Context, stars []spectra.Star) ([]firstGuess, error) {
	found, err := b.f.Guess(ctx, stars, spectra.GuessSettings{Keep: mostStarts})
	out := make([]firstGuess, len(stars))
	for i, g := range found {
		out[i] = firstGuess{vel: math.NaN(), starts: g.Starts, err: g.Err}
	}
	return out, err
}

// mostStarts is the number of starts of a star.
const mostStarts = 2
