// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

var (
	parameter = regexp.MustCompile(`\$[A-Za-z_][A-Za-z0-9_]*`)
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// procedure is a named list of steps.
type procedure struct {
	node       *yaml.Node
	parameters []string
	body       []*step
}

// flow returns the kinds of steps that contain steps.
func flow() []kind {
	return []kind{
		{"do", "PROCEDURE", nil, []string{"with"}, "Carry out a procedure, whose parameters are given by name.", (*compiler).do},
		{"repeat", "TIMES", []string{"steps"}, []string{"as"}, "Carry out steps several times. With as: i, $i counts from 0.", (*compiler).repeat},
		{"branch", "[STEPS]", nil, nil, "Carry out steps on a copy of the brain and keep only their measures.", (*compiler).branch},
		{"save", "NAME", nil, nil, "Write the brain to NAME.snapshot.", (*compiler).save},
	}
}

// procedures reads the procedures of a script, before the first one is used.
func (c *compiler) procedures(n *yaml.Node) {
	c.named = map[string]*procedure{}
	if n == nil {
		return
	}
	c.mapping(n, "procedures")
	each(n, func(key, value *yaml.Node) {
		p := &procedure{node: key}
		steps := value
		if value.Kind == yaml.MappingNode {
			m := c.mapping(value, "procedure "+key.Value, "with", "steps")
			if m["with"] != nil {
				p.parameters = c.parameters(m["with"])
			}
			if steps = m["steps"]; steps == nil {
				c.at(value, "procedure %s has no steps: give it at least one", key.Value)
				return
			}
		}
		p.body = c.list(steps, "procedure "+key.Value)
		c.named[key.Value] = p
	})
}

func (c *compiler) parameters(n *yaml.Node) (names []string) {
	for _, x := range list(n) {
		name := c.word(x, "a parameter")
		if name != "" && !plainName.MatchString(name) {
			c.at(x, "the parameter cannot be called %q: want letters, digits and _", name)
		} else if slices.Contains(names, name) {
			c.at(x, "the parameter %s appears twice: name it once", name)
		}
		names = append(names, name)
	}
	return names
}

// circles reports procedures that call each other in a circle, and calls of procedures that do not
// exist.
func (c *compiler) circles() {
	state := map[string]int{} // 1 while followed, 2 when done
	var path []string
	var follow func(name string)
	var walk func(steps []*step)
	walk = func(steps []*step) {
		for _, s := range steps {
			walk(s.body)
			if s.kind.name != "do" || s.value.Kind != yaml.ScalarNode || c.named[s.value.Value] == nil {
				continue
			}
			name := s.value.Value
			if state[name] == 1 {
				circle := append(slices.Clone(path[slices.Index(path, name):]), name)
				c.at(s.value, "procedures call each other in a circle: %s: remove one of the calls", strings.Join(circle, " > "))
				c.circular, c.blind = true, true
			}
			follow(name)
		}
	}
	follow = func(name string) {
		if state[name] != 0 {
			return
		}
		state[name] = 1
		path = append(path, name)
		walk(c.named[name].body)
		path = path[:len(path)-1]
		state[name] = 2
	}
	for _, name := range slices.Sorted(maps.Keys(c.named)) {
		follow(name)
	}
}

// expand emits the instructions of steps.
func (c *compiler) expand(steps []*step, env map[string]*yaml.Node) {
	for _, s := range steps {
		if c.busy(s.node, 1) {
			return
		}
		before := len(c.wrong.List)
		x := s.with(c, env)
		if len(c.wrong.List) == before {
			x.kind.compile(c, x.inside(env))
		}
	}
}

// inside replaces the parameters in the body of a step.
func (s *step) inside(env map[string]*yaml.Node) *step {
	s.env = env
	return s
}

func (c *compiler) do(s *step) {
	p := c.named[s.value.Value]
	if p == nil || s.value.Kind != yaml.ScalarNode {
		c.unknown(s.value, "procedure", s.value.Value, slices.Collect(maps.Keys(c.named)))
		c.blind = true
		return
	}
	env := map[string]*yaml.Node{}
	if w := s.args["with"]; w != nil && len(p.parameters) == 0 {
		c.at(w, "procedure %s takes no parameters: leave with out", s.value.Value)
	} else if w != nil {
		env = c.mapping(w, "the parameters of "+s.value.Value, p.parameters...)
	}
	for _, name := range p.parameters {
		if env[name] == nil {
			c.at(s.node, "procedure %s needs %s: give it after with", s.value.Value, name)
			return
		}
	}
	if c.circular {
		return
	}
	c.calls = append(c.calls, s.node)
	c.expand(p.body, env)
	c.calls = c.calls[:len(c.calls)-1]
}

func (c *compiler) repeat(s *step) {
	times := c.whole(s.value, "repeat", 0, mostWork, 0)
	name := ""
	if s.args["as"] != nil {
		name = c.word(s.args["as"], "as")
	}
	before := len(c.wrong.List)
	for i := 0; i < times && len(c.wrong.List) == before && !c.busy(s.node, 1); i++ {
		env := s.env
		if name != "" {
			env = map[string]*yaml.Node{name: {Kind: yaml.ScalarNode, Value: strconv.Itoa(i)}}
			for k, v := range s.env {
				if k != name {
					env[k] = v
				}
			}
		}
		c.expand(s.body, env)
	}
}

// branch compiles steps into a separate program.
func (c *compiler) branch(s *step) {
	program, outside := c.program, c.scope
	c.program, c.scope = nil, outside.clone()
	c.needs.copied()
	c.needs.depth++
	c.expand(s.body, s.env)
	c.needs.depth--
	inner := c.program
	c.program, c.scope = program, outside
	c.emit(s, nil)
	c.program[len(c.program)-1].branch = inner
}

func (c *compiler) save(s *step) {
	name := c.word(s.value, "the name of a snapshot")
	if name == "" {
		return
	}
	if !fileName.MatchString(name) {
		c.at(s.value, "the snapshot cannot be called %q: want letters, digits, _, - and dots, with no dot first", name)
		return
	}
	c.emit(s, func(m *machine) error { return m.saveAs(name) })
}

var fileName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$`)
