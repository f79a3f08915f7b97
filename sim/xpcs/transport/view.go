// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"math"
	"slices"
)

// View holds what tiles need of each frame at one angle.
type View struct {
	Rows, Columns []Line
	Channels      []Channel
	phases        []float64 // of shear, if they ascend or descend

	room [][]float64
	used int
}

// Apart reports whether the phases of rows from..to-1 are not near those of columns from begin on
// that are at least so many frames later, so that tiles may be of the form Apart.
func (v *View) Apart(from, to, begin, later, precision int) bool {
	limit := math.Sqrt(near(precision))
	for i := from; i < to; i++ {
		if j := max(begin, i+later); j < len(v.phases) && !(math.Abs(v.phases[j]-v.phases[i]) > limit) {
			return false
		}
	}
	return v.phases != nil
}

// isMonotonic reports whether numbers ascend or descend.
func isMonotonic(v []float64) bool {
	up := v[len(v)-1] > v[0]
	for i := 1; i < len(v); i++ {
		if v[i] > v[i-1] != up {
			return false
		}
	}
	return true
}

// Line is an input of a tile at each frame; for a Relative one, its value at a frame of reference
// is subtracted.
type Line struct {
	Values   []float64
	Relative bool
}

// Channel is a number of each pair on which g depends: the sum of a term of its first frame and one
// of its second.
type Channel struct {
	Parameters    []int       // parameters on which it depends
	First, Second [][]float64 // derivatives of both terms with respect to these, at each frame
}

// Factors reports whether products of factors of frames stay within so many units of their
// logarithm in rows from..to-1.
func (f *Frames) Factors(from, to int, limit float64) bool {
	if f.setup.Customary {
		return false
	}
	for v := range min(2, f.setup.rises()) {
		if v == 1 && f.setup.Model == Laminar {
			break
		}
		lowest, highest := math.Inf(1), math.Inf(-1)
		for _, x := range f.values[v][from:to] {
			lowest, highest = min(lowest, x), max(highest, x)
		}
		if !(f.setup.Q*f.setup.Q*(highest-lowest) < limit) {
			return false
		}
	}
	return true
}

// View sets v to what tiles need at an angle. It takes the memory of what v was before.
func (f *Frames) View(v *View, angle int, direct bool) {
	*v = View{Rows: v.Rows[:0], Columns: v.Columns[:0], Channels: v.Channels[:0], room: v.room}
	switch q := f.setup.Q; {
	case direct || f.setup.Customary:
		f.directView(v, angle)
	case f.setup.Model == Static:
		v.line(v.times(q*q, f.values[0]), v.times(-q*q, f.values[0]), true)
		v.Channels = append(v.Channels, f.rise(v, 0, q*q))
	case f.setup.Model == Laminar:
		x, channel := f.phase(v, 1, q*f.setup.Gap/2, angle, -2)
		v.line(v.times(q*q/2, f.values[0]), v.times(-q*q/2, f.values[0]), true)
		v.line(x, x, true)
		v.Channels = append(v.Channels, f.rise(v, 0, q*q), channel)
		if isMonotonic(x) {
			v.phases = x
		}
	default:
		f.mixtureView(v, angle)
	}
}

// line adds an input of rows and one of columns.
func (v *View) line(rows, columns []float64, relative bool) {
	v.Rows, v.Columns = append(v.Rows, Line{rows, relative}), append(v.Columns, Line{columns, relative})
}

// take returns room for n numbers.
func (v *View) take(n int) []float64 {
	if v.used == len(v.room) {
		v.room = append(v.room, nil)
	}
	if len(v.room[v.used]) != n {
		v.room[v.used] = make([]float64, n)
	}
	v.used++
	return v.room[v.used-1]
}

// times returns numbers, scaled.
func (v *View) times(scale float64, from []float64) []float64 {
	out := v.take(len(from))
	for i, x := range from {
		out[i] = scale * x
	}
	return out
}

