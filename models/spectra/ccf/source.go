// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/spectra"
)

// coverage is how far outside of a library a star may be: triangulations have points moved by 1e-6.
const coverage = 1e-4

// Source holds the spectra of stars in one arm, from which Build makes templates.
type Source struct {
	arm    string
	lam    []float64 // wavelengths, in Angstrom
	log    bool      // whether the steps of their logarithm are equal
	names  []string
	points []float64 // physical parameters, a row for each star
	// logFlux returns natural logarithms of the spectra of up to buildChunk stars, in rows.
	logFlux func(stars []int) ([]float64, error)
}

// FromTemplates uses the template spectra of a library of one arm: a set of templates as
// LoadTemplates of package rvspecfit reads it, a grid or a triangulation. Networks have none; see
// FromLibrary.
func FromTemplates(l *rvspecfit.Library) (*Source, error) {
	if l == nil {
		return nil, errors.New("ccf: the library is nil: pass one that was read")
	}
	rows, stars := l.Points, []int(nil) // the second: which spectra are of stars
	if l.Triangulation != nil {
		rows = l.Triangulation.Points
	} else if rows != nil && len(rows.Shape()) == 2 {
		rows = rows.Permute(1, 0).Copy()
	}
	pixels, dim := len(l.Lam), len(l.ParNames)
	switch {
	case l.Spectra == nil || rows == nil:
		return nil, fmt.Errorf("ccf: the library of arm %s has no template spectra: for a network use FromLibrary, with the parameters of the templates to make", l.Setup)
	case len(l.Spectra.Shape()) != 2 || !slices.Equal([]int(rows.Shape()), []int{l.Spectra.Shape()[0], dim}) || l.Spectra.Shape()[1] != pixels || pixels < 2:
		return nil, fmt.Errorf("ccf: the library of arm %s has spectra of shape %v, parameters of shape %v, %s and %s, which do not fit together: make the library again", l.Setup, l.Spectra.Shape(), rows.Shape(), errtext.Count(dim, "name"), errtext.Count(pixels, "wavelength"))
	}
	s := &Source{arm: l.Setup, lam: l.Lam, log: l.LogStep, names: l.ParNames}
	mapped := l.Grid != nil || l.Triangulation != nil
	for i, v := range rows.Float64s() {
		k := i % dim
		if l.Triangulation != nil && l.Triangulation.Flags[i/dim] != 0 { // a corner around the library
			continue
		}
		if k == 0 {
			stars = append(stars, i/dim)
		}
		if mapped {
			if l.Mapper.Mean != nil {
				v = v*l.Mapper.Std[k] + l.Mapper.Mean[k]
			}
			if slices.Contains(l.Mapper.Log, k) {
				v = math.Pow(10, v)
			}
		}
		s.points = append(s.points, v)
	}
	s.logFlux = func(chosen []int) ([]float64, error) {
		out := make([]float64, 0, len(chosen)*pixels)
		for _, i := range chosen {
			out = append(out, l.Spectra.Slice(0, stars[i], stars[i]+1, 1).Float64s()...)
		}
		if !l.LogSpec {
			for i, v := range out {
				out[i] = math.Log(v)
			}
		}
		return out, nil
	}
	return s, nil
}

// FromLibrary computes the spectra that a library of any kind, including a network, has in one arm
// at points: the parameters of the stars, a row for each, in the order of lib.Params.
func FromLibrary(lib *spectra.Library, arm string, points []float64) (*Source, error) {
	if lib == nil {
		return nil, errors.New("ccf: the library is nil: pass one that was read")
	}
	t, err := lib.Arm(arm)
	if err != nil {
		return nil, err
	}
	dim := len(lib.Params)
	if len(points) == 0 || len(points)%dim != 0 {
		return nil, fmt.Errorf("ccf: there are %d numbers for stars of %s, %v: give each star one number for each", len(points), errtext.Count(dim, "parameter"), lib.Params)
	}
	s := &Source{arm: arm, lam: t.Lam, log: t.Log, names: lib.Params, points: slices.Clone(points)}
	x := ad.Input("parameters", buildChunk, dim)
	log, outside := t.LogFlux(x)
	p, err := ad.Compile([]*ad.Node{log, outside}, ad.Settings{})
	if err != nil {
		return nil, fmt.Errorf("ccf: arm %s: %w", arm, err)
	}
	state := p.NewState()
	s.logFlux = func(stars []int) ([]float64, error) {
		input := state.Input(0)
		for k := range buildChunk { // the last star fills what is left of the chunk
			i := stars[min(k, len(stars)-1)]
			copy(input[k*dim:(k+1)*dim], s.points[i*dim:])
		}
		if err := state.Run(); err != nil {
			return nil, fmt.Errorf("ccf: arm %s: %w", arm, err)
		}
		for k, v := range state.Output(1)[:len(stars)] {
			if !(v <= coverage) {
				return nil, fmt.Errorf("ccf: the star with %v lies outside the library of arm %s by %.3g: leave it out of the points", input[k*dim:(k+1)*dim], arm, v)
			}
		}
		return slices.Clone(state.Output(0)[:len(stars)*len(t.Lam)]), nil
	}
	return s, nil
}
