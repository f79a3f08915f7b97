package demo

import (
	"context"
	"encoding/csv"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/build"
	"github.com/euryale-dev/euryale/models/spectra/ccf"
	sim "github.com/euryale-dev/euryale/sim/spectra"
)

// The files that WriteStars leaves.
const (
	StarLibrary  = "library.h5"
	StarSpectra  = "coadd-demo.fits"
	StarRedshift = "redrock-demo.fits"
	StarTruth    = "truth.csv"
)

// starGrid are the parameters of the demonstration's templates.
var starGrid = [][]float64{{4250, 4750, 5250, 5750, 6250, 6750}, {1.5, 2.5, 3.5, 4.5}, {-2, -1.25, -0.5, 0.25}, {0, 0.4}}

// StarParams are the names of the parameters of the demonstration's library.
func StarParams() []string { return []string{"teff", "logg", "feh", "alpha"} }

// lineSource is a line list on a grid.
type lineSource struct {
	lines  *build.LineList
	lam    []float64
	params [][]float64
}

func (s *lineSource) Params() ([]string, [][]float64) { return StarParams(), s.params }
func (s *lineSource) ID(i int) int                    { return i }
func (s *lineSource) Spectrum(i int) ([]float64, []float64, error) {
	flux, err := s.lines.Flux(s.params[i], s.lam)
	return s.lam, flux, err
}

// MakeStarLibrary makes a small library of template spectra on a regular grid, from StarLines, for the arms of
// StarArms, with templates for cross-correlation. It takes a second or two.
func MakeStarLibrary(ctx context.Context) (arms []*rvspecfit.Library, ccfs []*rvspecfit.CCF, err error) {
	params := [][]float64{nil}
	for _, axis := range starGrid {
		var next [][]float64
		for _, p := range params {
			for _, v := range axis {
				next = append(next, append(append([]float64(nil), p...), v))
			}
		}
		params = next
	}
	lines := StarLines()
	for _, a := range StarArms() {
		var lam []float64
		for x := a.First - 45; x < a.Last+50; x += 0.15 {
			lam = append(lam, x)
		}
		// Lines that are far away do not count.
		near := *lines
		near.Lines = nil
		for _, l := range lines.Lines {
			if l.Lam > a.First-60 && l.Lam < a.Last+60 {
				near.Lines = append(near.Lines, l)
			}
		}
		t, err := build.Templates(ctx, &lineSource{&near, lam, params}, a, build.Settings{Revision: "demo", Command: "euryale demo spectrum"})
		if err != nil {
			return nil, nil, err
		}
		rows, pixels := make([][]float64, len(params)), len(t.Lam)
		values := t.Spectra.Float64s()
		for i := range rows {
			rows[i] = values[i*pixels : (i+1)*pixels]
		}
		c, err := ccf.Build(ctx, a.Name, StarParams(), params, t.Lam, rows, ccf.BuildSettings{First: a.First, Last: a.Last, Step: a.Step, Every: 3, VSini: []float64{0, 60}})
		if err != nil {
			return nil, nil, err
		}
		g, err := build.Regular(t)
		if err != nil {
			return nil, nil, err
		}
		arms, ccfs = append(arms, g), append(ccfs, c)
	}
	return arms, ccfs, nil
}

// TrueStar is what WriteStars has put into the spectra of a fiber.
type TrueStar struct {
	TargetID               int64
	Kind                   string // star; binary, for two stars in one; sky, broken or masked
	Vel, Vsini             float64
	Teff, LogG, FeH, Alpha float64
	SN                     float64 // of a pixel in the r arm
}

// firstTarget is the number of the first target.
const firstTarget = 39627000000000000

// trueStars draws stars. Of ten fibers one looks at the sky, and every so often one is not like the templates or
// partly masked.
func trueStars(n int, seed uint64) []TrueStar {
	rng := rand.New(rand.NewPCG(seed, 17))
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	list := make([]TrueStar, n)
	for i := range list {
		s := TrueStar{TargetID: firstTarget + int64(i), Kind: "star", Vel: 150 * rng.NormFloat64(), Vsini: 6 * math.Exp(rng.NormFloat64()), Teff: between(4400, 6600), LogG: between(1.7, 4.4), FeH: between(-1.9, 0.1), Alpha: between(0.02, 0.38), SN: between(15, 90)}
		switch i % 12 {
		case 4:
			s.Kind, s.SN = "sky", 0
		case 7:
			s.Kind = "masked"
		case 9:
			s.Kind, s.SN = "binary", max(s.SN, 60)
		case 11:
			s.Kind = "broken"
		}
		s.Vel = min(max(s.Vel, -600), 600)
		list[i] = s
	}
	return list
}

