// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/sim/assembly"
)

const (
	defaultMemory = 8   // default of the memory that a run may take, in GB
	mostFiring    = 1e8 // largest number of neurons of a stimulus
	mostSynapses  = 1e10
)

// needs collects what determines how much memory a script takes.
type needs struct {
	places map[string]*yaml.Node // place in the script where each area is declared
	fibres map[[2]string]bool    // fibres that are used or declared
	tables map[[2]string]bool    // fibres all of whose synapses are read
	sets   map[string]int        // largest number of neurons that a step makes fire, by area
	rounds map[string]int        // number of rounds that are kept, by area
	depth  int                   // depth of the branch that is being compiled
	copies int                   // largest number of copies of the brain that exist at once
}

func newNeeds() needs {
	return needs{places: map[string]*yaml.Node{}, fibres: map[[2]string]bool{}, tables: map[[2]string]bool{}, sets: map[string]int{}, rounds: map[string]int{}}
}

// use records steps of the brain with these fibres.
func (x *needs) use(fibres string, steps int) {
	targets := map[string]bool{}
	for _, f := range strings.Fields(fibres) {
		from, to, _ := strings.Cut(f, ">")
		x.fibres[[2]string{from, to}] = true
		targets[to] = true
	}
	if x.depth == 0 {
		for to := range targets {
			x.rounds[to] += steps
		}
	}
}

// copied records that the brain is copied, one level below the current depth.
func (x *needs) copied() { x.copies = max(x.copies, x.depth+1) }

// A round of 112 bytes takes roundBytes of process memory, measured over a million rounds: lists
// grow ahead of need, and the collector frees with delay. In the same way, a winner takes
// winnerBytes.
const (
	roundBytes  = 600
	winnerBytes = 8
)

// share is the memory of an area, of the fibres into it and of its rounds.
type share struct {
	area        assembly.Area
	brain, kept float64 // bytes in the brain, and bytes of the kept rounds
}

func (x share) sum() float64 { return x.brain + x.kept }

// shares estimates the memory of a run, area by area.
func (s *Script) shares() (list []share, total float64) {
	for _, a := range s.Areas {
		x := share{area: a, brain: s.neurons(a)}
		for f := range s.needs.fibres {
			if f[1] == a.Name {
				x.brain += s.synapses(f, a)
			}
		}
		for f := range s.needs.tables {
			if f[1] == a.Name && !a.Lazy {
				x.brain += 24 * s.fires(f[0], true) * float64(a.N) * s.probability(f)
			}
		}
		x.brain *= float64(1 + s.needs.copies)
		each := float64(roundBytes)
		if s.Winners[a.Name] {
			each += winnerBytes * float64(a.K)
		}
		x.kept = each * float64(s.needs.rounds[a.Name])
		list = append(list, x)
		total += x.sum()
	}
	return list, total
}

// neurons returns the bytes that an area takes without synapses: inputs, marks, counts and firing
// flags of each neuron that is stored.
func (s *Script) neurons(a assembly.Area) float64 {
	set := 50 * float64(s.needs.sets[a.Name])
	if a.Lazy {
		return set + 200*float64(a.K)
	}
	return set + 30*float64(a.N) + 100*float64(a.K)
}

// synapses returns the bytes that a fibre takes once its target learns.
func (s *Script) synapses(f [2]string, to assembly.Area) float64 {
	p, k, n, fire := s.probability(f), float64(to.K), float64(to.N), s.fires(f[0], false)
	stimulus := s.isStimulus(f[0])
	switch {
	case stimulus && to.Lazy:
		return 8*fire + 8*k*p*fire + 50*k
	case stimulus:
		threads := s.Settings.Threads
		if threads == 0 {
			threads = runtime.GOMAXPROCS(0)
		}
		return n * (12 + 4*min(float64(threads), fire))
	case to.Lazy:
		return 50*p*fire*k + 50*k
	}
	return 4*n + fire*p*(2*n+12*k) + 120*fire
}

// fires returns the largest number of neurons of an area or stimulus that fire or, with all, that
// exist.
func (s *Script) fires(name string, all bool) float64 {
	for _, x := range s.Stimuli {
		if x.Name == name {
			return float64(x.Size)
		}
	}
	for _, a := range s.Areas {
		if a.Name == name {
			if all && !a.Lazy {
				return float64(a.N)
			}
			return float64(max(a.K, s.needs.sets[name]))
		}
	}
	return 0
}

func (s *Script) isStimulus(name string) bool {
	return slices.ContainsFunc(s.Stimuli, func(x Stimulus) bool { return x.Name == name })
}

// probability returns the probability of a synapse of a fibre.
func (s *Script) probability(f [2]string) float64 {
	p := s.Settings.P
	for _, x := range s.Fibres {
		if x.From == f[0] && x.To == f[1] && !math.IsNaN(x.P) {
			p = x.P
		}
	}
	return p
}

// Fits returns an error if a run is estimated to need more bytes than Memory. The estimate counts
// the synapses of K firing neurons and every round that is kept; it does not count the growth of
// lazy areas with what they learn.
func (s *Script) Fits() error {
	if what, _ := s.excess(); what != "" {
		return fmt.Errorf("script: %s: %s", s.File, what)
	}
	return nil
}

// excess names what takes too much memory, and the area that takes most.
func (s *Script) excess() (what, area string) {
	list, total := s.shares()
	if !(total > s.Memory) || len(list) == 0 {
		return "", ""
	}
	most := slices.MaxFunc(list, func(a, b share) int { return int(math.Copysign(1, a.sum()-b.sum())) })
	a := most.area
	what = fmt.Sprintf("area %s (n = %d, k = %d) takes about %s", a.Name, a.N, a.K, size(most.sum()))
	try := "take fewer neurons"
	switch {
	case most.kept > most.brain:
		what += fmt.Sprintf(", of which the trace of %d steps %s", s.needs.rounds[a.Name], size(most.kept))
		if try = "take fewer steps"; s.Winners[a.Name] {
			try += ", or keep no winners"
		}
	case !a.Lazy && a.K < a.N/10:
		try += ", or a lazy area"
	}
	return fmt.Sprintf("%s, all together %s: memory is %s: %s, or raise memory (GB)", what, size(total), size(s.Memory), try), a.Name
}

// size formats bytes in GB.
func size(bytes float64) string { return fmt.Sprintf("%.3g GB", bytes/1e9) }

// fit reports what is too large once all steps are expanded.
func (c *compiler) fit() {
	for f := range c.needs.fibres {
		i := slices.IndexFunc(c.Areas, func(a assembly.Area) bool { return a.Name == f[1] })
		n := c.Areas[i].N
		if c.Areas[i].Lazy {
			n = c.Areas[i].K
		}
		if m := c.fires(f[0], false) * c.probability(f) * float64(n); c.isStimulus(f[0]) && m > mostSynapses {
			c.at(c.needs.places[f[1]], "stimulus %s of %g neurons has about %.3g synapses onto area %s: want at most %g: take a smaller stimulus", f[0], c.fires(f[0], false), m, f[1], float64(mostSynapses))
		}
	}
	if what, area := c.excess(); what != "" {
		c.at(c.needs.places[area], "%s", what)
	}
}
