// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package interp

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// Kind says how [New] interpolates.
type Kind string

// Kinds of interpolation.
const (
	// Linear joins neighbouring points by straight lines.
	Linear Kind = "linear"
	// Nearest takes the value of the nearest point, and halfway between two points that of the one
	// before.
	Nearest Kind = "nearest"
	// NearestUp takes the value of the nearest point, and halfway between two points that of the
	// one after.
	NearestUp Kind = "nearest-up"
	// Previous takes the value of the point before.
	Previous Kind = "previous"
	// Next takes the value of the point after.
	Next Kind = "next"
	// Zero is a spline of order 0. It equals Previous inside the table and extrapolates by the
	// first value.
	Zero Kind = "zero"
	// SLinear is a spline of order 1.
	SLinear Kind = "slinear"
	// Quadratic is a spline of order 2 with its knots between the points.
	Quadratic Kind = "quadratic"
	// Cubic is a spline of order 3: a CubicSpline with the condition NotAKnot at both ends.
	Cubic Kind = "cubic"
)

// least is the number of points that each kind needs.
var least = map[Kind]int{Linear: 2, Nearest: 1, NearestUp: 1, Previous: 1, Next: 1, Zero: 1, SLinear: 2, Quadratic: 3, Cubic: 4}

// Settings say how [New] interpolates and what lies outside.
type Settings struct {
	// Kind says how values are interpolated. Default Linear.
	Kind Kind
	// Outside says how the function continues outside its table. Default Refuse.
	Outside Outside
	// Below and Above are the values before the first and after the last point if Outside is Fill.
	Below, Above float64
}

// New interpolates the values y at the points x, which may be in any order; each row of len(x)
// values of y is a function of its own. Previous extrapolates by NaN below the table, and Next
// above it. It returns an error for points that are equal or not finite, and for too few of them.
func New(x, y []float64, s Settings) (*Function, error) {
	if s.Kind == "" {
		s.Kind = Linear
	}
	n, ok := least[s.Kind]
	if !ok {
		return nil, fmt.Errorf("interp: unknown kind %q%s", string(s.Kind), meant(string(s.Kind)))
	}
	if len(y) == 0 || len(x) == 0 || len(y)%len(x) != 0 {
		return nil, fmt.Errorf("interp: %s: there are %d values for %d points: give one or more rows with one value for each point", s.Kind, len(y), len(x))
	}
	x, y = sorted(x, y)
	rows, err := table(string(s.Kind), n, x, y)
	if err != nil {
		return nil, err
	}
	below, above := s.Below, s.Above
	var f *Function
	switch s.Kind {
	case Linear, SLinear:
		f = lines(x, rows)
	case Quadratic:
		f = quadratic(x, rows)
	case Cubic:
		f = hermite(x, rows, cubicSlopes(x, rows, CubicSettings{}))
	default:
		f = steps(s.Kind, x, rows)
		if s.Outside == Extrapolate && (s.Kind == Previous || s.Kind == Next) {
			f.fill(Fill, math.NaN(), math.NaN())
			for r, v := range rows {
				if s.Kind == Previous {
					f.above[r] = v[len(x)-1]
				} else {
					f.under[r] = v[0]
				}
			}
			return f, nil
		}
	}
	return f.fill(s.Outside, below, above), nil
}

// meant suggests a kind.
func meant(name string) string {
	var names []string
	for k := range least {
		names = append(names, string(k))
	}
	slices.Sort(names)
	if m := spelling.Meant(name, names); m != "" {
		return fmt.Sprintf(": did you mean %q?", m)
	}
	return fmt.Sprintf(": want one of %q", names)
}

// sorted returns the points in ascending order, with their values.
func sorted(x, y []float64) ([]float64, []float64) {
	if sort.Float64sAreSorted(x) {
		return slices.Clone(x), y
	}
	n := len(x)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return x[order[a]] < x[order[b]] })
	u, v := make([]float64, n), make([]float64, len(y))
	for k, i := range order {
		u[k] = x[i]
		for r := 0; r < len(y); r += n {
			v[r+k] = y[r+i]
		}
	}
	return u, v
}

// lines joins the points by lines.
func lines(x []float64, rows [][]float64) *Function {
	f := pieces(x, 1, len(rows))
	for r, y := range rows {
		for i := range len(x) - 1 {
			copy(f.piece(r, i), []float64{(y[i+1] - y[i]) / (x[i+1] - x[i]), y[i]})
		}
	}
	return f
}

// pieces returns a function without values, with a piece between any two points.
func pieces(x []float64, degree, rows int) *Function {
	n := len(x)
	f := &Function{lo: x[0], hi: x[n-1], edges: x[1 : n-1], origin: x[:n-1], degree: degree}
	for range rows {
		f.coef = append(f.coef, make([]float64, (n-1)*(degree+1)))
	}
	return f
}

// steps returns a piecewise constant function.
func steps(kind Kind, x []float64, rows [][]float64) *Function {
	n := len(x)
	f := &Function{lo: x[0], hi: x[n-1], edges: x[1:], origin: make([]float64, n)}
	switch kind {
	case Next:
		f.edges, f.strict = x[:n-1], true
	case Nearest, NearestUp:
		f.strict = kind == Nearest
		f.edges = make([]float64, n-1)
		for i := range f.edges {
			f.edges[i] = x[i+1]/2 + x[i]/2
		}
	}
	for _, y := range rows {
		f.coef = append(f.coef, slices.Clone(y))
	}
	return f
}

// quadratic returns the spline of order 2 with knots halfway between the points, but for the first and the last two.
//
// In the basis of truncated powers, y = a + b u + c u^2 + sum_j d_j max(0, x-t_j)^2, the system would be ill-conditioned.
// It is solved for the values of B-splines instead, and the pieces are expanded about their beginnings.
func quadratic(x []float64, rows [][]float64) *Function {
	n := len(x)
	t := []float64{x[0], x[0], x[0]}
	for i := 1; i < n-2; i++ {
		t = append(t, (x[i]+x[i+1])/2)
	}
	t = append(t, x[n-1], x[n-1], x[n-1])
	system := newBand(n, 2)
	for i, at := range x {
		k := sort.Search(n-3, func(j int) bool { return t[j+3] > at }) + 2
		for j, v := range quadraticBasis(t, k, at) {
			system.set(i, k-2+j, v)
		}
	}
	var c [][]float64
	for _, y := range rows {
		c = append(c, slices.Clone(y))
	}
	system.solve(c)
	f := pieces(t[2:n+1], 2, len(rows))
	f.origin = t[2:n]
	for r := range rows {
		for i := range n - 2 {
			k := i + 2
			h := t[k+1] - t[k]
			a, b := (c[r][k-1]-c[r][k-2])/(t[k+1]-t[k-1]), (c[r][k]-c[r][k-1])/(t[k+2]-t[k])
			at := c[r][k-2] + a*(t[k]-t[k-1])
			copy(f.piece(r, i), []float64{(b - a) / h, 2 * a, at})
		}
	}
	return f
}

// quadraticBasis returns the values of the three B-splines of order 2 on the interval k of the knots t.
func quadraticBasis(t []float64, k int, x float64) [3]float64 {
	h := t[k+1] - t[k]
	l, r := (t[k+1]-x)/h, (x-t[k])/h
	p, q := t[k+1]-t[k-1], t[k+2]-t[k]
	return [3]float64{l * (t[k+1] - x) / p, l*(x-t[k-1])/p + r*(t[k+2]-x)/q, r * (x - t[k]) / q}
}
