// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// Reduce returns the curves of a pattern.
func (d *Reducer) Reduce(p *Pattern) (*Curves, error) {
	images, beams, err := d.images(p.Intensity)
	if err != nil {
		return nil, err
	}
	c := d.means(images, beams)
	para, perp, a := c.Para.Float64s(), c.Perp.Float64s(), c.A.Data().([]float64)
	for i := range a {
		a[i] = (para[i] - perp[i]) / (para[i] + perp[i])
	}
	return c, nil
}

// means returns the curves without A.
func (d *Reducer) means(images [][]float64, beams int) *Curves {
	c := &Curves{Energies: d.energies}
	var out [4][]float64
	for k, t := range []**tensor.Tensor{&c.I, &c.Para, &c.Perp, &c.A} {
		*t = tensor.New(tensor.Float64, len(d.energies), beams, d.n)
		out[k] = (*t).Data().([]float64)
	}
	for e := range d.energies {
		c.Q = append(c.Q, d.Abscissa(e))
	}
	for i, image := range images {
		curves, _ := d.curves(image, i/beams)
		for k := range curves {
			copy(out[k][i*d.n:], curves[k])
		}
	}
	return c
}

// Flat returns I, Para, Perp and A one after the other.
func (c *Curves) Flat() (all []float64) {
	for _, t := range []*tensor.Tensor{c.I, c.Para, c.Perp, c.A} {
		all = append(all, t.Float64s()...)
	}
	return all
}

// Tangent returns the derivatives of the curves of p along a change of its
// intensities.
func (d *Reducer) Tangent(p *Pattern, change *tensor.Tensor) (*Curves, error) {
	at, err := d.Reduce(p)
	if err != nil {
		return nil, err
	}
	images, beams, err := d.images(p.Intensity)
	if err != nil {
		return nil, err
	}
	if !change.Shape().Equal(p.Intensity.Shape()) {
		return nil, fmt.Errorf("rsoxs: change of shape %v: the pattern has %v", change.Shape(), p.Intensity.Shape())
	}
	moved, all := make([][]float64, len(images)), slices.Clone(change.Float64s())
	for i, image := range images {
		moved[i] = all[i*len(image) : (i+1)*len(image)]
		for k, v := range image {
			if v != v {
				moved[i][k] = v
			}
		}
	}
	c := d.means(moved, beams)
	para, perp, dPara, dPerp := at.Para.Float64s(), at.Perp.Float64s(), c.Para.Float64s(), c.Perp.Float64s()
	for i, a := 0, c.A.Data().([]float64); i < len(a); i++ {
		sum := para[i] + perp[i]
		a[i] = 2 * (perp[i]*dPara[i] - para[i]*dPerp[i]) / (sum * sum)
	}
	return c, nil
}

// Abscissa returns the q of the curves of one energy, in 1/nm; it must not be changed.
func (d *Reducer) Abscissa(e int) []float64 {
	if d.Axis == Common {
		return d.q1
	}
	return d.q[e]
}

// images returns the images of all energies and beams, with NaN for pixels that do not count.
func (d *Reducer) images(t *tensor.Tensor) (list [][]float64, beams int, err error) {
	s := t.Shape()
	if len(s) != 4 || s[0] != len(d.energies) || s[2] != d.ny || s[3] != d.nx {
		return nil, 0, fmt.Errorf("rsoxs: reduction of shape %v: prepared for %d energies of %d x %d pixels", s, len(d.energies), d.ny, d.nx)
	}
	all, size := t.Float64s(), d.ny*d.nx
	if d.Radii == TrueRadii {
		all = slices.Clone(all)
	}
	for i := range s[0] * s[1] {
		image := all[i*size : (i+1)*size]
		if d.Radii == TrueRadii {
			unreached(image)
		}
		list = append(list, image)
	}
	return list, s[1], nil
}

// nothing is the share of the brightest pixel up to which an intensity is one of rounding errors: of amplitudes
// that cancel, 1e-16 of others at most are left.
const nothing = 1e-26

// unreached sets pixels that no angle reached, which are 0, to NaN; and those where amplitudes cancel, so that it
// does not matter whether rounding leaves 0 there.
func unreached(image []float64) {
	brightest := 0.0
	for _, v := range image {
		if v > brightest {
			brightest = v
		}
	}
	for i, v := range image {
		if v <= nothing*brightest {
			image[i] = math.NaN()
		}
	}
}

// curves returns the three means and the weights that they were divided by.
func (d *Reducer) curves(image []float64, e int) (mean, weight [3][]float64) {
	for k := range mean {
		mean[k], weight[k] = make([]float64, d.n), make([]float64, d.n)
	}
	row := make([]float64, d.n)
	for i := range d.polar {
		d.row(row, image, i, e)
		for k := range mean {
			w := d.weights[k][i]
			if w == 0 {
				continue
			}
			for j, v := range row {
				if v == v {
					mean[k][j] += w * v
					weight[k][j] += w
				}
			}
		}
	}
	for k := range mean {
		for j, w := range weight[k] {
			mean[k][j] /= w // NaN where there is nothing
		}
	}
	return mean, weight
}

