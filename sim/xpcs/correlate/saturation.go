// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import "math"

// Saturation returns by how much a part of the correlation that decays as g^2 is smaller than that which decays as g where a detector has a
// dead time: c2 is offset + contrast (g + Saturation g^2). Such a detector counts I/(1 + e I) of an intensity I with the mean 1, and lost is the
// share e/(1 + e) of the photons that it misses there. contrast is that of the counts.
//
// The intensities have the gamma distribution of 1/contrast modes. Two of them are correlated along the generalised Laguerre polynomials L_n,
// by g^n, so that the ratio is that of the squares of <f L_2> and <f L_1>, over <L_2^2> and <L_1^2>.
//
// Reference: J. W. Goodman 2007, Speckle Phenomena in Optics, chapter 4; Kibble 1941, Sankhya 5, 137.
func Saturation(contrast, lost float64) float64 {
	if !(contrast > 0 && lost > 0) {
		return 0
	}
	e := lost / (1 - min(lost, 0.99))
	share, light := 0., min(contrast, 1)
	for range 8 { // the contrast of the counts is lower than that of the light
		var counted float64
		counted, share = saturated(light, e)
		light = min(1, light*min(contrast, 1)/counted)
	}
	return share
}

// saturated returns the contrast of the counts, and the ratio of the terms of g^2 and g, where the light has a contrast.
func saturated(contrast, e float64) (counted, share float64) {
	m := 1 / contrast
	norm, _ := math.Lgamma(m)
	const steps = 2000
	end := m + 12*math.Sqrt(m) + 30
	var mean, first, second float64
	for i := range steps {
		u := (float64(i) + 0.5) / steps
		y, dy := end*u*u, 2*end*u/steps // the density of many speckles is steep at 0
		w := math.Exp((m-1)*math.Log(y)-y-norm) * dy
		f := y / m / (1 + e*y/m)
		mean, first, second = mean+w*f, first+w*f*(m-y), second+w*f*(m*(m+1)-2*(m+1)*y+y*y)/2
	}
	a, b := first*first/m, second*second/(m*(m+1)/2)
	return a / (mean * mean), b / a
}
