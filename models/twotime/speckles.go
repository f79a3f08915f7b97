// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Numbers of speckles follow from how far means of cells are from the model, in units of the scatter of one speckle. The scatter of single
// entries says less: where the sample moves little during the measurement, all entries of an angle scatter together, and contrast and offset
// take most of that up, so that the residuals are smaller than the noise by a factor that may be 2 or 20.

// speckles replaces the numbers of speckles of the angles, with which the cells are whitened, by those that the residuals of the cells have
// outside the space that the free parameters span.
func (b *byCells) speckles(at Point) error {
	l, err := b.linearised(at, b.free, Individual) // contrasts that are wrongly taken to be the same are no noise
	if err != nil {
		return err
	}
	rows := make([][2]int, len(b.white)) // of each angle in l.z
	for k, from := 0, 0; k < len(rows); k++ {
		to := from
		for _, pairs := range b.blocks.count[k] {
			if pairs > 0 {
				to++
			}
		}
		rows[k], from = [2]int{from, to}, to
	}
	free := make([]float64, len(l.z)) // what is left of the variance of each
	for i := range free {
		free[i] = 1
	}
	var spanned []span
	columns := make([]span, len(l.jacobian))
	for k, c := range l.jacobian {
		columns[k] = spanOf(c)
	}
	// those of one angle first, because a column is compared with those that it overlaps
	slices.SortStableFunc(columns, func(a, b span) int { return cmp.Compare(len(a.values), len(b.values)) })
	for _, c := range columns {
		if !c.orthonormal(spanned) {
			continue
		}
		spanned = append(spanned, c)
		floats.AddScaled(l.z[c.from:c.from+len(c.values)], -c.times(span{0, l.z}), c.values)
		for i, v := range c.values {
			free[c.from+i] -= v * v
		}
	}
	for k, r := range rows {
		square, dof := 0.0, floats.Sum(free[r[0]:r[1]])
		for _, v := range l.z[r[0]:r[1]] {
			square += v * v
		}
		if dof < leastFreedom || !(square > 0) {
			continue
		}
		b.white[k].freedom = dof
		b.rescale(k, dof/square)
	}
	return nil
}

// rescale multiplies the number of speckles of an angle.
func (b *byCells) rescale(angle int, ratio float64) {
	w, used := &b.white[angle], 0
	for _, pairs := range b.blocks.count[angle] {
		if pairs > 0 {
			used++
		}
	}
	w.noise.Speckles *= ratio
	w.logDet -= float64(used) / 2 * math.Log(ratio)
	for i := range w.inverse {
		w.inverse[i] *= math.Sqrt(ratio)
	}
}

// leastFreedom is the number of degrees of freedom of the cells of an angle from which a number of speckles is taken from them.
const leastFreedom = 4

// span is a column without the zeros before and after its values.
type span struct {
	from   int
	values []float64
}

func spanOf(column []float64) span {
	is := func(v float64) bool { return v != 0 }
	from := slices.IndexFunc(column, is)
	if from < 0 {
		return span{}
	}
	to := len(column)
	for column[to-1] == 0 {
		to--
	}
	return span{from, slices.Clone(column[from:to])}
}

// overlap returns the values of both columns where both have some.
func (s span) overlap(t span) (a, b []float64) {
	from, to := max(s.from, t.from), min(s.from+len(s.values), t.from+len(t.values))
	if from >= to {
		return nil, nil
	}
	return s.values[from-s.from : to-s.from], t.values[from-t.from : to-t.from]
}

func (s span) times(t span) float64 {
	a, b := s.overlap(t)
	return floats.Dot(a, b)
}

// orthonormal replaces the column by its part outside the span of others, of length 1. It reports whether there is one. The others have
// length 1 and no more values than the column, which therefore covers those that it overlaps.
func (s span) orthonormal(others []span) bool {
	length := floats.Norm(s.values, 2)
	for range 2 { // once more for the digits
		for _, o := range others {
			to, by := s.overlap(o)
			floats.AddScaled(to, -floats.Dot(to, by), by)
		}
	}
	left := floats.Norm(s.values, 2)
	if !(left > 1e-7*length) || math.IsInf(left, 0) {
		return false
	}
	floats.Scale(1/left, s.values)
	return true
}
