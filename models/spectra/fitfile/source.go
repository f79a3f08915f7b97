// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fitfile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/spectra"
	sim "github.com/euryale-dev/euryale/sim/spectra"
)

// Kind is the kind of a file of spectra.
type Kind string

// The kinds of files are those of surveys, and Spectrum.
const (
	DESI     Kind = "DESI coadd or spectra"
	SDSS     Kind = "SDSS spectrum"
	Plate    Kind = "SDSS plate"
	WEAVE    Kind = "WEAVE L1"
	Spectrum Kind = "spectrum" // file of a single spectrum: a CSV table, or a FITS table or image
)

// KindOf looks into a file to find its kind. A file that is not a FITS file is taken to be a table
// in CSV.
func KindOf(name string) (Kind, error) {
	low := strings.ToLower(strings.TrimSuffix(name, ".gz"))
	if !strings.HasSuffix(low, ".fits") && !strings.HasSuffix(low, ".fit") && !strings.HasSuffix(low, ".fts") && !strings.HasSuffix(low, ".fz") {
		return Spectrum, nil
	}
	f, err := fits.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	switch {
	case f.Has("FIBERMAP"):
		return DESI, nil
	case f.Has("PLUGMAP"):
		return Plate, nil
	case f.Has("FIBTABLE"):
		return WEAVE, nil
	case f.Has("COADD") && (f.Has("SPALL") || f.Has("SPECOBJ")):
		return SDSS, nil
	}
	return Spectrum, nil
}

// Source is an open file of spectra, each of one star.
type Source struct {
	Name string
	Kind Kind
	N    int // number of spectra
	// Arm is the name that the file gives its arm.
	Arm string
	// Told says how the columns of a plain file were read; empty for files of surveys, which say it themselves.
	Told string

	raw    func(row int) (*survey.Raw, error)
	finish func() error
}

// Open opens a file that is not DESI's, for which there is [Pipeline.DESI]. maskBits are the bits
// of SDSS's masks that make a pixel bad; units override what a single spectrum says about its
// wavelengths.
func Open(name string, maskBits int64, units survey.Units) (*Source, error) {
	kind, err := KindOf(name)
	if err != nil {
		return nil, err
	}
	s := &Source{Name: name, Kind: kind, N: 1, finish: func() error { return nil }}
	var many *survey.Spectra
	var one *survey.Raw
	switch kind {
	case DESI:
		return nil, fmt.Errorf("%s is a file of DESI, which holds many fibers: fit it as a file of DESI, by its fibers", name)
	case Plate:
		many, err = survey.OpenPlate(name, maskBits)
	case WEAVE:
		many, err = survey.OpenWEAVE(name)
	case SDSS:
		one, err = survey.ReadSDSS(name, maskBits)
	default:
		one, err = survey.ReadSpectrum(name, units)
	}
	if err != nil {
		return nil, err
	}
	if many != nil {
		s.N, s.Arm, s.raw, s.finish = many.N, many.Arm, many.Raw, many.Close
		return s, nil
	}
	s.Arm, s.Told, s.raw = one.Name, one.Told(), func(int) (*survey.Raw, error) { return one, nil }
	return s, nil
}

// Close closes the file.
func (s *Source) Close() error { return s.finish() }

// Raw reads a spectrum as it is in the file, from row 0 on.
func (s *Source) Raw(row int) (*survey.Raw, error) { return s.raw(row) }

// Taking says how the spectra of a source are used.
type Taking struct {
	// Arm is the arm of the library with whose templates the spectra are compared. Default: the one
	// that the file names, or the only one of the library.
	Arm string
	// Power is the resolving power (wavelength over FWHM) to which templates are smoothed. Default:
	// templates have the resolution of the instrument.
	Power float64
	// Within bounds the wavelengths that are used. Default: all that the templates cover.
	Within Range
	// Without are wavelengths that are left out as if they were masked.
	Without []Range
	// BadError is the error of bad pixels, in units of the median flux. Default 1000, and 1e9 for WEAVE.
	BadError float64
}

// without returns a copy of a mask with a range marked too.
func without(mask []bool, wave []float64, r Range) []bool {
	all := make([]bool, len(wave))
	copy(all, mask)
	for i, w := range wave {
		all[i] = all[i] || w >= r.From && w <= r.To
	}
	return all
}

