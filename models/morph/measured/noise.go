// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// noise is a likelihood: how numbers scatter about their expectation. The file of a noise registers it.
type noise struct {
	name  string // that in problem files
	about string // sentence on the data that it is for
	// scale is the nuisance that says how large the noise is, if it is not known; empty otherwise.
	scale string
	// positive says that expectations are above 0, errors that each number needs a standard deviation, freedom that it needs degrees of
	// freedom, whole that numbers are counts, and sums that those of one expectation may be added up.
	positive, errors, freedom, whole, sums bool
	logarithm                              bool // whether numbers themselves must be above 0
	// residual is the residual of a number of a part, the sum of whose squares is twice the negative logarithm of the density up to what
	// does not depend on the mean.
	residual func(p *part, mean, scale *ad.Node) *ad.Node
	// law is the distribution of the numbers; nil for one that has none, of which logDensity is all that is known.
	law func(p *part, mean, scale *ad.Node) dist.Dist
	// logDensity is that of number i, with all that depends on the scale.
	logDensity func(p *part, i int, mean, scale float64) float64
	// variance is the inverse of the information that number i has of its mean.
	variance func(p *part, i int, mean, scale float64) float64
	// score is the quantile residual of number i, which is placed at the share u of its own probability.
	score func(p *part, i int, mean, scale, u float64) float64
}

// noises are the registered likelihoods by name.
var noises = map[string]*noise{}

func register(n noise) { noises[n.name] = &n }

// Noises returns the names of the likelihoods, in alphabetical order.
func Noises() []string { return slices.Sorted(maps.Keys(noises)) }

// gaussianScore is the residual over its standard deviation.
func gaussianScore(of func(p *part, i int, mean, scale float64) float64) func(p *part, i int, mean, scale, u float64) float64 {
	return func(p *part, i int, mean, scale, _ float64) float64 {
		return (p.values[i] - mean) / math.Sqrt(of(p, i, mean, scale))
	}
}

// between is the score of a number that lies at the share u between two probabilities.
func between(below, upTo, u float64) float64 {
	const least = 1e-16
	return mathext.NormalQuantile(min(max(below+u*(upTo-below), least), 1-least))
}

// declare adds the numbers of a part to a model; blocks are those of the places of rates.
func (p *part) declare(m *infer.Model, name string, mean, scale *ad.Node, blocks []int) {
	if p.noise.law != nil {
		m.Observe(name, p.noise.law(p, mean, scale), p.values, infer.Together(p.together(blocks)))
		return
	}
	l := ad.Scale(-0.5, ad.Sum(ad.Square(p.noise.residual(p, mean, scale))))
	if scale != nil {
		n := 0.0
		for i := range p.values {
			n += at(p.spread, i, 1)
		}
		l = ad.Sub(l, ad.Scale(n, ad.Log(scale)))
	}
	m.AddLogProb(name, l)
}

// scaleName is the parameter of the scale of a part, empty if it has none.
func (p *part) scaleName(models []*Model) string {
	if p.noise.scale == "" {
		return ""
	}
	return p.noise.scale + models[p.model].Suffix
}

// likelihood returns the log density of the numbers of a part at a scale.
func (p *part) likelihood(mean []float64, scale float64) (sum float64) {
	for i, m := range mean {
		sum += p.noise.logDensity(p, i, m, scale)
	}
	return sum
}

// noiseOf returns the likelihood of a name.
func noiseOf(name string) (*noise, error) {
	n, ok := noises[name]
	if !ok {
		return nil, fmt.Errorf("measured: the loss is %q: choose from %v", name, Noises())
	}
	return n, nil
}
