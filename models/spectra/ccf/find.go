// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/models/spectra"
	sim "github.com/euryale-dev/euryale/sim/spectra"
)

// Settings are the settings of first guesses. The zero value is the default.
type Settings struct {
	// MinVel and MaxVel bound the velocity, in km/s. Default -1000 and 1000.
	MinVel, MaxVel float64
	// Step is the step of the velocities at which templates are compared, in km/s. Default 5; it is
	// made a little smaller so that both ends are among the velocities.
	Step float64
	// Starts is the largest number of starts of a star. Default 3.
	Starts int
	// Params is the order of the parameters in guesses. Default: that of the templates.
	Params []string
	// Compat computes velocities as the reference does: with c = 300000 km/s, a first-order step
	// between pixels that are one too many, linear interpolation between lags, and templates that
	// continue at their other end.
	Compat bool
	// Batch is the number of stars that are correlated in one run of the programs, which takes as
	// long for fewer. Guesses do not depend on which stars are in a batch; their last bits depend
	// on Batch. Default 16.
	Batch int
	// Threads is the number of programs that run at the same time. Default GOMAXPROCS.
	Threads int
	// Backend runs the programs. GPUs of autodiff.Several share the stars; the transforms of the
	// templates stay in the memory of each. Default: one thread of the CPU for each program.
	Backend ad.Backend
}

func (s Settings) defaults() Settings {
	if s.MinVel == 0 && s.MaxVel == 0 {
		s.MinVel, s.MaxVel = -1000, 1000
	}
	if s.Step == 0 {
		s.Step = 5
	}
	if s.Starts == 0 {
		s.Starts = 3
	}
	if s.Batch == 0 {
		s.Batch = 16
	}
	if s.Threads == 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	if s.Backend == nil {
		s.Backend = ad.CPU{Threads: 1}
	}
	return s
}

// mostVelocities bounds the grid of velocities.
const mostVelocities = 1 << 16

func (s Settings) check() error {
	var bad []error
	say := func(format string, v ...any) { bad = append(bad, fmt.Errorf("ccf: "+format, v...)) }
	if !(s.MinVel < s.MaxVel) || !(math.Abs(s.MinVel) < sim.SpeedOfLight) || !(math.Abs(s.MaxVel) < sim.SpeedOfLight) {
		say("the velocities go from %g to %g km/s: want an ascending range, slower than light", s.MinVel, s.MaxVel)
	} else if width := s.MaxVel - s.MinVel; !(s.Step > 0) || s.Step > width/2 || width/s.Step > mostVelocities {
		say("the step is %g km/s from %g to %g: want it positive, with at least 3 velocities and at most %d", s.Step, s.MinVel, s.MaxVel, mostVelocities)
	}
	for _, v := range []struct {
		name string
		n    int
	}{{"Starts", s.Starts}, {"Batch", s.Batch}, {"Threads", s.Threads}} {
		if v.n < 1 {
			say("%s is %d: want at least 1, or 0 for the default", v.name, v.n)
		}
	}
	return errors.Join(bad...)
}

// Guess is the first guess for one star.
type Guess struct {
	Star string
	// Starts are points where fits should begin, the best first; see Finder.Find.
	Starts []spectra.Start
	// Velocity and rotation in km/s, and the template's parameters, of the best start.
	Vel, Vsini float64
	Params     []float64
	// Template is the number of the best template, and ChiSquare its smallest chi-square on the
	// grid of velocities, with the continuum as it was fitted to the data alone.
	Template  int
	ChiSquare float64
	Pixels    int // number of pixels of the templates' grids that have data
	// Curve is the chi-square of the best template at Finder.Velocities, and Arms holds the part of
	// each arm.
	Curve []float64
	Arms  []ArmGuess
	// Err says why there is no guess; nil if there is one.
	Err error
}

// ArmGuess is the part of a guess that comes from one arm.
type ArmGuess struct {
	Arm       string
	Exposures int       // number of exposures that were used
	Curve     []float64 // chi-square of the best template at Finder.Velocities
}

