// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import "slices"

// tableau holds the coefficients of an explicit method.
//
//	k_i  = f(t + c_i h, y_i)
//	y_i  = y + h sum a_ij k_j
//	next = y + h sum b_i k_i
//
// The estimates of the error are h sum e_i k_i, that of the highest order first.
type tableau struct {
	c     []float64
	a     [][]weight
	b     []weight
	e     [][]weight
	order float64 // of the error of a step with the step length

	after [][]weight // by stage j: the a_ij of the later stages i
	share []float64  // the b_i of all stages
}

// weight is the factor of the slope of a stage.
type weight struct {
	stage int
	by    float64
}

// newTableau leaves out the coefficients that are 0.
func newTableau(order float64, c []float64, a [][]float64, b []float64, e ...[]float64) *tableau {
	t := &tableau{c: c, b: weights(b), order: order}
	for _, row := range a {
		t.a = append(t.a, weights(row))
	}
	for _, row := range e {
		t.e = append(t.e, weights(row))
	}
	t.after, t.share = make([][]weight, len(c)), make([]float64, len(c))
	for i, row := range t.a {
		for _, w := range row {
			t.after[w.stage] = append(t.after[w.stage], weight{i, w.by})
		}
	}
	copy(t.share, b)
	return t
}

func weights(row []float64) (list []weight) {
	for i, v := range row {
		if v != 0 {
			list = append(list, weight{i, v})
		}
	}
	return list
}

// tableaus are those of the explicit methods.
var tableaus = map[Method]*tableau{
	RK45:   newTableau(5, dpC, dpA, dpA[len(dpA)-1], dpE),
	DOP853: newTableau(8, dopC, dopA, dopB, dopE5, dopE3),
}

// slopes holds a vector for each stage of a step, one after the other: the rates, or gradients.
type slopes struct {
	k    []float64
	each int // length of one
}

// plus sets dst to a state and by times the weighted sum of the slopes. Several components at a time keep the processor busy while it waits
// for sums.
func (s slopes) plus(dst, y []float64, by float64, list []weight) {
	j := 0
	for ; j+3 < len(dst); j += 4 {
		a, b, c, d := 0.0, 0.0, 0.0, 0.0
		for _, w := range list {
			k := s.k[w.stage*s.each+j:][:4]
			a += w.by * k[0]
			b += w.by * k[1]
			c += w.by * k[2]
			d += w.by * k[3]
		}
		to, from := dst[j:][:4], y[j:][:4]
		to[0], to[1], to[2], to[3] = from[0]+by*a, from[1]+by*b, from[2]+by*c, from[3]+by*d
	}
	for ; j+1 < len(dst); j += 2 {
		a, b := s.pair(j, list)
		dst[j], dst[j+1] = y[j]+by*a, y[j+1]+by*b
	}
	if j < len(dst) {
		a := 0.0
		for _, w := range list {
			a += w.by * s.k[w.stage*s.each+j]
		}
		dst[j] = y[j] + by*a
	}
}

// pair is the weighted sum of the slopes of components j and j+1, of every second stage apart.
func (s slopes) pair(j int, list []weight) (a, b float64) {
	k, each := s.k[j:], s.each
	c, d := 0.0, 0.0
	for ; len(list) > 1; list = list[2:] {
		v, w := list[0], list[1]
		x, y := k[v.stage*each:][:2], k[w.stage*each:][:2]
		a += v.by * x[0]
		b += v.by * x[1]
		c += w.by * y[0]
		d += w.by * y[1]
	}
	if len(list) > 0 {
		w := list[0]
		x := k[w.stage*each:][:2]
		a += w.by * x[0]
		b += w.by * x[1]
	}
	return a + c, b + d
}

// explicit returns the state after a step, with its tangent, and the estimates of the error. It puts the states of the stages, without the
// tangents, behind those of the path.
func (s *solver) explicit(t, h float64) (next, estimate []float64, err error) {
	m := 2 * s.n
	k := slopes{s.stages, m}
	each := s.n * len(s.table.c)
	s.inner = slices.Grow(s.inner[:len(s.path)*each], each)[:(len(s.path)+1)*each] // without those of a step that was refused
	if s.fused != nil {
		s.fused.step(t, h, s.inner[len(s.path)*each:])
		return s.next, s.estimate, nil
	}
	kept, at := s.inner[len(s.path)*each:], s.stepIn[2:2+m]
	for i, c := range s.table.c {
		s.stepIn[0] = t + c*h
		k.plus(at, s.y, h, s.table.a[i])
		few(kept[i*s.n:], at[:s.n])
		if err := s.step.Run(); err != nil {
			return nil, nil, err
		}
		few(s.stages[i*m:], s.stepOut)
	}
	k.plus(s.next, s.y, h, s.table.b)
	for e, list := range s.table.e {
		k.plus(s.estimate[e*m:(e+1)*m], s.zero, h, list)
	}
	return s.next, s.estimate, nil
}

// explicitBackward propagates the gradient back over a step whose stages have the given states. With the gradients g_i of the states of the
// stages, that of a slope is h (b_i lambda + sum a_ji g_j).
func (s *solver) explicitBackward(at place, states []float64) error {
	if s.fused != nil {
		s.fused.pull(at, states)
		return nil
	}
	n := s.n
	pull := slopes{s.pull, n}
	in := s.backIn
	slope := in[2+n+s.k:][:n]
	for i := len(s.table.c) - 1; i >= 0; i-- {
		in[0] = at.t + s.table.c[i]*at.h
		few(in[2:], states[i*n:(i+1)*n])
		b := at.h * s.table.share[i]
		for j, l := range s.lambda {
			slope[j] = b * l
		}
		pull.plus(slope, slope, at.h, s.table.after[i])
		if err := s.back.Run(); err != nil {
			return err
		}
		few(s.pull[i*n:], s.backOut[:n])
		grads := s.backOut[n:]
		dp := s.dp[:len(grads)]
		for j, g := range grads {
			dp[j] += g
		}
	}
	for i := range s.table.c {
		for j, g := range s.pull[i*n : (i+1)*n] {
			s.lambda[j] += g
		}
	}
	return nil
}

// few copies a few numbers, for which a call of copy would cost more.
func few(dst, src []float64) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = x
	}
}
