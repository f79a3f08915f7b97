// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package unit

// Air returns the wavelength in air of a wavelength in vacuum, both in angstrom, as spectral surveys convert it: vacuum divided by
// 1 + 2.735182e-4 + 131.4182/vacuum^2 + 2.76249e8/vacuum^4.
func Air(vacuum float64) float64 {
	s := vacuum * vacuum
	return vacuum / (1 + 2.735182e-4 + 131.4182/s + 2.76249e8/(s*s))
}

// Vacuum returns the wavelength in vacuum that Air converts to a wavelength in air, to rounding, both in angstrom.
func Vacuum(air float64) float64 {
	v := air
	for range 20 { // the refractive index hardly changes: each step gains four digits
		next := air * v / Air(v)
		if next == v {
			break
		}
		v = next
	}
	return v
}
