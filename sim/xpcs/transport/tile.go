// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Tile is a graph of g for some frames, as rows, with some frames, as columns; only pairs whose
// column is after their row have a meaning.
type Tile struct {
	Rows, Columns []*ad.Node // input vectors, a column and a row for each Line of a View
	G             *ad.Node
	Slopes        []*ad.Node // derivatives of g with respect to the channels of a View
}

// Form says how a tile is computed.
type Form int

const (
	// Factored computes exponentials, sines and cosines of differences of frames as products of
	// those of single frames, which overflow where Frames.Factors says so.
	Factored Form = iota
	// Apart is Factored for phases that are not near each other; see View.Apart.
	Apart
	// Direct computes the model as it is written. The customary model is always Direct.
	Direct
)

// Tile makes the graph of so many rows and columns, for a program of a precision in bits.
func (s *Setup) Tile(rows, columns int, form Form, precision int) Tile {
	if err := s.Check(); err != nil {
		return Tile{G: ad.Fail(err)}
	}
	t := Tile{}
	lines := func(n int) (row, column []*ad.Node) {
		for k := range n {
			row = append(row, ad.Input(fmt.Sprintf("row %d", k), rows, 1))
			column = append(column, ad.Input(fmt.Sprintf("column %d", k), columns))
		}
		return row, column
	}
	switch {
	case form == Direct || s.Customary:
		s.directTile(&t, rows, columns, lines)
	case s.Model == Static:
		t.Rows, t.Columns = lines(1)
		t.G = ad.Mul(ad.Exp(t.Rows[0]), ad.Exp(t.Columns[0]))
		t.Slopes = []*ad.Node{t.G}
	case s.Model == Laminar:
		t.Rows, t.Columns = lines(2)
		t.shear(form, precision)
	default:
		t.Rows, t.Columns = lines(5)
		t.mixture()
	}
	return t
}

// shear is exp(-a) (sin x/x)^2 = r^2 of lines a/2 and x, and its derivatives by -a and by 2 x.
func (t *Tile) shear(form Form, precision int) {
	factors := func(in []*ad.Node) (h, sin, cos *ad.Node) {
		h = ad.Exp(in[0])
		return h, ad.Mul(h, ad.Sin(in[1])), ad.Mul(h, ad.Cos(in[1]))
	}
	h1, s1, c1 := factors(t.Rows)
	h2, s2, c2 := factors(t.Columns)
	x := ad.Sub(t.Columns[1], t.Rows[1])
	if form == Apart {
		x = ad.Shift(x, trifle(precision)) // pairs without a meaning stay finite
	}
	inverse := ad.Div(ad.Scalar(1), x)
	sin, cos := ad.Sub(ad.Mul(s2, c1), ad.Mul(c2, s1)), ad.Add(ad.Mul(c2, c1), ad.Mul(s2, s1))
	r := ad.Mul(sin, inverse)
	slope := ad.Mul(ad.Sub(cos, r), inverse)
	if form == Factored { // near 0, where these cancel, the series
		q := ad.Square(x)
		series, along := ad.Scale(1./6, q), ad.Scale(1./30, q)
		if precision == 32 {
			series = ad.Mul(series, nested(q, 20, 42))
			along = ad.Mul(along, nested(q, 28, 54))
		}
		isNear, h := ad.Less(q, ad.Scalar(near(precision))), ad.Mul(h1, h2)
		r = ad.Where(isNear, ad.Mul(h, ad.Sub(ad.Scalar(1), series)), r)
		slope = ad.Where(isNear, ad.Mul(ad.Mul(h, x), ad.Shift(along, -1./3)), slope)
	}
	t.G = ad.Square(r)
	t.Slopes = []*ad.Node{t.G, ad.Mul(r, slope)}
}

// near is the square of a phase up to which series are taken.
func near(precision int) float64 {
	if precision == 32 {
		return 0.1
	}
	return 1e-5
}

// trifle is lost in phases that are not near, and far from the smallest number.
func trifle(precision int) float64 {
	if precision == 32 {
		return 1e-10
	}
	return 1e-20
}

// nested is 1 - q/a (1 - q/b).
func nested(q *ad.Node, a, b float64) *ad.Node {
	one := ad.Scalar(1)
	return ad.Sub(one, ad.Mul(ad.Scale(1/a, q), ad.Sub(one, ad.Scale(1/b, q))))
}

// mixture is |a + b e^(i x)|^2 of lines of the amplitudes of a and b, their logarithms' rises, and x, and its
// derivatives by 2 log a, 2 log b and -2 x.
func (t *Tile) mixture() {
	amplitude := func(k int) *ad.Node {
		return ad.Mul(ad.Mul(t.Rows[k], ad.Exp(t.Rows[k+2])), ad.Mul(t.Columns[k], ad.Exp(t.Columns[k+2])))
	}
	a, b := amplitude(0), amplitude(1)
	s1, c1, s2, c2 := ad.Sin(t.Rows[4]), ad.Cos(t.Rows[4]), ad.Sin(t.Columns[4]), ad.Cos(t.Columns[4])
	sin, cos := ad.Sub(ad.Mul(s2, c1), ad.Mul(c2, s1)), ad.Add(ad.Mul(c2, c1), ad.Mul(s2, s1))
	both := ad.Mul(a, b)
	mixed := ad.Mul(both, cos)
	left, right := ad.Add(ad.Square(a), mixed), ad.Add(ad.Square(b), mixed)
	t.G = ad.Add(left, right)
	t.Slopes = []*ad.Node{left, right, ad.Mul(both, sin)}
}

// directTile is the model as it is written, of lines of the quantities of frames, and its derivatives by -rises, then by other quantities of
// the first and of the second frame and by the direction.
func (s *Setup) directTile(t *Tile, rows, columns int, lines func(n int) (row, column []*ad.Node)) {
	n := len(depends[s.Model])
	t.Rows, t.Columns = lines(n)
	wide := func(x *ad.Node) *ad.Node { return ad.Broadcast(x, rows, columns) }
	var rises, by []*ad.Node
	for v := range s.rises() {
		rises = append(rises, ad.Sub(t.Columns[v], t.Rows[v]))
	}
	by = append(by, rises...)
	first, second := append([]*ad.Node{}, t.Rows...), append([]*ad.Node{}, t.Columns...)
	for v := s.rises(); v < n; v++ {
		first[v], second[v] = wide(t.Rows[v]), wide(t.Columns[v])
		by = append(by, first[v], second[v])
	}
	var direction *ad.Node
	if s.Model != Static {
		turn := ad.Input("direction", rows, 1)
		t.Rows = append(t.Rows, turn)
		direction = wide(turn)
		by = append(by, direction)
	}
	rise := func(v int) *ad.Node {
		if s.Customary {
			return rises[v]
		}
		return ad.Abs(rises[v]) // the pairs without a meaning stay finite
	}
	t.G = wide(s.combined(rise, first, second, direction))
	t.Slopes = ad.VJP(t.G, wide(ad.Scalar(1)), by...)
	for v := range rises {
		t.Slopes[v] = ad.Neg(t.Slopes[v])
	}
}

// rises is the number of quantities of frames that count by their difference alone.
func (s *Setup) rises() int { return min(3, len(depends[s.Model])) }
