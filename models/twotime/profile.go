// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A model bends within the errors of its parameters where a correlation ends before it has decayed, so that contrast, offset and rate make up
// for each other along a valley, and where the direction of a flow is across the scattering vector, so that g depends on its square alone. What
// the linearised model says of the errors then depends on where the estimate fell.

// profiled is the distance, in standard deviations, to which the errors of a parameter are followed: the ends of an interval of 95 %.
const profiled = 2

// mostProfiled is the largest number of parameters whose errors are followed. So many angles leave no room for the model to bend.
const mostProfiled = 64

// profile follows the errors of parameters about a point. Its squares are those of the scores J'N (model - model at the point) of a fit of pairs, in
// units of their covariance; the means of cells stand for the pairs.
type profile struct {
	*scorer
	means  *cellMeans
	start  []float64 // g of all cells at the point
	scores []span    // an orthonormal basis of the scores
}

// sides returns the distances along both sides of each parameter at which the squares, with the other parameters where they make them least, are
// those of two standard deviations, over those of a linear model.
//
// Reference: Bates and Watts 1988, Nonlinear Regression Analysis and Its Applications, section 6.1, doi:10.1002/9780470316757.
func (s *scorer) sides() ([][2]float64, error) {
	out := slices.Repeat([][2]float64{{1, 1}}, s.size)
	if s.size > mostProfiled {
		return out, nil
	}
	p := &profile{scorer: s}
	var err error
	if p.means, err = s.cells.cellMeans(s.free); err != nil {
		return nil, err
	}
	columns, _, ok, err := p.whitened(make([]float64, s.size))
	if err != nil || !ok {
		return out, err
	}
	for _, c := range s.cells.ofPairs(columns) {
		if of := (span{0, c}); of.orthonormal(p.scores) {
			p.scores = append(p.scores, of)
		}
	}
	for k, c := range columns {
		columns[k] = p.projected(c)
	}
	cov, ok := inverted(gram(columns), s.size)
	if !ok {
		return out, nil
	}
	for i := range out {
		sd := math.Sqrt(cov.At(i, i))
		direction := make([]float64, s.size) // by which the minimum moves with the parameter
		for j := range direction {
			direction[j] = cov.At(j, i) / sd
		}
		for k, side := range []float64{-1, 1} {
			if out[i][k], err = p.reach(i, side, direction); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// farthest is the largest distance, in standard deviations of the linearised model, to which the squares are looked at.
const farthest = 4 * profiled

// reach returns the distance along one side of a parameter within which the root of the squares is less than profiled, over profiled. What is farther
// away and as good belongs to it: a flow at an angle phi0 is nearly one at -phi0.
func (p *profile) reach(i int, side float64, direction []float64) (float64, error) {
	root := func(step float64) (float64, error) {
		x := make([]float64, p.size)
		for j, d := range direction {
			x[j] = side * step * d
		}
		return p.least(i, x)
	}
	inside, outside := 0.0, math.Inf(1)
	for _, step := range []float64{2 * profiled, 1.5 * profiled, profiled} {
		r, err := root(step)
		if err != nil {
			return 0, err
		}
		if r < profiled {
			inside = step
			break
		}
		outside = step
	}
	for range 6 {
		if inside >= farthest || outside-inside < 0.05*outside {
			break
		}
		step := (inside + outside) / 2
		if math.IsInf(outside, 1) {
			step = min(2*inside, farthest)
		}
		r, err := root(step)
		if err != nil {
			return 0, err
		}
		if r < profiled {
			inside = step
		} else {
			outside = step
		}
	}
	end := inside
	if !math.IsInf(outside, 1) {
		end = (inside + outside) / 2
	}
	by, _ := p.moved(i, side*end*direction[i])
	return math.Abs(by) / (profiled * direction[i]), nil
}

// moved returns by how much a parameter differs from that of the point where its coordinate does by x, and the derivative. Rates move in their
// logarithms, with the scale of the rate.
func (p *profile) moved(i int, x float64) (by, slope float64) {
	if k := i - 2*p.linear; k >= 0 && isRate(p.free[k]) {
		if at := p.point.Theta[slices.Index(p.d.Setup.Names(), p.free[k])]; at > 0 {
			return at * math.Expm1(x/at), math.Exp(x / at)
		}
	}
	return x, 1
}

// least returns the least root of the squares for one parameter at its place in x, while it moves the others there. It is infinite where the model has
// no meaning.
func (p *profile) least(fixed int, x []float64) (float64, error) {
	best := math.Inf(1)
	for range 4 {
		columns, z, ok, err := p.whitened(x)
		if err != nil || !ok {
			return best, err
		}
		for k, c := range columns {
			columns[k] = p.projected(c)
		}
		z = p.projected(z)
		root := floats.Norm(z, 2)
		if root >= best {
			break
		}
		settled := root > 0.98*best
		if best = root; settled {
			break
		}
		move, ok := newtonStep(gram(append(slices.Delete(columns, fixed, fixed+1), z)))
		if !ok {
			break
		}
		for j, v := range move {
			if j >= fixed {
				j++
			}
			x[j] += v
		}
	}
	return best, nil
}

// gram returns the products of columns.
func gram(columns [][]float64) *mat.SymDense {
	a := mat.NewSymDense(len(columns), nil)
	for i, u := range columns {
		for j, v := range columns[:i+1] {
			a.SetSym(j, i, floats.Dot(u, v))
		}
	}
	return a
}

// projected returns the components of a whitened column along the scores.
func (p *profile) projected(column []float64) (out []float64) {
	for _, s := range p.scores {
		out = append(out, s.times(span{0, column}))
	}
	return out
}

// whitened returns the whitened derivatives of the cells away from the point by x, and what the model is there more than at the point. It is not ok
// where the model has no meaning.
func (p *profile) whitened(x []float64) (columns [][]float64, z []float64, ok bool, err error) {
	names, theta := p.d.Setup.Names(), slices.Clone(p.point.Theta)
	for k, name := range p.free {
		by, _ := p.moved(2*p.linear+k, x[2*p.linear+k])
		theta[slices.Index(names, name)] += by
	}
	if p.d.Setup.Domain(theta) != nil {
		return nil, nil, false, nil
	}
	if err := p.means.run(theta); err != nil {
		return nil, nil, false, err
	}
	g, b := p.means.g(), p.cells
	if p.start == nil {
		p.start = slices.Clone(g)
	}
	cells := len(b.blocks.cells)
	contrast, offset := slices.Clone(p.point.Contrast), make([]float64, len(p.angles))
	for k := range contrast {
		for i := range p.linear {
			contrast[k] += p.basis[k][i] * x[i]
			offset[k] += p.basis[k][i] * x[p.linear+i]
		}
	}
	white := func(f func(angle, cell int) float64) []float64 { return b.whitened(b.column(f)) }
	for i := range p.linear {
		columns = append(columns, white(func(k, c int) float64 { return p.basis[k][i] * g[k*cells+c] }))
	}
	for i := range p.linear {
		columns = append(columns, white(func(k, c int) float64 { return p.basis[k][i] }))
	}
	for j := range p.free {
		by := p.means.by(j)
		_, slope := p.moved(2*p.linear+j, x[2*p.linear+j])
		columns = append(columns, white(func(k, c int) float64 { return contrast[k] * slope * by[k*cells+c] }))
	}
	z = white(func(k, c int) float64 {
		return offset[k] + contrast[k]*g[k*cells+c] - p.point.Contrast[k]*p.start[k*cells+c]
	})
	return columns, z, !slices.ContainsFunc(z, math.IsNaN), nil
}

// stretch is what the standard deviation of the linearised model is multiplied by: the root of the mean square of both sides, but no less than 1.
func stretch(sides [2]float64) float64 {
	return max(1, math.Sqrt((sides[0]*sides[0]+sides[1]*sides[1])/2))
}

// mostLopsided is the ratio of the sides of an interval above which it is called rough.
const mostLopsided = 2

// Rough returns the numbers of the parameters in Fit.X for which one side of the interval is more
// than twice the other, because the model bends within the errors.
func (e *SharedErrors) Rough() (all []int) {
	for i, s := range e.sides {
		if max(s[0], s[1]) > mostLopsided*min(s[0], s[1]) {
			all = append(all, i)
		}
	}
	return all
}
