// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
)

// readImage reads a spectrum from images: flux with wavelengths in its header, and extensions such as ERR, IVAR, VARIANCE or MASK; or one
// image whose rows are known, see rowsOf.
func readImage(name string, f *fits.File, u Units) (*Raw, error) {
	var columns []column
	var values [][]float64
	var wave, flux []float64
	var unknown error
	add := func(c column, v []float64) { columns, values = append(columns, c), append(values, v) }
	for _, h := range f.HDUs() {
		im, err := h.Image()
		if err != nil || slices.Contains(im.Shape(), 0) || len(im.Shape()) == 0 {
			continue
		}
		names, err := rowsOf(name, h.Name, im)
		if err != nil {
			unknown = err
			continue
		}
		all, err := im.Float64s()
		if err != nil {
			return nil, err
		}
		pixels := len(all) / len(names)
		for k, row := range names {
			v := all[k*pixels : (k+1)*pixels]
			c := recognise(row, im.Header().Text("BUNIT"))
			switch {
			case flux == nil && (c.kind == "" && len(names) == 1 || c.kind == "flux"):
				flux = v
				if _, ok := im.Header().Float("CRVAL1"); ok {
					if wave, err = axis(name, im, u); err != nil {
						return nil, err
					}
				}
			case c.kind == "wave":
				c.unit = ""
				add(c, v)
			case c.kind != "" && c.kind != "flux":
				add(c, v)
			}
		}
	}
	if flux == nil && unknown != nil {
		return nil, unknown
	}
	if flux != nil && wave == nil && !slices.ContainsFunc(columns, func(c column) bool { return c.kind == "wave" }) {
		return nil, &FormatError{Format: "survey", File: name, Place: "CRVAL1", What: "the image of fluxes has no wavelengths: its header lacks CRVAL1 with CDELT1 or CD1_1, and there is no extension of wavelengths", Err: ErrIncomplete, Try: "add these keywords (and CTYPE1, CUNIT1, CRPIX1), or write a table with the columns wavelength, flux and error"}
	}
	if wave != nil { // already in Angstrom and vacuum
		add(column{kind: "wave", name: "the header", settled: true}, wave)
		u = Units{Vacuum: true}
	}
	if flux != nil {
		add(column{kind: "flux"}, flux)
	}
	return assemble(name, columns, values, u)
}

// rowsOf names the rows of an image: one by the extension, several as the programs write them that put a spectrum into one image.
func rowsOf(name, extension string, im *fits.Image) ([]string, error) {
	h, rows := im.Header(), 1
	for _, n := range im.Shape()[:len(im.Shape())-1] {
		rows *= n
	}
	telescope := strings.ToUpper(h.Text("TELESCOP"))
	switch {
	case rows == 1:
		return []string{extension}, nil
	case h.Text("BANDID1") != "": // IRAF: "spectrum - background fit, weights variance, clean yes", "sigma - ..."
		names := make([]string, rows)
		for k := range names {
			what, _, _ := strings.Cut(h.Text(fmt.Sprintf("BANDID%d", k+1)), " - ")
			if what = strings.TrimSpace(what); k == 0 || what == "sigma" {
				names[k] = map[bool]string{true: "flux", false: "sigma"}[k == 0]
			}
		}
		return names, nil
	case strings.Contains(telescope, "LAMOST") && rows == 5:
		return []string{"flux", "ivar", "wavelength", "andmask", ""}, nil
	case strings.Contains(telescope, "SDSS") && rows >= 3: // spSpec: its errors are 0 for bad pixels, and its mask holds remarks too
		return append([]string{"flux", "", "err"}, make([]string, rows-3)...), nil
	}
	return nil, &FormatError{Format: "survey", File: name, Place: extension, What: fmt.Sprintf("the image has %d rows of %d pixels, and the header does not say what they are (BANDID1 of IRAF, or TELESCOP LAMOST or SDSS)", rows, im.Shape()[len(im.Shape())-1]),
		Try: "write flux and errors as images of one row, with the extensions FLUX and ERR, or as a table"}
}
