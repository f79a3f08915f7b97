// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/internal/delimited"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Units overrides what a file says about its wavelengths.
type Units struct {
	Wave string  // unit of wavelengths: Angstrom, nm, micron or m; default: the unit given by the file, or Angstrom
	Log  float64 // 10 or math.E if wavelengths are logarithms to this base; default: found out from the column name, such as loglam
	// Air means that wavelengths are in air.
	Air bool
	// Vacuum means that wavelengths are in vacuum, whatever the file says.
	Vacuum bool
	// GoodMask is the number, "0" or "1", with which a mask marks good pixels; default: found out from its name, or from the pixels that
	// it leaves.
	GoodMask string
}

func (u Units) over(unit string, log float64, air bool) (string, float64, bool) {
	if u.Wave != "" {
		unit = u.Wave
	}
	if u.Log != 0 {
		log = u.Log
	}
	return unit, log, (air || u.Air) && !u.Vacuum
}

// column is what the names of a table say about a column.
type column struct {
	name string
	kind string // wave, flux, logflux, err, ivar, weight or mask
	unit string
	log  float64
	// air and vacuum say that the name tells in which wavelengths are.
	air, vacuum bool
	good, bad   bool // whether the name of a mask says which pixels it marks
	settled     bool // whether wavelengths are in Angstrom and vacuum already
}

// columnName splits names such as "wavelength (nm)", "lam_air", "wave [micron]" and "loglam".
var columnName = regexp.MustCompile(`^\s*([A-Za-z0-9_. -]*?)\s*(?:[\[(]\s*([^\])]*?)\s*[\])])?\s*$`)

// recognise returns what a column is, "" for others.
func recognise(name, unit string) column {
	m := columnName.FindStringSubmatch(name)
	if m == nil {
		return column{}
	}
	if unit == "" {
		unit = m[2]
	}
	key := strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "", ".", "").Replace(m[1]))
	c := column{name: strings.TrimSpace(name), unit: unit}
	for _, post := range []string{"air", "vacuum", "vac"} {
		if rest, ok := strings.CutSuffix(key, post); ok && rest != "" {
			key, c.air, c.vacuum = rest, post == "air", post != "air"
		}
	}
	for _, u := range []string{"angstrom", "micron", "nm", "um", "aa"} {
		if rest, ok := strings.CutSuffix(key, u); ok && rest != "" {
			key = rest
			if c.unit == "" {
				c.unit = u
			}
		}
	}
	if rest, ok := strings.CutPrefix(key, "log10"); ok {
		key, c.log = rest, 10
	} else if rest, ok := strings.CutPrefix(key, "log"); ok {
		key, c.log = rest, 10
	} else if rest, ok := strings.CutPrefix(key, "ln"); ok {
		key, c.log = rest, math.E
	}
	switch key {
	case "wave", "wavelength", "wavelengths", "lambda", "lam", "wl", "awav", "waveobs":
		c.kind = "wave"
		c.air = c.air || key == "awav"
	case "flux", "spec", "spectrum", "fluxdensity", "flam", "intensity":
		c.kind = "flux"
	case "err", "error", "sigma", "espec", "fluxerr", "fluxerror", "errors", "uncertainty", "noise", "std", "stddev", "stdev", "eflux",
		"unc", "fluxunc", "fluxuncertainty", "dflux", "errflux", "errorflux", "sigmaflux", "fluxsigma", "fluxstd":
		c.kind = "err"
	case "variance", "var", "fluxvariance", "fluxvar":
		c.kind = "variance"
	case "ivar", "inversevariance", "fluxivar", "invvar":
		c.kind = "ivar"
	case "weight", "weights", "wht":
		c.kind = "weight"
	case "mask":
		c.kind = "mask"
	case "badmask", "bad", "badpixels", "andmask", "ormask", "dq", "quality", "flag", "flags":
		c.kind, c.bad = "mask", true
	case "goodmask", "good", "goodpixels", "valid", "use", "usable":
		c.kind, c.good = "mask", true
	}
	switch {
	case c.log == 0 || c.kind == "wave":
	case c.kind == "flux":
		c.kind = "logflux"
	default: // logarithms of errors or inverse variances are of no use
		c.kind = ""
	}
	return c
}

