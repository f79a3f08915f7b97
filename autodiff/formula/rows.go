// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Functions of all rows together: backgrounds that follow from the peaks above them, and convolutions. The variable, their first argument, must be
// a column without errors.

// OfRows reports whether the formula calls a function of all rows together, whose variable must be a column without errors.
func (f *Formula) OfRows() bool {
	return slices.ContainsFunc(f.Functions(), func(name string) bool {
		return strings.HasPrefix(name, "spline") || slices.Contains([]string{"shirley", "tougaard", "convolve_gaussian", "convolve"}, name)
	})
}

// mostRows is the largest number of rows of functions that take a matrix: 200 MB.
const mostRows = 5000

// numbers are those of a node that depends on no input.
func numbers(what string, n *ad.Node) ([]float64, error) {
	v, err := ad.Numbers(n)
	if err != nil {
		return nil, fmt.Errorf("formula: %s needs a column or a number, without parameters and errors", what)
	}
	return v[0], nil
}

// faulty is a node with an error.
func faulty(err error) *ad.Node { return ad.Fail(err) }

// ascending returns the order of x and the widths of the cells about its places by the trapezoidal rule, in that order.
func ascending(x []float64) (order []int, width []float64) {
	order = make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	width = make([]float64, len(x))
	for k := range order {
		lo, hi := max(k-1, 0), min(k+1, len(x)-1)
		width[k] = (x[order[hi]] - x[order[lo]]) / 2
	}
	return order, width
}

// matrix returns the product of a matrix with rows of f, whose element (i, k) is of(x_i, x_k) times the width of cell k.
func matrix(name string, x, f *ad.Node, of func(xi, xk float64) float64, normal bool) *ad.Node {
	at, err := numbers(name, x)
	n := len(at)
	switch {
	case err != nil:
		return faulty(err)
	case n > mostRows:
		return faulty(fmt.Errorf("formula: %s of %d rows is too large: want at most %d", name, n, mostRows))
	}
	order, width := ascending(at)
	m := make([]float64, n*n)
	for i := range n {
		sum := 0.0
		for k, j := range order {
			m[i*n+j] = of(at[i], at[j]) * width[k]
			sum += m[i*n+j]
		}
		for j := range n {
			if normal && sum != 0 {
				m[i*n+j] /= sum
			}
		}
	}
	return ad.Reshape(ad.MatMul(ad.Const(m, n, n), ad.Reshape(ad.Broadcast(f, n), n, 1)), n)
}

// shirley is k times the integral of f up to x: the background of electrons that lost energy, on a scale of binding energies.
func shirley(in []*ad.Node) *ad.Node {
	x, err := numbers("shirley", in[0])
	if err != nil {
		return faulty(err)
	}
	n := len(x)
	order, _ := ascending(x)
	gap, place := make([]float64, n), make([]int, n)
	before := make([]int, n)
	for k, i := range order {
		place[i], before[k] = k, order[max(k-1, 0)]
		gap[k] = (x[i] - x[before[k]]) / 2
	}
	f := ad.Broadcast(in[1], n)
	cells := ad.Mul(ad.Const(gap), ad.Add(ad.Gather(f, ad.Ints(order), 0), ad.Gather(f, ad.Ints(before), 0)))
	return ad.Mul(in[2], ad.Gather(ad.Cumsum(cells, 0), ad.Ints(place), 0))
}

// tougaard is b times the integral of t/(c + t^2)^2 f(x - t) over losses t > 0, on a scale of binding energies (doi:10.1002/sia.740110902).
func tougaard(in []*ad.Node) *ad.Node {
	c, err := numbers("the fourth argument of tougaard, such as 1643 (eV^2),", in[3])
	if err != nil || len(c) != 1 {
		return faulty(cmp.Or(err, fmt.Errorf("formula: the fourth argument of tougaard is a column: want a number, such as 1643 (eV^2)")))
	}
	return ad.Mul(in[2], matrix("tougaard", in[0], in[1], func(xi, xk float64) float64 {
		t := xi - xk
		if t <= 0 {
			return 0
		}
		d := c[0] + t*t
		return t / (d * d)
	}, false))
}

// convolveGaussian is f convolved with a normal distribution of width sigma, of which the part within the range of x is taken as the whole.
func convolveGaussian(in []*ad.Node) *ad.Node {
	x, err := numbers("convolve_gaussian", in[0])
	n := len(x)
	switch {
	case err != nil:
		return faulty(err)
	case n > mostRows/2:
		return faulty(fmt.Errorf("formula: convolve_gaussian of %d rows is too large: want at most %d", n, mostRows/2))
	}
	order, width := ascending(x)
	square, log := make([]float64, n*n), make([]float64, n)
	for k, i := range order {
		log[i] = width[k]
	}
	for i := range n {
		for k := range n {
			square[i*n+k] = (x[i] - x[k]) * (x[i] - x[k])
		}
	}
	kernel := ad.Mul(ad.Exp(ad.Div(ad.Const(square, n, n), ad.Scale(-2, ad.Square(in[2])))), ad.Const(log, 1, n))
	f := ad.Reshape(ad.Broadcast(in[1], n), n, 1)
	return ad.Reshape(ad.Div(ad.MatMul(kernel, f), ad.MatMul(kernel, ad.Const(repeat(1, n), n, 1))), n)
}

