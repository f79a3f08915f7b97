// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
)

// KindNeighbours is the flag of residuals that resemble, or avoid, their neighbours.
const KindNeighbours = "neighbouring residuals"

// graph holds pairs of neighbours.
type graph struct {
	name  string
	pairs [][2]int32
	bound float64 // upper bound on the eigenvalues
}

// along pairs the residuals that follow each other along an axis.
func (w *residuals) along(a Axis) graph {
	return graph{name: "along " + a.title(), pairs: w.mem.order(a.Values).neighbours(), bound: 1}
}

// pixels pairs the residuals that are adjacent along the given axes of a grid.
func (gr *Grid) pixels(name string, axes ...int) graph {
	g := graph{name: name, bound: float64(len(axes))}
	at := make(map[int]int32, len(gr.Index))
	for i, k := range gr.Index {
		at[k] = int32(i)
	}
	for _, axis := range axes {
		stride := 1
		for _, n := range gr.Shape[axis+1:] {
			stride *= n
		}
		for i, k := range gr.Index {
			if k/stride%gr.Shape[axis] == gr.Shape[axis]-1 {
				continue
			}
			if j, ok := at[k+stride]; ok {
				g.pairs = append(g.pairs, [2]int32{int32(i), j})
			}
		}
	}
	return g
}

// apply sets out to A v, where A is 1/2 for neighbours and 0 elsewhere.
func (g *graph) apply(out, v []float64) {
	clear(out)
	for _, p := range g.pairs {
		out[p[0]] += v[p[1]] / 2
		out[p[1]] += v[p[0]] / 2
	}
}

func init() { register(neighbourStage, (*residuals).neighbourTests) }

// neighbourTests tests the correlation of all kinds of neighbours.
func (w *residuals) neighbourTests(r *round, all []test) []test {
	for _, g := range w.graphs(r.axes) {
		all = append(all, w.neighbourTest(g))
	}
	return all
}

// neighbourTest tests the correlation of neighbours,
//
//	R = z'A z / z'z
//
// (Moran's I without its factor), with the exact mean and variance that a fit leaves
// it: for M, the projection outside the span, and B = M A M,
//
//	E R = tr B / d,  E R^2 = ((tr B)^2 + 2 tr B^2) / (d (d+2)).
//
// Reference: Moran 1950, doi 10.1093/biomet/37.1-2.17; Durbin and Watson 1951, doi
// 10.1093/biomet/38.1-2.159 for the beta distribution.
func (w *residuals) neighbourTest(g graph) test {
	t := test{kind: KindNeighbours, of: g.name, p: 1}
	d := w.dof()
	if len(g.pairs) < 5 || d < 5 || w.square == 0 {
		return t
	}
	var ratio, sign float64
	for _, p := range g.pairs {
		ratio += w.z[p[0]] * w.z[p[1]] / w.square
	}
	s1, s2 := w.traces(&g)
	mean := s1 / d
	variance := (s1*s1+2*s2)/(d*(d+2)) - mean*mean
	t.p = betaBetween(ratio, -g.bound, g.bound, mean, variance)
	correlation := (ratio - mean) * d / float64(len(g.pairs))
	t.harmless = math.Abs(correlation) < 0.02
	t.effect = math.Abs(correlation)
	sign = correlation
	t.say = func(*test) Flag {
		f := Flag{Where: g.name, Text: fmt.Sprintf("neighbouring residuals %s are correlated (the correlation is %+.2f, but should be 0)", g.name, correlation),
			Remedy: "look at the residuals: either the model lacks a structure, or neighbouring data share their noise, and then the errors of the parameters are too small"}
		if sign < 0 {
			f.Text = fmt.Sprintf("neighbouring residuals %s alternate (their correlation is %+.2f, but should be 0)", g.name, correlation)
			f.Remedy = "check whether the data were processed, for instance by taking differences or by subtracting a background point by point, or whether points were counted twice"
		}
		return f
	}
	return t
}

// traces returns tr B and tr B^2.
func (w *residuals) traces(g *graph) (s1, s2 float64) {
	q, aq := w.base.q, w.mem.numbers.take(w.n)
	s2 = float64(len(g.pairs)) / 2
	for i := range q {
		g.apply(aq, q[i])
		s1 -= dot(q[i], aq)
		s2 -= 2 * dot(aq, aq)
		for j := range q {
			c := dot(q[j], aq)
			s2 += c * c
		}
	}
	return s1, s2
}