// ReadSpectrum reads one spectrum: wavelength, flux, error or inverse variance, and optionally a mask. Errors that the file lacks are
// estimated from the scatter of neighbouring pixels, which its Notes say.
// See roles.go for tables with more columns than these. The file is a table as text, with columns
// separated by commas, semicolons, tabs or blanks and named in the first line or in the comment before the numbers, a FITS table with such
// columns, or a FITS image with wavelengths in its header and extensions ERR or IVAR, and MASK. Units
// are given in brackets after the name, in TUNITn or in CUNIT1.
func ReadSpectrum(name string, u Units) (*Raw, error) {
	f, err := foreign.Open(name, ".csv", ".txt", ".dat", ".fits", ".fit", ".fits.gz")
	if err != nil {
		return nil, err
	}
	head := make([]byte, 9)
	n, _ := io.ReadFull(f, head)
	f.Close()
	if bytes.HasPrefix(head[:n], []byte("SIMPLE  =")) || bytes.HasPrefix(head[:n], []byte{0x1f, 0x8b}) {
		f, err := fits.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readFITS(name, f, u)
	}
	if bytes.HasPrefix(head[:n], []byte("\x89HDF")) {
		return nil, &FormatError{Format: "survey", File: name, What: "an HDF5 file is not read as a spectrum", Try: "export the spectrum as CSV or FITS; if this is a library of templates, name it by template_lib or --library"}
	}
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return readText(name, b, u)
}

// assemble makes a spectrum of its columns.
func assemble(name string, columns []column, values [][]float64, u Units) (*Raw, error) {
	r := &roles{file: name, u: u, columns: map[string]column{}, values: map[string][]float64{}}
	for i, c := range columns {
		if c.kind == "variance" {
			c.kind, values[i] = "ivar", inverse(values[i])
		}
		if err := r.take(c, values[i]); err != nil {
			return nil, err
		}
	}
	return r.spectrum()
}

// inverse returns 1/v, and 0 for what is no variance.
func inverse(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		if x > 0 && !math.IsInf(x, 1) {
			out[i] = 1 / x
		}
	}
	return out
}

// readText reads a table as text.
func readText(name string, b []byte, u Units) (*Raw, error) {
	if text := bytes.TrimSpace(b); len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(text) {
		return nil, &FormatError{Format: "survey", File: name, What: "this is a JSON document and not a table of a spectrum", Try: "give a table with the columns wavelength, flux and error, as CSV or FITS"}
	}
	var columns []column
	var values [][]float64
	var err error
	header := func(_ int, cells []string) bool {
		for _, h := range cells {
			columns = append(columns, recognise(strings.Trim(h, `"`), ""))
		}
		values = make([][]float64, len(columns))
		return true
	}
	row := func(line int, cells []string) bool {
		for i, s := range cells {
			if columns[i].kind == "" {
				continue
			}
			x, bad := delimited.Number(s)
			if flag, e := strconv.ParseBool(strings.TrimSpace(s)); bad != nil && columns[i].kind == "mask" && e == nil {
				x, bad = map[bool]float64{true: 1}[flag], nil
			}
			if bad != nil {
				err = &FormatError{Format: "survey", File: name, Line: line, Place: columns[i].name, What: "\"" + foreign.Short(s, 40) + "\" is not a number", Try: foreign.NumberTry(s, "write a number, or nan")}
				return false
			}
			values[i] = append(values[i], x)
		}
		return true
	}
	known := func(cell string) bool { return recognise(strings.Trim(cell, `"`), "").kind != "" }
	separator, fault := delimited.Read(bytes.NewReader(b), delimited.Table{Known: known, Example: "wavelength (nm),flux,error", Header: header, Row: row})
	switch {
	case fault != nil:
		return nil, &FormatError{Format: "survey", File: name, Line: fault.Line, What: fault.What, Try: fault.Try}
	case err != nil:
		return nil, err
	}
	r, err := assemble(name, columns, values, u)
	if err == nil && separator != "commas" {
		r.Notes = append([]string{"columns are separated by " + separator}, r.Notes...)
	}
	return r, err
}

// readFITS reads the first table or image that is a spectrum.
func readFITS(name string, f *fits.File, u Units) (*Raw, error) {
	for _, h := range f.HDUs() {
		t, err := h.Table()
		if err != nil {
			continue
		}
		var columns []column
		var values [][]float64
		used := map[string]bool{}
		for _, c := range t.Columns() {
			col := recognise(c.Name, c.Unit)
			if col.kind == "" {
				columns, values = append(columns, col), append(values, nil)
				continue
			}
			used[col.kind] = true
			if t.Len() != 1 && c.Repeat != 1 && !c.Variable() {
				return nil, bad(name, c.Name, "the column has %d elements in each of its %d rows: want one spectrum", c.Repeat, t.Len())
			}
			v, err := c.Float64s()
			if c.Variable() && t.Len() == 1 {
				var lists [][]float64
				if lists, err = c.Ragged(); err == nil {
					v = lists[0]
				}
			}
			if err != nil {
				return nil, err
			}
			columns, values = append(columns, col), append(values, v)
		}
		other := slices.ContainsFunc(columns, func(c column) bool { return c.kind == "" && noWavelength(c.name) })
		if used["flux"] && (used["wave"] || other) || len(used) >= 3 {
			return assemble(name, columns, values, u)
		}
	}
	return readImage(name, f, u)
}
