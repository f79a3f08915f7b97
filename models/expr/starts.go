// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeStart is the random stream of Starts.
const purposeStart uint32 = 131

// Starts returns a start per chain for infer.Settings.Init: the start of the document, moved in every
// unconstrained direction by up to 0.5, so that chains differ. It is nil if the document has none,
// which leaves the choice to the sampler. A start must name every sampled parameter; one number
// serves all elements of a vector. A value that the prior or the bounds of its parameter exclude is an error; one on a bound is
// moved inside.
func (p *Problem) Starts(post *infer.Posterior, chains int, seed uint64) ([][]float64, error) {
	if len(p.Start) == 0 {
		return nil, nil
	}
	values := p.latents()
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
	if err := within(post, values); err != nil {
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

// Range returns the ends of what a parameter can be: those of its bounds and of its prior, as far as that does not depend on other parameters;
// infinite where there are none.
func (p *Problem) Range(name string) Bounds {
	out := Bounds{math.Inf(-1), math.Inf(1)}
	if b, ok := p.Bounds[name]; ok {
		out = b
	}
	c, err := formula.ParseCall(p.Priors[name])
	if err != nil || slices.ContainsFunc(c.Args, func(f *formula.Formula) bool { return len(f.Names()) > 0 }) {
		return out
	}
	d, err := (&builder{p: p}).distribution("prior of "+name, p.Priors[name], nil, true)
	if err != nil {
		return out
	}
	if low, high, err := dist.Range(d); err == nil {
		out = Bounds{max(out[0], low), min(out[1], high)}
	}
	return out
}

// within returns an error for a value beyond the ends of what its parameter can be.
func within(post *infer.Posterior, values map[string][]float64) error {
	if _, err := post.Unconstrain(values, 0); err == nil {
		return nil
	}
	// Values on or beyond an end have been moved: by a known part of the width, so that two moves tell the end.
	const more, less = 1e-8, 1e-10
	var at [2][]float64
	for i, nudge := range []float64{more, less} {
		q, err := post.Unconstrain(values, nudge)
		if err != nil {
			return err
		}
		at[i] = make([]float64, post.Len())
		if err := post.Write(q, at[i]); err != nil {
			return err
		}
	}
	seen := map[string]int{}
	for k, column := range post.Names() {
		name, _, _ := strings.Cut(column, "[")
		v, ok := values[name]
		if !ok {
			continue
		}
		x := v[seen[name]]
		seen[name]++
		moved := at[0][k] - at[1][k]
		end := at[1][k] - moved*less/(more-less)
		if moved == 0 || math.Abs(x-end) <= 1e-6*math.Abs(end)+1e-3*math.Abs(moved) {
			continue
		}
		if math.Abs(end) <= 1e-6*math.Abs(moved) { // rounding of an end at 0
			end = 0
		}
		side := "below"
		if x > end {
			side = "above"
		}
		return fmt.Errorf("%s is %g, but its prior or its bounds allow no value %s %.6g: change the start, or what excludes it", column, x, side, end)
	}
	return nil
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

// Index is the only column that the formula uses as an index of parameters; "" if there is none, or more than one.
func (p *Problem) Index() string {
	f, err := formula.Parse(p.Expr)
	if err != nil {
		return ""
	}
	index := ""
	for _, over := range f.Indices() {
		if index != "" && over != index {
			return ""
		}
		index = over
	}
	return index
}

func indexes(indices map[string]string, name string) bool {
	for _, i := range indices {
		if i == name {
			return true
		}
	}
	return false
}
