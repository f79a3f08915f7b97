// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"math"
	"slices"
	"strings"
)

// unitsOfQ are the units of q in 1/nm, without blanks and in lower case.
var unitsOfQ = map[string]float64{"1/nm": 1, "nm^-1": 1, "nm-1": 1, "nm": 1, "nm⁻¹": 1, "nm^{-1}": 1, "1/a": 10, "a^-1": 10, "a-1": 10, "a": 10, "1/å": 10, "å^-1": 10, "å⁻¹": 10, "1/angstrom": 10, "angstrom^-1": 10, "1/ang": 10, "å^{-1}": 10, "1/m": 1e-9}

// qScale returns what the numbers of q have to be multiplied with to be in 1/nm.
func (set *Set) qScale(unit, axis string, q []float64, energies []float64, s Settings) (float64, error) {
	if s.QUnit != "" {
		unit = s.QUnit
	}
	if u := unitsOfQ[strings.ToLower(strings.ReplaceAll(unit, " ", ""))]; u != 0 {
		return u, nil
	}
	most := 0.0
	for _, x := range q {
		most = max(most, math.Abs(x))
	}
	const mostAngstrom = 0.3 // 1/A, beyond the reach of soft X-rays
	if most < mostAngstrom {
		set.note("%s has no unit and reaches %.4g: it is taken to be in 1/A; \"q_unit\" says otherwise", axis, most)
		return 10, nil
	}
	if len(energies) > 0 {
		if limit := 4 * math.Pi * slices.Max(energies) / hc / 10; limit > 0 && most > limit {
			set.note("%s has no unit and reaches %.4g, which light of %g eV does not in 1/A (%.3g): it is taken to be in 1/nm", axis, most, slices.Max(energies), limit)
			return 1, nil
		}
	}
	return 0, set.defect(`say it with "q_unit": "1/nm" or "1/A"`, "%s has no unit and reaches %.4g: that may be 1/nm or 1/A", axis, most)
}

// coordinate returns the numbers along an axis, and their unit.
func (l *layout) coordinate(r role) ([]float64, string, error) {
	name := l.main.dims[l.axis(r)]
	v := l.c.find(name)
	if v == nil || len(v.shape) != 1 || v.shape[0] != l.length(r) {
		return nil, "", defect(l.c.name, "write the coordinate with the array", "the axis %s of length %d has no numbers of its own", name, l.length(r))
	}
	x, err := v.values()
	return x, v.attrs["units"], err
}

// patterns returns the numbers of a variable by pattern, each with the axes of two roles, the first slower; -1 stands for none.
func (l *layout) patterns(v *variable, t *taken, slow, fast role) ([][]float64, error) {
	n := l.length(slow) * l.length(fast)
	out := make([][]float64, t.n)
	for i := range out {
		out[i] = make([]float64, n)
	}
	axes, _ := l.frames()
	strides, each := make([]int, len(v.shape)), n
	if i := l.axis(slow); i >= 0 {
		strides[i] = l.length(fast)
	}
	strides[l.axis(fast)] = 1
	for k := len(axes) - 1; k >= 0; k-- {
		strides[axes[k]] = each
		each *= v.shape[axes[k]]
	}
	err := v.blocks(func(offset, shape []int) bool { return true }, func(offset, shape []int, x []float64) error {
		walk(offset, shape, strides, func(i, at int) {
			if number := t.want[at/n]; number >= 0 {
				out[number][at%n] = x[i]
			}
		})
		return nil
	})
	return out, err
}

