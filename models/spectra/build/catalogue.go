package build

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
)

// Keyword is where a parameter stands in the header of a spectrum.
type Keyword struct {
	Name string // of the parameter
	Key  string // of the header
}

// PHOENIX are the keywords of the PHOENIX grid (Husser et al. 2013, doi:10.1051/0004-6361/201219058).
func PHOENIX() []Keyword {
	return []Keyword{{"teff", "PHXTEFF"}, {"logg", "PHXLOGG"}, {"feh", "PHXM_H"}, {"alpha", "PHXALPHA"}}
}

// ScanSettings say how a catalogue is made. The zero value is the default.
type ScanSettings struct {
	Keywords []Keyword // default PHOENIX
	// Old is a catalogue whose entries are kept, in front of those of files that it does not list. It needs the
	// same parameters.
	Old *rvspecfit.Catalog
	// SkipBad leaves out files that cannot be read, and tells Note. Default: the first one ends it.
	SkipBad bool
	Done    func(read, of int)
	Note    func(text string)
}

// Scan reads the parameters of template spectra from the headers of FITS files.
func Scan(ctx context.Context, names []string, s ScanSettings) (*rvspecfit.Catalog, error) {
	if len(s.Keywords) == 0 {
		s.Keywords = PHOENIX()
	}
	c := &rvspecfit.Catalog{}
	for _, k := range s.Keywords {
		c.ParNames = append(c.ParNames, k.Name)
	}
	have, next := map[string]bool{}, 0
	if s.Old != nil {
		if !slices.Equal(s.Old.ParNames, c.ParNames) {
			return nil, fmt.Errorf("build: the catalogue has the parameters %s, and %s are to be read", strings.Join(s.Old.ParNames, ", "), strings.Join(c.ParNames, ", "))
		}
		c.Entries = slices.Clone(s.Old.Entries)
		for _, e := range c.Entries {
			have[e.File], next = true, max(next, e.ID+1)
		}
	}
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !have[name] {
			have[name] = true
			params, err := headerOf(name, s.Keywords)
			switch {
			case err == nil:
				c.Entries = append(c.Entries, rvspecfit.Entry{File: name, Params: params, ID: next})
				next++
			case !s.SkipBad:
				return nil, err
			case s.Note != nil:
				s.Note(fmt.Sprintf("left out: %v", err))
			}
		}
		if s.Done != nil {
			s.Done(i+1, len(names))
		}
	}
	if len(c.Entries) == 0 {
		return nil, errors.New("build: no spectra were found")
	}
	return c, nil
}

func headerOf(name string, keys []Keyword) ([]float64, error) {
	f, err := fits.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var params []float64
	for _, k := range keys {
		v, ok := math.NaN(), false
		for _, h := range f.HDUs() {
			if v, ok = h.Header.Float(k.Key); ok {
				break
			}
		}
		if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: its headers have no number %s, for %s: say which keyword it is", name, k.Key, k.Name)
		}
		params = append(params, v)
	}
	return params, nil
}

// Exclude marks entries as bad whose parameters are all within ranges, ends included, and returns how many.
func Exclude(c *rvspecfit.Catalog, ranges map[string][2]float64) (n int, err error) {
	for name := range ranges {
		if !slices.Contains(c.ParNames, name) {
			return 0, fmt.Errorf("build: there is no parameter %q: the catalogue has %s", name, strings.Join(c.ParNames, ", "))
		}
	}
	for i := range c.Entries {
		inside := len(ranges) > 0
		for k, name := range c.ParNames {
			if r, ok := ranges[name]; ok {
				inside = inside && c.Entries[i].Params[k] >= r[0] && c.Entries[i].Params[k] <= r[1]
			}
		}
		if inside && !c.Entries[i].Bad {
			c.Entries[i].Bad = true
			n++
		}
	}
	return n, nil
}

// files is a Source of the spectra of a catalogue.
type files struct {
	c    *rvspecfit.Catalog
	used []int
	dir  string
	wave []float64
	unit survey.Units
}

// NewFiles returns the spectra of a catalogue that are not bad. Relative names start at dir. The wavelengths stand
// in the file wave, as PHOENIX has them, or "" for spectra that have their own. With air, they are wavelengths in
// air.
func NewFiles(c *rvspecfit.Catalog, dir, wave string, air bool) (Source, error) {
	f := &files{c: c, dir: dir, unit: survey.Units{Air: air, Vacuum: !air}}
	for i, e := range c.Entries {
		if !e.Bad {
			f.used = append(f.used, i)
		}
	}
	if len(f.used) == 0 {
		return nil, fmt.Errorf("build: none of the %d spectra of the catalogue is to be used", len(c.Entries))
	}
	if wave == "" {
		return f, nil
	}
	var err error
	if f.wave, err = primary(wave); err != nil {
		return nil, err
	}
	for i, x := range f.wave {
		if air {
			f.wave[i] = survey.Vacuum(x)
		}
		if !(x > 0) || i > 0 && x <= f.wave[i-1] && !air || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%s: wavelength %d is %g Angstrom: want them ascending", wave, i, x)
		}
	}
	return f, nil
}

// primary reads the first image of one axis.
func primary(name string) ([]float64, error) {
	f, err := fits.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, h := range f.HDUs() {
		if im, err := h.Image(); err == nil && len(im.Shape()) == 1 && im.Len() > 0 {
			return im.Float64s()
		}
	}
	return nil, fmt.Errorf("%s: it has no image of one axis", name)
}

func (f *files) Params() (names []string, values [][]float64) {
	for _, i := range f.used {
		values = append(values, f.c.Entries[i].Params)
	}
	return f.c.ParNames, values
}

func (f *files) ID(i int) int { return f.c.Entries[f.used[i]].ID }

func (f *files) Spectrum(i int) (lam, flux []float64, err error) {
	name := f.c.Entries[f.used[i]].File
	if !filepath.IsAbs(name) {
		name = filepath.Join(f.dir, name)
	}
	if f.wave == nil {
		raw, err := survey.ReadSpectrum(name, f.unit)
		if err != nil {
			return nil, nil, err
		}
		return raw.Wave, raw.Flux, nil
	}
	if flux, err = primary(name); err == nil && len(flux) != len(f.wave) {
		err = fmt.Errorf("%s: %d pixels for %d wavelengths", name, len(flux), len(f.wave))
	}
	return f.wave, flux, err
}
