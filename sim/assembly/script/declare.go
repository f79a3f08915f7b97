// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// newName returns a name that is being declared, or "" if it is not allowed.
func (c *compiler) newName(key *yaml.Node, what string) string {
	name := c.word(key, "the name of "+what)
	switch {
	case name == "":
	case strings.ContainsAny(name, ">$ \t\n,[]{}"):
		c.at(key, "%s cannot be called %q: want a name without spaces, commas, brackets, > and $", what, name)
	case c.known(name) != isUnknown:
		c.at(key, "%s cannot be called %q: there is another area or stimulus of this name", what, name)
	default:
		return name
	}
	return ""
}

func (c *compiler) stimuli(n *yaml.Node) {
	c.mapping(n, "stimuli")
	each(n, func(key, value *yaml.Node) {
		if name := c.newName(key, "a stimulus"); name != "" {
			c.Stimuli = append(c.Stimuli, Stimulus{name, c.whole(value, "the size of stimulus "+name, 0, mostFiring, 0)})
		}
	})
}

func (c *compiler) areas(n *yaml.Node, beta float64) {
	c.mapping(n, "areas")
	each(n, func(key, value *yaml.Node) {
		if name := c.newName(key, "an area"); name != "" {
			c.needs.places[name] = key
			c.Areas = append(c.Areas, c.newArea(name, value, beta))
		}
	})
}

func (c *compiler) newArea(name string, n *yaml.Node, beta float64) assembly.Area {
	before := len(c.wrong.List)
	what := "area " + name
	m := c.mapping(n, what, areaKeys...)
	a := assembly.Area{Name: name, Lazy: c.Mode != "exact"}
	for _, key := range []string{"n", "k"} {
		if m != nil && m[key] == nil {
			c.at(n, "%s has no %s", what, key)
		}
	}
	a.N = c.whole(m["n"], "n of "+what, 1, mostNeurons, 1)
	a.K = c.whole(m["k"], "k of "+what, 1, mostNeurons, 1)
	a.Beta = c.number(m["beta"], "beta of "+what, 0, math.Inf(1), beta)
	a.Rule = assembly.Rule(c.choice(m["rule"], "rule of "+what, rules...))
	if e := m["explicit"]; e != nil {
		whole := c.yes(e, "explicit of "+what, true)
		if !whole && c.Mode == "exact" {
			c.at(e, "%s is not explicit, but in mode exact all areas are: leave this out, or use mode lazy-exact", what)
		}
		a.Lazy = !whole
	}
	a.Policy = assembly.Policy(c.choice(m["policy"], "policy of "+what, policies...))
	a.Threshold = c.number(m["threshold"], "threshold of "+what, math.Inf(-1), math.Inf(1), 0)
	a.AtLeast = c.whole(m["at_least"], "at_least of "+what, 0, mostNeurons, 0)
	a.Latency = c.whole(m["latency"], "latency of "+what, 0, mostNeurons, 0)
	a.LatencyStrength = c.number(m["latency_strength"], "latency_strength of "+what, 0, math.Inf(1), 0)
	a.Refraction = c.number(m["refraction"], "refraction of "+what, 0, math.Inf(1), 0)
	if len(c.wrong.List) == before {
		c.tryArea(n, m, a)
	}
	return a
}

// tryArea reports whatever a brain finds wrong with an area.
func (c *compiler) tryArea(n *yaml.Node, m map[string]*yaml.Node, a assembly.Area) {
	if a.K > a.N {
		c.at(m["k"], "area %s: k = %d is more than n = %d: at most all neurons fire", a.Name, a.K, a.N)
		return
	}
	a.Lazy = true // which costs nothing
	if err := assembly.New(c.Settings).AddArea(a); err != nil {
		c.at(n, "%s", plain(err))
	}
}

// plain returns the text of a brain's error without its package.
func plain(err error) string { return strings.TrimPrefix(err.Error(), "assembly: ") }

func (c *compiler) fibres(n *yaml.Node) {
	c.mapping(n, "fibres")
	each(n, func(key, value *yaml.Node) {
		for _, f := range c.fibreList(key) {
			what := "fibre " + key.Value
			m := c.mapping(value, what, fibreKeys...)
			x := Fibre{From: f[0], To: f[1], Rule: -1}
			x.P = c.number(m["p"], "p of "+what, 0, 1, math.NaN())
			x.Beta = c.number(m["beta"], "beta of "+what, 0, math.Inf(1), math.NaN())
			if m["rule"] != nil {
				x.Rule = assembly.Rule(c.choice(m["rule"], "rule of "+what, rules...))
			}
			c.tryFibre(value, x)
			c.needs.fibres[f] = true
			c.Fibres = append(c.Fibres, x)
		}
	})
}

// tryFibre reports whatever a brain finds wrong with the rule and plasticity of a fibre.
func (c *compiler) tryFibre(n *yaml.Node, f Fibre) {
	i := slices.IndexFunc(c.Areas, func(a assembly.Area) bool { return a.Name == f.To })
	a := assembly.Area{Name: f.From + ">" + f.To, N: 1, K: 1, Lazy: true, Beta: c.Areas[i].Beta, Rule: c.Areas[i].Rule}
	if f.Rule >= 0 {
		a.Rule = f.Rule
	}
	if !math.IsNaN(f.Beta) {
		a.Beta = f.Beta
	}
	if err := assembly.New(c.Settings).AddArea(a); err != nil {
		c.at(n, "fibre %s", plain(err))
	}
}

// Brain makes the brain of a script before its first step.
func (s *Script) Brain() (*assembly.Brain, error) {
	b := assembly.New(s.Settings)
	for _, x := range s.Stimuli {
		if err := b.AddStimulus(x.Name, x.Size); err != nil {
			return nil, err
		}
	}
	for _, a := range s.Areas {
		if err := b.AddArea(a); err != nil {
			return nil, err
		}
	}
	for _, f := range s.Fibres {
		if err := f.set(b); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (f Fibre) set(b *assembly.Brain) error {
	if !math.IsNaN(f.P) {
		if err := b.SetP(f.From, f.To, f.P); err != nil {
			return err
		}
	}
	if !math.IsNaN(f.Beta) {
		if f.Rule >= 0 { // the rule that both are checked by
			if err := b.SetBeta(f.From, f.To, 0); err != nil {
				return err
			}
			if err := b.SetRule(f.From, f.To, f.Rule); err != nil {
				return err
			}
		}
		return b.SetBeta(f.From, f.To, f.Beta)
	}
	if f.Rule >= 0 {
		return b.SetRule(f.From, f.To, f.Rule)
	}
	return nil
}