// WriteStars writes into an existing folder the library of MakeStarLibrary, spectra of n fibers as DESI has them, and
// their true parameters. The spectra are those of the library, times a smooth continuum, with noise; those of kind
// binary are of two stars, which no template is like.
func WriteStars(ctx context.Context, dir string, n int, seed uint64) ([]TrueStar, error) {
	arms, ccfs, err := MakeStarLibrary(ctx)
	if err != nil {
		return nil, err
	}
	if err := rvspecfit.WriteOpen(filepath.Join(dir, StarLibrary), arms, ccfs); err != nil {
		return nil, err
	}
	stars := trueStars(n, seed)
	lib, err := spectra.From(arms, spectra.LoadSettings{})
	if err != nil {
		return nil, err
	}
	if err := writeSpectra(ctx, filepath.Join(dir, StarSpectra), lib, stars, seed); err != nil {
		return nil, err
	}
	if err := writeRedshifts(filepath.Join(dir, StarRedshift), stars); err != nil {
		return nil, err
	}
	err = atomicfile.Write(filepath.Join(dir, StarTruth), true, func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write([]string{"targetid", "kind", "vel (km/s)", "vsini (km/s)", "teff (K)", "logg", "feh", "alpha", "sn"})
		for _, s := range stars {
			row := []string{strconv.FormatInt(s.TargetID, 10), s.Kind}
			for _, x := range []float64{s.Vel, s.Vsini, s.Teff, s.LogG, s.FeH, s.Alpha, s.SN} {
				row = append(row, strconv.FormatFloat(x, 'g', 8, 64))
			}
			out.Write(row)
		}
		out.Flush()
		return out.Error()
	})
	return stars, err
}

// observer simulates the spectra of one arm.
type observer struct {
	name  string
	lam   []float64
	state *ad.State
}

