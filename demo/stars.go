// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/models/spectra/build"
)

//go:embed stars/lines.json
var starLines []byte

// StarLines returns a model of stellar spectra in formulas, with some 200 well-known lines from
// 3700 to 9600 Angstrom: the Balmer and Paschen series, Ca II H and K and the triplet, Mg b, Na D,
// iron, titanium and others. Strengths are rough.
func StarLines() *build.LineList {
	l, err := build.ParseLines(starLines)
	if err != nil {
		panic("demo: " + err.Error())
	}
	return l
}

// LibrarySettings describe a library of synthetic templates.
type LibrarySettings struct {
	// Arms names the arms, some of b, r and z. Default: all.
	Arms []string
	// Whole makes the templates cover whole arms of DESI's spectrographs. Default: b from 4820 to
	// 5280 Angstrom about H beta and Mg b, r from 5860 to 6620 from Na D to H alpha, and z from
	// 8460 to 8720 about the Ca II triplet.
	Whole bool
	// Matrices makes templates for spectra with resolution matrices, whose lines have a standard deviation of 0.5
	// Angstrom. Default: templates of the resolution of DESI.
	Matrices bool
	// Threads is the number of templates that are computed at the same time. Default GOMAXPROCS.
	Threads int
}

// sampling is the distance of the samples of synthetic spectra, Angstrom, and edge how far they reach beyond an arm.
const (
	sampling = 0.2
	edge     = 45
)

// starGrid is the grid of StarTemplates.
var starGrid = [][]float64{{4250, 4750, 5250, 5750, 6250, 6750, 7250}, {1, 2, 3, 4, 5}, {-2.5, -1.75, -1, -0.25, 0.5}, {0, 0.4}}

// StarTemplates makes a library of 350 templates, one for each arm, from StarLines: teff from 4250 to 7250 K, logg
// from 1 to 5, feh from -2.5 to 0.5 and alpha 0 and 0.4, at equal distances. They are sets of templates, from
// which build.Regular and build.Triangulated make interpolators.
func StarTemplates(ctx context.Context, s LibrarySettings) ([]*rvspecfit.Library, error) {
	lines := StarLines()
	nodes, err := build.Nodes(build.LineParams(), starGrid)
	if err != nil {
		return nil, err
	}
	arms, err := s.arms()
	if err != nil {
		return nil, err
	}
	var all []*rvspecfit.Library
	for _, a := range arms {
		a.Threads, a.Revision = s.Threads, "synthetic"
		lam := make([]float64, int((a.Lam1-a.Lam0+2*edge)/sampling))
		for i := range lam {
			lam[i] = a.Lam0 - edge + sampling*float64(i)
		}
		a.Read = func(e rvspecfit.Entry) ([]float64, []float64, error) {
			flux, err := lines.Flux(e.Params, lam)
			return lam, flux, err
		}
		l, err := build.Rebin(ctx, nodes, a)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// StarLibrary makes the templates of StarTemplates on a regular grid.
func StarLibrary(ctx context.Context, s LibrarySettings) ([]*rvspecfit.Library, error) {
	all, err := StarTemplates(ctx, s)
	for i := 0; i < len(all) && err == nil; i++ {
		all[i], err = build.Regular(all[i])
	}
	return all, err
}

func (s *LibrarySettings) arms() ([]build.Settings, error) {
	all := build.DESI()
	if s.Matrices {
		all = build.DESIMatrices()
	}
	if !s.Whole {
		for i, ends := range [][2]float64{{4820, 5280}, {5860, 6620}, {8460, 8720}} {
			all[i].Lam0, all[i].Lam1 = ends[0], ends[1]
		}
	}
	if len(s.Arms) == 0 {
		return all, nil
	}
	var chosen []build.Settings
	for _, name := range s.Arms {
		i := slices.IndexFunc(all, func(a build.Settings) bool { return a.Setup == "desi_"+name })
		if i < 0 {
			return nil, fmt.Errorf("demo: there is no arm %q: want b, r or z", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// StarTruth holds the true parameters of a synthetic star.
type StarTruth struct {
	Vel    float64   // radial velocity in km/s
	Vsini  float64   // projected rotation velocity in km/s
	Params []float64 // teff (K), logg, feh, alpha (dex)
	SN     float64   // signal-to-noise ratio of a pixel at the median flux
	Level  float64   // approximate median flux
}

// StarSettings say which stars are drawn. Every range is that of a uniform distribution, except for
// those of S/N and of flux, whose logarithms are uniform.
type StarSettings struct {
	Seed uint64
	// SN is the range of the signal-to-noise ratio of a pixel. Default 15 to 100.
	SN [2]float64
	// Vel is the range of velocities, km/s. Default -300 to 300.
	Vel [2]float64
	// Vsini is the range of rotation, km/s. Default 2 to 60.
	Vsini [2]float64
	// Params are the ranges of teff (K), logg, feh and alpha. Default: well within the synthetic library.
	Params [4][2]float64
	// Matrices gives the spectra resolution matrices, for a library of LibrarySettings.Matrices.
	Matrices bool
}

func (s StarSettings) filled() (StarSettings, error) {
	for _, d := range []struct {
		to *[2]float64
		is [2]float64
	}{{&s.SN, [2]float64{15, 100}}, {&s.Vel, [2]float64{-300, 300}}, {&s.Vsini, [2]float64{2, 60}}, {&s.Params[0], [2]float64{4500, 7000}},
		{&s.Params[1], [2]float64{1.3, 4.8}}, {&s.Params[2], [2]float64{-2.2, 0.3}}, {&s.Params[3], [2]float64{0.04, 0.36}}} {
		if *d.to == [2]float64{} {
			*d.to = d.is
		}
	}
	var wrong []error
	for name, r := range map[string][2]float64{"S/N": s.SN, "velocity": s.Vel, "vsini": s.Vsini, "teff": s.Params[0], "logg": s.Params[1], "feh": s.Params[2], "alpha": s.Params[3]} {
		if !(r[0] <= r[1]) || math.IsInf(r[0], 0) || math.IsInf(r[1], 0) {
			wrong = append(wrong, fmt.Errorf("demo: the range of %s is %g to %g: want an ascending one", name, r[0], r[1]))
		}
	}
	if s.SN[0] <= 0 || s.Vsini[0] < 0 || s.Vsini[1] > 500 || max(-s.Vel[0], s.Vel[1]) > 1000 {
		wrong = append(wrong, fmt.Errorf("demo: S/N starts at %g, vsini goes from %g to %g km/s and velocities from %g to %g km/s: want S/N above 0, vsini from 0 to 500 and velocities up to 1000", s.SN[0], s.Vsini[0], s.Vsini[1], s.Vel[0], s.Vel[1]))
	}
	return s, errors.Join(wrong...)
}
