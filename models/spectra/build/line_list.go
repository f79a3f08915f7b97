package build

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Line is an absorption line whose strength and width depend on the star.
type Line struct {
	Lam  float64 // wavelength in vacuum, Angstrom
	Kind string  // of the element, which says how its strength depends on the abundances
	// The optical depth at the centre is Strength exp(Teff t + LogG g + ...) with t = (teff-5500)/1000 and
	// g = logg-4, and what Kind says of feh and alpha.
	Strength, Teff, LogG float64
	Width                float64 // Angstrom
	Lorentz              bool    // whether the profile is Lorentzian; Gaussian otherwise
}

// LineList is an analytic model of stellar spectra: a black body with absorption lines. It is no physics, but
// spectra change with the parameters as those of stars do.
type LineList struct {
	Lines []Line
	// Kinds are the exponents of feh and alpha in the strength of lines, by kind. The kind H has lines whose
	// width grows with logg as exp(0.35 g).
	Kinds map[string][2]float64
	// C2 is the second radiation constant, in Angstrom K.
	C2 float64
}

// lineColumns are the columns of a line in JSON.
const lineColumns = 7

// ReadLineList reads a list in JSON: c2, kinds, and lines as rows of wavelength, kind, strength, exponents of
// temperature and gravity, width, and 1 for a Lorentzian profile.
func ReadLineList(r io.Reader) (*LineList, error) {
	var doc struct {
		C2    float64               `json:"c2"`
		Kinds map[string][2]float64 `json:"kinds"`
		Lines [][]any               `json:"lines"`
	}
	if err := json.NewDecoder(r).Decode(&doc); err != nil {
		return nil, fmt.Errorf("build: a list of lines: %w", err)
	}
	l := &LineList{Kinds: doc.Kinds, C2: doc.C2}
	for i, row := range doc.Lines {
		if len(row) != lineColumns {
			return nil, fmt.Errorf("build: line %d has %d columns: want %d", i, len(row), lineColumns)
		}
		line := Line{}
		kind, ok := row[1].(string)
		var lorentz float64
		for k, to := range map[int]*float64{0: &line.Lam, 2: &line.Strength, 3: &line.Teff, 4: &line.LogG, 5: &line.Width, 6: &lorentz} {
			v, number := row[k].(float64)
			ok = ok && number
			*to = v
		}
		if !ok || !(line.Width > 0) {
			return nil, fmt.Errorf("build: line %d is %v: want numbers, the name of a kind second, and a width above 0", i, row)
		}
		line.Kind, line.Lorentz = kind, lorentz != 0
		if _, ok := l.Kinds[kind]; !ok {
			return nil, fmt.Errorf("build: line %d is of kind %q, which is not among the kinds", i, kind)
		}
		l.Lines = append(l.Lines, line)
	}
	return l, nil
}

// farWidths is how many widths from its centre a Gaussian line counts.
const farWidths = 12

// Flux returns the flux at wavelengths lam, for teff (K), logg, feh and alpha (dex).
func (l *LineList) Flux(params []float64, lam []float64) ([]float64, error) {
	if len(params) != 4 {
		return nil, fmt.Errorf("build: %d parameters: want teff, logg, feh and alpha", len(params))
	}
	teff, t, g := params[0], (params[0]-5500)/1000, params[1]-4
	tau := make([]float64, len(lam))
	for _, x := range l.Lines {
		kind := l.Kinds[x.Kind]
		depth := x.Strength * math.Exp(x.Teff*t+x.LogG*g+kind[0]*params[2]+kind[1]*params[3])
		width := x.Width
		if x.Kind == "H" {
			width *= math.Exp(0.35 * g)
		}
		for i, v := range lam {
			d := v - x.Lam
			if x.Lorentz {
				d /= width
				tau[i] += depth / (1 + d*d)
			} else if math.Abs(d) < farWidths*x.Width {
				d /= x.Width
				tau[i] += depth * math.Exp(-d*d/2)
			}
		}
	}
	flux := make([]float64, len(lam))
	for i, v := range lam {
		planck := math.Pow(v/5500, -5) * math.Expm1(l.C2/(5500*5500)) / math.Expm1(l.C2/(v*teff))
		flux[i] = planck * math.Exp(-tau[i])
	}
	return flux, nil
}
