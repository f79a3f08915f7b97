// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/median"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/sim/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// BuildSettings are the settings of Build. The zero value is the default.
type BuildSettings struct {
	// From and To are the first and the last wavelength of the templates, in Angstrom. Default: those of the library
	// without the margin for 1000 km/s that libraries have at both ends.
	From, To float64
	// Step is the largest mean step of pixels, in Angstrom; their number is the next power of two.
	// Default: the mean step of the library.
	Step float64
	// Every selects one star in so many, evenly over the parameters. Default 30; 1 selects all.
	Every int
	// Vsinis are the rotations, in km/s; a template is made of every star with each of them.
	// Default: no rotation.
	Vsinis []float64
	// Rotation says how templates are broadened; its MaxVsini is ignored.
	Rotation spectra.Rotation
	// NoContinuum keeps the continuum. By default it is divided out.
	NoContinuum bool
	Revision    string // revision of the library, as recorded in the files
	Command     string // command line, as recorded in the files
	Threads     int    // number of threads. Default GOMAXPROCS
}

const (
	margin      = 1000 // km/s that libraries are wider than spectra, at both ends
	mostPoints  = 1 << 22
	buildChunk  = 32 // stars whose spectra are made at a time
	modelError  = 1e-5
	modelBright = 0.01 // of the median flux: the least error of a template's pixels in the fit of its continuum
)

// Build makes the templates of one arm, as the program rvs_make_ccf does: spectra of some of the stars of a library,
// broadened by rotation and divided by their continuum, on pixels at equal steps of the logarithm of the wavelength, and
// their transforms. The templates of star i with all rotations come before those of star i+1.
func Build(source *Source, s BuildSettings) (*rvspecfit.CCF, error) {
	if err := given.Args("ccf.Build", "source", source); err != nil {
		return nil, err
	}
	s = s.defaults(source)
	if err := s.check(source); err != nil {
		return nil, err
	}
	dim := len(source.names)
	stars := sample(source.points, dim, s.Every)
	c := &rvspecfit.CCF{
		Setup: source.arm, Continuum: !s.NoContinuum, LogL0: math.Log(s.From), LogL1: math.Log(s.To), Points: s.points(), Nodes: continuumNodes,
		ParNames: slices.Clone(source.names), Revision: s.Revision, Command: s.Command,
	}
	if c.Continuum {
		c.Step = nodeStep(c.LogL0, c.LogL1, c.Nodes)
	}
	rotations := s.Vsinis
	if rotations == nil {
		rotations = []float64{-1}
	}
	count := len(stars) * len(rotations)
	models, params := make([]float64, count*c.Points), make([]float64, 0, count*dim)
	for _, i := range stars {
		for _, v := range rotations {
			params = append(params, source.points[i*dim:(i+1)*dim]...)
			c.VSini = append(c.VSini, v)
		}
	}
	for from := 0; from < len(stars); from += buildChunk {
		chunk := stars[from:min(from+buildChunk, len(stars))]
		flux, err := source.logFlux(chunk)
		if err != nil {
			return nil, err
		}
		for i, v := range flux {
			flux[i] = math.Exp(v)
		}
		for k, v := range rotations {
			turned, err := broaden(source, flux, v, s)
			if err != nil {
				return nil, err
			}
			failed := make([]error, len(chunk))
			parallel.Do(s.Threads, len(chunk), func(_, i int) {
				at := (from+i)*len(rotations) + k
				row := turned[i*len(source.lam):][:len(source.lam)]
				if err := template(models[at*c.Points:][:c.Points], source.lam, row, c); err != nil {
					failed[i] = fmt.Errorf("%s, the star with %v and vsini %g km/s: %w", source.arm, params[at*dim:(at+1)*dim], v, err)
				}
			})
			if err := errors.Join(failed...); err != nil {
				return nil, err
			}
		}
	}
	return c, transformed(c, models, params)
}

func (s BuildSettings) defaults(source *Source) BuildSettings {
	const wider = 1 + margin/spectra.SpeedOfLight
	n := len(source.lam)
	if s.From == 0 {
		s.From = source.lam[0] * wider
	}
	if s.To == 0 {
		s.To = source.lam[n-1] / wider
	}
	if s.Step == 0 {
		s.Step = (source.lam[n-1] - source.lam[0]) / float64(n-1)
	}
	if s.Every == 0 {
		s.Every = 30
	}
	if s.Threads == 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	return s
}

