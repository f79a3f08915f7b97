// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeStart is the random stream of Starts.
const purposeStart uint32 = 131

// Starts returns a start per chain for infer.Config.Init: the start of the document, moved in every
// unconstrained direction by up to 0.5, so that chains differ. It is nil if the document has none,
// which leaves the choice to the sampler. A start must name every sampled parameter; one number
// serves all elements of a vector.
func (p *Problem) Starts(post *infer.Posterior, chains int, seed uint64) ([][]float64, error) {
	if len(p.Start) == 0 {
		return nil, nil
	}
	values := map[string][]float64{}
	for _, name := range p.parameters() {
		v, ok := p.Start[name]
		if !ok {
			return nil, fmt.Errorf("expr: start lacks %s: name all sampled parameters, or none", name)
		}
		if c, grouped := p.Data[p.Groups[name].Over]; grouped && len(v) == 1 {
			labels, _ := c.levels()
			v = slices.Repeat(v, len(labels))
		}
		values[name] = v
	}
	centre, err := post.Unconstrain(values, 1e-8)
	if err != nil {
		return nil, fmt.Errorf("expr: start: %w", err)
	}
	out := make([][]float64, chains)
	for c := range out {
		src := tensor.NewStream(seed, purposeStart, uint32(c))
		if out[c], err = near(post.Clone(), centre, &src); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// near returns a random point near centre, nearer after each attempt at which the density is not
// finite.
func near(t infer.Target, centre []float64, src *tensor.Stream) ([]float64, error) {
	q, g := make([]float64, len(centre)), make([]float64, len(centre))
	for radius := 0.5; radius > 1e-6; radius /= 2 {
		for i, x := range centre {
			q[i] = x + radius*(2*src.Float64()-1)
		}
		if lp, err := t.LogProbGrad(q, g); err == nil && !math.IsNaN(lp) && !math.IsInf(lp, 0) {
			return q, nil
		}
	}
	return nil, fmt.Errorf("expr: the density is not finite at the given start or near it: try other values, or leave start out")
}

// X returns the only column of numbers in Expr, for plots; ok is false if there is none or more than
// one.
func (p *Problem) X() (name string, values []float64, ok bool) {
	f, err := formula.Parse(p.Expr)
	if err != nil {
		return "", nil, false
	}
	indices := f.Indices()
	for _, n := range f.Names() {
		c, column := p.Data[n]
		if !column || c.Labels != nil || indexes(indices, n) {
			continue
		}
		if ok {
			return "", nil, false
		}
		name, values, ok = n, c.Values, true
	}
	return name, values, ok
}

func indexes(indices map[string]string, name string) bool {
	for _, i := range indices {
		if i == name {
			return true
		}
	}
	return false
}
