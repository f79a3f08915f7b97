// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
)

// role is what an axis or a variable stands for.
type role int

const (
	other role = iota
	row
	column
	energy
	polarization
	exposure
	system
	chiAxis
	qAxis
	qyAxis
	qxAxis
)

// roles are the names of axes and of variables along them, in lower case.
var roles = map[string]role{
	"pix_y": row, "y": row, "row": row, "rows": row, "pix_x": column, "x": column, "column": column, "columns": column,
	"energy": energy, "en": energy, "en_energy_setpoint": energy, "en_energy": energy, "en_monoen_readback": energy, "photon_energy": energy, "incident_energy": energy, "beamline energy": energy,
	"polarization": polarization, "polarisation": polarization, "pol": polarization, "en_polarization_setpoint": polarization, "en_polarization": polarization,
	"exposure": exposure, "exposure_time": exposure, "count_time": exposure,
	"system": system, "chi": chiAxis, "q": qAxis, "qr": qAxis, "qy": qyAxis, "qx": qxAxis,
}

func roleOf(name string) role { return roles[strings.ToLower(path.Base(name))] }

// names of things beside the main variable, in lower case.
var (
	errorNames = []string{"di", "idev", "i_err", "ierr", "error", "errors", "sigma", "i_sigma", "uncertainty", "i_std", "std"}
	maskNames  = []string{"mask", "pixel_mask"}
	sideNames  = []string{"i0", "transmission", "dark", "dark_rate", "dark_id", "wavelength"}
	mainNames  = []string{"i", "intensity", "counts", "da", "data", "a", "ar", "anisotropy", "__xarray_dataarray_variable__", "__xarray_dataarray_name__"}
)

func isNamed(v *variable, names []string) bool {
	return slices.Contains(names, strings.ToLower(path.Base(v.name)))
}

// main returns the variable with the pattern.
func (c *content) main(s Settings) (*variable, error) {
	if s.Variable != "" {
		if v := c.find(s.Variable); v != nil {
			return v, nil
		}
		return nil, defect(c.name, "choose one of these", "there is no array %q: the file has %s", s.Variable, c.listed(c.vars))
	}
	var found []*variable
	most := 0
	for _, v := range c.vars {
		if roleOf(v.name) != other && len(v.shape) < 2 || isNamed(v, errorNames) || isNamed(v, maskNames) || isNamed(v, sideNames) || len(v.shape) == 0 {
			continue
		}
		switch n := len(v.shape); {
		case n > most:
			found, most = []*variable{v}, n
		case n == most:
			found = append(found, v)
		}
	}
	if len(found) > 1 {
		for _, name := range mainNames {
			if i := slices.IndexFunc(found, func(v *variable) bool { return strings.EqualFold(path.Base(v.name), name) }); i >= 0 {
				return found[i], nil
			}
		}
		return nil, defect(c.name, "name one as the variable", "several arrays could be the pattern: %s", c.listed(found))
	}
	if len(found) == 0 {
		return nil, defect(c.name, "give a file with an array over the pixels, or over q", "no array could be a pattern: the file has %s", c.listed(c.vars))
	}
	return found[0], nil
}

func (c *content) listed(all []*variable) string {
	if len(all) == 0 {
		return "no arrays of numbers"
	}
	var parts []string
	for _, v := range all[:min(len(all), 12)] {
		parts = append(parts, fmt.Sprintf("%s %v", v.name, v.shape))
	}
	return strings.Join(parts, ", ")
}

// layout says what the axes of the main variable stand for.
type layout struct {
	c     *content
	main  *variable
	roles []role
}

// axis returns the number of the axis of a role, or -1.
func (l *layout) axis(r role) int { return slices.Index(l.roles, r) }

func (l *layout) length(r role) int {
	if i := l.axis(r); i >= 0 {
		return l.main.shape[i]
	}
	return 1
}

// layOut finds what the axes stand for.
func (c *content) layOut(v *variable) (*layout, error) {
	l := &layout{c: c, main: v}
	for i, d := range v.dims {
		r := roleOf(d)
		if r == other && v.shape[i] > 1 {
			return nil, defect(c.name, "name the axes energy, polarization, exposure, pix_y and pix_x, or energy, chi and q", "the array %s has an axis %q of length %d, which is none that is known", v.name, d, v.shape[i])
		}
		if r != other && slices.Contains(l.roles, r) {
			return nil, defect(c.name, "name each axis for what it is", "two axes of the array %s are called %q", v.name, d)
		}
		l.roles = append(l.roles, r)
	}
	if c.rowsAreX {
		for i, r := range l.roles {
			switch r {
			case row:
				l.roles[i] = column
			case column:
				l.roles[i] = row
			}
		}
	}
	return l, nil
}

