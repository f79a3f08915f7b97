// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// Coordinates is implemented by a Target whose unconstrained parameters have
// names, for Settings.Blocks; otherwise they are q[0], q[1] ...
type Coordinates interface{ Coordinates() []string }

// findBlocks resolves Settings.Blocks for the target.
func (c *Settings) findBlocks(t Target) error {
	c.blockAt = nil
	if len(c.Blocks) == 0 {
		return nil
	}
	names, taken := coordinates(t), map[int]bool{}
	for _, b := range c.Blocks {
		var at []int
		for _, want := range b {
			found := false
			for i, name := range names {
				if base, _, _ := strings.Cut(name, "["); name != want && base != want {
					continue
				}
				if taken[i] {
					return fmt.Errorf("infer: Settings.Blocks names %s twice: put each parameter into one block", name)
				}
				taken[i], found = true, true
				at = append(at, i)
			}
			if !found {
				return fmt.Errorf("infer: Settings.Blocks names %q, but there is no such parameter%s: use names of unconstrained parameters, such as tau or theta[0]", want, meant(want, names))
			}
		}
		c.blockAt = append(c.blockAt, at)
	}
	return nil
}

func meant(name string, names []string) string {
	known := slices.Clone(names)
	for _, n := range names {
		if bare, _, element := strings.Cut(n, "["); element && !slices.Contains(known, bare) {
			known = append(known, bare)
		}
	}
	if near := spelling.Meant(name, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return fmt.Sprintf(": there are %v", names[:min(len(names), 20)])
}

func coordinates(t Target) []string {
	if c, ok := t.(Coordinates); ok {
		if names := c.Coordinates(); names != nil {
			return names
		}
	}
	names := make([]string, t.Dim())
	for i := range names {
		names[i] = fmt.Sprintf("q[%d]", i)
	}
	return names
}

// Coordinates returns the names of the unconstrained parameters: tau or theta[0],
// theta[1] ..., counted in the unconstrained form.
func (p *Posterior) Coordinates() []string {
	var out []string
	for k, q := range p.inputs[:len(p.model.params)] {
		name := p.model.params[k].name
		if len(q.Shape()) == 0 {
			out = append(out, name)
			continue
		}
		for i := range q.Size() {
			out = append(out, fmt.Sprintf("%s[%d]", name, i))
		}
	}
	return out
}