// same returns a number n times.
func (v *View) same(x float64, n int) []float64 {
	out := v.take(n)
	for i := range out {
		out[i] = x
	}
	return out
}

// phase returns the phase that a quantity is, scaled, and the channel of minus its rise, so many times.
func (f *Frames) phase(v *View, quantity int, scale float64, angle int, many float64) ([]float64, Channel) {
	cosine, slope := f.direction(angle)
	c := f.rise(v, quantity, many*scale*cosine)
	turned := v.times(many*scale*slope, f.values[quantity])
	c.Parameters = append(c.Parameters, len(f.theta)-1)
	c.First, c.Second = append(c.First, turned), append(c.Second, v.times(-1, turned))
	return v.times(scale*cosine, f.values[quantity]), c
}

// rise is the channel of minus the rise of a quantity, scaled.
func (f *Frames) rise(v *View, quantity int, scale float64) Channel {
	c := Channel{Parameters: slices.Clone(depends[f.setup.Model][quantity])}
	for _, slope := range f.slopes[quantity] {
		c.First, c.Second = append(c.First, v.times(scale, slope)), append(c.Second, v.times(-scale, slope))
	}
	return c
}

// least is the smallest fraction that is told from 0, so that its logarithm has a derivative.
const least = 1e-15

// mixtureView has the amplitudes r/sqrt(f^2 + r^2) and f/sqrt(f^2 + r^2) with r = 1-f.
func (f *Frames) mixtureView(v *View, angle int) {
	q2 := f.setup.Q * f.setup.Q / 2
	n := len(f.values[3])
	var amplitude, slope [2][]float64 // of reference and sample, and derivatives of their logarithms by f
	for k := range amplitude {
		amplitude[k], slope[k] = v.take(n), v.take(n)
	}
	for i, x := range f.values[3] {
		part := [2]float64{1 - x, x}
		norm := part[0]*part[0] + part[1]*part[1]
		for k, sign := range [2]float64{-1, 1} {
			u := part[k]
			if math.Abs(u) < least {
				u = math.Copysign(least, u)
			}
			amplitude[k][i] = u / math.Sqrt(norm)
			slope[k][i] = sign/u - (part[1]-part[0])/norm
		}
	}
	x, channel := f.phase(v, 2, f.setup.Q, angle, 2)
	for k := range amplitude {
		v.line(amplitude[k], amplitude[k], false)
		c := f.rise(v, k, 2*q2)
		for i, by := range f.slopes[3] {
			along := v.take(n)
			for j := range along {
				along[j] = 2 * slope[k][j] * by[j]
			}
			c.Parameters = append(c.Parameters, depends[TwoComponent][3][i])
			c.First, c.Second = append(c.First, along), append(c.Second, along)
		}
		v.Channels = append(v.Channels, c)
	}
	for k := range amplitude {
		v.line(v.times(q2, f.values[k]), v.times(-q2, f.values[k]), true)
	}
	v.line(x, x, true)
	v.Channels = append(v.Channels, channel)
}

// directView has the quantities of frames as they are.
func (f *Frames) directView(v *View, angle int) {
	n := len(f.setup.Times)
	none := v.same(0, n)
	for k, values := range f.values {
		isRise := k < f.setup.rises()
		v.line(values, values, isRise)
		c := f.rise(v, k, 1)
		if isRise {
			v.Channels = append(v.Channels, c)
			continue
		}
		nothing := slices.Repeat([][]float64{none}, len(c.First))
		v.Channels = append(v.Channels, Channel{c.Parameters, c.First, nothing}, Channel{c.Parameters, nothing, c.First})
	}
	if f.setup.Model != Static {
		cosine, slope := f.direction(angle)
		v.Rows = append(v.Rows, Line{v.same(cosine, n), false})
		v.Channels = append(v.Channels, Channel{[]int{len(f.theta) - 1}, [][]float64{v.same(slope, n)}, [][]float64{none}})
	}
}
