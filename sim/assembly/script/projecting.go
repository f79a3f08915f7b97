// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

const (
	mostSteps    = 10_000_000
	defaultSteps = 25
)

// projecting returns the kinds of steps that project, and the operations of the calculus.
func projecting() []kind {
	return []kind{
		{"project", `"S>A A>A"`, nil, []string{"steps"}, "Run one or more steps with these fibres active (default 1 step).", (*compiler).plain},
		{"form", "AREA", []string{"stimulus"}, []string{"steps"}, "Let a stimulus form an assembly in an area (default 25 steps).", (*compiler).form},
		{"project_into", "AREA", []string{"from", "stimulus"}, []string{"steps"}, "Let a stimulus form an assembly in the area from, which forms another one in this area (default 25 steps).", (*compiler).projectInto},
		{"reciprocal", "[A, B]", nil, []string{"steps"}, "Let the assembly of A, which is fixed, form one in B that projects back to A (default 25 steps).", (*compiler).reciprocal},
		{"associate", "AREA", []string{"stimuli", "areas"}, []string{"steps"}, "Let two stimuli fire together, through one area each, so that their assemblies in this area come to overlap (default 25 steps).", (*compiler).associate},
		{"merge", "AREA", []string{"stimuli", "areas"}, []string{"steps"}, "Let the assemblies of two stimuli in two areas form a third one here, which projects back to both (default 25 steps).", (*compiler).merge},
		{"complete", "AREA", []string{"part"}, []string{"steps", "seed", "as"}, "Keep a random part of the winners, let the area complete it (default 5 steps), and measure the overlap with the winners before.", (*compiler).complete},
		{"separate", "AREA", []string{"from", "first", "second"}, []string{"steps", "as"}, "Train two assemblies into this area (default 25 steps each), and measure their overlap after training and after they are projected again.", (*compiler).separate},
		{"preserve", "AREA", []string{"from", "first", "second"}, []string{"as"}, "Project two assemblies into this area one after the other, on a copy of the brain, and measure their overlap before and after.", (*compiler).preserve},
	}
}

func (c *compiler) steps(s *step, def int) int {
	return c.whole(s.args["steps"], "steps of "+s.kind.name, 1, mostSteps, def)
}

func (c *compiler) plain(s *step) {
	steps := c.steps(s, 1)
	if f := c.fibreList(s.value); f != nil {
		c.project(s, steps, written(f))
	}
}

// two emits one step with some fibres, and the remaining steps with further fibres.
func (c *compiler) two(s *step, steps int, first, more string) {
	c.project(s, 1, first)
	c.project(s, steps-1, first+" "+more)
}

func (c *compiler) form(s *step) {
	steps, x, a := c.steps(s, defaultSteps), c.stimulus(s.args["stimulus"]), c.area(s.value)
	if x != "" && a != "" {
		c.two(s, steps, x+">"+a, a+">"+a)
	}
}

func (c *compiler) projectInto(s *step) {
	steps, x, from, to := c.steps(s, defaultSteps), c.stimulus(s.args["stimulus"]), c.area(s.args["from"]), c.area(s.value)
	if x != "" && c.differ(s, s.args["from"], from, to) {
		c.two(s, steps, fmt.Sprintf("%s>%s %s>%s %s>%s", x, from, from, from, from, to), to+">"+to)
	}
}

// differ reports whether all areas were named and are different.
func (c *compiler) differ(s *step, n *yaml.Node, areas ...string) bool {
	seen := map[string]bool{}
	for _, a := range areas {
		if a == "" {
			return false
		}
		if seen[a] {
			c.at(n, "%s names area %s twice: want different areas", s.kind.name, a)
			return false
		}
		seen[a] = true
	}
	return true
}

// pair reads a list of two.
func (c *compiler) pair(n *yaml.Node, what string, read func(*yaml.Node) string) (a, b string) {
	l := list(n)
	if n.Kind != yaml.SequenceNode || len(l) != 2 {
		c.at(n, "%s: want a list of two", what)
		return "", ""
	}
	return read(l[0]), read(l[1])
}

func (c *compiler) reciprocal(s *step) {
	steps := c.steps(s, defaultSteps)
	a, b := c.pair(s.value, "reciprocal", c.area)
	if !c.differ(s, s.value, a, b) {
		return
	}
	undo := c.fixFor(s, a)
	c.two(s, steps, a+">"+b, fmt.Sprintf("%s>%s %s>%s", b, b, b, a))
	undo()
}

// fixFor fixes an area, and returns the function that releases it unless it was fixed before.
func (c *compiler) fixFor(s *step, area string) (undo func()) {
	if c.fixed[area] {
		return func() {}
	}
	c.setFixed(s, area, true)
	return func() { c.setFixed(s, area, false) }
}