func (s BuildSettings) check(source *Source) error {
	var bad []error
	say := func(format string, v ...any) { bad = append(bad, fmt.Errorf("ccf: "+format, v...)) }
	first, last := source.lam[0], source.lam[len(source.lam)-1]
	const rounding = 1e-12
	if !(s.From < s.To) || s.From < first*(1-rounding) || s.To > last*(1+rounding) {
		say("the templates of arm %s go from %g to %g Angstrom: want an ascending range within the library, %g to %g", source.arm, s.From, s.To, first, last)
	} else if !(s.Step > 0) || (s.To-s.From)/s.Step < 2 || (s.To-s.From)/s.Step > mostPoints {
		say("the step is %g Angstrom from %g to %g: want 2 to %d pixels", s.Step, s.From, s.To, mostPoints)
	}
	if s.Every < 1 {
		say("one star in every %d is to be taken: want at least 1, or 0 for the default", s.Every)
	}
	for _, v := range s.Vsinis {
		if !(v >= 0) || math.IsInf(v, 1) {
			say("a rotation is %g km/s: want at least 0", v)
		} else if v > 0 && !source.log {
			say("a rotation of %g km/s cannot be computed on the linear wavelengths of arm %s: use a library with equal steps of the logarithm", v, source.arm)
		}
	}
	return errors.Join(bad...)
}

// points returns the number of pixels: the next power of two.
func (s BuildSettings) points() int {
	return 1 << bits.Len(uint(int((s.To-s.From)/s.Step)-1))
}

// broaden returns rows of flux broadened by rotation.
func broaden(source *Source, flux []float64, vsini float64, s BuildSettings) ([]float64, error) {
	if !(vsini > 0) || s.Rotation.None {
		return flux, nil
	}
	grid, err := spectra.NewGrid(source.lam, true)
	if err != nil {
		return nil, fmt.Errorf("ccf: arm %s: %w", source.arm, err)
	}
	r := s.Rotation
	r.MaxVsini = vsini
	n := len(flux) / len(source.lam)
	x := ad.Input("flux", n, len(source.lam))
	p, err := ad.Compile([]*ad.Node{grid.Broaden(x, ad.Full(vsini, n), r)}, ad.Settings{Backend: ad.CPU{Threads: s.Threads}})
	if err != nil {
		return nil, fmt.Errorf("ccf: rotation of %g km/s: %w", vsini, err)
	}
	state := p.NewState()
	if err := state.SetInput(0, flux); err != nil {
		return nil, err
	}
	if err := state.Run(); err != nil {
		return nil, fmt.Errorf("ccf: rotation of %g km/s: %w", vsini, err)
	}
	return slices.Clone(state.Output(0)), nil
}

// template writes a spectrum, over its continuum if that is divided out, at the pixels of c.
func template(dst, lam, flux []float64, c *rvspecfit.CCF) error {
	for i, v := range flux {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("ccf: its flux is %v at %g Angstrom: want finite fluxes of at least 0", v, lam[i])
		}
	}
	level := slices.Repeat([]float64{1}, len(lam))
	if c.Continuum {
		middle := median.Of(flux)
		if !(middle > 0) {
			return fmt.Errorf("ccf: its median flux is %g: want a positive number", middle)
		}
		sigma := make([]float64, len(flux))
		for i, v := range flux {
			sigma[i] = max(modelError*v, modelBright*middle)
		}
		var err error
		if level, err = continuum(lam, flux, sigma, c.Step); err != nil {
			return err
		}
		least := leastDivisor * median.Of(level)
		for i, v := range level {
			level[i] = max(v, least)
		}
	}
	n := len(lam)
	l := 0
	for k := range dst {
		x := c.LogL0 + (c.LogL1-c.LogL0)*float64(k)/float64(c.Points-1)
		for l+2 < n && math.Log(lam[l+1]) < x {
			l++
		}
		from, to := math.Log(lam[l]), math.Log(lam[l+1])
		u := min(max((x-from)/(to-from), 0), 1)
		dst[k] = (1-u)*flux[l]/level[l] + u*flux[l+1]/level[l+1]
	}
	return nil
}

// transformed sets the arrays of c: parameters, templates, and the transforms of these and of their squares.
func transformed(c *rvspecfit.CCF, models, params []float64) error {
	count, half := len(models)/c.Points, c.Points/2+1
	plan, work := kernels.NewFFT(c.Points), new(kernels.FFTWorkspace)
	all := [2][]complex128{make([]complex128, count*half), make([]complex128, count*half)}
	row := make([]float64, c.Points)
	for i := range count {
		copy(row, models[i*c.Points:])
		plan.Real64(all[0][i*half:(i+1)*half], row, work)
		for k, v := range row {
			row[k] = v * v
		}
		plan.Real64(all[1][i*half:(i+1)*half], row, work)
	}
	var bad [4]error
	c.Params, bad[0] = tensor.From(params, count, len(c.ParNames))
	c.Models, bad[1] = tensor.From(models, count, c.Points)
	c.FFT, bad[2] = tensor.From(all[0], count, half)
	c.FFTSquare, bad[3] = tensor.From(all[1], count, half)
	return errors.Join(bad[:]...)
}
