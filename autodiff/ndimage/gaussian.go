// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage

import (
	"cmp"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// GaussianSettings say how [Gaussian] filters.
type GaussianSettings struct {
	// Sigma is the standard deviation in elements: one for all axes, or one for each. With 0 an
	// axis is not filtered.
	Sigma    []float64
	Mode     Mode    // continuation beyond the ends; default Reflect
	Truncate float64 // radius of the filter in standard deviations; default 4
	CVal     float64 // value of the elements outside in mode Constant; default 0
}

// defaultTruncate is the radius of filters in standard deviations.
const defaultTruncate = 4.0

// Gaussian returns x filtered with a Gaussian along each axis, whose radius is Truncate*Sigma
// rounded to the nearest integer, half up. A NaN spreads over the radius of the filter. Gradient:
// the transposed filter.
func Gaussian(x *ad.Node, s GaussianSettings) *ad.Node {
	if x.Err() != nil {
		return x
	}
	sigma, ok := perAxis(s.Sigma, len(x.Shape()))
	if !ok {
		return fail("gaussian: there are %d standard deviations for shape %v: give one, or one for each axis", len(s.Sigma), x.Shape())
	}
	for axis, v := range sigma {
		x = GaussianAlong(x, axis, v, s)
	}
	return x
}

// GaussianAlong filters one axis with the standard deviation sigma and ignores s.Sigma. A negative
// axis counts from the last.
func GaussianAlong(x *ad.Node, axis int, sigma float64, s GaussianSettings) *ad.Node {
	if x.Err() != nil {
		return x
	}
	ax, bad := axisOf("gaussian", x, axis)
	if bad != nil {
		return bad
	}
	mode, err := s.Mode.resolve(Reflect)
	truncate := cmp.Or(s.Truncate, defaultTruncate)
	switch {
	case err != nil:
		return fail("gaussian: %v", err)
	case !(sigma >= 0) || math.IsInf(sigma, 0):
		return fail("gaussian: the standard deviation is %g: want a finite number of at least 0", sigma)
	case !(truncate >= 0) || truncate*sigma > 1<<24:
		return fail("gaussian: the radius is %g standard deviations of %g elements: want a radius from 0 to %d elements", truncate, sigma, 1<<24)
	}
	w := GaussianWeights(sigma, truncate)
	return window{w, len(w) / 2, mode, s.CVal}.along(x, ax)
}

// GaussianWeights returns the weights exp(-k^2/(2 sigma^2)) at k = -r ... r, divided by their sum, where r is
// truncate*sigma rounded to the nearest integer, half up; truncate 0 means 4.
func GaussianWeights(sigma, truncate float64) []float64 {
	r := int(cmp.Or(truncate, defaultTruncate)*sigma + 0.5)
	if !(sigma > 1e-15) {
		return []float64{1}
	}
	w, sum := make([]float64, 2*r+1), 0.0
	for i := range w {
		k := float64(i - r)
		w[i] = math.Exp(-0.5 / (sigma * sigma) * k * k)
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// axisOf resolves a negative axis.
func axisOf(op string, x *ad.Node, axis int) (int, *ad.Node) {
	n := len(x.Shape())
	if axis < -n || axis >= n {
		return 0, fail("%s: there is no axis %d in shape %v: want one of its %d axes, counted from 0", op, axis, x.Shape(), n)
	}
	return modulo(axis, n), nil
}
