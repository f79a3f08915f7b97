// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// factor forgets the plane of the last point; the first region finds a new one.
func (o *operator) factor() { o.planned = false }

// region minimises the model over the plane of the gradient and a Gauss-Newton
// step found by LSMR (Byrd, Schnabel & Shultz 1988, doi:10.1007/BF01580735), within radius.
// The same plane serves smaller radii at one point.
func (o *operator) region(radius, _ float64) float64 {
	if !o.planned {
		o.span(radius)
		o.planned = true
	}
	b, g := o.onPlane()
	y := minimise2(b, g, radius)
	clear(o.stepH)
	for i, p := range o.plane {
		linalg.AddScaled(o.stepH, y[i], p)
	}
	return 0
}

// span sets plane to an orthonormal basis, and planeImage to its images with the
// rows of diagH under them.
func (o *operator) span(radius float64) {
	gnorm := linalg.Norm(o.gh)
	copy(o.plane[0], o.gh)
	linalg.Unit(o.plane[0])
	o.full(o.planeImage[0], o.plane[0])
	// Damping as a Cauchy step in this region would predict keeps LSMR's work on
	// directions that the region allows.
	a := linalg.Dot(o.planeImage[0], o.planeImage[0]) / 2
	_, v := lowest(a, -gnorm, 0, radius)
	damp := math.Sqrt(max(0, -v)) / radius
	tol := min(1e-2, max(1e-12, 0.1*o.slope(nil)))
	copy(o.rhs, o.fw) // zeros under it
	o.lsmr.Solve(o.plane[1], o.rhs, o.full, o.fullTransposed, damp, tol, min(max(200, o.n), 2000))
	linalg.AddScaled(o.plane[1], -linalg.Dot(o.plane[0], o.plane[1]), o.plane[0])
	if l := linalg.Unit(o.plane[1]); l == 0 || !linalg.Finite(l) {
		clear(o.plane[1])
	}
	linalg.AddScaled(o.plane[1], -linalg.Dot(o.plane[0], o.plane[1]), o.plane[0])
	o.full(o.planeImage[1], o.plane[1])
}

// full is the image with the rows of diagH.
func (o *operator) full(out, h []float64) {
	o.image(out[:o.m], h)
	for i, v := range h {
		out[o.m+i] = math.Sqrt(max(0, o.diagH[i])) * v
	}
}

func (o *operator) fullTransposed(out, u []float64) {
	o.transposed(o.vector, u[:o.m])
	for i, v := range o.vector {
		out[i] = o.d[i]*v + math.Sqrt(max(0, o.diagH[i]))*u[o.m+i]
	}
}

// onPlane returns the quadratic model on the plane.
func (o *operator) onPlane() (b [3]float64, g [2]float64) {
	x, y := o.planeImage[0], o.planeImage[1]
	b[0], b[2], b[1] = linalg.Products(x, y)
	return b, [2]float64{linalg.Dot(o.gh, o.plane[0]), linalg.Dot(o.gh, o.plane[1])}
}

// minimise2 minimises g.y + y.B y/2 with |y| at most radius; b holds B11, B12, B22.
func minimise2(b [3]float64, g [2]float64, radius float64) [2]float64 {
	// Eigenvectors by one rotation.
	c, s := 1.0, 0.0
	if b[1] != 0 {
		zeta := (b[2] - b[0]) / (2 * b[1])
		t := math.Copysign(1/(math.Abs(zeta)+linalg.Hypot1(zeta)), zeta)
		c = 1 / math.Sqrt(1+t*t)
		s = c * t
	}
	e := [2]float64{max(0, c*c*b[0]-2*c*s*b[1]+s*s*b[2]), max(0, s*s*b[0]+2*c*s*b[1]+c*c*b[2])}
	h := [2]float64{c*g[0] - s*g[1], s*g[0] + c*g[1]}
	at := func(par float64) (y [2]float64, l float64) {
		for i := range y {
			if h[i] != 0 {
				y[i] = -h[i] / (e[i] + par)
			}
		}
		return y, math.Hypot(y[0], y[1])
	}
	y, l := at(0)
	if !(l <= radius) {
		lo, hi := 0.0, math.Hypot(h[0], h[1])/radius
		for range 200 { // l falls with par
			mid := lo + (hi-lo)/2
			if y, l = at(mid); l > radius {
				lo = mid
			} else {
				hi = mid
			}
			if math.Abs(l-radius) < 1e-10*radius || mid == lo && mid == hi {
				break
			}
		}
	}
	return [2]float64{c*y[0] + s*y[1], -s*y[0] + c*y[1]}
}
