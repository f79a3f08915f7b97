// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// Radii says where the circles of a reduction lie on the detector.
type Radii int

const (
	// StretchedRadii are those of NRSS: n = ceil(R) circles of radius j R/n pixels, where R is the
	// distance to the farthest corner, although they are labelled with q from 0 to the largest on
	// the detector. Pixels outside the image count as 0.
	StretchedRadii Radii = iota
	// PixelRadii are those of PyHyperScattering's older integrator: circles one pixel apart, with
	// the labels of StretchedRadii and its rule for pixels outside.
	PixelRadii
	// TrueRadii are circles at the q of their label. Pixels outside the image, and those that no
	// angle of the electric field reached, do not count.
	TrueRadii
)

// QAxis is the abscissa of reduced curves.
type QAxis int

// The abscissae are Perpendicular, Absolute and Common.
const (
	Perpendicular QAxis = iota // component of q in the plane of the detector, one axis for all energies
	Absolute                   // |q| on the Ewald sphere, one axis for each energy
	Common                     // |q| on one axis for all energies, by interpolation along each direction
)

// Reduction turns patterns into curves over q: means over all directions chi, and over wedges along
// and across the electric field. Zero values are the defaults.
type Reduction struct {
	Radii Radii   // radii of the circles. Default StretchedRadii.
	Axis  QAxis   // abscissa of the curves. Default Perpendicular.
	Wedge float64 // width of the wedges in degrees, 0 to 180; default 90.
	// Para and Perp are the centres of the wedges in degrees of chi; nil means 0 and 180 for Para,
	// 90 and 270 for Perp. With TrueRadii, chi is measured from +q_x, the electric field; otherwise
	// it is half a degree less and measured from -q_x, as in NRSS.
	Para, Perp []float64
}

// Curves are reduced patterns, float64 [energy, beam, Q] each.
type Curves struct {
	Energies []float64      // photon energies in eV
	Q        [][]float64    // abscissa of each energy in 1/nm
	I        *tensor.Tensor // mean over chi
	Para     *tensor.Tensor // mean over the wedges along the field
	Perp     *tensor.Tensor // mean over the wedges across the field
	A        *tensor.Tensor // anisotropy (Para - Perp)/(Para + Perp)
}

const directions = 360 // number of directions chi, one per degree

// Reducer applies a Reduction to patterns of one shape.
type Reducer struct {
	Reduction
	ny, nx   int
	n        int             // number of circles
	polar    [][]polarSample // places that are read, by [chi][circle]
	weights  [3][]float64    // weight of each chi in the three means: all, para, perp
	perp     []float64       // q of the circles in the plane of the detector
	q        [][]float64     // abscissa of each energy
	q1       []float64       // for Common, |q| of the circles, one row after the other
	energies []float64
}

// polarSample is where a circle reads the image: up to four elements, or none outside.
type polarSample struct {
	at [4]int32
	w  [4]float64
	n  int8
}

// read returns NaN outside the image and if any element that it reads is NaN.
func (s *polarSample) read(image []float64) (v float64) {
	if s.n == 0 {
		return math.NaN()
	}
	for i := range s.n {
		v += s.w[i] * image[s.at[i]]
	}
	return v
}

// NewReducer prepares reductions of patterns with the axes and energies of p; beams
// must come along +Z for the axes Absolute and Common to be right.
func (r Reduction) NewReducer(p *Pattern) (*Reducer, error) {
	if r.Wedge == 0 {
		r.Wedge = 90
	}
	if r.Para == nil {
		r.Para = []float64{0, 180}
	}
	if r.Perp == nil {
		r.Perp = []float64{90, 270}
	}
	if !(r.Wedge > 0 && r.Wedge <= 180) {
		return nil, fmt.Errorf("rsoxs: the wedges are %g degrees wide: want more than 0 and at most 180", r.Wedge)
	}
	if len(p.QY) < 2 || len(p.QX) < 2 {
		return nil, fmt.Errorf("rsoxs: an image of %d x %d pixels has no circles: want at least 2 x 2", len(p.QY), len(p.QX))
	}
	d := &Reducer{Reduction: r, ny: len(p.QY), nx: len(p.QX), energies: p.Energies}
	d.circles(p)
	d.weigh()
	d.axes()
	return d, nil
}