// frames are the axes of the main variable that are not within a pattern.
func (l *layout) frames() (axes []int, n int) {
	n = 1
	for i, r := range l.roles {
		if r == energy || r == polarization || r == exposure || r == system || r == other {
			axes = append(axes, i)
			n *= l.main.shape[i]
		}
	}
	return axes, n
}

// along returns a quantity for each pattern, from a variable along axes of the main one, or from an attribute that has one value, or one
// for each energy; nil if there is none.
func (l *layout) along(what role, names []string, energies []float64) ([]float64, error) {
	axes, n := l.frames()
	is := func(name string) bool {
		return what != other && roleOf(name) == what || slices.ContainsFunc(names, func(x string) bool { return strings.EqualFold(x, path.Base(name)) })
	}
	for _, v := range l.c.vars {
		if !is(v.name) || v == l.main || slices.ContainsFunc(v.dims, func(d string) bool { return !slices.Contains(l.main.dims, d) }) {
			continue
		}
		x, err := v.values()
		if err != nil {
			return nil, err
		}
		l.c.units[strings.ToLower(names[0])] = v.attrs["units"]
		out := make([]float64, n)
		own := stridesOf(v.shape)
		for f := range out {
			rest, at := f, 0
			for k := len(axes) - 1; k >= 0; k-- {
				i := rest % l.main.shape[axes[k]]
				rest /= l.main.shape[axes[k]]
				if d := slices.Index(v.dims, l.main.dims[axes[k]]); d >= 0 {
					at += i * own[d]
				}
			}
			out[f] = x[at]
		}
		return out, nil
	}
	for _, key := range slices.Sorted(maps.Keys(l.c.attrs)) {
		if !is(key) {
			continue
		}
		x := numbersOf(l.c.attrs[key])
		if u := l.c.units[key]; u != "" {
			l.c.units[strings.ToLower(names[0])] = u
		}
		if out := spread(x, n, energies); out != nil {
			return out, nil
		}
	}
	return nil, nil
}

// spread gives each of n patterns its number of a list of one, of n, or of one for each energy.
func spread(x []float64, n int, energies []float64) []float64 {
	out := make([]float64, n)
	var distinct []float64
	for i := range out {
		at := i
		if len(x) == 1 {
			at = 0
		} else if len(x) != n {
			if energies == nil {
				return nil
			}
			if at = slices.Index(distinct, energies[i]); at < 0 {
				at, distinct = len(distinct), append(distinct, energies[i])
			}
		}
		if at >= len(x) {
			return nil
		}
		out[i] = x[at]
	}
	if len(distinct) > 0 && len(distinct) != len(x) {
		return nil
	}
	return out
}

// taken says which patterns are wanted, and what is known of them.
type taken struct {
	energies, polarizations, exposures, flux, transmission, dark []float64
	want                                                         []int // number in the result, or -1
	n                                                            int
}

func at(x []float64, i int) float64 {
	if x == nil {
		return 0
	}
	return x[i]
}

// longestExposure is the exposure in s from which on a number without a unit is taken for ms.
const longestExposure = 1000

// take finds what is known of each pattern, and which are wanted.
func (l *layout) take(set *Set, s Settings) (*taken, error) {
	_, n := l.frames()
	if n == 0 {
		return nil, defect(set.Name, "give a file that was written to its end", "the array %s has the shape %v: it holds no pattern", l.main.name, l.main.shape)
	}
	t := &taken{}
	var err error
	get := func(to *[]float64, what role, names ...string) {
		if err == nil {
			*to, err = l.along(what, names, t.energies)
		}
	}
	get(&t.energies, energy, "energy")
	if err == nil {
		err = l.wavelengths(t, set)
	}
	get(&t.polarizations, polarization, "polarization")
	get(&t.exposures, exposure, "exposure")
	get(&t.flux, other, "i0")
	get(&t.transmission, other, "transmission")
	get(&t.dark, other, "dark_rate", "dark")
	if err != nil {
		return nil, err
	}
	if t.energies == nil {
		if t.energies = fromSettings(s.Energies, n); t.energies == nil && len(s.Energies) > 0 {
			return nil, defect(set.Name, `give one energy for each pattern, in the order of the file`, "\"energies\" has %d numbers, and there are %s", len(s.Energies), count(n, "pattern"))
		}
		if t.energies == nil {
			return nil, defect(set.Name, `give them with "energies": [...] in eV`, "the file has %s and no photon energies (looked for energy, en_energy_setpoint, photon_energy and wavelength)", count(n, "pattern"))
		}
	}
	if err := t.inElectronVolts(set, l.c.units["energy"]); err != nil {
		return nil, err
	}
	if err := t.inSeconds(set, s, l.c.units["exposure"]); err != nil {
		return nil, err
	}
	if s.Polarization != nil {
		t.polarizations = spread([]float64{*s.Polarization}, n, nil)
	}
	for i, x := range t.polarizations {
		if !(math.Abs(x) <= 360) {
			return nil, defect(set.Name, `give it with "polarization" in degrees`, "the polarization of pattern %d is %g degrees: want -360 to 360", i+1, x)
		}
	}
	if err := t.choose(set, s, n); err != nil {
		return nil, err
	}
	if each := size(l.main.shape) / n / s.bin() / s.bin(); float64(each)*float64(t.n) > mostNumbers {
		return nil, defect(set.Name, `take some with "energies": [...], or add pixels up with "bin": 4`, "%s of %d numbers each would be in memory: want at most %d numbers in all", count(t.n, "pattern"), each, mostNumbers)
	}
	return t, nil
}

