// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// A table of a spectrum may have more columns than a spectrum needs. Each role is given to one column by these rules, which
// Raw.Notes tells: two columns of one name for the same thing are refused; errors and inverse variances must agree where both are there;
// a weight counts only where nothing else says how large errors are; logarithms of fluxes are not fluxes; and whether 1 marks good or
// bad pixels follows from the name of the mask, or else from what either reading leaves. Errors that no column tells are estimated.

// roles holds the columns of a spectrum by their kind.
type roles struct {
	file    string
	u       Units
	columns map[string]column
	values  map[string][]float64
	unused  []string // names of columns without a role
	notes   []string
}

// take gives a column its role. It returns an error if another column has it.
func (r *roles) take(c column, v []float64) error {
	if c.kind == "" {
		if c.name != "" {
			r.unused = append(r.unused, c.name)
		}
		return nil
	}
	was, taken := r.columns[c.kind]
	if and, or := strings.EqualFold(was.name, "and_mask"), strings.EqualFold(was.name, "or_mask"); taken && and && strings.EqualFold(c.name, "or_mask") || or && strings.EqualFold(c.name, "and_mask") {
		r.note("bad pixels are those of and_mask, as for files of SDSS; or_mask, of any exposure, is not used")
		if and {
			return nil
		}
		taken = false
	}
	if taken {
		return &FormatError{Format: "survey", File: r.file, What: fmt.Sprintf("the columns %s and %s could both be the %s", was.name, c.name, roleNames[c.kind]), Try: "rename or remove one of them"}
	}
	r.columns[c.kind], r.values[c.kind] = c, v
	return nil
}

// roleNames are the kinds of columns in words.
var roleNames = map[string]string{"wave": "wavelengths", "flux": "fluxes", "logflux": "logarithms of fluxes", "err": "errors", "ivar": "inverse variances", "weight": "weights", "mask": "mask"}

func (r *roles) note(format string, a ...any) { r.notes = append(r.notes, fmt.Sprintf(format, a...)) }

// spectrum makes a spectrum of the columns.
func (r *roles) spectrum() (*Raw, error) {
	out := &Raw{Name: "spectrum", Flux: r.values["flux"]}
	if w, ok := r.columns["wave"]; ok {
		unit, log, air := r.u.over(w.unit, w.log, w.air)
		var err error
		if out.Wave, err = scaleWave(r.values["wave"], unit, log, air); err != nil {
			return nil, &FormatError{Format: "survey", File: r.file, What: err.Error()}
		}
		r.noteWave(w, unit, air)
	}
	if c, ok := r.columns["logflux"]; ok {
		if out.Flux == nil {
			return nil, &FormatError{Format: "survey", File: r.file, Place: c.name, What: "the column holds logarithms of fluxes, and there is no column of fluxes", Err: ErrIncomplete, Try: "add a column flux, with errors of the fluxes themselves"}
		}
		r.note("the column %s is not used: it holds logarithms", c.name)
	}
	if c, ok := r.columns["flux"]; ok && c.name != "" {
		r.note("fluxes from %s", c.name)
	}
	var err error
	if out.IVar, err = r.inverseVariance(); err != nil {
		return nil, err
	}
	if k := slices.IndexFunc(r.unused, noWavelength); k >= 0 && out.Wave == nil {
		return nil, errNoWavelength(r.file, r.unused[k])
	}
	if out.Wave == nil || out.Flux == nil {
		return nil, &FormatError{Format: "survey", File: r.file, What: "columns are missing: want wavelength and flux, and error or ivar if they are known", Err: ErrIncomplete, Try: "name them in the first line, as wavelength (nm),flux,error"}
	}
	if out.Mask, err = r.mask(); err != nil {
		return nil, err
	}
	if out.IVar == nil && len(out.Flux) == len(out.Wave) && (out.Mask == nil || len(out.Mask) == len(out.Wave)) {
		if err := r.estimateErrors(out); err != nil {
			return nil, err
		}
	}
	if len(out.Flux) != len(out.Wave) || len(out.IVar) != len(out.Wave) || out.Mask != nil && len(out.Mask) != len(out.Wave) {
		return nil, bad(r.file, "", "there are %d wavelengths, %d fluxes and %d errors: want equal numbers", len(out.Wave), len(out.Flux), len(out.IVar))
	}
	if flux, sigma := r.columns["flux"].name, r.columns["err"].name; flux != "" && sigma != "" && exchanged(out.Flux, r.values["err"]) {
		return nil, &FormatError{Format: "survey", File: r.file, Place: sigma, What: fmt.Sprintf("all numbers of %s are above 0 and far below those of %s, which scatter from pixel to pixel by as much as %s says", flux, sigma, flux), Try: fmt.Sprintf("are the columns %s and %s swapped?", flux, sigma)}
	}
	r.noteUnusable(out)
	out.Notes = r.notes
	err = checkWave(r.file, "", out.Wave)
	if wrong := (*FormatError)(nil); errors.As(err, &wrong) && likeWavelengths(out.Flux) {
		wrong.Try = fmt.Sprintf("the fluxes do increase, from %g to %g: are the columns of wavelengths and fluxes swapped?", out.Flux[0], out.Flux[len(out.Flux)-1])
	}
	return out, err
}

