// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// span is an orthonormal basis that grows column by column (modified Gram-Schmidt,
// twice).
type span struct {
	q   [][]float64
	mem *arena[float64] // where new columns and their coordinates go
}

// least is the fraction of a column outside the span below which it adds nothing.
const least = 1e-3

// add adds a column to the span and returns its coordinates: those along the earlier columns and,
// last, its length outside them. It returns nil if the column is not finite or already lies inside.
func (s *span) add(column []float64) []float64 { return s.addBeyond(column, least) }

// leastOwn replaces least for the parameters of a fit: everything that the fit can move along is
// projected out, however little of a column that is.
const leastOwn = 1e-9

func (s *span) addBeyond(column []float64, least float64) []float64 {
	before := norm(column)
	if !(before > 0) || math.IsInf(before, 0) {
		return nil
	}
	c := s.mem.take(len(column))
	copy(c, column)
	at := s.mem.take(len(s.q) + 1)
	for range 2 {
		for k, q := range s.q {
			a := dot(q, c)
			at[k] += a
			linalg.AddScaled(c, -a, q)
		}
	}
	after := norm(c)
	if !(after > least*before) {
		return nil
	}
	at[len(s.q)] = after
	for i := range c {
		c[i] /= after
	}
	s.q = append(s.q, c)
	return at
}

// beyond returns the first n of the columns that lie mostly outside the span and outside each other.
func (s *span) beyond(columns [][]float64, n int) (out [][]float64) {
	t := span{q: s.q[:len(s.q):len(s.q)], mem: s.mem}
	for _, c := range columns {
		if len(out) == n {
			break
		}
		before := len(t.q)
		if at := t.add(c); at != nil && at[len(at)-1] > 0.3*norm(c) {
			out = append(out, c)
		} else {
			t.q = t.q[:before]
		}
	}
	return out
}

// outside removes from z the part that lies in the span.
func (s *span) outside(z []float64) {
	for range 2 {
		for _, q := range s.q {
			linalg.AddScaled(z, -dot(q, z), q)
		}
	}
}

// leverage fills h with the squared length of each unit vector's part in the span: the
// diagonal of the hat matrix.
func (s *span) leverage(h []float64) {
	clear(h)
	for _, q := range s.q {
		for i, v := range q {
			h[i] += v * v
		}
	}
}

func dot(a, b []float64) float64 { return floats.Dot(a, b[:len(a)]) }

// norm returns the length of a column, without overflow.
func norm(v []float64) float64 {
	if s := dot(v, v); s > 1e-280 && s < 1e300 {
		return math.Sqrt(s)
	}
	big := 0.0
	for _, x := range v {
		big = max(big, math.Abs(x))
	}
	if big == 0 || math.IsInf(big, 0) || math.IsNaN(big) {
		return big
	}
	s := 0.0
	for _, x := range v {
		s += x / big * x / big
	}
	return big * math.Sqrt(s)
}
