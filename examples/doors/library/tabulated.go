// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package tabulated adds a format of template libraries: a table of text with a row for each template, of one arm that is called
// templates. Its command, in cmd, is euryale with this format:
//
//	tabulated fit spectra star.csv --library grid.templates.csv --param-init bruteforce
//
// The first line has the names of the parameters and then the wavelengths in Angstrom, whose logarithms are equally spaced; the
// others have numbers: the parameters of a template and its flux at the wavelengths.
package tabulated

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/tensor"
)

func init() { rvspecfit.Register(rvspecfit.Format{Name: "tabulated", Holds: holds, Open: open}) }

func holds(path string) bool { return strings.HasSuffix(path, ".templates.csv") }

func open(path string) (*rvspecfit.Contents, error) {
	return &rvspecfit.Contents{
		Arms: func() ([]string, error) { return []string{"templates"}, nil },
		Read: func(arms []string) ([]*rvspecfit.Library, error) {
			if len(arms) != 1 || arms[0] != "templates" {
				return nil, fmt.Errorf("%s has one arm, templates: %v were asked for", path, arms)
			}
			l, err := read(path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			return []*rvspecfit.Library{l}, nil
		},
	}, nil
}

// read reads the table. Temperatures are interpolated as logarithms.
func read(path string) (*rvspecfit.Library, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll() // which finds rows of unequal length
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("there are no templates: want a line of names and wavelengths, and a line for each template")
	}
	l := &rvspecfit.Library{Setup: "templates", LogStep: true}
	for k, name := range rows[0] {
		if lam, err := strconv.ParseFloat(name, 64); err == nil {
			l.Lam = append(l.Lam, lam)
		} else if len(l.Lam) > 0 {
			return nil, fmt.Errorf("column %d is %q: want a wavelength after the first one", k+1, name)
		} else {
			if l.ParNames = append(l.ParNames, name); name == "teff" {
				l.Mapper.Log = []int{k}
			}
		}
	}
	n, dim := len(rows)-1, len(l.ParNames)
	points, flux := make([]float64, dim*n), make([]float64, 0, n*len(l.Lam))
	for i, row := range rows[1:] {
		for k, text := range row {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d, column %d: %w", i+2, k+1, err)
			}
			if k < dim {
				points[k*n+i] = x
			} else {
				flux = append(flux, x)
			}
		}
	}
	if l.Points, err = tensor.From(points, dim, n); err != nil {
		return nil, err
	}
	l.Spectra, err = tensor.From(flux, n, len(l.Lam))
	return l, err
}
