// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// pattern is a radial profile of cubic B-splines, one for each angular function.
type pattern struct {
	samples   []sample
	harmonics int
	spacing   float64 // of the knots (pixels)
	inner     float64 // radius of the first knot
	knots     int     // splines of each angular function
	coef      []float64
	weights   []float64 // of each sample
	floor     float64   // least standard deviation of a sample
}

// refine fits profile and centre together.
func refine(all []sample, start Point, harmonics int, floor float64) (Center, error) {
	p := &pattern{samples: all, harmonics: harmonics, floor: floor, weights: make([]float64, len(all))}
	for i := range p.weights {
		p.weights[i] = 1
	}
	c := Center{Row: start[0], Col: start[1], Pixels: len(all)}
	var hessian [3]float64
	settled := false // whether knots and weights stay as they are, without which steps need not end
	for c.Iterations = 1; c.Iterations <= centerSteps; c.Iterations++ {
		at := Point{c.Row, c.Col}
		if !settled {
			p.lay(at)
			if _, _, err := p.step(at); err != nil { // the profile, for the weights
				return c, err
			}
			p.weigh(at)
		}
		d, h, err := p.step(at)
		if err != nil {
			return c, err
		}
		hessian = h
		size := math.Hypot(d[0], d[1])
		if most := 2 * p.spacing; size > most {
			d[0], d[1] = d[0]*most/size, d[1]*most/size
		}
		c.Row, c.Col = c.Row+d[0], c.Col+d[1]
		if settled && size < centerTol {
			c.Converged = true
			break
		}
		settled = settled || size < 0.02 || c.Iterations >= settling
	}
	c.Iterations = min(c.Iterations, centerSteps)
	det := hessian[0]*hessian[2] - hessian[1]*hessian[1]
	c.SDRow, c.SDCol = math.Sqrt(hessian[2]/det), math.Sqrt(hessian[0]/det)
	if !(det > 0) || math.IsNaN(c.SDRow+c.SDCol) {
		return c, fmt.Errorf("mask: the pattern does not determine a centre, as it is flat or varies along one direction only: use another image, or mask less")
	}
	return c, nil
}

// lay places the knots for a centre.
func (p *pattern) lay(at Point) {
	low, high := math.Inf(1), 0.0
	for _, s := range p.samples {
		r := math.Hypot(s.row-at[0], s.col-at[1])
		low, high = math.Min(low, r), math.Max(high, r)
	}
	most := float64(mostKnots / (1 + 2*p.harmonics))
	p.spacing = math.Max(math.Max(1.5, spacing(p.samples)), (high-low)/most)
	p.inner = low
	p.knots = int((high-low)/p.spacing) + 4
}

// size is the number of coefficients.
func (p *pattern) size() int { return p.knots * (1 + 2*p.harmonics) }

// terms are the basis functions at one sample that are not 0, and their derivatives by the centre.
type terms struct {
	index        []int
	value        []float64
	byRow, byCol []float64
}

// at fills in the terms of a sample.
func (t *terms) at(p *pattern, s sample, c Point) {
	t.index, t.value, t.byRow, t.byCol = t.index[:0], t.value[:0], t.byRow[:0], t.byCol[:0]
	v, h := s.row-c[0], s.col-c[1]
	r := math.Hypot(v, h)
	u := (r - p.inner) / p.spacing
	k := min(int(u), p.knots-4)
	b, db := cubic(u - float64(k))
	var rv, rh, av, ah float64 // derivatives of radius and angle by v and h
	if r > 0 {
		rv, rh, av, ah = v/r, h/r, h/(r*r), -v/(r*r)
	}
	angle := math.Atan2(v, h)
	for j := range 1 + 2*p.harmonics {
		f, df := angular(j, angle)
		for i := range b {
			radial := db[i] / p.spacing * f
			turn := b[i] * df
			t.index = append(t.index, j*p.knots+k+i)
			t.value = append(t.value, b[i]*f)
			t.byRow = append(t.byRow, -(radial*rv + turn*av))
			t.byCol = append(t.byCol, -(radial*rh + turn*ah))
		}
	}
}

// angular is 1, cos 2a, sin 2a, cos 4a ... and its derivative.
func angular(j int, a float64) (f, df float64) {
	if j == 0 {
		return 1, 0
	}
	m := float64(2 * ((j + 1) / 2))
	sin, cos := math.Sincos(m * a)
	if j%2 == 1 {
		return cos, -m * sin
	}
	return sin, m * cos
}

// cubic returns the four cubic B-splines at u from 0 to 1 between two knots, and their derivatives.
func cubic(u float64) (b, db [4]float64) {
	w := 1 - u
	b = [4]float64{w * w * w / 6, (3*u*u*u - 6*u*u + 4) / 6, (3*w*w*w - 6*w*w + 4) / 6, u * u * u / 6}
	db = [4]float64{-w * w / 2, (3*u*u - 4*u) / 2, -(3*w*w - 4*w) / 2, u * u / 2}
	return b, db
}

