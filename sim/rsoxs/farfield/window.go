// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield

import (
	"math"
	"sync"
)

// window is a kernel that interpolates functions of limited bandwidth between the points of a regular grid: sinc(t) times a Kaiser-Bessel
// window of the half width m. The error for functions whose bandwidth is 1/oversampling of what the grid holds is about
// exp(-pi m (1 - 1/oversampling)) of the largest value [J. J. Knab, doi:10.1109/TIT.1979.1056115]. Between two grid points the weight of
// each of the 2 m taps is a polynomial, so that weights and their derivatives belong together.
type window struct {
	m      int
	degree int
	// coef[order] holds the coefficients of the polynomials of the weights' derivatives of that order, in the place between two grid
	// points, from -1 to 1: those of the highest power for all taps, then those of the next.
	coef [maxOrder + 1][]float64
}

// maxOrder is the highest derivative with respect to a coordinate.
const maxOrder = 3

var (
	windowsMu sync.Mutex
	windows   = map[windowKey]*window{}
)

type windowKey struct {
	m, oversampling int
	tolerance       float64
}

// newWindow returns the window of half width m for an oversampling in tenths, whose weights are right to a hundredth of a tolerance.
func newWindow(m, oversampling int, tolerance float64) *window {
	windowsMu.Lock()
	defer windowsMu.Unlock()
	key := windowKey{m, oversampling, tolerance}
	if w := windows[key]; w != nil {
		return w
	}
	w := &window{m: m}
	beta := math.Pi * float64(m) * (1 - 10/float64(oversampling))
	const nodes = 20
	series := make([][]float64, 2*m)
	for j := range series {
		// The place s is between grid point 0 and 1, and tap j belongs to grid point j - m + 1.
		v := make([]float64, nodes)
		for k := range v {
			s := math.Cos(math.Pi * (float64(k) + 0.5) / nodes)
			v[k] = knab((s+1)/2-float64(j-m+1), m, beta)
		}
		series[j] = chebyshev(v)
		for k, c := range series[j] {
			if k < nodes-2 && math.Abs(c) > 0.01*tolerance {
				w.degree = max(w.degree, k)
			}
		}
	}
	n := w.degree + 1
	for order := range w.coef {
		w.coef[order] = make([]float64, n*len(series))
	}
	for j, c := range series {
		p := powers(c[:n])
		for order := range w.coef {
			for i, c := range p {
				w.coef[order][(n-1-i)*len(series)+j] = c
			}
			p = derivative(p)
		}
	}
	windows[key] = w
	return w
}

// knab returns sinc(t) times the window.
func knab(t float64, m int, beta float64) float64 {
	z := t / float64(m)
	if math.Abs(z) >= 1 {
		return 0
	}
	r := math.Sqrt(1 - z*z)
	return sinc(t) * math.Sinh(beta*r) / (r * math.Sinh(beta))
}

func sinc(t float64) float64 {
	if x := math.Pi * t; math.Abs(x) > 1e-8 {
		return math.Sin(x) / x
	}
	return 1
}

// chebyshev returns the coefficients of the Chebyshev series through values at the nodes.
func chebyshev(v []float64) []float64 {
	n := len(v)
	c := make([]float64, n)
	for i := range c {
		for k, x := range v {
			c[i] += 2 / float64(n) * x * math.Cos(math.Pi*float64(i)*(float64(k)+0.5)/float64(n))
		}
	}
	c[0] /= 2
	return c
}

// powers returns the coefficients of 1, s, s^2 ... of a Chebyshev series.
func powers(c []float64) []float64 {
	n := len(c)
	out, a, b := make([]float64, n), make([]float64, n), make([]float64, n)
	a[0] = 1 // T_0
	if n > 1 {
		b[1] = 1 // T_1
	}
	for i := range c {
		for k := range out {
			out[k] += c[i] * a[k]
		}
		next := make([]float64, n)
		for k := range n - 1 {
			next[k+1] = 2 * b[k]
		}
		for k := range next {
			next[k] -= a[k]
		}
		a, b = b, next
	}
	return out
}

// derivative returns the coefficients of the derivative with respect to the place in units of the grid, which s/2 is.
func derivative(p []float64) []float64 {
	d := make([]float64, len(p))
	for i := 1; i < len(p); i++ {
		d[i-1] = 2 * float64(i) * p[i]
	}
	return d
}

// weights fills dst with the weights of the 2 m taps around the place t of a grid, or their derivatives, and returns the grid point of
// the first.
func (w *window) weights(dst []float64, t float64, order int) (first int) {
	at := math.Floor(t)
	s := 2*(t-at) - 1
	c := w.coef[order]
	copy(dst, c)
	for c = c[len(dst):]; len(c) > 0; c = c[len(dst):] {
		row := c[:len(dst)]
		for j, v := range dst {
			dst[j] = v*s + row[j]
		}
	}
	return int(at) - w.m + 1
}