// circles finds the elements that every circle reads.
func (d *Reducer) circles(p *Pattern) {
	cy, cx := d.ny/2, d.nx/2
	far := math.Hypot(float64(max(cy, d.ny-1-cy)), float64(max(cx, d.nx-1-cx)))
	d.n = int(math.Ceil(far))
	top := math.Hypot(largest(p.QY), largest(p.QX))
	d.perp = make([]float64, d.n)
	for j := range d.perp {
		d.perp[j] = top * float64(j) / float64(d.n-1)
	}
	stepY, stepX := p.QY[1]-p.QY[0], p.QX[1]-p.QX[0]
	d.polar = make([][]polarSample, directions)
	for i := range d.polar {
		s, c := math.Sincos(float64(i) * math.Pi / 180)
		if d.Radii == TrueRadii {
			s, c = math.Sincos((float64(i) - 179.5) * math.Pi / 180)
		}
		d.polar[i] = make([]polarSample, d.n)
		for j := range d.polar[i] {
			ry, rx := float64(j), float64(j)
			switch d.Radii {
			case StretchedRadii:
				ry *= far / float64(d.n)
				rx = ry
			case TrueRadii:
				ry, rx = d.perp[j]/stepY, d.perp[j]/stepX
			}
			d.polar[i][j] = d.sample(float64(cy)+ry*s, float64(cx)+rx*c)
		}
	}
}

func largest(q []float64) (top float64) {
	for _, v := range q {
		top = max(top, math.Abs(v))
	}
	return top
}

// sample returns the elements to read for (y, x). Elements outside count as 0, except that they are
// NaN if the border beside them is; with TrueRadii they make the sample empty.
func (d *Reducer) sample(y, x float64) (s polarSample) {
	y0, fy := split(y)
	x0, fx := split(x)
	for _, e := range [4]struct {
		y, x int
		w    float64
	}{{y0, x0, (1 - fy) * (1 - fx)}, {y0, x0 + 1, (1 - fy) * fx}, {y0 + 1, x0, fy * (1 - fx)}, {y0 + 1, x0 + 1, fy * fx}} {
		if e.w == 0 {
			continue
		}
		if e.y < 0 || e.x < 0 || e.y >= d.ny || e.x >= d.nx {
			if d.Radii == TrueRadii {
				return polarSample{}
			}
			e.y, e.x, e.w = min(max(e.y, 0), d.ny-1), min(max(e.x, 0), d.nx-1), 0
		}
		s.at[s.n], s.w[s.n] = int32(e.y*d.nx+e.x), e.w
		s.n++
	}
	return s
}

// weigh sets the weight of every direction in the mean and in the wedges: the fraction of its degree
// that lies in them.
func (d *Reducer) weigh() {
	for k, centres := range [][]float64{nil, d.Para, d.Perp} {
		d.weights[k] = make([]float64, directions)
		for i := range directions {
			if k == 0 {
				d.weights[k][i] = 1
				continue
			}
			for _, c := range centres {
				d.weights[k][i] += overlap(float64(i)-179.5-c, d.Wedge)
			}
			d.weights[k][i] = min(d.weights[k][i], 1)
		}
	}
}

// overlap returns the length of the part of the degree around x that lies within width/2 of 0 on the
// circle of 360 degrees.
func overlap(x, width float64) float64 {
	x = math.Abs(math.Mod(x, 360))
	x = min(x, 360-x)
	lo, hi := max(x-0.5, -width/2), min(x+0.5, width/2)
	sum := max(hi-lo, 0)
	lo, hi = max(x-0.5, 360-width/2), x+0.5 // beyond the opposite point
	return sum + max(hi-lo, 0)
}

// axes computes the abscissae.
func (d *Reducer) axes() {
	d.q = make([][]float64, len(d.energies))
	lo, hi := 0.0, math.Inf(1)
	for e, energy := range d.energies {
		d.q[e] = d.perp
		if d.Axis == Perpendicular {
			continue
		}
		k := Wavenumber(energy)
		d.q[e] = make([]float64, d.n)
		for j, q := range d.perp {
			d.q[e][j] = math.Hypot(q, math.Sqrt(k*k-q*q)-k) // NaN beyond the sphere
			if v := d.q[e][j]; v == v && (j+1 == d.n || d.perp[j+1] > k) {
				hi = min(hi, v)
			}
		}
	}
	if d.Axis == Common {
		d.q1 = make([]float64, d.n)
		for j := range d.q1 {
			d.q1[j] = lo + (hi-lo)*float64(j)/float64(d.n-1)
		}
	}
}