func newObserver(t *spectra.Templates, a build.Arm) (*observer, error) {
	o := &observer{name: strings.TrimPrefix(t.Name, "desi_")}
	for x := a.First + 20; x < a.Last-20; x += 0.8 {
		o.lam = append(o.lam, x)
	}
	arm, err := sim.NewArm(sim.ArmSettings{Template: t.Lam, Observed: o.lam})
	if err != nil {
		return nil, err
	}
	vel, vsini, u := ad.Input("vel", 1), ad.Input("vsini", 1), ad.Input("u", 1, 4)
	log, _ := t.LogFlux(u)
	p, err := ad.Compile([]*ad.Node{arm.Model(log, vel, vsini, nil)}, ad.Settings{Inputs: []*ad.Node{vel, vsini, u}, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	o.state = p.NewState()
	return o, nil
}

// model returns the spectrum of a star with another velocity.
func (o *observer) model(s TrueStar, vel float64) ([]float64, error) {
	o.state.Input(0)[0], o.state.Input(1)[0] = vel, s.Vsini
	copy(o.state.Input(2), []float64{s.Teff, s.LogG, s.FeH, s.Alpha})
	err := o.state.Run()
	return o.state.Output(0), err
}

// observe fills the flux and inverse variance of a fiber, and marks bad pixels.
func (o *observer) observe(s TrueStar, flux, ivar []float32, mask []int32, rng *rand.Rand) error {
	const level = 100.0
	sky := level / 30
	var model []float64
	if s.SN > 0 {
		m, err := o.model(s, s.Vel)
		if err != nil {
			return err
		}
		model = append(model, m...)
		if s.Kind == "binary" {
			second, err := o.model(s, s.Vel+160)
			if err != nil {
				return err
			}
			for k, v := range second {
				model[k] = (model[k] + 0.8*v) / 1.8
			}
		}
	}
	a, b := 0.3*rng.NormFloat64(), 0.2*rng.NormFloat64()
	for k := range flux {
		z := 2*float64(k)/float64(len(flux)-1) - 1
		v, sd := 0.0, sky
		if model != nil {
			v = level * model[k] * (1 + a*z + b*z*z)
			sd = level / s.SN
		}
		flux[k], ivar[k] = float32(v+sd*rng.NormFloat64()), float32(1/(sd*sd))
		switch {
		case s.Kind == "broken":
			flux[k], ivar[k] = 0, 0
		case s.Kind == "masked" && (k > len(flux)/3 && k < len(flux)/3+25):
			mask[k], flux[k] = 1, 1e4
		}
	}
	return nil
}

// writeSpectra writes the file of spectra.
func writeSpectra(ctx context.Context, name string, lib *spectra.Library, stars []TrueStar, seed uint64) error {
	w, err := fits.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	h := &fits.Header{}
	h.Set("SPGRP", "demo", "synthetic spectra")
	w.Primary(h)
	n := len(stars)
	ids, status, fiber, ref, targets := make([]int64, n), make([]int32, n), make([]int32, n), make([]int64, n), make([]int64, n)
	ra, dec, kind, cat := make([]float64, n), make([]float64, n), make([]string, n), make([]string, n)
	for i, s := range stars {
		ids[i], fiber[i], ref[i], cat[i], kind[i], targets[i] = s.TargetID, int32(i), 1e9+int64(i), "G2", "TGT", 1<<61
		ra[i], dec[i] = 150+0.01*float64(i%100), 2+0.01*float64(i/100)
		if s.Kind == "sky" {
			kind[i], targets[i] = "SKY", 1<<32
		}
	}
	w.Table("FIBERMAP", nil, []fits.Data{{Name: "TARGETID", Values: ids}, {Name: "COADD_FIBERSTATUS", Values: status}, {Name: "TARGET_RA", Unit: "deg", Values: ra}, {Name: "TARGET_DEC", Unit: "deg", Values: dec},
		{Name: "OBJTYPE", Values: kind}, {Name: "FIBER", Values: fiber}, {Name: "REF_ID", Values: ref}, {Name: "REF_CAT", Values: cat}, {Name: "DESI_TARGET", Values: targets}})
	w.Table("EXP_FIBERMAP", nil, []fits.Data{{Name: "TARGETID", Values: ids}, {Name: "EXPID", Values: fiber}})
	scores := []fits.Data{{Name: "TARGETID", Values: ids}}
	for _, t := range lib.Arms {
		var arm build.Arm
		for _, a := range StarArms() {
			if a.Name == t.Name {
				arm = a
			}
		}
		o, err := newObserver(t, arm)
		if err != nil {
			return err
		}
		upper, pixels := strings.ToUpper(o.name), len(o.lam)
		flux, ivar, mask, sn := make([]float32, n*pixels), make([]float32, n*pixels), make([]int32, n*pixels), make([]float32, n)
		for i, s := range stars {
			if err := ctx.Err(); err != nil {
				return err
			}
			rng := rand.New(rand.NewPCG(seed, uint64(i)<<8|uint64(o.name[0])))
			at := i * pixels
			if err := o.observe(s, flux[at:at+pixels], ivar[at:at+pixels], mask[at:at+pixels], rng); err != nil {
				return err
			}
			if s.Kind != "broken" {
				sn[i] = float32(s.SN)
			}
		}
		w.Image(upper+"_WAVELENGTH", nil, []int{pixels}, o.lam)
		w.Image(upper+"_FLUX", nil, []int{n, pixels}, flux)
		w.Image(upper+"_IVAR", nil, []int{n, pixels}, ivar)
		w.Image(upper+"_MASK", nil, []int{n, pixels}, mask)
		scores = append(scores, fits.Data{Name: "MEDIAN_COADD_SNR_" + upper, Values: sn})
	}
	w.Table("SCORES", nil, scores)
	return w.Close()
}

// writeRedshifts writes what a pipeline for redshifts would say of the stars.
func writeRedshifts(name string, stars []TrueStar) error {
	w, err := fits.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	w.Primary(nil)
	ids, z, kind, sub := make([]int64, len(stars)), make([]float64, len(stars)), make([]string, len(stars)), make([]string, len(stars))
	for i, s := range stars {
		ids[i], z[i], kind[i], sub[i] = s.TargetID, s.Vel/sim.SpeedOfLight, "STAR", "G"
		if s.Kind == "sky" {
			z[i], kind[i], sub[i] = 0.7, "GALAXY", ""
		}
	}
	w.Table("REDSHIFTS", nil, []fits.Data{{Name: "TARGETID", Values: ids}, {Name: "Z", Values: z}, {Name: "SPECTYPE", Values: kind}, {Name: "SUBTYPE", Values: sub}})
	return w.Close()
}
