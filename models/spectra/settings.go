// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// Settings are the settings of fits. The zero value is the default.
type Settings struct {
	// Continuum is the number of functions of the continuum. Default 5; DESI spectra take 10.
	Continuum int
	// Chebyshev uses Chebyshev polynomials in place of three powers and Gaussians.
	Chebyshev bool
	// FixedContinuum keeps to these functions. By default, Chebyshev polynomials are added to them for stars whose residuals
	// call for it: up to 10, which Fit.Polynomials tells.
	FixedContinuum bool
	// KeepSpikes keeps pixels in the fit that stand out of the model and are narrower than lines. By default they are left
	// out, and Fit.Spikes tells which.
	KeepSpikes bool
	// Rotation says how templates are broadened. With Rotation.None there is no vsini.
	Rotation spectra.Rotation
	// MinVel and MaxVel bound the velocity, in km/s. Default -1000 and 1000.
	MinVel, MaxVel float64
	// Floor is added to the errors in quadrature, in the likelihood, by arm.
	Floor map[string]float64
	// Fixed are the values of parameters that are not fitted: vel, vsini, or those of the library.
	Fixed map[string]float64
	// Priors are the priors of parameters. Default: flat.
	Priors map[string]dist.Dist
	// VelStep is the step of the first scan of velocities, and LeastVelStep is the step below which
	// scans are not refined, in km/s. Default 10 and 0.2.
	VelStep, LeastVelStep float64
	// Batch is the number of stars that are fitted side by side in one program. Results do not
	// depend on which stars are in a batch; their last bits depend on Batch. Default 16, and on a
	// GPU as many as fit into its memory, a power of two of at most 1024.
	Batch int
	// Velocities is the number of velocities of a scan that are computed at a time. Default 64.
	Velocities int
	// PerExposure gives every exposure of a star (see Spectrum.Exposure) a velocity of its own, as
	// binaries need: the parameters vel[0], vel[1] and so on replace vel, and each has its bounds,
	// prior and fixed value. Default: one velocity for all exposures.
	PerExposure bool
	// NoVerdict leaves out the verdict about model and data.
	NoVerdict bool
	// Threads is the number of programs that run at the same time. Default GOMAXPROCS.
	Threads int
	// Precision is the number of bits, 32 or 64, in the search for the minimum; everything that is
	// reported of the minimum is computed with 64. Sums, and with them the normal matrices of
	// continua and parameters, always have 64 bits. Default 64.
	Precision int
	// Backend runs the programs. GPUs of autodiff.Several share the stars. With Precision 32,
	// ad.CUDA{Weights: ad.Float16} holds the weights of networks in 16 bits. Default: one thread of
	// the CPU for each program.
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
	count(&s.Precision, 64)
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
	if ad.OnProcessor(s.Backend) {
		count(&s.Batch, 16)
	}
	return s
}

// Vel and Vsini are the names of the parameters that every library has.
const (
	Vel   = "vel"
	Vsini = "vsini"
)

// Unit returns the unit of a parameter: km/s for velocities, K for teff and dex for gravity and abundances; "" for others.
func Unit(name string) string {
	switch name {
	case Vel, Vsini:
		return "km/s"
	case "teff":
		return "K"
	case "logg", "feh", "alpha":
		return "dex"
	}
	return ""
}

