// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// states returns the kinds of steps that change the brain without running it.
func states() []kind {
	return []kind{
		{"fix", "AREA or [AREAS]", nil, nil, "Keep the winners of areas as they are.", func(c *compiler, s *step) { c.fix(s, true) }},
		{"unfix", "AREA or [AREAS]", nil, nil, "Let the winners of fixed areas change again.", func(c *compiler, s *step) { c.fix(s, false) }},
		{"learn", "on or off", nil, nil, "Switch plasticity on or off.", (*compiler).learn},
		{"inhibit", `AREA or "A>B", or a list`, nil, []string{"index"}, "Close areas or fibres under an index (default 0).", func(c *compiler, s *step) { c.inhibit(s, true) }},
		{"disinhibit", `AREA or "A>B", or a list`, nil, []string{"index"}, "Take an index away (default 0). Areas and fibres open when none is left.", func(c *compiler, s *step) { c.inhibit(s, false) }},
		{"rivals", "[AREAS]", nil, nil, "Of these areas, let only the one with the largest input fire from now on.", (*compiler).rivals},
		{"set", "AREA", []string{"winners"}, nil, "Make neurons fire: a list of numbers, a range such as 0-99, or a remembered assembly.", (*compiler).set},
		{"activate", "AREA", []string{"block"}, nil, "Make the neurons of a block fire. Block i has the neurons i k to (i+1) k - 1.", (*compiler).activate},
		{"clear", "AREA or [AREAS]", nil, nil, "Make areas fall silent.", (*compiler).clear},
		{"normalize", `"A>B" or a list`, nil, nil, "Divide the weights of a fibre by their sum at each target neuron.", (*compiler).normalize},
		{"remember", "NAME", []string{"area"}, nil, "Keep the winners of an area under a name.", (*compiler).remember},
	}
}

func (c *compiler) setFixed(s *step, area string, on bool) {
	c.fixed[area] = on
	c.emit(s, func(m *machine) error { return m.brain.Fix(area, on) })
}

func (c *compiler) setLearn(s *step, on bool) {
	c.frozen = !on
	c.emit(s, func(m *machine) error { m.brain.Learn(on); return nil })
}

// someAreas returns the areas of a list, or a single area.
func (c *compiler) someAreas(n *yaml.Node) (names []string) {
	for _, x := range list(n) {
		if a := c.area(x); a != "" {
			names = append(names, a)
		}
	}
	return names
}

func (c *compiler) fix(s *step, on bool) {
	for _, a := range c.someAreas(s.value) {
		c.setFixed(s, a, on)
	}
}

func (c *compiler) learn(s *step) { c.setLearn(s, c.yes(s.value, "learn", true)) }

func (c *compiler) clear(s *step) {
	for _, a := range c.someAreas(s.value) {
		c.emit(s, func(m *machine) error { return m.brain.SetWinners(a, nil) })
	}
}

func (c *compiler) inhibit(s *step, on bool) {
	index := c.whole(s.args["index"], "index", 0, 1<<30, 0)
	for _, x := range list(s.value) {
		if !strings.Contains(x.Value, ">") {
			if a := c.area(x); a != "" {
				c.emit(s, func(m *machine) error { return m.inhibitArea(a, index, on) })
			}
			continue
		}
		for _, f := range c.fibreList(x) {
			c.emit(s, func(m *machine) error { return m.inhibitFibre(f, index, on) })
		}
	}
}

func (m *machine) inhibitArea(area string, index int, on bool) error {
	if on {
		return m.brain.Inhibit(area, index)
	}
	return m.brain.Disinhibit(area, index)
}

func (m *machine) inhibitFibre(f [2]string, index int, on bool) error {
	if on {
		return m.brain.InhibitFibre(f[0], f[1], index)
	}
	return m.brain.DisinhibitFibre(f[0], f[1], index)
}

