// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// step is a step as written: a mapping in which one key says what it does.
type step struct {
	node  *yaml.Node // node of that key
	kind  *kind
	value *yaml.Node            // value of that key
	args  map[string]*yaml.Node // values of the other keys
	body  []*step               // steps inside a repeat or branch
	env   map[string]*yaml.Node // values of parameters in the body
}

// kind is a kind of step.
type kind struct {
	name, value string   // name of its key, and description of the key's value
	need, may   []string // other keys, required and optional
	about       string
	compile     func(c *compiler, s *step)
}

var kinds map[string]*kind

// This is done here and not in a variable, because steps contain steps.
func init() {
	kinds = map[string]*kind{}
	for _, k := range slices.Concat(projecting(), states(), measuring(), flow()) {
		kinds[k.name] = &k
	}
}

// Reference lists all steps, one a line: how each is written and what it does.
func Reference() string {
	var s strings.Builder
	for _, k := range slices.Concat(projecting(), states(), measuring(), flow()) {
		text := k.name + ": " + k.value
		for _, key := range k.need {
			text += ", " + key
		}
		if len(k.may) > 0 {
			text += " [" + strings.Join(k.may, ", ") + "]"
		}
		fmt.Fprintf(&s, "%s\n    %s\n", text, k.about)
	}
	return s.String()
}

// list reads steps.
func (c *compiler) list(n *yaml.Node, what string) (steps []*step) {
	if n.Kind != yaml.SequenceNode {
		c.at(n, "%s is %s: want a list of steps", what, kindOf(n))
		return nil
	}
	for _, x := range n.Content {
		if s := c.read(x); s != nil {
			steps = append(steps, s)
		}
	}
	return steps
}

// read reads a step, or returns nil if its form is wrong.
func (c *compiler) read(n *yaml.Node) *step {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		c.at(n, "a step is %s: want keys and values, such as form: A", kindOf(n))
		return nil
	}
	s := &step{}
	each(n, func(key, value *yaml.Node) {
		switch k := kinds[key.Value]; {
		case k == nil:
		case s.kind != nil:
			c.at(key, "this step does both %s and %s: make two steps of it", s.kind.name, k.name)
		default:
			s.node, s.kind, s.value = key, k, value
		}
	})
	if s.kind == nil {
		c.unknown(n.Content[0], "step", n.Content[0].Value, slices.Collect(maps.Keys(kinds)))
		return nil
	}
	before := len(c.wrong.List)
	s.args = c.mapping(n, s.kind.name, slices.Concat([]string{s.kind.name}, s.kind.need, s.kind.may)...)
	for _, key := range s.kind.need {
		if s.args[key] == nil {
			c.at(s.node, "the step %s lacks %s: add it", s.kind.name, key)
		}
	}
	switch s.kind.name {
	case "branch":
		s.body = c.list(s.value, "a branch")
	case "repeat":
		if s.args["steps"] != nil {
			s.body = c.list(s.args["steps"], "what repeats")
		}
	}
	if len(c.wrong.List) > before {
		return nil
	}
	return s
}

// with returns the step with its parameters replaced.
func (s *step) with(c *compiler, env map[string]*yaml.Node) *step {
	out := *s
	if s.kind.name != "branch" {
		out.value = c.replaced(s.value, env)
	}
	out.args = map[string]*yaml.Node{}
	for key, n := range s.args {
		if s.kind.name != "repeat" || key != "steps" {
			out.args[key] = c.replaced(n, env)
		}
	}
	return &out
}

// replaced returns a node in which $name is replaced by its value.
func (c *compiler) replaced(n *yaml.Node, env map[string]*yaml.Node) *yaml.Node {
	c.busy(n, 1)
	switch {
	case c.full:
		return n
	case n.Kind != yaml.ScalarNode:
		out := *n
		out.Content = make([]*yaml.Node, len(n.Content))
		for i, x := range n.Content {
			out.Content[i] = c.replaced(x, env)
		}
		return &out
	case !strings.Contains(n.Value, "$"):
		return n
	}
	if name, whole := strings.CutPrefix(n.Value, "$"); whole && env[name] != nil {
		out := *env[name]
		out.Line, out.Column = n.Line, n.Column
		return &out
	}
	out := *n
	out.Tag, out.Value = "", c.filled(n, env)
	return &out
}

// mostText bounds texts that contain parameters, so that their length does not double with every
// procedure.
const mostText = 1000

// filled returns a text in which parameters are replaced by their values.
func (c *compiler) filled(n *yaml.Node, env map[string]*yaml.Node) string {
	var b strings.Builder
	end := 0
	for _, at := range parameter.FindAllStringIndex(n.Value, -1) {
		p := n.Value[at[0]:at[1]]
		b.WriteString(n.Value[end:at[0]])
		end = at[1]
		switch v := env[p[1:]]; {
		case v == nil:
			c.at(n, "there is no parameter %s here: %s", p, did(p[1:], slices.Collect(maps.Keys(env))))
		case v.Kind != yaml.ScalarNode:
			c.at(n, "%s stands for %s: want a name or a number where it is part of a longer text", p, kindOf(v))
		case b.Len()+len(v.Value) > mostText:
			c.at(n, "the text has more than %d characters once %s is put into it: shorten it, or use a list", mostText, p)
			return ""
		default:
			b.WriteString(v.Value)
		}
	}
	b.WriteString(n.Value[end:])
	c.busy(n, b.Len()/50)
	return b.String()
}