func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// convolve is f convolved with a resolution that is measured at the same places, on a scale on which it is centred at its centre of mass. The integral of the resolution is taken as 1.
func convolve(in []*ad.Node) *ad.Node {
	x, err := numbers("convolve", in[0])
	if err != nil {
		return faulty(err)
	}
	r, err := numbers("the resolution of convolve", in[2])
	if err != nil || len(r) != len(x) {
		return faulty(cmp.Or(err, fmt.Errorf("formula: the resolution of convolve has %d values for %d rows: want a column", len(r), len(x))))
	}
	order, width := ascending(x)
	at, v := make([]float64, len(x)), make([]float64, len(x))
	sum, centre := 0.0, 0.0
	for k, i := range order {
		at[k], v[k] = x[i], r[i]
		sum, centre = sum+r[i]*width[k], centre+r[i]*width[k]*x[i]
	}
	if !(sum > 0) {
		return faulty(fmt.Errorf("formula: the integral of the resolution of convolve is %g: want a column with a peak above 0", sum))
	}
	centre /= sum
	return matrix("convolve", in[0], in[1], func(xi, xk float64) float64 { return interpolate(at, v, centre+xi-xk) / sum }, false)
}

// interpolate goes straight between ascending places, and is 0 outside.
func interpolate(x, y []float64, at float64) float64 {
	k, found := slices.BinarySearch(x, at)
	switch {
	case found:
		return y[k]
	case k == 0 || k == len(x):
		return 0
	}
	u := (at - x[k-1]) / (x[k] - x[k-1])
	return (1-u)*y[k-1] + u*y[k]
}

// spline is the natural cubic spline through heights at knots that lie evenly between the second and the third argument.
func spline(in []*ad.Node) *ad.Node {
	var ends [2]float64
	for k := range ends {
		v, err := numbers("the range of a spline", in[1+k])
		if err != nil || len(v) != 1 {
			return faulty(cmp.Or(err, fmt.Errorf("formula: the range of a spline is a column: want numbers, such as spline5(x, 0, 10, bg_)")))
		}
		ends[k] = v[0]
	}
	x, err := numbers("a spline", in[0])
	switch {
	case err != nil:
		return faulty(err)
	case !(ends[0] < ends[1]):
		return faulty(fmt.Errorf("formula: the range of a spline is from %g to %g: want the lower end first", ends[0], ends[1]))
	}
	knots := len(in) - 3
	y := ad.Scalar(0)
	for k := range knots {
		height := make([]float64, knots)
		height[k] = 1
		y = ad.Add(y, ad.Mul(in[3+k], ad.Const(naturalSpline(ends[0], ends[1], height, x))))
	}
	return y
}

// naturalSpline returns values at x of the natural cubic spline through heights at even knots; straight on outside.
func naturalSpline(lo, hi float64, height, x []float64) []float64 {
	n := len(height)
	h := (hi - lo) / float64(n-1)
	second := make([]float64, n) // second derivatives times h^2, by elimination of the tridiagonal system 1 4 1
	diag, right := make([]float64, n), make([]float64, n)
	for k := 1; k < n-1; k++ {
		diag[k], right[k] = 4, 6*(height[k+1]-2*height[k]+height[k-1])
		if k > 1 {
			diag[k] -= 1 / diag[k-1]
			right[k] -= right[k-1] / diag[k-1]
		}
	}
	for k := n - 2; k > 0; k-- {
		second[k] = (right[k] - second[k+1]) / diag[k]
	}
	out := make([]float64, len(x))
	for i, v := range x {
		t := (v - lo) / h
		k := min(max(int(math.Floor(t)), 0), n-2)
		u := t - float64(k)
		a, b := height[k], height[k+1]
		slope := b - a - (2*second[k]+second[k+1])/6
		out[i] = a + u*(slope+u*(second[k]/2+u*(second[k+1]-second[k])/6))
		if u < 0 {
			out[i] = a + u*slope
		} else if u > 1 {
			out[i] = b + (u-1)*(slope+second[k]+(second[k+1]-second[k])/2)
		}
	}
	return out
}

func init() {
	Register("shirley", 3, shirley)
	Register("tougaard", 4, tougaard)
	Register("convolve_gaussian", 3, convolveGaussian)
	Register("convolve", 3, convolve)
	Register("where", 3, func(in []*ad.Node) *ad.Node { return ad.Where(ad.Greater(in[0], ad.Scalar(0)), in[1], in[2]) })
	Register("mod", 2, func(in []*ad.Node) *ad.Node { // x - period floor(x/period)
		return ad.Sub(in[0], ad.Mul(in[1], ad.Floor(ad.Div(in[0], in[1]))))
	})
}
