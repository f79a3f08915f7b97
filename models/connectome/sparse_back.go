// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import "math"

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// back fills the gradients dIn from that of the activities, g [steps, n]. With G the
// gradient of the weights after a step and lambda that of its activities,
//
//	lambda^b += beta (G * W)^T a,  delta = cap'^T lambda^b
//	lambda^a += W delta + beta (G * W) b,  G = G * (1 + beta a b^T) + a delta^T
//
// where W is the weight matrix before the step.
func (p *path) back(dIn [][]float64, g []float64) {
	for _, d := range dIn {
		clear(d)
	}
	if p.Cap.Hard {
		return
	}
	after, before := make([]float64, p.n), make([]float64, p.n)
	dBeta := 0.0
	for t := p.Steps - 1; t >= 0; t-- {
		for j, v := range p.activities(g, t) {
			after[j] += v
		}
		clear(before)
		into := [2][]float64{dIn[0], before}
		if p.plastic {
			dBeta += p.unstrengthen(t, after, into)
		}
		p.backCap(after, t)
		p.each(t, func(f, i int, a float64) {
			s := p.tables[f].row(i)
			s.need()
			sum := 0.0
			for q, j := range s.to {
				delta := after[j]
				sum += s.w[q] * delta
				s.g[q] += a * delta
			}
			into[f][i] += sum
		})
		after, before = before, after
	}
	at := 1
	for _, t := range p.tables {
		if t == nil {
			continue
		}
		for i, s := range t.rows {
			if s != nil && s.g != nil {
				t.fibre.rows.back(dIn[at:at+len(t.in)], i, s.to, s.w, s.g, t.in)
			}
		}
		at += len(t.in)
	}
	if p.plastic {
		dIn[at][0] = dBeta
	}
}

func (s *synapses) need() {
	if s.g == nil {
		s.g = make([]float64, len(s.w))
	}
}

// unstrengthen removes the plasticity of step t from the weights and propagates its gradient to the
// activities after and before the step, to the weights and to beta.
func (p *path) unstrengthen(t int, after []float64, into [2][]float64) (dBeta float64) {
	y, cut, at := p.activities(p.out, t), p.cut[t], 0
	p.each(t, func(f, i int, a float64) {
		s := p.tables[f].row(i)
		s.need()
		sum := 0.0
		for q, j := range s.to {
			b := y[j]
			grow := p.beta * a * b
			w, g := s.w[q], s.g[q]
			if grow != 0 {
				if p.MaxWeight > 0 && w >= p.MaxWeight {
					w = cut[at]
					if at++; w*(1+grow) > p.MaxWeight {
						g = 0
					}
				} else {
					w /= 1 + grow
				}
				s.w[q] = w
				s.g[q] = g * (1 + grow)
			}
			gw := g * w
			after[j] += p.beta * gw * a
			sum += gw * b
			dBeta += gw * a * b
		}
		into[f][i] += p.beta * sum
	})
	return dBeta
}

// backCap turns lambda, the gradient of the activities of step t, into the gradient of the inputs h.
func (p *path) backCap(lambda []float64, t int) {
	y := p.activities(p.soft, t)
	if p.Cap.Kind == CappedSimplex {
		inside, sum := 0.0, 0.0
		for j, v := range y {
			if v > 0 && v < 1 {
				inside++
				sum += lambda[j]
			}
		}
		mean := sum / max(inside, 1)
		for j, v := range y {
			if v > 0 && v < 1 {
				lambda[j] = (lambda[j] - mean) / p.Cap.Temperature
			} else {
				lambda[j] = 0
			}
		}
		return
	}
	total, share := 0.0, 0.0
	for j, v := range y {
		s := v * (1 - v)
		total += s
		share += s * lambda[j]
		lambda[j] *= s / p.Cap.Temperature
	}
	if p.Cap.Kind == Threshold && int(p.k) < p.n {
		for _, j := range p.edge[t] {
			lambda[j] -= share / 2 / p.Cap.Temperature
		}
		return
	}
	if total == 0 { // all fire
		return
	}
	for j, v := range y {
		lambda[j] -= v * (1 - v) * share / total / p.Cap.Temperature
	}
}
