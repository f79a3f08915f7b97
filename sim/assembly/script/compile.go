// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// compiler turns a script into instructions, one for each step that is carried out. Procedures and
// repetitions are expanded, so that a place in the program is a number, and the names and states of
// areas are known at every place.
type compiler struct {
	reader
	*Script
	scope
	named    map[string]*procedure
	circular bool // whether procedures call each other in a circle
	blind    bool // whether procedures are not followed or do not exist, so that names may be missing
	work     int  // amount of work done so far, which is bounded
	full     bool
}

// scope is the information known at a place of the program.
type scope struct {
	memory map[string]string // area of each assembly that is remembered
	fixed  map[string]bool
	frozen bool
}

func newScope() scope { return scope{memory: map[string]string{}, fixed: map[string]bool{}} }

func (s scope) clone() scope { return scope{maps.Clone(s.memory), maps.Clone(s.fixed), s.frozen} }

// mostWork bounds how far repetitions and procedures are expanded.
const mostWork = 1_000_000

// busy adds to the work and reports whether there is too much of it.
func (c *compiler) busy(n *yaml.Node, amount int) bool {
	if c.work += amount; c.work > mostWork && !c.full {
		c.full = true
		c.at(n, "the script grows to more than %d steps when it is written out: project more steps at once, or repeat less", mostWork)
	}
	return c.full
}

// instruction is one step of the program.
type instruction struct {
	line, column int
	name         string // name of the step that the instruction belongs to
	rounds       int    // number of steps of the brain
	fibres       string // fibres of these steps
	do           func(m *machine) error
	branch       []instruction
}

func (c *compiler) emit(s *step, do func(m *machine) error) {
	c.program = append(c.program, instruction{line: s.node.Line, column: s.node.Column, name: s.kind.name, do: do})
	c.busy(s.node, 1)
}

// project emits steps of the brain.
func (c *compiler) project(s *step, steps int, fibres string) {
	if steps > 0 {
		c.program = append(c.program, instruction{line: s.node.Line, column: s.node.Column, name: s.kind.name, rounds: steps, fibres: fibres})
		c.Rounds += steps
		c.needs.use(fibres, steps)
		c.busy(s.node, 1)
	}
}

// meaning is what a name stands for.
type meaning int

const (
	isUnknown meaning = iota
	isArea
	isStimulus
)

func (c *compiler) known(name string) meaning {
	for _, a := range c.Areas {
		if a.Name == name {
			return isArea
		}
	}
	for _, s := range c.Stimuli {
		if s.Name == name {
			return isStimulus
		}
	}
	return isUnknown
}

func (c *compiler) areaNames() (names []string) {
	for _, a := range c.Areas {
		names = append(names, a.Name)
	}
	return names
}

func (c *compiler) stimulusNames() (names []string) {
	for _, s := range c.Stimuli {
		names = append(names, s.Name)
	}
	return names
}

// area returns the name of an area, or "" if the node is none.
func (c *compiler) area(n *yaml.Node) string {
	name := c.word(n, "an area")
	switch {
	case name == "" || c.known(name) == isArea:
		return name
	case c.known(name) == isStimulus:
		c.at(n, "%s is a stimulus, but an area is needed: %s", name, did("", c.areaNames()))
	default:
		c.unknown(n, "area", name, c.areaNames())
	}
	return ""
}

func (c *compiler) stimulus(n *yaml.Node) string {
	name := c.word(n, "a stimulus")
	switch {
	case name == "" || c.known(name) == isStimulus:
		return name
	case c.known(name) == isArea:
		c.at(n, "%s is an area, but a stimulus is needed: %s", name, did("", c.stimulusNames()))
	default:
		c.unknown(n, "stimulus", name, c.stimulusNames())
	}
	return ""
}

// k returns the number of neurons of an area that fire.
func (c *compiler) k(area string) int {
	for _, a := range c.Areas {
		if a.Name == area {
			return a.K
		}
	}
	return 1
}

func (c *compiler) lazy(area string) bool {
	return slices.ContainsFunc(c.Areas, func(a assembly.Area) bool { return a.Name == area && a.Lazy })
}

// fibreList returns the ends of fibres written as "S>A A>A" or as a list of such texts, or none if
// one of them is wrong.
func (c *compiler) fibreList(n *yaml.Node) (ends [][2]string) {
	good := true
	for _, x := range list(n) {
		if x.Kind != yaml.ScalarNode {
			c.at(x, "a fibre is %s: want from>to", kindOf(x))
			return nil
		}
		for _, w := range strings.Fields(x.Value) {
			f, ok := c.fibre(x, w)
			if good = good && ok; ok && slices.Contains(ends, f) {
				c.at(x, "fibre %s>%s appears twice: name it once", f[0], f[1])
				good = false
			}
			ends = append(ends, f)
		}
	}
	if good && len(ends) == 0 {
		c.at(n, "there are no fibres: give at least one, such as S>A")
	}
	if !good {
		return nil
	}
	return ends
}

func (c *compiler) fibre(n *yaml.Node, text string) (ends [2]string, ok bool) {
	from, to, ok := strings.Cut(text, ">")
	if !ok {
		c.at(n, "the fibre %q is not of the form from>to: write it as S>A", text)
		return ends, false
	}
	from = strings.TrimSuffix(from, "-")
	if c.known(from) == isUnknown {
		c.unknown(n, "area or stimulus", from, append(c.areaNames(), c.stimulusNames()...))
		ok = false
	}
	switch c.known(to) {
	case isUnknown:
		c.unknown(n, "area", to, c.areaNames())
		ok = false
	case isStimulus:
		c.at(n, "fibre %s leads to a stimulus, but must lead to an area", text)
		ok = false
	}
	return [2]string{from, to}, ok
}

// written joins fibres into the form that plans take.
func written(ends [][2]string) string {
	var s []string
	for _, f := range ends {
		s = append(s, f[0]+">"+f[1])
	}
	return strings.Join(s, " ")
}

// fresh returns the new name under which an assembly is to be remembered.
func (c *compiler) fresh(n *yaml.Node) string {
	name := c.word(n, "an assembly")
	if c.known(name) != isUnknown {
		c.at(n, "an assembly cannot be called %s, because an area or a stimulus is: choose another name", name)
		return ""
	}
	if strings.Contains(name, ">") {
		c.at(n, "an assembly cannot be called %q: want a name without >", name)
		return ""
	}
	return name
}

// remembered returns the name and area of an assembly.
func (c *compiler) remembered(n *yaml.Node) (name, area string) {
	if name = c.word(n, "an assembly"); name == "" {
		return "", ""
	}
	area, ok := c.memory[name]
	if !ok && !c.blind {
		c.at(n, "no assembly %q is remembered here: %s", name, did(name, slices.Collect(maps.Keys(c.memory))))
	}
	return name, area
}

// String returns the name and place of an instruction.
func (i instruction) String() string { return fmt.Sprintf("%s at %d:%d", i.name, i.line, i.column) }
