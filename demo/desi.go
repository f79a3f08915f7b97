// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// Fiber describes a row of a file that WriteDESI writes.
type Fiber struct {
	TargetID int64
	Kind     FiberKind
	Truth    StarTruth // true parameters; zero for sky and quasars
}

// FiberKind is the kind of a fiber.
type FiberKind string

// These are the kinds of fibers. Of every 20 fibers the fourth is a SkyFiber, the sixth a
// BrokenFiber, the ninth a QuasarFiber and the twelfth a BlindFiber; the others are a StarFiber.
const (
	StarFiber   FiberKind = "star"
	SkyFiber    FiberKind = "sky"    // fiber on the sky, with noise about 0, of type SKY
	BrokenFiber FiberKind = "broken" // star seen through a fiber whose status says not to use it
	QuasarFiber FiberKind = "quasar" // quasar with a broad emission line at a redshift of 1.4
	BlindFiber  FiberKind = "blind"  // star whose first arm is masked
)

func kindOf(i int) FiberKind {
	return cmp.Or(map[int]FiberKind{3: SkyFiber, 5: BrokenFiber, 8: QuasarFiber, 11: BlindFiber}[i%20], StarFiber)
}

// firstTarget is the number of the first target.
const firstTarget = 39627_000_000_000_001

// WriteDESI writes coadd-NAME.fits and redrock-NAME.fits into an existing folder: n fibers of one
// healpix pixel of DESI, with stars as Stars draws them in all arms of the library, which must be
// some of desi_b, desi_r and desi_z. It returns a description of each row. One pixel in 300 is
// masked and has a wild flux. With StarSettings.Matrices there are resolution matrices.
//
// Spectra are written as they are made, so that memory does not grow with n except for a few
// numbers for each fiber.
func WriteDESI(ctx context.Context, dir, name string, lib *spectra.Library, n int, s StarSettings) ([]Fiber, error) {
	o, err := newObserver(lib, s)
	if err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("demo: there are %d fibers: want at least 1", n)
	}
	list := make([]Fiber, n)
	for i := range list {
		list[i] = Fiber{TargetID: firstTarget + int64(i), Kind: kindOf(i)}
		if k := list[i].Kind; k != SkyFiber && k != QuasarFiber {
			list[i].Truth = o.truth(i)
		}
	}
	w, err := fits.Create(filepath.Join(dir, "coadd-"+name+".fits"))
	if err != nil {
		return nil, err
	}
	defer w.Discard()
	h := &fits.Header{}
	h.Set("SPGRP", "healpix", "spectra are grouped by")
	h.Set("SPGRPVAL", 1234, "healpix pixel")
	h.Set("HPXNSIDE", 64, "")
	h.Set("SYNTH", true, "synthetic spectra")
	w.Primary(h)
	w.Table("FIBERMAP", nil, fibermap(list))
	w.Table("EXP_FIBERMAP", nil, exposures(list))
	scores := []fits.Data{{Name: "TARGETID", Values: targets(list)}}
	for k := range o.arms {
		found, err := o.writeArm(ctx, w, k, list)
		if err != nil {
			return nil, err
		}
		scores = append(scores, found...)
	}
	w.Table("SCORES", nil, scores)
	if err := w.Close(); err != nil {
		return nil, err
	}
	return list, writeRedshifts(filepath.Join(dir, "redrock-"+name+".fits"), list)
}

func targets(list []Fiber) []int64 {
	ids := make([]int64, len(list))
	for i, f := range list {
		ids[i] = f.TargetID
	}
	return ids
}

