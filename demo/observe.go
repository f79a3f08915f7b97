// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/build"
	sim "github.com/euryale-dev/euryale/sim/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// Stars draws n stars with spectra in all arms of a library, and returns them with their true
// parameters. Pixels of 0.8 Angstrom have Gaussian noise whose standard deviation is smallest in
// the middle of an arm; a smooth curve, not that of the templates, multiplies each spectrum. Star i
// is the same for all n.
func Stars(ctx context.Context, lib *spectra.Library, n int, s StarSettings) ([]spectra.Star, []StarTruth, error) {
	o, err := newObserver(lib, s)
	if err != nil {
		return nil, nil, err
	}
	stars, truth := make([]spectra.Star, n), make([]StarTruth, n)
	for i := range stars {
		stars[i].Name, truth[i] = fmt.Sprintf("star %d", i), o.truth(i)
	}
	for k, a := range o.arms {
		err := o.each(ctx, k, n, func(i int, flux []float64) error {
			sigma := a.errors(truth[i])
			a.addNoise(o.Seed, i, flux, sigma)
			stars[i].Spectra = append(stars[i].Spectra, spectra.Spectrum{Arm: a.name, Lam: a.lam, Flux: slices.Clone(flux), Err: sigma, Resolution: a.matrix})
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return stars, truth, nil
}

// Purposes of streams of random numbers, each with the number of a star; those of arms have that of the arm added.
const (
	drawTruth = 100 + 16*iota
	drawShape
	drawNoise
	drawCosmics
)

// side is the number of spectra that are computed at a time.
const side = 16

// observer makes spectra of synthetic stars.
type observer struct {
	StarSettings
	arms []*observedArm
}

type observedArm struct {
	index   int
	name    string
	lam     []float64
	matrix  *sim.Resolution
	rows    []float64 // the matrix as DESI's files have it, nil for none
	program *ad.Program
}

func newObserver(lib *spectra.Library, s StarSettings) (*observer, error) {
	s, err := s.filled()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(lib.Params, build.LineParams()) {
		return nil, fmt.Errorf("demo: the library has the parameters %v: want %v", lib.Params, build.LineParams())
	}
	o := &observer{StarSettings: s}
	for k, t := range lib.Arms {
		a, err := newArm(k, t, s.Matrices)
		if err != nil {
			return nil, fmt.Errorf("demo: arm %s: %w", t.Name, err)
		}
		o.arms = append(o.arms, a)
	}
	return o, nil
}

// desiEnds are the ends of the spectra of DESI's arms, in Angstrom.
var desiEnds = map[string][2]float64{"desi_b": {3600, 5800}, "desi_r": {5760, 7620}, "desi_z": {7520, 9824}}

// pixel is the size of a pixel in Angstrom, and diagonals the number of those of a resolution matrix.
const (
	pixel     = 0.8
	diagonals = 11
	fibers    = 0.5 // standard deviation of the lines in templates for matrices, Angstrom
)

func newArm(k int, t *spectra.Templates, matrices bool) (*observedArm, error) {
	a := &observedArm{index: k, name: t.Name}
	fac := math.Sqrt((1 + 1000/sim.SpeedOfLight) / (1 - 1000/sim.SpeedOfLight))
	lo, hi := t.Lam[0]*fac+1, t.Lam[len(t.Lam)-1]/fac-1
	if e, ok := desiEnds[t.Name]; ok {
		lo, hi = max(lo, e[0]), min(hi, e[1])
	}
	for x := math.Ceil(lo/pixel) * pixel; x <= hi; x += pixel {
		a.lam = append(a.lam, math.Round(x*10)/10)
	}
	if len(a.lam) < 2*diagonals {
		return nil, fmt.Errorf("templates from %g to %g Angstrom leave room for %d pixels at velocities up to 1000 km/s: want %d", t.Lam[0], t.Lam[len(t.Lam)-1], len(a.lam), 2*diagonals)
	}
	if matrices {
		if err := a.resolve(); err != nil {
			return nil, err
		}
	}
	arm, err := sim.NewArm(sim.ArmSettings{Name: t.Name, Template: t.Lam, Linear: !t.Log, Observed: a.lam, Resolution: a.matrix})
	if err != nil {
		return nil, err
	}
	u, vel, vsini := ad.Input("u", side, 4), ad.Input("vel", side), ad.Input("vsini", side)
	logFlux, outside := t.LogFlux(u)
	a.program, err = ad.Compile([]*ad.Node{arm.Model(logFlux, vel, vsini, nil), outside}, ad.Settings{})
	return a, err
}

// resolve makes a resolution matrix of Gaussians, whose standard deviations grow along the arm from 0.62 to 0.72
// Angstrom.
func (a *observedArm) resolve() error {
	n := len(a.lam)
	a.rows = make([]float64, diagonals*n)
	for d := range diagonals {
		for j := range n { // element of column j and row i = j - (5-d)
			i := j - diagonals/2 + d
			if i < 0 || i >= n {
				continue
			}
			sigma := (0.62 + 0.1*float64(i)/float64(n)) / pixel
			z := float64(j-i) / sigma
			a.rows[d*n+j] = float64(float32(math.Exp(-z*z/2) / (sigma * math.Sqrt(2*math.Pi))))
		}
	}
	var err error
	a.matrix, err = sim.DESIResolution(a.rows, diagonals, fibers, pixel)
	return err
}

// truth draws the parameters of star i.
func (o *observer) truth(i int) StarTruth {
	rng := tensor.NewStream(o.Seed, drawTruth, uint32(i))
	in := func(r [2]float64) float64 { return r[0] + (r[1]-r[0])*rng.Float64() }
	t := StarTruth{Vel: in(o.Vel), Vsini: in(o.Vsini)}
	for _, r := range o.Params {
		t.Params = append(t.Params, in(r))
	}
	t.SN = math.Exp(in([2]float64{math.Log(o.SN[0]), math.Log(o.SN[1])}))
	t.Level = math.Exp(in([2]float64{math.Log(5), math.Log(100)}))
	return t
}

// each calls f with the spectra of stars 0 to n-1 in arm k, without noise, in order. It may change them.
func (o *observer) each(ctx context.Context, k, n int, f func(i int, flux []float64) error) error {
	a := o.arms[k]
	state := a.program.NewState()
	pixels := len(a.lam)
	u, vel, vsini := make([]float64, side*4), make([]float64, side), make([]float64, side)
	for from := 0; from < n; from += side {
		if err := ctx.Err(); err != nil {
			return err
		}
		for r := range side {
			t := o.truth(from + r) // those beyond n are computed in vain
			copy(u[r*4:], t.Params)
			vel[r], vsini[r] = t.Vel, t.Vsini
		}
		for i, v := range [][]float64{u, vel, vsini} {
			state.SetInput(i, v)
		}
		if err := state.Run(); err != nil {
			return fmt.Errorf("demo: arm %s: %w", a.name, err)
		}
		model, outside := state.Output(0), state.Output(1)
		for r := range min(side, n-from) {
			if !(outside[r] == 0) {
				return fmt.Errorf("demo: star %d has the parameters %v, which lie outside the library: narrow the ranges", from+r, u[r*4:r*4+4])
			}
			flux := model[r*pixels : (r+1)*pixels]
			t := o.truth(from + r)
			rng := tensor.NewStream(o.Seed, drawShape+uint32(k), uint32(from+r))
			tilt, bend := 0.4*rng.Float64()-0.2, 0.2*rng.Float64()-0.1
			for i := range flux {
				x := a.place(i)
				flux[i] *= t.Level * math.Exp(tilt*x+bend*x*x)
			}
			if err := f(from+r, flux); err != nil {
				return err
			}
		}
	}
	return nil
}

// place returns where a pixel is in the arm, from -1 to 1.
func (a *observedArm) place(i int) float64 { return 2*float64(i)/float64(len(a.lam)-1) - 1 }

// errors returns the standard deviations of the pixels.
func (a *observedArm) errors(t StarTruth) []float64 {
	sigma := make([]float64, len(a.lam))
	for i := range sigma {
		x := a.place(i)
		sigma[i] = t.Level / t.SN * (1 + 0.3*x*x)
	}
	return sigma
}

func (a *observedArm) addNoise(seed uint64, i int, flux, sigma []float64) {
	rng := tensor.NewStream(seed, drawNoise+uint32(a.index), uint32(i))
	for k := range flux {
		flux[k] += sigma[k] * rng.Normal()
	}
}
