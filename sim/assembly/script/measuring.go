// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"math"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// quantities are the quantities that the step measure can take.
var quantities = []string{"overlap", "density", "weight", "support", "active", "block"}

func measuring() []kind {
	return []kind{{"measure", "NAME", nil, quantities,
		"Keep a number: the overlap of two areas or assemblies [X, Y], divided by k; the density or the mean weight of the synapses among an area's winners or of a fibre A>B; the number of neurons of an area that ever fired (support) or fire now (active); or the number of the block that fires.", (*compiler).measured}}
}

func (c *compiler) measured(s *step) {
	name := c.word(s.value, "the name of a measure")
	var what string
	for _, q := range quantities {
		switch {
		case s.args[q] == nil:
		case what != "":
			c.at(s.node, "this measures both %s and %s: make two steps of it", what, q)
			return
		default:
			what = q
		}
	}
	if what == "" {
		c.at(s.node, "measure names no quantity: want one of %s", strings.Join(quantities, ", "))
		return
	}
	if f := c.quantity(what, s.args[what]); f != nil && name != "" {
		c.emit(s, func(m *machine) error {
			v, err := f(m)
			switch {
			case err != nil:
				return err
			case math.IsNaN(v):
				return fmt.Errorf("the %s of %s cannot be measured, as there are no neurons or synapses yet: project into the areas first", what, s.args[what].Value)
			}
			m.measure(name, what, s, v)
			return nil
		})
	}
}

// quantity returns the function that computes a quantity, or nil if its arguments are wrong.
func (c *compiler) quantity(what string, n *yaml.Node) func(m *machine) (float64, error) {
	if what == "overlap" {
		return c.overlap(n)
	}
	if (what == "density" || what == "weight") && n.Kind == yaml.ScalarNode && strings.Contains(n.Value, ">") {
		return c.ofFibre(what, n)
	}
	a := c.area(n)
	if a == "" {
		return nil
	}
	return func(m *machine) (float64, error) {
		switch what {
		case "support":
			v, err := m.brain.Support(a)
			return float64(v), err
		case "active":
			w, err := m.brain.Winners(a)
			return float64(len(w)), err
		case "block":
			i, _, err := m.brain.Block(a)
			return float64(i), err
		}
		density, weight, err := m.brain.Density(a)
		if what == "weight" {
			return weight, err
		}
		return density, err
	}
}

func (c *compiler) ofFibre(what string, n *yaml.Node) func(m *machine) (float64, error) {
	f := c.fibreList(n)
	if len(f) != 1 {
		if f != nil {
			c.at(n, "%s is of %d fibres: want one", what, len(f))
		}
		return nil
	}
	if c.known(f[0][0]) == isStimulus {
		c.at(n, "%s is of a fibre from a stimulus, whose neurons fire as one: want a fibre between areas", what)
		return nil
	}
	c.needs.tables[f[0]] = true
	return func(m *machine) (float64, error) {
		s, err := m.brain.Statistics(f[0][0], f[0][1])
		if what == "weight" {
			return s.WeightMean, err
		}
		return s.Density, err
	}
}

// overlap compares the winners of areas or remembered assemblies.
func (c *compiler) overlap(n *yaml.Node) func(m *machine) (float64, error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) != 2 {
		c.at(n, "overlap must be a list of two areas or assemblies")
		return nil
	}
	one, a := c.ensemble(n.Content[0])
	two, b := c.ensemble(n.Content[1])
	if one == nil || two == nil {
		return nil
	}
	if a != b {
		c.at(n, "overlap compares neurons of %s with neurons of %s: want neurons of the same area", a, b)
		return nil
	}
	k := c.k(a)
	return func(m *machine) (float64, error) {
		x, err := one(m)
		if err != nil {
			return 0, err
		}
		y, err := two(m)
		return overlap(x, y, k), err
	}
}

// overlap returns the overlap of two sets that are allowed to be empty: an empty set has overlap 0.
func overlap(x, y []int32, k int) float64 {
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	return assembly.Overlap(x, y, k)
}

// ensemble reads the name of an area, which stands for its current winners, or of an assembly.
func (c *compiler) ensemble(n *yaml.Node) (get func(m *machine) ([]int32, error), area string) {
	if c.known(n.Value) == isArea {
		return func(m *machine) ([]int32, error) { return m.brain.Firing(n.Value) }, n.Value
	}
	name, area := c.remembered(n)
	if area == "" {
		return nil, ""
	}
	return func(m *machine) ([]int32, error) { return m.memory[name].Winners, nil }, area
}
