// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// judge computes the criterion for choices: the sum over parameters of log(var z var g), where g is the gradient along z, which is 0 for independent
// normals and the Fisher divergence that the best diagonal metric leaves (arXiv:2603.18845). It takes draws and gradients only, no further evaluations of
// the model.
type judge struct {
	f          *family
	back, grad *ad.State // coordinates of draws, and gradients along them
	chosen     int       // inputs of both that a choice sets
	weight     []float64 // of each unconstrained parameter, 0 for those that no choice moves
}

// newJudge makes the programs of the criterion.
func (f *family) newJudge() (*judge, error) {
	n := len(f.Inputs)
	choices, list := f.inputs()
	j := &judge{f: f, chosen: len(list), weight: make([]float64, f.dim)}
	back, err := ad.Compile(f.backward(f.asDeclared(), choices), ad.Settings{Inputs: slices.Concat(f.Inputs, list, f.Given), Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	z, v := make([]*ad.Node, n), make([]*ad.Node, n)
	for i, u := range f.Inputs {
		z[i], v[i] = ad.Input("z", u.Shape()...), ad.Input("v", u.Shape()...)
	}
	q, logDet := f.forward(z, f.asDeclared(), choices)
	terms := []*ad.Node{logDet}
	for i := range q {
		terms = append(terms, ad.Sum(ad.Mul(q[i], v[i])))
	}
	grad, err := ad.Compile(ad.Grad(ad.AddN(terms...), z...), ad.Settings{Inputs: slices.Concat(z, v, list, f.Given), Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	j.back, j.grad = graph.State(back, n+len(list), f.GivenValues), graph.State(grad, 2*n+len(list), f.GivenValues)
	span := func(i int) []float64 { return j.weight[f.first[i] : f.first[i]+f.Inputs[i].Size()] }
	for _, i := range f.Positive {
		span(i)[0] = max(span(i)[0], 1)
	}
	for _, i := range f.heavy {
		for k := range span(i) {
			span(i)[k] = max(span(i)[k], 1)
		}
	}
	for i, n := range f.elements {
		if n > 0 && span(i)[0] > 0 {
			span(i)[0] += float64(n) / 4 / float64(len(span(i)))
		}
	}
	for _, l := range f.located {
		for k := range span(l.Input) {
			span(l.Input)[k] = max(span(l.Input)[k], 1)
		}
		for _, parent := range l.parents { // the scale of many elements limits all of them
			share := float64(len(span(l.Input))) / 4 / float64(len(span(parent)))
			for k := range span(parent) {
				span(parent)[k] = max(span(parent)[k], 1) + share
			}
		}
	}
	return j, nil
}

// mapped returns draws in the coordinates of a choice, and false where those of one cannot be computed.
func (j *judge) mapped(h choice, draws []seenDraw) ([]drawn, bool) {
	n := len(j.f.Inputs)
	values := j.f.values(h)
	copy(j.back.InputSpan(n, n+j.chosen), values)
	copy(j.grad.InputSpan(2*n, 2*n+j.chosen), values)
	out := make([]drawn, len(draws))
	for k, d := range draws {
		copy(j.back.InputSpan(0, n), d.q)
		if j.back.Run() != nil {
			return nil, false
		}
		z := slices.Clone(j.back.OutputSpan(0, n))
		copy(j.grad.InputSpan(0, n), z)
		copy(j.grad.InputSpan(n, 2*n), d.g)
		if j.grad.Run() != nil {
			return nil, false
		}
		if out[k] = (drawn{z, slices.Clone(j.grad.OutputSpan(0, n))}); !linalg.AllFinite(z) || !linalg.AllFinite(out[k].g) {
			return nil, false
		}
	}
	return out, true
}

// score is the criterion of a choice over draws: 0 for independent normals, more the less a diagonal metric makes of them, and infinite where the
// coordinates of a draw cannot be computed, or do not vary.
func (j *judge) score(h choice, draws []seenDraw) float64 {
	at, ok := j.mapped(h, draws)
	if !ok {
		return math.Inf(1)
	}
	z, g, sum := make([]float64, len(at)), make([]float64, len(at)), 0.0
	for i, w := range j.weight {
		if w == 0 {
			continue
		}
		for k, d := range at {
			z[k], g[k] = d.z[i], d.g[i]
		}
		sum += w * math.Log(stat.Variance(z, nil)*stat.Variance(g, nil))
	}
	if !linalg.Finite(sum) {
		return math.Inf(1)
	}
	return sum
}

// leastGain is what a change of coordinates must gain for each element that it moves, or else they stay.
const leastGain = 0.2

// search looks for the best choice over draws.
type search struct {
	*judge
	draws []seenDraw
	best  choice
	least float64 // the criterion of best
}

// choose returns the best choice near another one, which stays unless another is clearly better. Beside the unconstrained parameters it begins with
// what observations tell of all parameters, because draws from the neck of a hierarchy do not say that they are.
func (j *judge) choose(from choice, draws []seenDraw) choice {
	s := &search{j, draws, from, j.score(from, draws)}
	info := j.f.information(draws)
	if from.declared() {
		start := from.clone()
		for i, l := range j.f.located {
			if !l.matrix() { // which cost more
				start.of[i] = info[i]
			}
		}
		if at := j.score(start, draws); !math.IsInf(at, 0) {
			s.best, s.least = start, at
		}
	}
	for range 2 {
		for i := range j.f.located {
			s.locate(i, info[i])
		}
		for i := range j.f.Positive {
			s.soften(i)
		}
		for i := range j.f.heavy {
			s.stretch(i)
		}
	}
	return s.best
}

// locate tries the coordinates of located parameter i. Once it has others than the unconstrained form it does not go back: where these serve better, the
// difference is small, and they may have a neck.
func (s *search) locate(i int, info information) {
	var changes []choice
	for _, of := range []information{info, info.none()} {
		c := s.best.clone()
		c.of[i] = of
		changes = append(changes, c)
	}
	s.try(s.f.Inputs[s.f.located[i].Input].Size(), changes)
}

// none is the information of no observations.
func (i information) none() information {
	return information{make([]float64, len(i.weight)), make([]float64, len(i.pull))}
}

// soften tries the coordinates of positive parameter i.
func (s *search) soften(i int) {
	mean := 0.0
	for _, d := range s.draws {
		mean += math.Exp(d.q[s.f.first[s.f.Positive[i]]]) / float64(len(s.draws))
	}
	var changes []choice
	for _, k := range []float64{0, 0.5 / mean, 1 / mean} {
		c := s.best.clone()
		c.k[i] = k
		changes = append(changes, c)
	}
	s.try(1, changes)
}

// stretch tries the coordinates of heavy-tailed parameter i, about the median of its elements without them and with multiples of half of the distance of their quartiles.
func (s *search) stretch(i int) {
	input := s.f.heavy[i]
	size := s.f.Inputs[input].Size()
	without := s.best.clone()
	without.tail[i] = stretch{}
	at, ok := s.mapped(without, s.draws)
	if !ok {
		return
	}
	var all []float64
	for _, d := range at {
		all = append(all, d.z[s.f.first[input]:s.f.first[input]+size]...)
	}
	slices.Sort(all)
	quantile := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, all, nil) }
	half := (quantile(0.75) - quantile(0.25)) / 2
	if !(half > 0) || !linalg.Finite(half) {
		return
	}
	var changes []choice
	for _, width := range []float64{0, half / 2, half, 2 * half} {
		c := s.best.clone()
		if c.tail[i] = (stretch{quantile(0.5), width}); width == 0 {
			c.tail[i] = stretch{}
		}
		changes = append(changes, c)
	}
	if before := s.least; !math.IsInf(before, 0) { // some draws far out show little
		kept := s.best
		if s.try(size, changes); s.least > before-leastStretch*float64(size) {
			s.best, s.least = kept, before
		}
	}
}

// leastStretch is what taking in tails must gain for each element. Those of Student's t distribution with 2 degrees of freedom gain 1.8, and with 3 half of that, so that chains move
// as well without; where data cut tails off at a few widths, less, and trajectories diverge at the cut.
const leastStretch = 1.5

// try takes over the best of changes if it gains enough for the elements that it moves.
func (s *search) try(elements int, changes []choice) {
	limit := s.least - min(leastGain*float64(elements), 1+0.02*math.Abs(s.least))
	for _, c := range changes {
		if at := s.score(c, s.draws); at < limit {
			s.best, s.least, limit = c, at, at
		}
	}
}