// Finder guesses velocities and parameters with one set of templates. It is safe for concurrent use.
type Finder struct {
	t           *Templates
	s           Settings
	velocities  []float64
	order       []int // of the templates' parameters in guesses
	correlators []*correlator

	mu   sync.Mutex
	idle []*worker
	made int // workers
}

// New checks the settings and compiles the programs.
func New(t *Templates, s Settings) (*Finder, error) {
	if err := given.Args("ccf.New", "t", t); err != nil {
		return nil, err
	}
	s = s.defaults()
	if err := s.check(); err != nil {
		return nil, err
	}
	f := &Finder{t: t, s: s}
	half := int((s.MaxVel - s.MinVel) / 2 / s.Step)
	for i := range 2*half + 1 {
		f.velocities = append(f.velocities, s.MinVel+(s.MaxVel-s.MinVel)*float64(i)/float64(2*half))
	}
	f.velocities[2*half] = s.MaxVel
	names := s.Params
	if names == nil {
		names = t.names
	}
	for _, name := range names {
		k := slices.Index(t.names, name)
		if k < 0 || len(names) != len(t.names) {
			return nil, fmt.Errorf("ccf: the guesses are to have the parameters %s, but the templates have %s: want the same names, in any order", strings.Join(names, ", "), strings.Join(t.names, ", "))
		}
		f.order = append(f.order, k)
	}
	for _, a := range t.arms {
		c, err := newCorrelator(a, f.velocities, s)
		if err != nil {
			return nil, err
		}
		f.correlators = append(f.correlators, c)
	}
	return f, nil
}

// Names returns the names of the parameters in the order of guesses.
func (f *Finder) Names() []string {
	names := make([]string, len(f.order))
	for i, k := range f.order {
		names[i] = f.t.names[k]
	}
	return names
}

// Velocities returns the velocities of the curves, in km/s.
func (f *Finder) Velocities() []float64 { return slices.Clone(f.velocities) }

// Find guesses velocity, rotation and parameters of stars. All spectra of a star count, including
// several exposures of an arm. The starts are the best template at its best velocity, the best one
// at another velocity, if noise could have made it second, and the best ones of other parameters at
// the best velocity.
//
// The error of one star is in its Guess and does not affect the others; the error returned is that
// of ctx or of a program. A guess does not depend on the other stars or on Threads.
func (f *Finder) Find(ctx context.Context, stars []spectra.Star) ([]Guess, error) {
	guesses := make([]Guess, len(stars))
	batches := (len(stars) + f.s.Batch - 1) / f.s.Batch
	workers := make([]*worker, min(max(f.s.Threads, len(ad.Spread(f.s.Backend))), max(batches, 1)))
	failed := make([]error, batches)
	parallel.Do(len(workers), batches, func(w, i int) {
		if ctx.Err() != nil {
			return
		}
		if workers[w] == nil {
			workers[w] = f.take()
		}
		from, to := i*f.s.Batch, min((i+1)*f.s.Batch, len(stars))
		failed[i] = workers[w].find(ctx, stars[from:to], guesses[from:to])
	})
	f.mu.Lock()
	for _, w := range workers {
		if w != nil {
			f.idle = append(f.idle, w)
		}
	}
	f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		for i := range guesses {
			if guesses[i].Starts == nil && guesses[i].Err == nil {
				guesses[i] = Guess{Star: stars[i].Name, Err: err}
			}
		}
		return guesses, err
	}
	for _, err := range failed {
		if err != nil {
			return guesses, err
		}
	}
	return guesses, nil
}

// take returns a worker that no other call has.
func (f *Finder) take() *worker {
	f.mu.Lock()
	defer f.mu.Unlock()
	if last := len(f.idle) - 1; last >= 0 {
		w := f.idle[last]
		f.idle = f.idle[:last]
		return w
	}
	return f.newWorker()
}
