// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// LineList is a model of stellar spectra in formulas: a black body with absorption lines whose
// strengths are exponentials of the parameters teff (K), logg, feh and alpha (dex). It depends on
// the parameters as real spectra do, without their physics.
//
//	flux = (lam/5500)^-5 (exp(C2/5500^2) - 1) / (exp(C2/(lam teff)) - 1) exp(-tau)
//
// where lam is in Angstrom, C2 = h c/k in Angstrom K, and tau is the sum over the lines of their profiles.
type LineList struct {
	C2 float64 // second radiation constant h c/k, in Angstrom K
	// Kinds holds the exponents by which strengths grow with feh and alpha, by name of the kind.
	Kinds map[string][2]float64
	Lines []Line
}

// Line is one line of a LineList. Its strength is
//
//	T = Strength exp(Teff (teff-5500)/1000 + Logg (logg-4) + F feh + A alpha)
//
// with F and A of its kind, and its profile T exp(-((lam-Lam)/Width)^2/2) within 12 widths, or, if it is
// Lorentzian, T/(1+((lam-Lam)/Width)^2). Lorentzian lines of kind H have widths times exp(0.35 (logg-4)).
type Line struct {
	Lam        float64 // central wavelength in vacuum, in Angstrom
	Kind       string
	Strength   float64 // optical depth at the centre for teff 5500 K, logg 4 and abundances of the Sun
	Teff, Logg float64
	Width      float64 // width of the line, in Angstrom
	Lorentzian bool
}

// LineParams names the parameters of a LineList, in the order of Flux.
func LineParams() []string { return []string{"teff", "logg", "feh", "alpha"} }

// secondRadiation is h c/k in Angstrom K (CODATA 2018).
const secondRadiation = 1.438776877e8

// ReadLines reads a list of lines from a JSON file: see ParseLines.
func ReadLines(name string) (*LineList, error) {
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	l, err := ParseLines(b)
	if err != nil {
		return nil, fmt.Errorf("build: %s: %w", name, err)
	}
	return l, nil
}

// ParseLines reads a list of lines from a JSON document:
//
//	{"columns": ["lambda_vac", "kind", "s", "p", "q", "w", "lorentz"],
//	 "kinds": {"H": [0, 0], "Fe": [1.2, 0]}, "c2": 143877687.7,
//	 "lines": [[6564.61, "H", 1.3, 0.55, 0, 2, 1]]}
//
// Columns may have any order; c2 is h c/k by default. Other members are ignored.
func ParseLines(b []byte) (*LineList, error) {
	b, err := foreign.Problem(b, foreign.LineList)
	if err != nil {
		return nil, err
	}
	var f struct {
		Columns []string
		Kinds   map[string][2]float64
		C2      float64
		Lines   [][]any
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, foreign.InWords(b, err)
	}
	l := &LineList{C2: f.C2, Kinds: f.Kinds}
	if l.C2 == 0 {
		l.C2 = secondRadiation
	}
	for i, row := range f.Lines {
		line, err := parseLine(f.Columns, row)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		l.Lines = append(l.Lines, line)
	}
	return l, l.Check()
}

func parseLine(columns []string, row []any) (line Line, err error) {
	if len(row) != len(columns) {
		return line, fmt.Errorf("the row has %s, but there are %d columns: give one for each", errtext.Count(len(row), "value"), len(columns))
	}
	lorentz := 0.0
	numbers := map[string]*float64{"lambda_vac": &line.Lam, "s": &line.Strength, "p": &line.Teff, "q": &line.Logg, "w": &line.Width, "lorentz": &lorentz}
	for k, name := range columns {
		ok := false
		if to := numbers[name]; to != nil {
			*to, ok = row[k].(float64)
		} else if name == "kind" {
			line.Kind, ok = row[k].(string)
		} else {
			return line, fmt.Errorf("there is an unknown column %q: want lambda_vac, kind, s, p, q, w and lorentz", name)
		}
		if !ok {
			return line, fmt.Errorf("%s is %v: want a number, or a string for kind", name, row[k])
		}
	}
	line.Lorentzian = lorentz != 0
	return line, nil
}

// Check returns an error if a line has no kind, wavelength or width.
func (l *LineList) Check() error {
	if !(l.C2 > 0) {
		return fmt.Errorf("build: C2 is %g Angstrom K: want a positive number; the physical value is %g", l.C2, secondRadiation)
	}
	for i, x := range l.Lines {
		if _, ok := l.Kinds[x.Kind]; !ok {
			kinds := slices.Sorted(maps.Keys(l.Kinds))
			return fmt.Errorf("build: line %d at %g Angstrom has the kind %q: want one of %s", i+1, x.Lam, x.Kind, strings.Join(kinds, ", "))
		}
		if !(x.Lam > 0 && x.Width > 0) || math.IsInf(x.Lam+x.Width+x.Strength+x.Teff+x.Logg, 0) || math.IsNaN(x.Strength+x.Teff+x.Logg) {
			return fmt.Errorf("build: line %d at %g Angstrom has strength %g, exponents %g and %g and width %g: want finite numbers, and a positive wavelength and width", i+1, x.Lam, x.Strength, x.Teff, x.Logg, x.Width)
		}
	}
	return nil
}

// Flux returns the energy flux per Angstrom, up to a constant, of a star at ascending wavelengths (Angstrom).
// params are teff (K), logg, feh and alpha.
func (l *LineList) Flux(params, lam []float64) ([]float64, error) {
	if len(params) != 4 || !(params[0] > 0) {
		return nil, fmt.Errorf("build: the parameters are %v: want a positive teff, logg, feh and alpha", params)
	}
	flux := make([]float64, len(lam))
	l.depth(flux, params, lam)
	scale := math.Expm1(l.C2 / (5500 * 5500))
	for i, x := range lam {
		u := 5500 / x
		flux[i] = u * u * u * u * u * scale / math.Expm1(l.C2/(x*params[0])) * math.Exp(-flux[i])
	}
	return flux, nil
}

// depth adds the optical depths of all lines to tau.
func (l *LineList) depth(tau, params, lam []float64) {
	t, g := (params[0]-5500)/1000, params[1]-4
	for _, x := range l.Lines {
		by := l.Kinds[x.Kind]
		strength := x.Strength * math.Exp(x.Teff*t+x.Logg*g+by[0]*params[2]+by[1]*params[3])
		w := x.Width
		if x.Lorentzian {
			if x.Kind == "H" {
				w *= math.Exp(0.35 * g)
			}
			area := strength * w * w
			for i, v := range lam {
				d := v - x.Lam
				tau[i] += area / (w*w + d*d)
			}
			continue
		}
		for i := sort.SearchFloat64s(lam, x.Lam-12*w); i < len(lam) && lam[i] < x.Lam+12*w; i++ {
			if d := (lam[i] - x.Lam) / w; math.Abs(d) < 12 {
				tau[i] += strength * math.Exp(-d*d/2)
			}
		}
	}
}