// likeWavelengths reports whether numbers increase within 100 to 100000, as wavelengths in nm or Angstrom do.
func likeWavelengths(x []float64) bool {
	for i, v := range x {
		if !(v >= 100 && v <= 1e5) || i > 0 && v <= x[i-1] {
			return false
		}
	}
	return len(x) > 1
}

// noWavelength reports whether the name of a column, or the kind of an axis in a FITS header, is that of frequencies, energies, wave numbers
// or velocities.
func noWavelength(name string) bool {
	name = strings.ToUpper(name)
	for _, of := range []string{"FREQ", "ENER", "WAVENUM", "WAVN", "VELO", "VRAD", "VOPT"} {
		if strings.HasPrefix(name, of) {
			return true
		}
	}
	return false
}

func errNoWavelength(file, name string) error {
	return &FormatError{Format: "survey", File: file, Place: name, What: "the spectrum is over frequencies, energies, wave numbers or velocities, and not over wavelengths", Try: "convert it, as with specutils' Spectrum.with_spectral_axis_unit(\"Angstrom\"), with fluxes for each Angstrom"}
}

// noteUnusable tells how many pixels are left out although no mask marks them.
func (r *roles) noteUnusable(s *Raw) {
	n := 0
	for i := range s.Flux {
		if !(s.Mask != nil && s.Mask[i]) && s.unusable(i) {
			n++
		}
	}
	if n > 0 {
		r.note("%d of %s %s left out, because the flux is not a finite number or the error is not a finite number above 0", n, errtext.Count(len(s.Flux), "pixel"), errtext.Agree(n, "is", "are"))
	}
}

// noteWave tells how wavelengths were read, and above all whether as those of air or of vacuum: 84 km/s lie between them.
func (r *roles) noteWave(w column, unit string, air bool) {
	if w.settled {
		return
	}
	in := "in vacuum, as the file does not say that they are in air"
	switch {
	case air && r.u.Air:
		in = "in air, as asked for"
	case air:
		in = "in air, as the file says"
	case r.u.Vacuum:
		in = "in vacuum, as asked for"
	case w.vacuum:
		in = "in vacuum, as the file says"
	}
	if unit == "" {
		unit = "Angstrom, as no unit is given"
	}
	from := w.name
	if !strings.Contains(from, "("+unit+")") {
		from += " (" + unit + ")"
	}
	r.note("wavelengths from %s are taken as %s", from, in)
}