func (c *compiler) rivals(s *step) {
	if s.value.Kind != yaml.SequenceNode || len(s.value.Content) < 2 {
		c.at(s.value, "rivals must be a list of at least two areas")
		return
	}
	names := c.someAreas(s.value)
	if len(names) == len(s.value.Content) && c.differ(s, s.value, names...) {
		c.emit(s, func(m *machine) error { return m.brain.Rivals(names...) })
	}
}

func (c *compiler) set(s *step) {
	a := c.area(s.value)
	if a == "" {
		return
	}
	if w := c.neurons(s.args["winners"], a); w != nil {
		c.emit(s, func(m *machine) error { return m.brain.SetWinners(a, w(m)) })
	}
}

// neurons reads a set of neurons of an area: a list of numbers, a range from-to, or an assembly that
// is remembered. It returns nil if they are wrong.
func (c *compiler) neurons(n *yaml.Node, area string) func(m *machine) []int32 {
	most := c.size(area) - 1
	switch from, to, isRange := strings.Cut(n.Value, "-"); {
	case n.Kind == yaml.SequenceNode:
		return c.listed(n, area, most)
	case isRange && digits(from) && digits(to):
		lo, err1 := strconv.Atoi(from)
		hi, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || lo > hi || hi > most {
			c.at(n, "the neurons %s of area %s are not in it: want a range within 0-%d", n.Value, area, most)
			return nil
		}
		c.needs.sets[area] = max(c.needs.sets[area], hi-lo+1)
		return func(*machine) []int32 { return counted(lo, hi) }
	}
	name, of := c.remembered(n)
	if of == "" {
		return nil
	}
	if of != area {
		c.at(n, "%s is an assembly of area %s: name one of %s", name, of, area)
		return nil
	}
	return func(m *machine) []int32 { return m.memory[name].Winners }
}

// counted returns the numbers from lo to hi.
func counted(lo, hi int) []int32 {
	ids := make([]int32, hi-lo+1)
	for i := range ids {
		ids[i] = int32(lo + i)
	}
	return ids
}

func (c *compiler) listed(n *yaml.Node, area string, most int) func(m *machine) []int32 {
	ids := []int32{}
	before := len(c.wrong.List)
	for _, x := range n.Content {
		id := int32(c.whole(x, "a neuron of "+area, 0, most, 0))
		ids = append(ids, id)
	}
	if len(c.wrong.List) > before {
		return nil
	}
	sorted := slices.Sorted(slices.Values(ids))
	if d := slices.Compact(slices.Clone(sorted)); len(d) < len(ids) {
		c.at(n, "%d neurons of %s are named, but only %d are different: name each once", len(ids), area, len(d))
		return nil
	}
	if len(ids) == 0 {
		c.at(n, "no neurons of %s are named: name some, or silence it with clear", area)
		return nil
	}
	c.needs.sets[area] = max(c.needs.sets[area], len(ids))
	return func(*machine) []int32 { return ids }
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// size returns the number of neurons of an area.
func (c *compiler) size(area string) int {
	for _, a := range c.Areas {
		if a.Name == area {
			return a.N
		}
	}
	return 1
}

func (c *compiler) activate(s *step) {
	a := c.area(s.value)
	if a == "" {
		return
	}
	blocks := c.size(a) / c.k(a)
	if blocks == 0 {
		c.at(s.value, "area %s has no complete block of k neurons: give it at least k neurons", a)
		return
	}
	i := c.whole(s.args["block"], "block of "+a, 0, blocks-1, 0)
	c.emit(s, func(m *machine) error { return m.brain.Activate(a, i) })
}

func (c *compiler) normalize(s *step) {
	for _, f := range c.fibreList(s.value) {
		if c.lazy(f[1]) {
			c.at(s.value, "area %s is lazy: normalize only fibres into explicit areas", f[1])
			continue
		}
		c.needs.tables[f] = true
		c.emit(s, func(m *machine) error { return m.brain.Normalize(f[0], f[1]) })
	}
}

func (c *compiler) remember(s *step) {
	name, a := c.fresh(s.value), c.area(s.args["area"])
	if c.memory[name] = a; name != "" && a != "" {
		c.emit(s, func(m *machine) error { return m.remember(name, a) })
	}
}