func fibermap(list []Fiber) []fits.Data {
	n := len(list)
	status, fiber, brick := make([]int32, n), make([]int32, n), make([]int32, n)
	ra, dec, kind := make([]float64, n), make([]float64, n), make([]string, n)
	ref, target, cat := make([]int64, n), make([]int64, n), make([]string, n)
	for i, f := range list {
		rng := tensor.NewStream(uint64(f.TargetID), drawTruth, 0)
		ra[i], dec[i] = 180+rng.Float64(), 30+rng.Float64()
		fiber[i], brick[i], ref[i] = int32(i%5000), 500_000, 4_000_000_000_000_000_000+int64(i)
		kind[i], cat[i], target[i] = "TGT", "G3", 1<<61 // MWS_ANY
		switch f.Kind {
		case SkyFiber:
			kind[i], cat[i], target[i], ref[i] = "SKY", "", 1<<32, 0
		case BrokenFiber:
			status[i] = 1 << 9
		case QuasarFiber:
			target[i] = 1 << 2
		}
	}
	return []fits.Data{{Name: "TARGETID", Values: targets(list)}, {Name: "COADD_FIBERSTATUS", Values: status}, {Name: "TARGET_RA", Unit: "deg", Values: ra},
		{Name: "TARGET_DEC", Unit: "deg", Values: dec}, {Name: "OBJTYPE", Values: kind, Width: 3}, {Name: "FIBER", Values: fiber}, {Name: "REF_ID", Values: ref},
		{Name: "REF_CAT", Values: cat, Width: 2}, {Name: "BRICKID", Values: brick}, {Name: "DESI_TARGET", Values: target}}
}

// exposures returns two exposures of every fiber.
func exposures(list []Fiber) []fits.Data {
	var ids []int64
	var expid, night, tile, fiber, status []int32
	var mjd, seconds []float64
	for e := range int32(2) {
		for i, f := range list {
			ids, expid, night, tile, fiber = append(ids, f.TargetID), append(expid, 100+e), append(night, 20240101+e), append(tile, 1), append(fiber, int32(i%5000))
			bad := int32(0)
			if f.Kind == BrokenFiber {
				bad = 1 << 9
			}
			status, mjd, seconds = append(status, bad), append(mjd, 60310.3+float64(e)), append(seconds, 900)
		}
	}
	return []fits.Data{{Name: "TARGETID", Values: ids}, {Name: "EXPID", Values: expid}, {Name: "NIGHT", Values: night}, {Name: "TILEID", Values: tile}, {Name: "MJD", Unit: "d", Values: mjd},
		{Name: "EXPTIME", Unit: "s", Values: seconds}, {Name: "FIBER", Values: fiber}, {Name: "FIBERSTATUS", Values: status}}
}