// inverseVariance returns the inverse variances, nil if no column says how large errors are.
func (r *roles) inverseVariance() ([]float64, error) {
	ivar, hasIvar := r.values["ivar"]
	sigma, hasErr := r.values["err"]
	weight, hasWeight := r.values["weight"]
	switch {
	case hasIvar && hasErr:
		if apart := disagree(ivar, sigma); apart > 0.1 {
			return nil, &FormatError{Format: "survey", File: r.file, What: fmt.Sprintf("the inverse variances in %s are not those of the errors in %s for %.0f %% of the pixels", r.columns["ivar"].name, r.columns["err"].name, 100*apart), Try: "remove the column that is wrong"}
		}
		r.note("inverse variances from %s, with which %s agrees", r.columns["ivar"].name, r.columns["err"].name)
	case hasIvar:
		r.note("inverse variances from %s", r.columns["ivar"].name)
	case hasErr:
		r.note("errors from %s", r.columns["err"].name)
	case hasWeight:
		r.note("inverse variances from %s, as there is no column of errors", r.columns["weight"].name)
		return weight, nil
	default:
		return nil, nil
	}
	if hasWeight {
		r.note("the column %s is not used", r.columns["weight"].name)
	}
	if hasIvar {
		return ivar, nil
	}
	ivar = make([]float64, len(sigma))
	for i, s := range sigma {
		if s > 0 && !math.IsInf(s, 0) {
			ivar[i] = 1 / (s * s)
		}
	}
	return ivar, nil
}

// disagree returns the share of pixels with an error whose inverse variance is another.
func disagree(ivar, sigma []float64) float64 {
	n, apart := 0.0, 0.0
	for i := range min(len(ivar), len(sigma)) {
		if !(sigma[i] > 0) || !(ivar[i] > 0) || math.IsInf(sigma[i], 0) {
			continue
		}
		n++
		if v := ivar[i] * sigma[i] * sigma[i]; !(v > 0.9 && v < 1.1) {
			apart++
		}
	}
	return apart / max(n, 1)
}

// Shares of marked pixels between which a mask of 0 and 1 that does not say what it marks is read as marking bad pixels, or good ones.
const (
	mostlyClear  = 0.4
	mostlyMarked = 0.6
)

// mask returns the flags of bad pixels, nil if there is no mask.
func (r *roles) mask() ([]bool, error) {
	v, ok := r.values["mask"]
	if !ok {
		return nil, nil
	}
	c := r.columns["mask"]
	marked, binary := 0, true
	for _, x := range v {
		binary = binary && (x == 0 || x == 1)
		if x != 0 {
			marked++
		}
	}
	share := float64(marked) / float64(max(len(v), 1))
	good, why := c.good, "by its name"
	switch {
	case r.u.GoodMask == "0" || r.u.GoodMask == "1":
		good, why = r.u.GoodMask == "1", "as asked for"
	case c.good || c.bad || !binary:
	case share < mostlyClear || len(v) < 20: // a few pixels show nothing
		good, why = false, "as it leaves most pixels so"
	case share > mostlyMarked:
		good, why = true, "as it would leave few pixels otherwise"
	default:
		return nil, &FormatError{Format: "survey", File: r.file, Place: c.name, What: fmt.Sprintf("the mask is 1 in %d of %d pixels and does not say whether these are the good ones", marked, len(v)), Try: "name the column badmask or goodmask, or say it with --mask-good 0 or 1"}
	}
	bad := make([]bool, len(v))
	left := 0
	for i, x := range v {
		if bad[i] = (x != 0) != good; !bad[i] {
			left++
		}
	}
	r.note("%s marks %s pixels, %s: it leaves %d of %s", c.name, map[bool]string{true: "good", false: "bad"}[good], why, left, errtext.Count(len(v), "pixel"))
	return bad, nil
}

// Told is Notes as one sentence, empty if there are none.
func (r *Raw) Told() string { return strings.Join(r.Notes, "; ") }
