package assembly

import (
	"fmt"
	"math"
	"slices"
)

// Column says how the neurons of an area compete. The zero value is the k-cap of the
// assembly calculus: the K neurons of largest input fire.
type Column struct {
	Policy    Policy
	Threshold float64 // input from which a neuron fires (AtThreshold), or part of the largest input (Relative)
	AtLeast   int     // neurons fire with Relative, whatever the threshold
	// Latency, in steps, and LatencyStrength inhibit what has fired: a steps ago by
	// the strength times 1 - (a-1)/Latency, for a up to Latency.
	Latency         int
	LatencyStrength float64
	// Refraction counts against a neuron, times how often it has fired.
	Refraction float64
}

// Policy says which of the K neurons of largest input fire.
type Policy int

const (
	TopK        Policy = iota // all
	AtThreshold               // those with input of Threshold or more
	Relative                  // those with Threshold times the largest input or more
)

func (c Column) check(a Area) error {
	switch {
	case c.Policy < TopK || c.Policy > Relative:
		return fmt.Errorf("assembly: area %s has policy %d: want TopK, AtThreshold or Relative", a.Name, c.Policy)
	case c.Policy == Relative && !(c.Threshold >= 0 && c.Threshold <= 1):
		return fmt.Errorf("assembly: area %s fires from %g of the largest input: want 0 to 1", a.Name, c.Threshold)
	case c.AtLeast < 0 || c.AtLeast > a.K:
		return fmt.Errorf("assembly: area %s fires at least %d neurons: want 0 to K, which is %d", a.Name, c.AtLeast, a.K)
	case math.IsNaN(c.Threshold) || math.IsInf(c.Threshold, 0):
		return fmt.Errorf("assembly: area %s fires from a threshold of %g: want a number", a.Name, c.Threshold)
	case c.Latency < 0 || !(c.LatencyStrength >= 0) || !(c.Refraction >= 0) || math.IsInf(c.LatencyStrength+c.Refraction, 1):
		return fmt.Errorf("assembly: area %s: latency %d of strength %g and refraction %g: want 0 or more", a.Name, c.Latency, c.LatencyStrength, c.Refraction)
	}
	return nil
}

// fires reports whether a neuron with input x is a winner, given how many larger ones
// are and the largest.
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

// columnState is what a column remembers.
type columnState struct {
	times  []int32 // of refraction: how often each stored neuron has fired
	recent []firing
}

// firing is what fired in a step.
type firing struct {
	step    int
	winners []int32
}

// inhibitFired takes the latency and the refraction of stored neurons from their
// inputs x.
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

// remember notes that winners have fired.
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

// Rivals makes areas inhibit each other: of those that get input in a step only the
// one whose winners get most fires, and learns.
func (b *Brain) Rivals(areas ...string) error {
	for _, name := range areas {
		if _, err := b.area(name); err != nil {
			return err
		}
	}
	b.rivals = append(b.rivals, areas)
	return nil
}

// inhibitRivals takes the winners from all but the strongest of rivals.
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
				t.round, t.recruits = Round{Area: t.Name, Input: t.round.Input}, recruits{}
			}
		}
	}
}

// stronger reports whether the winners of t get more than those of o, or as much and t
// has the lesser name.
func (t *target) stronger(o *target) bool {
	return t.round.Input > o.round.Input || t.round.Input == o.round.Input && t.Name < o.Name
}
