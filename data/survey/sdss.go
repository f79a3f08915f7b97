// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
)

// ReadSDSS reads a spec- file of SDSS, BOSS or eBOSS (lite or full): the coadded spectrum in its first
// extension. Pixels with any bit of maskBits in AND_MASK are masked; 1<<23 is BRIGHTSKY.
func ReadSDSS(name string, maskBits int64) (*Raw, error) {
	f, err := fits.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hdus := f.HDUs()
	if len(hdus) < 2 {
		return nil, &FormatError{Format: "survey", File: name, What: "there is no extension with the coadded spectrum", Err: ErrIncomplete, Try: "give a spec- file"}
	}
	t, err := hdus[1].Table()
	if err != nil {
		return nil, err
	}
	var cols [3][]float64
	for i, key := range []string{"loglam", "flux", "ivar"} {
		c, err := t.Column(key)
		if err != nil {
			return nil, err
		}
		if cols[i], err = c.Float64s(); err != nil {
			return nil, err
		}
		if c.Repeat != 1 {
			return nil, bad(name, key, "the column has %d elements in each row: want 1", c.Repeat)
		}
	}
	r := &Raw{Name: "sdss", Flux: cols[1], IVar: cols[2]}
	if r.Wave, err = scaleWave(cols[0], "Angstrom", 10, false); err != nil {
		return nil, err
	}
	if c, err := t.Column("and_mask"); err == nil && maskBits != 0 {
		v, err := c.Int64s()
		if err != nil {
			return nil, err
		}
		r.Mask = make([]bool, len(r.Wave))
		for i := range min(len(v), len(r.Mask)) {
			r.Mask[i] = v[i]&maskBits != 0
		}
	}
	return r, checkWave(name, "loglam", r.Wave)
}

// Spectra is an open file of many spectra of one arm, which share their wavelengths. Spectra are read
// one at a time.
type Spectra struct {
	Arm      string      // name of the setup, such as sdss or weave_red
	Wave     []float64   // vacuum wavelengths in Angstrom
	N        int         // number of spectra
	Objects  *fits.Table // table PLUGMAP or FIBTABLE, with one row per spectrum
	file     *fits.File
	name     string
	flux     *fits.Image
	ivar     *fits.Image
	mask     *fits.Image // nil for none
	maskBits int64
}

// Close closes the file.
func (s *Spectra) Close() error { return s.file.Close() }

// Raw reads one spectrum from the file.
func (s *Spectra) Raw(row int) (*Raw, error) {
	r := &Raw{Name: s.Arm, Wave: s.Wave}
	var err error
	if r.Flux, err = s.flux.Slice(row, row+1).Float64s(); err != nil {
		return nil, err
	}
	if r.IVar, err = s.ivar.Slice(row, row+1).Float64s(); err != nil {
		return nil, err
	}
	if s.mask == nil || s.maskBits == 0 {
		return r, nil
	}
	v, err := s.mask.Slice(row, row+1).Int64s()
	if err != nil {
		return nil, err
	}
	r.Mask = make([]bool, len(v))
	for i := range v {
		r.Mask[i] = v[i]&s.maskBits != 0
	}
	return r, nil
}

