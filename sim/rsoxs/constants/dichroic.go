// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package constants

import (
	"fmt"
	"math"
)

// Dichroic is beta along and across the director by energy.
type Dichroic struct {
	Para, Perp []float64
	// RMS is the root mean square of what the law leaves of the spectra.
	RMS float64
}

// FromAngles separates spectra beta(E), measured with the electric field at angles from the mean director, by
//
//	beta = A + B cos^2(angle)
//
// at each energy, by least squares. order is the order parameter of the sample, 1 for molecules that are all parallel, at most 1: that of
// the molecules is B/order, and the mean (para + 2 perp)/3 is A + B/3 whatever the order. At least two angles must have different cos^2.
//
// Reference: J. Stöhr and D. A. Outka, doi:10.1103/PhysRevB.36.7891.
func FromAngles(angles []float64, spectra [][]float64, order float64) (Dichroic, error) {
	if len(angles) < 2 || len(spectra) != len(angles) {
		return Dichroic{}, fmt.Errorf("constants: there are %d angles and %d spectra: want as many of each, at least two", len(angles), len(spectra))
	}
	if !(math.Abs(order) > 0 && order <= 1 && order >= -0.5) {
		return Dichroic{}, fmt.Errorf("constants: the order parameter is %g: want one from -0.5 to 1 that is not 0", order)
	}
	n := len(spectra[0])
	for i, s := range spectra {
		if len(s) != n {
			return Dichroic{}, fmt.Errorf("constants: spectrum %d has %d energies and the first %d: bring them to the same energies", i+1, len(s), n)
		}
	}
	mean, square := 0.0, 0.0
	c := make([]float64, len(angles))
	for i, a := range angles {
		c[i] = math.Cos(a) * math.Cos(a)
		mean += c[i] / float64(len(c))
	}
	for _, x := range c {
		square += (x - mean) * (x - mean)
	}
	if !(square > 1e-6) {
		return Dichroic{}, fmt.Errorf("constants: the angles %.3g rad have the same cos^2: add a spectrum at another angle", angles)
	}
	out := Dichroic{Para: make([]float64, n), Perp: make([]float64, n)}
	for e := range n {
		level, slope := 0.0, 0.0
		for i, s := range spectra {
			level, slope = level+s[e]/float64(len(c)), slope+(c[i]-mean)*s[e]/square
		}
		base := level - slope*mean
		for i, s := range spectra {
			left := s[e] - base - slope*c[i]
			out.RMS += left * left / float64(n*len(c))
		}
		isotropic, difference := base+slope/3, slope/order
		out.Para[e], out.Perp[e] = isotropic+2*difference/3, isotropic-difference/3
	}
	out.RMS = math.Sqrt(out.RMS)
	return out, nil
}
