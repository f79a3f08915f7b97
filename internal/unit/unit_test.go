// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package unit

import (
	"math"
	"strings"
	"testing"
)

// Units as files of instruments spell them; NaN for those that are none of the kind.
func TestConvert(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		kind  Kind
		units string
		want  float64 // of the number 2
	}{
		{Length, "m M meter Meter meters metre metres", 2},
		{Length, "mm MM mm. millimeter Millimeter millimeters millimetre millimetres", 2e-3},
		{Length, "cm centimeter", 2e-2},
		{Length, "um µm μm UM micrometer micrometre micron microns Microns", 2e-6},
		{Length, "nm nanometer nanometre NM", 2e-9},
		{Length, "km", 2e3},
		{Length, "angstrom Angstrom Å A", 2e-10},
		{Length, "s pixel furlong mmm kev", nan},
		{Wavelength, "angstrom angstroms A Å AA Ang", 2},
		{Wavelength, "nm nanometer nanometers", 20},
		{Wavelength, "pm picometer", 0.02},
		{Wavelength, "m meter meters", 2e10},
		{Time, "s sec second Seconds secs", 2},
		{Time, "ms msec milliseconds millisecond Milliseconds msecs", 2e-3},
		{Time, "us µs usec microsecond microseconds", 2e-6},
		{Time, "ns nanosecond nsec", 2e-9},
		{Time, "min minute minutes", 120},
		{Time, "Hz hz hertz Hertz", 0.5},
		{Time, "kHz kilohertz", 0.5e-3},
		{Time, "MHz", 0.5e-6},
		{Time, "frames m eV", nan},
		{Energy, "keV kev KEV kiloelectronvolt", 2},
		{Energy, "eV ev electronvolt", 2e-3},
		{Energy, "MeV", 2e3},
		{Energy, "meV", 2e-6},
		{Energy, "J joule", 2 / 1.602176634e-16},
		{Angle, "rad radian radians", 2},
		{Angle, "deg degree degrees ° Degrees", 2 * math.Pi / 180},
		{Angle, "mrad milliradian", 2e-3},
		{Pixel, "pixel pixels px", 2},
	} {
		for _, u := range strings.Fields(c.units) {
			got, err := c.kind.Convert(2, u)
			if math.IsNaN(c.want) != (err != nil) || err == nil && math.Abs(got-c.want) > 1e-14*c.want {
				t.Errorf("%s of 2 %q: %g, %v, want %g", c.kind.name, u, got, err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), c.kind.listed) {
				t.Errorf("%v does not list the units", err)
			}
		}
	}
}
