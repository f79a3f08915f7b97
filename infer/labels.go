// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/internal/labels"
)

// Labels is what the draws of a Fit say about a discrete parameter, which is summed out of the log density.
type Labels struct {
	Name string
	// Values are those that an element can take.
	Values []float64
	// Probabilities are those of the values of each element, [element][value]: means over the draws of their probabilities given all other parameters, which
	// scatter less than the shares of the drawn values.
	Probabilities [][]float64
	// Likeliest is the most probable value of each element by itself.
	Likeliest []float64
	// Joint are the values of all elements whose joint density with a draw of the other parameters is highest among the draws: of a Markov chain the path
	// that Viterbi's algorithm finds.
	Joint []float64
}

// Labels returns the probabilities of the values of a discrete parameter, and its most probable values.
func (f *Fit) Labels(name string) (*Labels, error) {
	p, err := f.posterior()
	if err != nil {
		return nil, err
	}
	k := -1
	if p.latent != nil {
		k = slices.IndexFunc(p.latent.latents, func(l latent) bool { return l.name == name })
	}
	if k < 0 {
		var known []string
		for _, q := range p.model.latents {
			known = append(known, q.name)
		}
		return nil, &ParamError{Param: name, Reason: fmt.Sprintf("it is no discrete parameter of the model: those are %v", known)}
	}
	l := &p.latent.latents[k]
	out := &Labels{Name: name}
	for v := range l.count {
		out.Values = append(out.Values, l.low+float64(v))
	}
	for range l.node.Size() {
		out.Probabilities = append(out.Probabilities, make([]float64, l.count))
	}
	draws, highest := 0, math.Inf(-1)
	g := make([]float64, p.dim)
	for c := range f.chains {
		for i := range f.n[c] {
			q := f.Unconstrained(c, i)
			s, err := p.sums(q)
			if err != nil {
				return nil, err
			}
			lp, err := p.LogProbGrad(q, g)
			if err != nil {
				return nil, err
			}
			draws++
			s.addProbabilities(k, out.Probabilities)
			setting, combinations, log := p.latent.sum.Best(&s.Tables)
			if log += lp - labels.LogSum(p.latent.sum.Log(&s.Tables)...); log > highest || out.Joint == nil {
				highest, out.Joint = log, p.latent.values(setting, combinations)[k]
			}
		}
	}
	if draws == 0 {
		return nil, fmt.Errorf("infer: labels of %s: the fit has no draws: sample at least one", name)
	}
	for _, p := range out.Probabilities {
		best := 0
		for v := range p {
			if p[v] /= float64(draws); p[v] > p[best] {
				best = v
			}
		}
		out.Likeliest = append(out.Likeliest, out.Values[best])
	}
	return out, nil
}

// addProbabilities adds the probabilities of the values of each element of latent k.
func (s *summand) addProbabilities(k int, to [][]float64) {
	e := s.e
	settings, groups := e.sum.Probabilities(&s.Tables)
	if a := slices.Index(e.outer, k); a >= 0 {
		for o, p := range settings {
			to[0][e.combination(e.outer, o)[a]] += p
		}
		return
	}
	for i, g := range e.groups {
		a := slices.Index(g.latents, k)
		if a < 0 {
			continue
		}
		for c, units := range groups[i] {
			digit := e.combination(g.latents, c)[a]
			for u, p := range units {
				if at := g.place[a][u]; at >= 0 {
					to[at][digit] += p
				}
			}
		}
	}
}