// ends reads the stimuli and areas of associate and merge.
func (c *compiler) ends(s *step) (steps int, x, a, y, b, to string, ok bool) {
	steps, to = c.steps(s, defaultSteps), c.area(s.value)
	x, y = c.pair(s.args["stimuli"], "stimuli of "+s.kind.name, c.stimulus)
	a, b = c.pair(s.args["areas"], "areas of "+s.kind.name, c.area)
	return steps, x, a, y, b, to, x != "" && y != "" && c.differ(s, s.args["areas"], a, b, to)
}

func (c *compiler) associate(s *step) {
	if steps, x, a, y, b, to, ok := c.ends(s); ok {
		c.two(s, steps, fmt.Sprintf("%s>%s %s>%s %s>%s %s>%s %s>%s %s>%s", x, a, y, b, a, a, b, b, a, to, b, to), to+">"+to)
	}
}

func (c *compiler) merge(s *step) {
	steps, x, a, y, b, to, ok := c.ends(s)
	if !ok {
		return
	}
	all := fmt.Sprintf("%s>%s %s>%s %s>%s %s>%s %s>%s %s>%s", x, a, y, b, a, to, b, to, a, a, b, b)
	c.two(s, steps, all, fmt.Sprintf("%s>%s %s>%s %s>%s", to, to, to, a, to, b))
}

// complete is assembly.Brain.Complete in parts that can be interrupted.
func (c *compiler) complete(s *step) {
	steps, a, part := c.steps(s, 5), c.area(s.value), c.number(s.args["part"], "part", 0, 1, 0)
	name := c.measureName(s)
	var seed *uint64
	if n := s.args["seed"]; n != nil {
		v := c.seed(n)
		seed = &v
	}
	if a == "" {
		return
	}
	before := fmt.Sprintf("before>%d", len(c.program)) // not a name that a script can give
	c.emit(s, func(m *machine) error {
		if err := m.remember(before, a); err != nil {
			return err
		}
		use := m.seed + uint64(m.pc)
		if seed != nil {
			use = *seed
		}
		_, err := m.brain.Complete(a, part, 0, use)
		return err
	})
	c.project(s, steps, a+">"+a)
	k := c.k(a)
	c.emit(s, func(m *machine) error {
		now, err := m.brain.Winners(a)
		m.measure(name, "overlap", s, overlap(m.memory[before].Winners, now, k))
		delete(m.memory, before)
		return err
	})
}

// separate is assembly.Brain.Separate in parts that can be interrupted.
func (c *compiler) separate(s *step) {
	steps, to, from, name := c.steps(s, defaultSteps), c.area(s.value), c.area(s.args["from"]), c.measureName(s)
	if !c.differ(s, s.args["from"], to, from) {
		return
	}
	if c.lazy(from) {
		c.at(s.args["from"], "area %s is lazy, and separate would set winners that may never have fired: make it explicit: true", from)
		return
	}
	one, two := c.neurons(s.args["first"], from), c.neurons(s.args["second"], from)
	if one == nil || two == nil {
		return
	}
	undo := c.fixFor(s, from)
	keep := func(x string) {
		c.memory[x] = to
		c.emit(s, func(m *machine) error { return m.remember(x, to) })
	}
	for i, w := range []func(m *machine) []int32{one, two} {
		c.emit(s, func(m *machine) error { return m.brain.SetWinners(from, w(m)) })
		c.two(s, steps, from+">"+to, to+">"+to)
		keep(name + []string{".trained.first", ".trained.second"}[i])
	}
	frozen := c.frozen
	c.setLearn(s, false)
	for i, w := range []func(m *machine) []int32{one, two} {
		c.emit(s, func(m *machine) error { return m.brain.SetWinners(from, w(m)) })
		c.project(s, 1, from+">"+to)
		keep(name + []string{".first", ".second"}[i])
	}
	c.setLearn(s, !frozen)
	undo()
	k := c.k(to)
	c.emit(s, func(m *machine) error {
		for _, x := range []string{name + ".trained", name} {
			m.measure(x, "overlap", s, overlap(m.memory[x+".first"].Winners, m.memory[x+".second"].Winners, k))
		}
		return nil
	})
}

func (c *compiler) preserve(s *step) {
	to, from, name := c.area(s.value), c.area(s.args["from"]), c.measureName(s)
	if !c.differ(s, s.args["from"], to, from) {
		return
	}
	one, two := c.neurons(s.args["first"], from), c.neurons(s.args["second"], from)
	if one == nil || two == nil {
		return
	}
	c.needs.use(from+">"+to, 0)
	c.needs.copied()
	c.emit(s, func(m *machine) error {
		before, after, err := m.brain.Preserve(from, to, one(m), two(m))
		if err != nil {
			return err
		}
		m.measure(name+".before", "overlap", s, before)
		m.measure(name+".after", "overlap", s, after)
		return nil
	})
}

// measureName returns the text under the key as, or else the kind of step.
func (c *compiler) measureName(s *step) string {
	if n := s.args["as"]; n != nil {
		return c.fresh(n)
	}
	return s.kind.name
}