// Fitter fits stars with one library. It is safe for concurrent use.
type Fitter struct {
	library *Library
	s       Settings
	names   []string // of all parameters: vel, vsini, and those of the library
	fixed   []bool
	values  []float64 // of those that are fixed

	step int // place in polynomialSteps

	mu         sync.Mutex
	next, few  *Fitter // with more polynomials, and for fits that are made again; nil until they are needed
	arms       map[string]*spectra.Arm
	layouts    map[string]*layout
	priorTests map[string]*ad.Program
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
	about := func(name, format string, v ...any) {
		bad = append(bad, fmt.Errorf("spectra: %w", &setting.Error{Name: name, Text: fmt.Sprintf(format, v...)}))
	}
	place := func(of, name string) int {
		k := slices.Index(f.names, name)
		if k < 0 {
			about(of, "%s", setting.UnknownParameter(name, f.names))
		}
		return k
	}
	for _, name := range slices.Sorted(maps.Keys(f.s.Fixed)) {
		v := f.s.Fixed[name]
		if k := place("fixed", name); k >= 0 {
			f.fixed[k], f.values[k] = true, v
			if math.IsNaN(v) || math.IsInf(v, 0) {
				about("fixed", "%s is fixed at %v: want a finite number", name, v)
			}
			if name == Vsini && !(v >= 0 && v <= f.s.Rotation.MaxVsini) {
				about("fixed", "vsini is fixed at %g km/s: want 0 to the largest rotation, %g", v, f.s.Rotation.MaxVsini)
			}
			if name == Vel && !(v >= f.s.MinVel && v <= f.s.MaxVel) {
				about("fixed", "vel is fixed at %g km/s: want a number from %g to %g, the range of velocities", v, f.s.MinVel, f.s.MaxVel)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.s.Priors)) {
		if k := place("prior", name); k >= 0 && f.s.Priors[name].Event > 0 {
			about("prior", "the prior of %s is a distribution of vectors: give one of single numbers", name)
		}
	}
	for name, floor := range f.s.Floor {
		if _, err := l.Arm(name); err != nil || !(floor >= 0) || math.IsInf(floor, 1) {
			about("floor", "%g for arm %q: want at least 0, for an arm of the library", floor, name)
		}
	}
	if f.s.Rotation.None {
		f.fixed[1], f.values[1] = true, 0
	}
	for _, n := range []struct {
		name string
		v    int
	}{{"Continuum", f.s.Continuum}, {"Velocities", f.s.Velocities}, {"Threads", f.s.Threads}} {
		if n.v < 1 {
			say("%s is %d: want at least 1", n.name, n.v)
		}
	}
	if f.s.Batch < 0 {
		say("Batch is %d: want at least 1", f.s.Batch)
	}
	if f.s.Precision != 32 && f.s.Precision != 64 {
		say("Precision is %d: want 32 or 64", f.s.Precision)
	}
	if !(f.s.MinVel < f.s.MaxVel) || !(f.s.VelStep > 0) || !(f.s.LeastVelStep > 0) {
		say("the velocities go from %g to %g km/s in steps of %g, of at least %g: want an ascending range and steps above 0", f.s.MinVel, f.s.MaxVel, f.s.VelStep, f.s.LeastVelStep)
	}
	for _, t := range l.Arms {
		if t.Dim() != len(l.Params) {
			say("arm %s of the library has %s, but the library has %d: make the library again", t.Name, errtext.Count(t.Dim(), "parameter"), len(l.Params))
		}
	}
	if len(bad) == 0 {
		f.checkRanges(about)
	}
	return f, errors.Join(bad...)
}

// checkRanges says which fixed values and priors lie outside of what the library and the settings allow.
func (f *Fitter) checkRanges(about func(name, format string, v ...any)) {
	priors := f.s.Priors
	f.s.Priors = nil
	lower, upper := f.covered()
	f.s.Priors = priors
	for k, name := range f.names {
		prior, given := priors[name]
		lo, hi := ends(prior)
		rounding := 1e-9 * (upper[k] - lower[k])
		switch x := f.values[k]; {
		case k > 1 && f.fixed[k] && (x < lower[k]-rounding || x > upper[k]+rounding):
			about("fixed", "%s is fixed at %g: want a value that the library covers, %.6g to %.6g", name, x, lower[k], upper[k])
		case given && !f.fixed[k] && !(max(lo, lower[k]) < min(hi, upper[k])):
			about("prior", "the prior of %s allows %.6g to %.6g: want some of it within %.6g to %.6g", name, lo, hi, lower[k], upper[k])
		case given && !f.fixed[k]:
			if share, nothing := dist.Left(prior, lower[k], upper[k]); nothing {
				about("prior", "the prior of %s, %s, has a probability of %.2g from %.6g to %.6g, which is all that the library and the settings cover: give one that lies there", name, prior, share, lower[k], upper[k])
			}
		}
	}
}

// Names returns the names of the parameters in the order of Fit.X: vel, vsini, and those of the library. With
// Settings.PerExposure, those of a star differ: see Fit.Names.
func (f *Fitter) Names() []string { return slices.Clone(f.names) }
