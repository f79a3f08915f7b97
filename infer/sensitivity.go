// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"math"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/internal/graph"
)

// Sensitivity says by how much a quantity depends on the priors and on the likelihood, as diag.PowerScaling measures it: above about 0.05 it does. Where
// both are, prior and data may disagree; where the prior alone is, the data say little.
type Sensitivity struct {
	Name              string
	Prior, Likelihood float64
}

// sensitivityDraws bounds the draws at which priors and likelihood are evaluated.
const sensitivityDraws = 1000

// Sensitivities raises priors and likelihood to powers near 1 and says how much each column that varies changes. Priors whose parameters
// are parameters themselves belong to neither.
func (f *Fit) Sensitivities() ([]Sensitivity, error) {
	p, err := f.posterior()
	if err != nil {
		return nil, err
	}
	total := 0
	for c := range f.chains {
		total += f.n[c]
	}
	every := max(1, (total+sensitivityDraws-1)/sensitivityDraws)
	var parts [2][]float64
	columns := make([][]float64, len(f.names))
	of := p.sides()
	if total == 0 || len(of[0]) == 0 || len(of[1]) == 0 {
		return nil, errors.New("infer: sensitivities need draws, a prior with known parameters and an observation")
	}
	g := make([]float64, p.dim)
	for c := range f.chains {
		for k := 0; k < f.n[c]; k += every {
			if _, err := p.LogProbGrad(f.Unconstrained(c, k), g); err != nil {
				return nil, err
			}
			for side, list := range of {
				sum := 0.0
				for _, i := range list {
					sum += p.part(i)
				}
				parts[side] = append(parts[side], sum)
			}
			for i, v := range f.Row(c, k) {
				columns[i] = append(columns[i], v)
			}
		}
	}
	var out []Sensitivity
	for i, x := range columns {
		s := Sensitivity{f.names[i], diag.PowerScaling(x, parts[0]), diag.PowerScaling(x, parts[1])}
		if !math.IsNaN(s.Prior) || !math.IsNaN(s.Likelihood) {
			out = append(out, s)
		}
	}
	return out, nil
}

// sides returns the numbers of the parts of the log density that are priors with known parameters, and those that are likelihoods.
func (p *Posterior) sides() (of [2][]int) {
	known := map[string]bool{}
	for _, q := range p.model.params {
		known["prior of "+q.name] = !q.flat
		for _, theta := range q.prior.Params {
			for _, other := range p.model.params {
				if graph.Reads(ad.Of(theta), other.node) {
					known["prior of "+q.name] = false
				}
			}
		}
	}
	for i, name := range p.parts {
		switch {
		case known[name]:
			of[0] = append(of[0], i)
		case strings.HasPrefix(name, "likelihood of "):
			of[1] = append(of[1], i)
		}
	}
	return of
}