// openSpectra opens a file and lets f fill in what is in it.
func openSpectra(name string, f func(s *Spectra) error) (*Spectra, error) {
	file, err := fits.Open(name)
	if err != nil {
		return nil, err
	}
	s := &Spectra{file: file, name: name}
	if err = f(s); err == nil {
		err = s.check()
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return s, nil
}

func (s *Spectra) check() error {
	shape := s.flux.Shape()
	for _, im := range []*fits.Image{s.flux, s.ivar, s.mask} {
		if im != nil && (len(shape) != 2 || !slices.Equal(im.Shape(), shape)) {
			return bad(s.name, "", "an image has the shape %v, but the flux has the shape %v: want two axes, spectra and pixels, of equal lengths", im.Shape(), shape)
		}
	}
	if s.N = shape[0]; s.Objects != nil && s.Objects.Len() != s.N {
		return bad(s.name, "", "there are %d spectra, but the table of objects has %d rows: fetch the file again", s.N, s.Objects.Len())
	}
	return checkWave(s.name, "", s.Wave)
}

// OpenPlate opens an spPlate file of SDSS, BOSS or eBOSS. Pixels with any bit of maskBits in the AND
// mask are masked.
func OpenPlate(name string, maskBits int64) (*Spectra, error) {
	return openSpectra(name, func(s *Spectra) error {
		s.Arm, s.maskBits = "sdss", maskBits
		hdus := s.file.HDUs()
		if len(hdus) < 3 {
			return &FormatError{Format: "survey", File: name, What: "there are fewer than 3 HDUs", Err: ErrIncomplete, Try: "give an spPlate file"}
		}
		for i, to := range []**fits.Image{&s.flux, &s.ivar, &s.mask} {
			var err error
			if *to, err = hdus[i].Image(); err != nil {
				return err
			}
		}
		h := hdus[0].Header
		c0, ok0 := h.Float("COEFF0")
		c1, ok1 := h.Float("COEFF1")
		if !ok0 || !ok1 || len(s.flux.Shape()) != 2 {
			return &FormatError{Format: "survey", File: name, Place: "COEFF0", What: "the header lacks COEFF0 and COEFF1, which give the logarithms of the wavelengths", Err: ErrIncomplete, Try: "give an spPlate file"}
		}
		if s.file.Has("PLUGMAP") {
			s.Objects, _ = s.file.Table("PLUGMAP")
		} else if len(hdus) > 5 {
			s.Objects, _ = hdus[5].Table()
		}
		var err error
		s.Wave, err = wavelengths(s.flux, func(i int) float64 { return c0 + c1*float64(i) }, "Angstrom", 10, false)
		return err
	})
}

// wavelengths returns those of the pixels of an image along its last axis.
func wavelengths(im *fits.Image, at func(i int) float64, unit string, log float64, air bool) ([]float64, error) {
	shape := im.Shape()
	if len(shape) == 0 {
		return nil, nil
	}
	n := shape[len(shape)-1]
	if err := imageFits(im); err != nil {
		return nil, err
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = at(i)
	}
	return scaleWave(x, unit, log, air)
}

// imageFits reports an error unless the file holds at least one row of the image, so that an array of
// the length of a row may be allocated.
func imageFits(im *fits.Image) error {
	s := im.Shape()
	if len(s) == 1 || s[0] == 0 {
		_, err := im.Float64s()
		return err
	}
	_, err := im.Slice(0, 1).Float64s()
	return err
}

// OpenWEAVE opens an L1 file of WEAVE's fibers: RED_DATA and RED_IVAR, or BLUE_ or GREEN_, and
// FIBTABLE. The flux is as in RED_DATA, not multiplied by the sensitivity. Telluric absorption in the
// red arm (6850 to 7000 Angstrom, and above 8130) is not marked.
func OpenWEAVE(name string) (*Spectra, error) {
	return openSpectra(name, func(s *Spectra) error {
		pre := ""
		for _, arm := range []string{"RED", "BLUE", "GREEN"} {
			if s.file.Has(arm + "_DATA") {
				pre = arm
			}
		}
		if pre == "" {
			return &FormatError{Format: "survey", File: name, What: "there is none of RED_DATA, BLUE_DATA and GREEN_DATA", Err: ErrIncomplete, Try: "give an L1 file of WEAVE"}
		}
		s.Arm = "weave_" + strings.ToLower(pre)
		var err error
		if s.flux, err = s.file.Image(pre + "_DATA"); err != nil {
			return err
		}
		if s.ivar, err = s.file.Image(pre + "_IVAR"); err != nil {
			return err
		}
		if s.file.Has("FIBTABLE") {
			if s.Objects, err = s.file.Table("FIBTABLE"); err != nil {
				return err
			}
		}
		s.Wave, err = axis(name, s.flux, Units{})
		return err
	})
}

// axis returns the wavelengths that the header of an image gives its last axis: CRVAL1, CRPIX1, CDELT1
// or CD1_1, CUNIT1, and CTYPE1, in which AWAV means air and LOG logarithms; DC-FLAG is IRAF's.
func axis(name string, im *fits.Image, u Units) ([]float64, error) {
	h := im.Header()
	val, ok := h.Float("CRVAL1")
	step, ok2 := h.Float("CDELT1")
	if v, is := h.Float("CD1_1"); is {
		step, ok2 = v, true
	}
	if !ok || !ok2 {
		return nil, &FormatError{Format: "survey", File: name, Place: "CRVAL1", What: "the header lacks CRVAL1 with CDELT1 or CD1_1, which give the wavelengths", Err: ErrIncomplete, Try: "add them to the header, or give a table"}
	}
	pix, ok := h.Float("CRPIX1")
	if !ok {
		pix = 1
	}
	kind := strings.ToUpper(h.Text("CTYPE1"))
	if noWavelength(kind) {
		return nil, errNoWavelength(name, "CTYPE1")
	}
	unit, log, air := h.Text("CUNIT1"), 0.0, strings.HasPrefix(kind, "AWAV")
	if flag, _ := h.Int("DC-FLAG"); flag == 1 {
		log = 10
	}
	exact := false
	if strings.HasSuffix(kind, "-LOG") { // w = CRVAL exp(offset/CRVAL), by the standard
		exact = true
	} else if strings.Contains(kind, "LOG") {
		log = 10
	}
	if strings.HasPrefix(strings.ToLower(unit), "log") {
		log, unit = 10, strings.Trim(unit[3:], "10()[] ")
	}
	unit, log, air = u.over(unit, log, air)
	return wavelengths(im, func(i int) float64 {
		off := step * (float64(i) + 1 - pix)
		if exact && log == 0 {
			return val * math.Exp(off/val)
		}
		return val + off
	}, unit, log, air)
}
