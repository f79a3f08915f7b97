// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/internal/unit"
)

// Vacuum returns the vacuum wavelength that corresponds to a wavelength in air, both in Angstrom.
func Vacuum(air float64) float64 { return unit.Vacuum(air) }

// angstroms returns how many Angstrom a unit of wavelength is.
func angstroms(unit string) (float64, error) {
	switch strings.ToLower(strings.TrimSpace(unit)) {
	case "", "angstrom", "angstroms", "a", "aa", "0.1nm", "0.1 nm", "ang":
		return 1, nil
	case "nm", "nanometer", "nanometre", "nanometers":
		return 10, nil
	case "um", "micron", "microns", "micrometer", "micrometre":
		return 1e4, nil
	case "mm":
		return 1e7, nil
	case "m", "meter", "metre":
		return 1e10, nil
	}
	return 0, fmt.Errorf("the unit of wavelength %q is unknown: want Angstrom, nm, micron or m", unit)
}

// scaleWave turns numbers of a file into vacuum wavelengths in Angstrom. log is 10 for logarithms to
// base 10 of the wavelength in the unit, math.E for natural ones, 0 for none.
func scaleWave(x []float64, unit string, log float64, air bool) ([]float64, error) {
	f, err := angstroms(unit)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(x))
	for i, v := range x {
		switch log {
		case 0:
		case 10:
			v = math.Pow(10, v)
		default:
			v = math.Exp(v)
		}
		if out[i] = v * f; air {
			out[i] = Vacuum(out[i])
		}
	}
	return out, nil
}

// checkWave reports what is wrong with wavelengths.
func checkWave(file, key string, w []float64) error {
	if len(w) < 2 {
		return bad(file, key, "there are too few wavelengths, %d: want at least 2", len(w))
	}
	for i, x := range w {
		if !(x > 0) || math.IsInf(x, 0) || i > 0 && x <= w[i-1] {
			e := bad(file, key, "wavelength %d, counted from 0, is %g Angstrom: want increasing positive numbers", i, x)
			e.Try = "sort the pixels, and state the unit or that wavelengths are logarithms"
			return e
		}
	}
	return nil
}