// mostNumbers is the largest number of pixels of all patterns that are kept in memory, 4 GiB.
const mostNumbers = 1 << 29

func fromSettings(energies []float64, n int) []float64 {
	if len(energies) == n || len(energies) == 1 {
		return spread(energies, n, nil)
	}
	return nil
}

// hc is the product of Planck's constant and the speed of light in eV nm.
const hc = 1239.84197

// wavelengths compares wavelengths with energies, or stands in for them.
func (l *layout) wavelengths(t *taken, set *Set) error {
	w, err := l.along(other, []string{"wavelength"}, t.energies)
	if err != nil || w == nil {
		return err
	}
	nm := 0.1 // Angstrom
	switch u := l.c.units["wavelength"]; {
	case u == "nm":
		nm = 1
	case u == "m" || u == "" && w[0] > 0 && w[0] < 1e-5:
		nm = 1e9
	}
	if t.energies == nil {
		t.energies = make([]float64, len(w))
		for i, x := range w {
			t.energies[i] = hc / (x * nm)
		}
		set.note("the photon energies follow from the wavelengths")
		return nil
	}
	for i, x := range w {
		if e := hc / (x * nm); math.Abs(e/t.energies[i]-1) > 1e-3 {
			return defect(set.Name, "correct one of them in the file", "the energy of pattern %d is %g eV and its wavelength, %g nm, is that of %.5g eV", i+1, t.energies[i], x*nm, e)
		}
	}
	return nil
}

// inElectronVolts converts energies, and refuses those that no beam has.
func (t *taken) inElectronVolts(set *Set, unit string) error {
	for i, e := range t.energies {
		if strings.EqualFold(unit, "keV") {
			t.energies[i] *= 1000
		} else if !(e >= leastEnergy) || math.IsInf(e, 0) {
			return defect(set.Name, `give the right ones with "energies": [...] in eV, or write their unit`, "the energy of pattern %d is %g eV, and the least that makes sense is %d eV: is it in keV?", i+1, e, leastEnergy)
		}
	}
	return nil
}

// inSeconds converts exposures.
func (t *taken) inSeconds(set *Set, s Settings, unit string) error {
	if s.Exposure >= longestExposure {
		set.note("\"exposure\" is %g s for each pattern: is it in ms?", s.Exposure)
	}
	if s.Exposure > 0 {
		t.exposures = spread([]float64{s.Exposure}, len(t.energies), nil)
		return nil
	}
	if u := strings.ToLower(unit); u == "ms" || u == "msec" || strings.HasPrefix(u, "millisec") {
		for i := range t.exposures {
			t.exposures[i] /= 1000
		}
		return nil
	}
	for _, x := range t.exposures {
		if x >= longestExposure && unit == "" {
			return defect(set.Name, `give it with "exposure" in s`, "an exposure is %g: is it in ms?", x)
		}
		if !(x >= 0) {
			return defect(set.Name, `give it with "exposure" in s`, "an exposure is %g s: want more than 0", x)
		}
	}
	return nil
}

// choose numbers the patterns that are wanted.
func (t *taken) choose(set *Set, s Settings, n int) error {
	met := make([]bool, len(s.Energies))
	for i := range n {
		number := -1
		if s.Energies == nil {
			number = t.n
		}
		for k, e := range s.Energies {
			if math.Abs(e-t.energies[i]) <= sameEnergy {
				number, met[k] = t.n, true
			}
		}
		if number >= 0 {
			t.n++
		}
		t.want = append(t.want, number)
	}
	for k, ok := range met {
		if !ok {
			try := "ask for energies that were measured"
			if s.Energies[k] < 20 {
				try += ", in eV"
			}
			return defect(set.Name, try, "there is no pattern at %g eV: the energies are %v eV", s.Energies[k], distinct(t.energies))
		}
	}
	return nil
}

func distinct(x []float64) []float64 {
	out := slices.Clone(x)
	slices.Sort(out)
	return slices.Compact(out)
}
