package assembly

import (
	"fmt"
	"math"
)

// Rule says how a synapse of weight w learns when its two neurons fire one after the other.
type Rule int

const (
	Hebb     Rule = iota // w becomes w (1 + beta), at most MaxWeight, or 1e38 without a bound
	Additive             // w becomes w + beta (1 - w/MaxWeight), so growth slows towards the bound
	AntiHebb             // w becomes w (1 - beta)
	Willshaw             // w becomes 1 + beta the first time, and stays so
)

// check refuses plasticities that make no sense.
func (r Rule) check(name string, beta, maxWeight float64) error {
	switch {
	case r < Hebb || r > Willshaw:
		return fmt.Errorf("assembly: %s learns by rule %d: want Hebb, Additive, AntiHebb or Willshaw", name, r)
	case !(beta >= 0) || math.IsInf(beta, 1):
		return fmt.Errorf("assembly: %s has plasticity %g: want 0 or more", name, beta)
	case !(maxWeight >= 0) || math.IsInf(maxWeight, 1):
		return fmt.Errorf("assembly: weights are bounded by %g: want more than 0, or 0 for no bound", maxWeight)
	case r == AntiHebb && beta > 1:
		return fmt.Errorf("assembly: %s weakens by %g: want at most 1", name, beta)
	case r == Additive && maxWeight <= 0:
		return fmt.Errorf("assembly: %s learns additively towards MaxWeight, which is %g: want more than 0", name, maxWeight)
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

// grow returns the function from a weight of f to its next value.
func (f *fibre) grow(b *Brain) func(w float64) float64 {
	beta, most := f.beta, b.set.MaxWeight
	switch {
	case f.rule == Additive:
		return func(w float64) float64 { return w + beta*(1-w/most) }
	case f.rule == AntiHebb:
		return func(w float64) float64 { return w * (1 - beta) }
	case f.rule == Willshaw:
		return func(w float64) float64 { return 1 + beta }
	case most > 0:
		return func(w float64) float64 { return min(w*(1+beta), most) }
	}
	return func(w float64) float64 { return min(w*(1+beta), largestWeight) }
}
