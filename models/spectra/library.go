// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Library is a set of templates for the arms of an instrument, with the same parameters.
type Library struct {
	Params []string // names of the parameters, such as teff, logg, feh, alpha
	Arms   []*Templates
}

// Arm returns the templates of an arm.
func (l *Library) Arm(name string) (*Templates, error) {
	var names []string
	for _, a := range l.Arms {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return nil, fmt.Errorf("spectra: the library has no arm %q: choose from %s", name, strings.Join(names, ", "))
}

// Templates holds the template spectra of one arm as a function of the parameters.
type Templates struct {
	Name string
	Lam  []float64 // grid of wavelengths, in Angstrom
	// Log says that the steps of the logarithm of the wavelength are equal; otherwise those of the
	// wavelength are.
	Log bool
	// LogParams holds the positions of the parameters whose logarithm, base 10, the interpolation
	// uses.
	LogParams []int
	Interpolator
}

// Interpolator gives spectra between those of a library. Its parameters are mapped: they are
// logarithms where the library says so.
type Interpolator interface {
	// Dim returns the number of parameters.
	Dim() int
	// Interpolate returns the natural logarithms of spectra, one row for each row of mapped
	// parameters x, and how far each row lies outside the library, 0 inside.
	//
	// Gradient: both with respect to x.
	Interpolate(x *ad.Node) (logFlux, outside *ad.Node)
}

// LogFlux returns the natural logarithms of the spectra of stars whose parameters are rows of u,
// one column each in the order of Library.Params, and how far each lies outside the library, 0
// inside.
//
// Gradient: both with respect to u.
func (t *Templates) LogFlux(u *ad.Node) (logFlux, outside *ad.Node) {
	return t.Interpolate(t.mapped(u))
}

// mapped takes logarithms of some of the columns.
func (t *Templates) mapped(u *ad.Node) *ad.Node {
	if len(t.LogParams) == 0 {
		return u
	}
	d := t.Dim()
	columns := make([]*ad.Node, d)
	for k := range columns {
		columns[k] = ad.Slice(u, -1, k, k+1)
		if slices.Contains(t.LogParams, k) {
			columns[k] = ad.Log10(columns[k])
		}
	}
	return ad.Concat(-1, columns...)
}

// bounded is an interpolator that has nothing beyond bounds of its mapped parameters.
type bounded interface {
	Bounds() (lower, upper []float64)
}

// bounds narrows those of the library's parameters to where the templates are.
func (t *Templates) bounds(lower, upper []float64) {
	if b, ok := t.Interpolator.(bounded); ok {
		lo, hi := b.Bounds()
		t.narrow(lower, upper, lo, hi)
	}
}

// cover is bounds, also of interpolators that go on beyond their library, at a penalty.
func (t *Templates) cover(lower, upper []float64) {
	if b, ok := t.Interpolator.(interface {
		box() (lower, upper []float64)
	}); ok {
		lo, hi := b.box()
		t.narrow(lower, upper, lo, hi)
	}
}

// narrow narrows bounds to those of mapped parameters.
func (t *Templates) narrow(lower, upper, lo, hi []float64) {
	for k := range lo {
		if slices.Contains(t.LogParams, k) {
			lo[k], hi[k] = inward(math.Pow(10, lo[k]), math.Pow(10, hi[k]))
		}
		lower[k], upper[k] = max(lower[k], lo[k]), min(upper[k], hi[k])
	}
}

// inward moves bounds by what the rounding of a logarithm could make of them.
func inward(lo, hi float64) (float64, float64) { return lo * (1 + 1e-15), hi * (1 - 1e-15) }

// check says what of the numbers does not fit together.
func (t *Templates) check(pixels int) error {
	if len(t.Lam) != pixels {
		return fmt.Errorf("spectra: %s has %s, but templates of %s: want as many", t.Name, errtext.Count(len(t.Lam), "wavelength"), errtext.Count(pixels, "pixel"))
	}
	for _, k := range t.LogParams {
		if k < 0 || k >= t.Dim() {
			return fmt.Errorf("spectra: %s takes the logarithm of parameter %d: want numbers from 0 to %d", t.Name, k, t.Dim()-1)
		}
	}
	return nil
}

// column gives the columns of x, without their axis.
func column(x *ad.Node, k int) *ad.Node {
	s := x.Shape()
	return ad.Reshape(ad.Slice(x, -1, k, k+1), s[:len(s)-1]...)
}

// rows adds a last axis of one element.
func rows(x *ad.Node) *ad.Node { return ad.Reshape(x, append(x.Shape().Clone(), 1)...) }

// index converts finite numbers to indices below n, and all else to 0.
func index(x *ad.Node, n int) *ad.Node {
	return ad.FloorIndex(ad.Where(ad.Equal(ad.Sub(x, x), ad.Scalar(0)), ad.Clip(x, 0, float64(n-1)), ad.Scalar(0)))
}
