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
	// coef[order] holds, for tap j, the coefficients of the polynomial of the weight's derivative of that order, highest first, in the
	// place between two grid points, from -1 to 1.
	coef [maxOrder + 1][]float64
}

// maxOrder is the highest derivative with respect to a coordinate.
const maxOrder = 3

var (
	windowsMu sync.Mutex
	windows   = map[[2]int]*window{}
)

// newWindow returns the window of half width m for an oversampling in tenths.
func newWindow(m, oversampling int) *window {
	windowsMu.Lock()
	defer windowsMu.Unlock()
	key := [2]int{m, oversampling}
	if w := windows[key]; w != nil {
		return w
	}
	w := &window{m: m, degree: 16}
	beta := math.Pi * float64(m) * (1 - 10/float64(oversampling))
	n := w.degree + 1
	for j := range 2 * m {
		// The place s is between grid point 0 and 1, and tap j belongs to grid point j - m + 1.
		v := make([]float64, n)
		for k := range v {
			s := math.Cos(math.Pi * (float64(k) + 0.5) / float64(n))
			v[k] = knab((s+1)/2-float64(j-m+1), m, beta)
		}
		p := powers(chebyshev(v))
		for order := range maxOrder + 1 {
			row := make([]float64, n)
			for i, c := range p {
				row[n-1-i] = c
			}
			w.coef[order] = append(w.coef[order], row...)
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
	n := w.degree + 1
	c := w.coef[order]
	for j := range dst {
		row := c[j*n : (j+1)*n]
		v := row[0]
		for _, k := range row[1:] {
			v = v*s + k
		}
		dst[j] = v
	}
	return int(at) - w.m + 1
}