// curves reads reduced data.
func (l *layout) curves(set *Set, t *taken, s Settings) error {
	set.Kind = Curves
	q, unit, err := l.coordinate(qAxis)
	if err != nil {
		return err
	}
	scale, err := set.qScale(unit, "q", q, t.energies, s)
	if err != nil {
		return err
	}
	for i := range q {
		q[i] *= scale
	}
	var chi []float64
	if l.axis(chiAxis) >= 0 {
		if chi, _, err = l.coordinate(chiAxis); err != nil {
			return err
		}
	}
	values, err := l.patterns(l.main, t, chiAxis, qAxis)
	if err != nil {
		return err
	}
	var deviations [][]float64
	for _, v := range l.c.vars {
		if isNamed(v, errorNames) && slices.Equal(v.dims, l.main.dims) && slices.Equal(v.shape, l.main.shape) {
			if deviations, err = l.patterns(v, t, chiAxis, qAxis); err != nil {
				return err
			}
		}
	}
	for i, number := range t.want {
		if number < 0 {
			continue
		}
		c := Curve{Energy: t.energies[i], Polarization: at(t.polarizations, i), Exposure: at(t.exposures, i), Q: q, Chi: chi, I: values[number]}
		if deviations != nil {
			c.Errors = deviations[number]
		}
		set.Curves = append(set.Curves, c)
	}
	set.anisotropic(l)
	l.describe(set, s)
	return set.checkCurves()
}

// anisotropic tells A(q) from I(q): by its name, or because nearly all of it is within -1 and 1, and some below 0.
func (set *Set) anisotropic(l *layout) {
	if name := strings.ToLower(l.main.name); name == "a" || name == "ar" || strings.Contains(name, "anisotropy") {
		set.Kind = Anisotropies
		return
	}
	if l.axis(chiAxis) >= 0 || set.Curves[0].Errors != nil {
		return
	}
	within, below, all := 0, 0, 0
	for _, c := range set.Curves {
		for _, x := range c.I {
			switch {
			case math.IsNaN(x):
				continue
			case x < 0:
				below++
			}
			if math.Abs(x) <= 1 {
				within++
			}
			all++
		}
	}
	if all > 0 && 10*within >= 9*all && below > 0 {
		set.Kind = Anisotropies
		set.note("the numbers are between -1 and 1, some below 0, and without errors: they are taken for the anisotropy A(q)")
	}
}

// checkCurves refuses impossible errors and counts what has none.
func (set *Set) checkCurves() error {
	zeros, empty, all := 0, 0, 0
	for n, c := range set.Curves {
		for i, x := range c.I {
			all++
			if math.IsNaN(x) {
				empty++
				continue
			}
			if c.Errors == nil {
				continue
			}
			switch d := c.Errors[i]; {
			case d < 0 || math.IsNaN(d) || math.IsInf(d, 0):
				return set.defect("write errors of at least 0, or none", "the error of number %d of curve %d, at q = %.4g 1/nm, is %g", i+1, n+1, c.Q[i%len(c.Q)], d)
			case d == 0 || tooSure(x, d): // the scatter of one pixel, but for rounding
				c.Errors[i] = 0
				zeros++
			}
		}
	}
	if empty == all {
		return set.defect("compare the file with others of the scan", "none of its %d numbers is finite", all)
	}
	if empty > 0 {
		set.note("%d of %d bins are empty", empty, all)
	}
	if zeros > 0 {
		set.note("%s an error of 0: without counts, or with one pixel", map[bool]string{true: "1 bin has", false: count(zeros, "bin") + " have"}[zeros == 1])
	}
	return nil
}

// maps reads patterns that were interpolated onto a grid of q.
func (l *layout) maps(set *Set, t *taken, s Settings) error {
	set.Kind = Maps
	qy, unit, err := l.coordinate(qyAxis)
	if err != nil {
		return err
	}
	qx, _, err := l.coordinate(qxAxis)
	if err != nil {
		return err
	}
	scale, err := set.qScale(unit, "the grid of qx and qy", slices.Concat(qy, qx), t.energies, s)
	if err != nil {
		return err
	}
	for _, q := range [][]float64{qy, qx} {
		for i := range q {
			q[i] *= scale
		}
	}
	values, err := l.patterns(l.main, t, qyAxis, qxAxis)
	if err != nil {
		return err
	}
	for i, number := range t.want {
		if number >= 0 {
			set.Maps = append(set.Maps, Map{Energy: t.energies[i], Polarization: at(t.polarizations, i), Exposure: at(t.exposures, i), QY: qy, QX: qx, I: values[number]})
		}
	}
	set.note("the pattern was interpolated onto qx and qy: its noise is correlated and it holds no counts; some loaders exchange the labels of qx and qy, so leave the centre free")
	l.describe(set, s)
	return nil
}
