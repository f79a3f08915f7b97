// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"math"
)

// Rule says how a synapse of weight w learns when its two neurons fire one after the other.
type Rule int

const (
	Hebb     Rule = iota // w becomes w (1 + beta), at most MaxWeight, or at most 1e38 without a bound
	Additive             // w becomes w + beta (1 - w/MaxWeight), so growth slows towards the bound
	AntiHebb             // w becomes w (1 - beta)
	Willshaw             // w becomes 1 + beta the first time, and then stays so
)

// check refuses plasticities that make no sense.
func (r Rule) check(name string, beta, maxWeight float64) error {
	switch {
	case r < Hebb || r > Willshaw:
		return fmt.Errorf("assembly: %s has the learning rule %d: want Hebb, Additive, AntiHebb or Willshaw", name, r)
	case !(beta >= 0) || math.IsInf(beta, 1):
		return fmt.Errorf("assembly: %s has plasticity %g: want at least 0", name, beta)
	case !(maxWeight >= 0) || math.IsInf(maxWeight, 1):
		return fmt.Errorf("assembly: the bound of the weights is %g: want more than 0, or 0 for no bound", maxWeight)
	case r == AntiHebb && beta > 1:
		return fmt.Errorf("assembly: %s weakens by %g: want at most 1", name, beta)
	case r == Additive && maxWeight <= 0:
		return fmt.Errorf("assembly: %s learns additively towards MaxWeight, which is %g: set it above 0", name, maxWeight)
	}
	return nil
}

// SetRule sets the learning rule of one fibre.
func (b *Brain) SetRule(from, to string, r Rule) error {
	f, err := b.fibre(from, to)
	if err != nil {
		return err
	}
	if err := r.check(from+">"+to, f.beta, b.set.MaxWeight); err != nil {
		return err
	}
	f.rule = r
	return nil
}

// largestWeight bounds weights if nothing else does; it fits a float32.
const largestWeight = 1e38

// growth is how the weights of a fibre grow.
type growth struct {
	rule       Rule
	beta, most float64
}

func (f *fibre) growth(b *Brain) growth {
	g := growth{f.rule, f.beta, b.set.MaxWeight}
	if g.most == 0 {
		g.most = largestWeight
	}
	return g
}

// none reports whether no weight changes.
func (g growth) none() bool { return g.beta == 0 && g.rule != Willshaw }

// function returns the function from a weight to its next value.
func (g growth) function() func(w float64) float64 {
	beta, most := g.beta, g.most
	switch g.rule {
	case Additive:
		return func(w float64) float64 { return w + beta*(1-w/most) }
	case AntiHebb:
		return func(w float64) float64 { return w * (1 - beta) }
	case Willshaw:
		return func(w float64) float64 { return 1 + beta }
	}
	return func(w float64) float64 { return min(w*(1+beta), most) }
}