// writeArm writes the images of an arm, and returns columns of SCORES.
func (o *observer) writeArm(ctx context.Context, w *fits.Writer, k int, list []Fiber) ([]fits.Data, error) {
	a := o.arms[k]
	letter, ok := strings.CutPrefix(a.name, "desi_")
	if !ok || !slices.Contains([]string{"b", "r", "z"}, letter) {
		return nil, fmt.Errorf("demo: there is no arm %s: want desi_b, desi_r or desi_z", a.name)
	}
	letter = strings.ToUpper(letter)
	n, pixels := len(list), len(a.lam)
	level, sn := make([]float32, n), make([]float32, n)
	unit := &fits.Header{}
	unit.Set("BUNIT", "Angstrom", "")
	w.Image(letter+"_WAVELENGTH", unit, []int{pixels}, a.lam)
	unit.Set("BUNIT", "10**-17 erg/(s cm2 Angstrom)", "")
	out := w.Stream(letter+"_FLUX", unit, []int{n, pixels})
	row := make([]float32, pixels)
	err := o.each(ctx, k, n, func(i int, flux []float64) error {
		flux = o.seen(k, i, list[i], flux)
		sigma := a.errors(o.truth(i))
		a.addNoise(o.Seed, i, flux, sigma)
		ratio := make([]float64, pixels)
		for p := range flux {
			ratio[p] = flux[p] / sigma[p]
		}
		level[i], sn[i] = float32(middle(flux)), float32(middle(ratio))
		for p, m := range o.cosmics(k, i, list[i]) {
			if row[p] = float32(flux[p]); m != 0 {
				row[p] += 40 * float32(sigma[p])
			}
		}
		return out.Write(row)
	})
	if err := errors.Join(err, out.Close()); err != nil {
		return nil, err
	}
	out = w.Stream(letter+"_IVAR", nil, []int{n, pixels})
	for i := range list {
		for p, s := range a.errors(o.truth(i)) {
			row[p] = float32(1 / (s * s))
		}
		if err := out.Write(row); err != nil {
			return nil, err
		}
	}
	mask := w.Stream(letter+"_MASK", nil, []int{n, pixels})
	for i, f := range list {
		if err := mask.Write(o.cosmics(k, i, f)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(out.Close(), mask.Close(), a.writeMatrices(w, letter, n)); err != nil {
		return nil, err
	}
	return []fits.Data{{Name: "MEDIAN_COADD_FLUX_" + letter, Values: level}, {Name: "MEDIAN_COADD_SNR_" + letter, Values: sn}}, nil
}

// writeMatrices writes the resolution matrix of the arm for each fiber.
func (a *observedArm) writeMatrices(w *fits.Writer, letter string, n int) error {
	if a.rows == nil {
		return nil
	}
	single := make([]float32, len(a.rows))
	for i, v := range a.rows {
		single[i] = float32(v)
	}
	out := w.Stream(letter+"_RESOLUTION", nil, []int{n, diagonals, len(a.lam)})
	for range n {
		if err := out.Write(single); err != nil {
			return err
		}
	}
	return out.Close()
}

// seen returns what a fiber sees in place of the star with its number.
func (o *observer) seen(k, i int, f Fiber, star []float64) []float64 {
	a, t := o.arms[k], o.truth(i)
	switch f.Kind {
	case SkyFiber:
		clear(star)
	case QuasarFiber:
		for p, x := range a.lam {
			d := (x/(1+quasarZ) - 2800.3) / 25 // Mg II
			star[p] = t.Level * math.Pow(x/6000, -0.6) * (1 + 0.8*math.Exp(-d*d/2))
		}
	}
	return star
}

// quasarZ is the redshift of quasars.
const quasarZ = 1.4

// cosmics returns the mask of a fiber: 1 where a cosmic ray hit, and 2 in an arm that does not work.
func (o *observer) cosmics(k, i int, f Fiber) []int32 {
	mask := make([]int32, len(o.arms[k].lam))
	rng := tensor.NewStream(o.Seed, drawCosmics+uint32(k), uint32(i))
	for p := range mask {
		if rng.Float64() < 1./300 {
			mask[p] = 1
		}
		if f.Kind == BlindFiber && k == 0 {
			mask[p] = 2
		}
	}
	return mask
}

func middle(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// writeRedshifts writes what redrock would find, about.
func writeRedshifts(name string, list []Fiber) error {
	n := len(list)
	z, zerr, delta := make([]float64, n), make([]float64, n), make([]float64, n)
	kind, sub, warn := make([]string, n), make([]string, n), make([]int64, n)
	for i, f := range list {
		z[i], zerr[i], delta[i] = math.Round(f.Truth.Vel/29.9792458)*1e-4, 1e-4, 500
		switch f.Kind {
		case SkyFiber:
			kind[i], z[i], delta[i], warn[i] = "GALAXY", 0.7, 1, 4 // SMALL_DELTA_CHI2
		case QuasarFiber:
			kind[i], z[i] = "QSO", quasarZ
		default:
			kind[i], sub[i] = "STAR", letterOf(f.Truth.Params[0])
		}
	}
	w, err := fits.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	w.Table("REDSHIFTS", nil, []fits.Data{{Name: "TARGETID", Values: targets(list)}, {Name: "Z", Values: z}, {Name: "ZERR", Values: zerr}, {Name: "ZWARN", Values: warn},
		{Name: "SPECTYPE", Values: kind, Width: 6}, {Name: "SUBTYPE", Values: sub, Width: 20}, {Name: "DELTACHI2", Values: delta}})
	return w.Close()
}

// letterOf returns the spectral type of a temperature in K, about.
func letterOf(teff float64) string {
	switch {
	case teff > 6000:
		return "F"
	case teff > 5200:
		return "G"
	}
	return "K"
}
