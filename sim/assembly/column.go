// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"math"
	"slices"
)

// Column says how the neurons of an area compete. The zero value is the k-cap of the
// assembly calculus: the K neurons of largest input fire.
type Column struct {
	Policy Policy
	// input from which a neuron fires (AtThreshold), or fraction of the largest input (Relative)
	Threshold float64
	AtLeast   int // number of neurons that fire with Relative, whatever the threshold
	// A neuron that fired a steps ago, with a up to Latency, loses LatencyStrength times 1 -
	// (a-1)/Latency of its input.
	Latency         int
	LatencyStrength float64
	// Refraction times the number of times that a neuron has fired is subtracted from its input.
	Refraction float64
}

// Policy says which of the K neurons with the largest input fire.
type Policy int

const (
	TopK        Policy = iota // the K neurons with the largest inputs
	AtThreshold               // neurons with an input of at least Threshold
	Relative                  // neurons with an input of at least Threshold times the largest
)

func (c Column) check(a Area) error {
	switch {
	case c.Policy < TopK || c.Policy > Relative:
		return fmt.Errorf("assembly: area %s has policy %d: want TopK, AtThreshold or Relative", a.Name, c.Policy)
	case c.Policy == Relative && !(c.Threshold >= 0 && c.Threshold <= 1):
		return fmt.Errorf("assembly: the relative threshold of area %s is %g: want 0 to 1", a.Name, c.Threshold)
	case c.AtLeast < 0 || c.AtLeast > a.K:
		return fmt.Errorf("assembly: area %s is to fire at least %d neurons: want 0 to K, which is %d", a.Name, c.AtLeast, a.K)
	case math.IsNaN(c.Threshold) || math.IsInf(c.Threshold, 0):
		return fmt.Errorf("assembly: the threshold of area %s is %g: want a finite number", a.Name, c.Threshold)
	case c.Latency < 0 || !(c.LatencyStrength >= 0) || !(c.Refraction >= 0) || math.IsInf(c.LatencyStrength+c.Refraction, 1):
		return fmt.Errorf("assembly: area %s has latency %d of strength %g and refraction %g: want at least 0 for each", a.Name, c.Latency, c.LatencyStrength, c.Refraction)
	}
	return nil
}

// fires reports whether a neuron with input x is a winner, given the number of neurons with larger
// inputs and the largest input.
func (a *area) fires(x float64, larger int, largest float64) bool {
	switch {
	case larger >= a.K:
		return false
	case a.Policy == AtThreshold:
		return x >= a.Threshold
	case a.Policy == Relative:
		return larger < a.AtLeast || x >= a.Threshold*largest
	}
	return true
}

// columnState is the memory of a column.
type columnState struct {
	times  []int32 // number of times each stored neuron has fired, for refraction
	recent []firing
}

// firing is the set of neurons that fired in one step.
type firing struct {
	step    int
	winners []int32
}

// inhibitFired subtracts latency and refraction from the inputs x of the stored neurons.
func (a *area) inhibitFired(b *Brain, x []float64) {
	if a.Refraction > 0 {
		for j, n := range a.times {
			x[j] -= a.Refraction * float64(n)
		}
	}
	if len(a.recent) == 0 {
		return
	}
	done := b.marks(len(x))
	for i := len(a.recent) - 1; i >= 0; i-- {
		age := b.step - a.recent[i].step
		if age > a.Latency {
			a.recent = a.recent[i+1:]
			return
		}
		for _, j := range a.recent[i].winners {
			if !done.has(j) {
				done.add(j)
				x[j] -= a.LatencyStrength * (1 - float64(age-1)/float64(a.Latency))
			}
		}
	}
}

// remember records that winners have fired.
func (a *area) remember(winners []int32, step int) {
	if a.Refraction > 0 {
		for _, j := range winners {
			for int(j) >= len(a.times) {
				a.times = append(a.times, 0)
			}
			a.times[j]++
		}
	}
	if a.Latency > 0 && a.LatencyStrength > 0 {
		a.recent = append(a.recent, firing{step, winners})
	}
}

// Rivals makes areas inhibit each other: of those that get input in a step, only the one whose
// winners have the largest total input fires and learns.
func (b *Brain) Rivals(areas ...string) error {
	for _, name := range areas {
		if _, err := b.area(name); err != nil {
			return err
		}
	}
	b.rivals = append(b.rivals, areas)
	return nil
}

// inhibitRivals removes the winners of all rivals but the strongest. New neurons of lazy areas that would have fired
// are stored nevertheless: next time they get the same input.
func (b *Brain) inhibitRivals(p *Plan) {
	for _, group := range b.rivals {
		var best *target
		var members []*target
		for _, t := range p.targets {
			if slices.Contains(group, t.Name) && !t.fixed && !t.round.idle {
				members = append(members, t)
				if best == nil || t.stronger(best) {
					best = t
				}
			}
		}
		for _, t := range members {
			if t != best {
				t.round = Round{Area: t.Name, Input: t.round.Input}
				if !b.conditional(t.area) {
					t.recruits = recruits{}
				}
			}
		}
	}
}

// stronger reports whether the winners of t have a larger total input than those of o, or the same
// and t comes first by name.
func (t *target) stronger(o *target) bool {
	return t.round.Input > o.round.Input || t.round.Input == o.round.Input && t.Name < o.Name
}
