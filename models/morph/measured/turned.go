// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"
)

// kindTurned is the finding that directions are not those of the files.
const kindTurned = "direction of the field"

// kindSolidAngle is the finding that the pixels' solid angle is in the numbers or is not.
const kindSolidAngle = "solid angle"

// conventions are fits of data that follow other conventions than the problem says: directions, and whether numbers hold the solid angle of
// their pixels.
func (t *Task) conventions(starts ...[]float64) (out []rival) {
	out = t.turned(starts...)
	if t.Model.Data.Fan != nil {
		return out
	}
	k, _ := t.altered(func(*Frame) bool { return true })
	for _, m := range k.models() {
		m.SolidAngle = !m.SolidAngle
	}
	text := "numbers that are divided by the solid angle of their pixels would fit better"
	if k.Model.SolidAngle {
		text = "numbers that hold the solid angle of their pixels would fit better"
	}
	remedy := fmt.Sprintf(`give "solid_angle": %v: raw counts hold it, reduced intensities do not`, k.Model.SolidAngle)
	return append(out, rival{kind: kindSolidAngle, task: k, starts: starts, say: func(*Solution) (string, string) { return text, remedy }})
}

// turned are fits with directions as other conventions have them: the electric field turned by 90 degrees, angles counted the other way, and
// for reduced patterns the azimuth chi turned or mirrored while the field stays. Each is fitted from some starts. Isotropic samples show the
// direction of the field, too, by the polarisation of the scattered light.
func (t *Task) turned(starts ...[]float64) (out []rival) {
	add := func(text, remedy string, change func(f *Frame) bool) {
		k, changed := t.altered(change)
		if changed {
			out = append(out, rival{kind: kindTurned, task: k, starts: starts, say: func(*Solution) (string, string) { return text, remedy }})
		}
	}
	first := t.Model.Data.Frames[0].Angle
	other := math.Mod(first+90, 180)
	add("an electric field that is turned by 90 degrees would fit better",
		fmt.Sprintf(`check how the file counts directions: "polarization" is %g degrees from +x, along a row of pixels; the data want %g, or chi that is turned by 90 degrees`, first, other),
		func(f *Frame) bool { f.Angle = math.Mod(f.Angle+90, 180); return true })
	add("angles of the electric field that are counted the other way round would fit better",
		fmt.Sprintf(`check whether rows of pixels are counted upwards or downwards, or give "polarization": %g in place of %g`, math.Mod(180-first, 180), first),
		func(f *Frame) bool {
			across := math.Mod(math.Abs(f.Angle), 90) == 0
			f.Angle = math.Mod(180-f.Angle, 180)
			return !across
		})
	add("directions chi that are turned by 90 degrees would fit better", "check where the reduction counts chi from: it is taken from +x, along a row of pixels, towards +y",
		func(f *Frame) bool { return f.rearrange(func(chi float64) float64 { return chi - 90 }) })
	add("directions chi that are mirrored would fit better", "check which way the reduction counts chi: it is taken from +x, along a row of pixels, towards +y, along a column",
		func(f *Frame) bool { return f.rearrange(func(chi float64) float64 { return -chi }) })
	return out
}

// altered returns the task with frames that are changed, and whether all of them could be.
func (t *Task) altered(change func(f *Frame) bool) (*Task, bool) {
	k, changed := *t, true
	k.mean, k.Params, k.More = nil, slices.Clone(t.Params), nil
	for i, m := range t.models() {
		c, d := *m, *m.Data
		d.Frames = slices.Clone(d.Frames)
		for j := range d.Frames {
			changed = changed && change(&d.Frames[j])
		}
		c.Data = &d
		if i == 0 {
			k.Model = &c
		} else {
			k.More = append(k.More, &c)
		}
	}
	return &k, changed
}

// rearrange takes the numbers of each direction chi from another one, in degrees: from the bin that is nearest. It reports whether there is
// one for each, at most half a bin away.
func (f *Frame) rearrange(from func(chi float64) float64) bool {
	if f.Bins == nil || f.Bins.Rows < 3 || f.Bins.Interpolated {
		return false
	}
	columns := f.Bins.length() / f.Bins.Rows
	chi := func(row int) float64 { return f.Bins.Chi[row*columns] }
	reach := math.Abs(turn(chi(1), chi(0)))/2 + 1e-6
	rows := make([]int, f.Bins.Rows)
	for r := range rows {
		want, nearest := from(chi(r)), reach
		rows[r] = -1
		for k := range rows {
			if d := math.Abs(turn(chi(k), want)); d < nearest {
				rows[r], nearest = k, d
			}
		}
		if rows[r] < 0 {
			return false
		}
	}
	for _, list := range []*[]float64{&f.Counts, &f.Gains, &f.Offsets, &f.Errors, &f.Freedom} {
		if *list == nil {
			continue
		}
		out := make([]float64, 0, len(*list))
		for _, k := range rows {
			out = append(out, (*list)[k*columns:(k+1)*columns]...)
		}
		*list = out
	}
	return true
}