// Range is a range of vacuum wavelengths in Angstrom, ends included.
type Range struct{ From, To float64 }

// Spectrum returns a spectrum of a source as the pipeline fits it, or nil if it has no usable data,
// and the fraction of its pixels that are left out because the templates do not cover them.
func (p *Pipeline) Spectrum(s *Source, row int, t Taking) (spec *spectra.Spectrum, left float64, err error) {
	raw, err := s.raw(row)
	if err != nil {
		return nil, 0, err
	}
	arm, err := p.armFor(s, t)
	if err != nil {
		return nil, 0, err
	}
	lo, hi, err := p.coverage(arm)
	if err != nil {
		return nil, 0, err
	}
	if t.Within.From > 0 {
		lo = max(lo, t.Within.From)
	}
	if t.Within.To > 0 {
		hi = min(hi, t.Within.To)
	}
	from, _ := slices.BinarySearch(raw.Wave, lo)
	to, exact := slices.BinarySearch(raw.Wave, hi)
	if exact {
		to++
	}
	n := len(raw.Wave)
	if to-from < 10 {
		want := "want 10 or more"
		if 10*raw.Wave[0] < hi && 10*raw.Wave[n-1] > lo {
			want += "; if the wavelengths are in nm, say so in the name of their column, as in wavelength (nm)"
		}
		return nil, 0, fmt.Errorf("%s: %d of its %s, %.6g to %.6g Angstrom, %s within %.6g to %.6g, where arm %s has templates for velocities up to %g km/s: %s",
			s.Name, max(0, to-from), errtext.Count(n, "pixel"), raw.Wave[0], raw.Wave[n-1], errtext.Agree(to-from, "is", "are"), lo, hi, arm, max(math.Abs(p.s.Config.MinVel), math.Abs(p.s.Config.MaxVel)), want)
	}
	cut := &survey.Raw{Name: arm, Wave: raw.Wave[from:to], Flux: raw.Flux[from:to], IVar: raw.IVar[from:to]}
	if raw.Mask != nil {
		cut.Mask = raw.Mask[from:to]
	}
	for _, r := range t.Without {
		cut.Mask = without(cut.Mask, cut.Wave, r)
	}
	prep := survey.Preparation{BadError: t.BadError}
	if prep.BadError == 0 && s.Kind == WEAVE {
		prep.BadError = 1e9
	}
	a := survey.Prepare(cut, prep)
	if a == nil {
		return nil, 0, nil
	}
	spec = &spectra.Spectrum{Arm: arm, Lam: a.Wave, Flux: a.Flux, Err: a.Err, Bad: a.Bad, Unusable: a.Unusable, Estimated: raw.Estimated}
	if t.Power > 0 {
		if spec.Resolution, err = sim.GaussianResolution(a.Wave, t.Power); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return spec, 1 - float64(to-from)/float64(n), nil
}

// armFor returns the arm of the library for a source.
func (p *Pipeline) armFor(s *Source, t Taking) (string, error) {
	names, err := p.Arms()
	if err != nil {
		return "", err
	}
	for _, name := range []string{t.Arm, s.Arm} {
		if slices.Contains(names, name) {
			return name, nil
		}
		if name != "" && name == t.Arm {
			return "", fmt.Errorf("%s has no arm %s: choose from %s", p.library, name, strings.Join(names, ", "))
		}
	}
	if len(names) == 1 {
		return names[0], nil
	}
	return "", fmt.Errorf("%s: name the arm of the library to compare it with: one of %s", s.Name, strings.Join(names, ", "))
}

// coverage returns the observed wavelengths that the templates of an arm cover at all velocities.
func (p *Pipeline) coverage(arm string) (lo, hi float64, err error) {
	e, err := p.engine([]string{arm})
	if err != nil {
		return 0, 0, err
	}
	lam := e.lam[arm]
	shift := func(v float64) float64 { b := v / sim.SpeedOfLight; return math.Sqrt((1 + b) / (1 - b)) }
	// A little less at both ends, as the velocity may end at a limit.
	const margin = 1e-9
	return lam[0] * shift(p.s.Config.MaxVel) * (1 + margin), lam[len(lam)-1] * shift(p.s.Config.MinVel) * (1 - margin), nil
}