// step fits the profile at a centre and returns the Gauss-Newton step of the centre with the
// elements (rr, rc, cc) of its inverse covariance.
func (p *pattern) step(at Point) (d Point, h [3]float64, err error) {
	n := p.size()
	normal, right := make([]float64, n*n), make([]float64, n)
	var t terms
	total, size := 0.0, 0.0
	for i, s := range p.samples {
		t.at(p, s, at)
		w := p.weights[i]
		if w == 0 {
			continue
		}
		total, size = total+w, size+w*s.value*s.value
		for a, ia := range t.index {
			wa := w * t.value[a]
			right[ia] += wa * s.value
			for b, ib := range t.index[:a+1] { // the lower triangle
				normal[ia*n+ib] += wa * t.value[b]
			}
		}
	}
	for a := range n { // splines without samples stay near 0
		normal[a*n+a] += 1e-9 * total / float64(n)
	}
	if row, pivot := linalg.Cholesky(normal, n); row >= 0 {
		return d, h, fmt.Errorf("mask: the radial profile is not determined (pivot %g of spline %d): mask fewer pixels", pivot, row)
	}
	p.coef = right
	linalg.SolveCholesky(normal, p.coef)
	// The derivatives of the model by the centre, orthogonal to the profile's.
	cross := [2][]float64{make([]float64, n), make([]float64, n)}
	var hh [3]float64
	var g Point
	cost, count := 0.0, 0.0
	for i, s := range p.samples {
		t.at(p, s, at)
		model, row, col := 0.0, 0.0, 0.0
		for a, ia := range t.index {
			model += p.coef[ia] * t.value[a]
			row += p.coef[ia] * t.byRow[a]
			col += p.coef[ia] * t.byCol[a]
		}
		w, r := p.weights[i], s.value-model
		cost += w * r * r
		if w > 0 {
			count++
		}
		g[0], g[1] = g[0]+w*row*r, g[1]+w*col*r
		hh[0], hh[1], hh[2] = hh[0]+w*row*row, hh[1]+w*row*col, hh[2]+w*col*col
		for a, ia := range t.index {
			cross[0][ia] += w * row * t.value[a]
			cross[1][ia] += w * col * t.value[a]
		}
	}
	var solved [2][]float64
	for k := range cross {
		solved[k] = append([]float64(nil), cross[k]...)
		linalg.SolveCholesky(normal, solved[k])
	}
	before := hh[0] + hh[2]
	hh[0] -= linalg.Dot(cross[0], solved[0])
	hh[1] -= linalg.Dot(cross[0], solved[1])
	hh[2] -= linalg.Dot(cross[1], solved[1])
	det := hh[0]*hh[2] - hh[1]*hh[1]
	if !(hh[0]+hh[2] > 1e-12*before) || !(hh[0]+hh[2] > 1e-14*size) || !(det > 1e-12*(hh[0]+hh[2])*(hh[0]+hh[2])) {
		return d, h, fmt.Errorf("mask: the pattern does not determine a centre, as it is flat or varies along one direction only: use another image, or mask less")
	}
	d = Point{(hh[2]*g[0] - hh[1]*g[1]) / det, (hh[0]*g[1] - hh[1]*g[0]) / det}
	variance := math.Max(cost/math.Max(count-float64(n)-2, 1), 1e-300)
	for k := range h {
		h[k] = hh[k] / variance
	}
	return d, h, nil
}

// weigh weighs the samples by the scatter about the profile in their ring; those further than a few standard deviations
// count less and less, and from 4.685 of them on not at all (Tukey's biweight).
func (p *pattern) weigh(at Point) {
	rings := make([][]float64, p.knots)
	residual, ring := make([]float64, len(p.samples)), make([]int, len(p.samples))
	var t terms
	all := make([]float64, 0, len(p.samples))
	for i, s := range p.samples {
		t.at(p, s, at)
		residual[i] = s.value
		for a, ia := range t.index {
			residual[i] -= p.coef[ia] * t.value[a]
		}
		ring[i] = t.index[0]
		rings[ring[i]] = append(rings[ring[i]], math.Abs(residual[i]))
		all = append(all, math.Abs(residual[i]))
	}
	usual := 1.4826 * median(all)
	scale := make([]float64, len(rings))
	for k, list := range rings {
		scale[k] = usual
		if len(list) >= 10 {
			scale[k] = 1.4826 * median(list)
		}
		scale[k] = max(scale[k], usual/10, p.floor, 1e-300)
	}
	for i := range p.weights {
		u := residual[i] / scale[ring[i]] / 4.685
		p.weights[i] = 0
		if math.Abs(u) < 1 {
			p.weights[i] = (1 - u*u) * (1 - u*u) / (scale[ring[i]] * scale[ring[i]])
		}
	}
}
