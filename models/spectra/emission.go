// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/sim/spectra"
)

// emissionLines are lines that stars, nebulae and the night sky emit: wavelengths in vacuum, in Angstrom, of the lists of
// NIST (doi:10.18434/T4W30F) and, for forbidden lines, of the same.
var emissionLines = []struct {
	name       string
	wavelength float64
	sky        bool // whether the line does not move with the star
}{
	{"Ca II K", 3934.78, false}, {"Ca II H", 3969.59, false},
	{"H delta", 4102.89, false}, {"H gamma", 4341.68, false}, {"H beta", 4862.68, false}, {"H alpha", 6564.61, false},
	{"He II 4687", 4687.02, false}, {"He I 5877", 5877.25, false}, {"He I 6680", 6679.99, false},
	{"[O II] 3727", 3727.09, false}, {"[O II] 3730", 3729.88, false},
	{"[O III] 4960", 4960.30, false}, {"[O III] 5008", 5008.24, false},
	{"[N II] 6550", 6549.85, false}, {"[N II] 6585", 6585.28, false}, {"[S II] 6718", 6718.29, false}, {"[S II] 6733", 6732.67, false},
	{"Ca II 8500", 8500.36, false}, {"Ca II 8544", 8544.44, false}, {"Ca II 8664", 8664.52, false},
	{"[O I] of the sky at 5579", 5578.89, true}, {"Na I of the sky at 5892", 5891.58, true}, {"Na I of the sky at 5898", 5897.56, true},
	{"[O I] of the sky at 6302", 6302.05, true}, {"[O I] of the sky at 6366", 6365.54, true},
}

// lineReach is how far from the place of a line the top of its emission may be, in km/s, in addition to a pixel.
const lineReach = 40

// lineAt returns the name of the emission line at a wavelength of a pixel, or an empty string.
func lineAt(x *Spectrum, wavelength, velocity float64) string {
	top, _ := slices.BinarySearch(x.Lam, wavelength)
	lo, hi := x.Lam[max(0, top-1)], x.Lam[min(len(x.Lam)-1, top+1)]
	for _, l := range emissionLines {
		v := velocity
		if l.sky {
			v = 0
		}
		b := v / spectra.SpeedOfLight
		at, reach := l.wavelength*math.Sqrt((1+b)/(1-b)), l.wavelength*lineReach/spectra.SpeedOfLight
		if at+reach >= lo && at-reach <= hi {
			return l.name
		}
	}
	return ""
}