// row reads direction i, on the common axis if there is one.
func (d *Reducer) row(row, image []float64, i, e int) {
	for j := range row {
		row[j] = d.polar[i][j].read(image)
	}
	if d.Axis == Common {
		at := append([]float64(nil), row...)
		d.between(e, func(t, j int, f float64) { row[t] = lerp(at, j, f) })
	}
}

func lerp(v []float64, j int, f float64) float64 {
	switch {
	case j < 0:
		return math.NaN()
	case f == 0:
		return v[j]
	case f == 1:
		return v[j+1]
	}
	return v[j] + f*(v[j+1]-v[j])
}

// between calls f for every point t of the common axis with the index j of the circle below it and
// the fractional distance to circle j+1; j is -1 if the point lies outside.
func (d *Reducer) between(e int, f func(t, j int, part float64)) {
	j := 0
	for t, q := range d.q1 {
		for j+2 < d.n && q > d.q[e][j+1] {
			j++
		}
		a, b := d.q[e][j], d.q[e][j+1]
		if !(a <= q && q <= b) {
			f(t, -1, 0)
			continue
		}
		f(t, j, (q-a)/(b-a))
	}
}

// Gradient returns the derivatives of a number with respect to the pattern p, given its derivatives
// with respect to the curves; nil tensors, and elements where a curve is NaN, are ignored.
func (d *Reducer) Gradient(p *Pattern, by *Curves) (*tensor.Tensor, error) {
	images, beams, err := d.images(p.Intensity)
	if err != nil {
		return nil, err
	}
	var g [4][]float64
	for k, t := range []*tensor.Tensor{by.I, by.Para, by.Perp, by.A} {
		if t == nil {
			continue
		}
		if g[k] = t.Float64s(); len(g[k]) != len(images)*d.n {
			return nil, fmt.Errorf("rsoxs: gradient of curves of shape %v: want %d energies, %d beams, %d circles", t.Shape(), len(d.energies), beams, d.n)
		}
	}
	out := tensor.New(tensor.Float64, p.Intensity.Shape()...)
	dst, size := out.Data().([]float64), d.ny*d.nx
	for i, image := range images {
		var part [4][]float64
		for k := range g {
			if g[k] != nil {
				part[k] = g[k][i*d.n : (i+1)*d.n]
			}
		}
		d.imageBack(dst[i*size:(i+1)*size], image, i/beams, part)
	}
	return out, nil
}

// imageBack adds the derivatives with respect to one image.
func (d *Reducer) imageBack(dst, image []float64, e int, by [4][]float64) {
	mean, weight := d.curves(image, e)
	g := meansBack(mean, by)
	for k := range g {
		for j := range g[k] {
			if g[k][j] != 0 {
				g[k][j] /= weight[k][j]
			}
		}
	}
	row, back := make([]float64, d.n), make([]float64, d.n)
	for i := range d.polar {
		d.row(row, image, i, e)
		for j, v := range row {
			if back[j] = 0; v != v {
				continue
			}
			for k := range g {
				back[j] += g[k][j] * d.weights[k][i]
			}
		}
		d.rowBack(dst, back, i, e)
	}
}

// meansBack adds the derivatives through the anisotropy to those with respect to the means; a mean
// that is NaN has none.
func meansBack(mean [3][]float64, by [4][]float64) (g [3][]float64) {
	for k := range g {
		g[k] = make([]float64, len(mean[k]))
		for j, v := range mean[k] {
			if by[k] != nil && v == v && by[k][j] == by[k][j] {
				g[k][j] = by[k][j]
			}
		}
	}
	for j, a := range by[3] {
		para, perp := mean[1][j], mean[2][j]
		sum := para + perp
		if f := 2 * a / (sum * sum); f == f && !math.IsInf(f, 0) {
			g[1][j] += f * perp
			g[2][j] -= f * para
		}
	}
	return g
}

// rowBack is the transpose of row, where the row is valid.
func (d *Reducer) rowBack(dst, g []float64, i, e int) {
	circles := g
	if d.Axis == Common {
		circles = make([]float64, d.n)
		d.between(e, func(t, j int, f float64) {
			if j >= 0 && g[t] != 0 {
				circles[j] += (1 - f) * g[t]
				circles[j+1] += f * g[t]
			}
		})
	}
	for j, v := range circles {
		if v == 0 {
			continue
		}
		s := &d.polar[i][j]
		for c := range s.n {
			dst[s.at[c]] += s.w[c] * v
		}
	}
}
