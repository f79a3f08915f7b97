// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// reader extracts values from YAML and collects the mistakes in them.
type reader struct {
	wrong *Mistakes
	calls []*yaml.Node // calls of the procedures that are being expanded
}

// at reports a mistake at a node.
func (r *reader) at(n *yaml.Node, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	for i := len(r.calls) - 1; i >= 0; i-- {
		what += fmt.Sprintf(" (called from %d:%d)", r.calls[i].Line, r.calls[i].Column)
	}
	r.wrong.add(Mistake{n.Line, n.Column, what})
}

// unknown reports a name that is not one of those known.
func (r *reader) unknown(n *yaml.Node, kind, name string, known []string) {
	r.at(n, "there is no %s %q: %s", kind, name, did(name, known))
}

// mapping returns the values of a mapping by key. The keys must be among those known, unless none
// are given.
func (r *reader) mapping(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		r.at(n, "%s is %s: want keys and values", what, kindOf(n))
		return nil
	}
	out := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			r.at(key, "a key of %s is %s: want a name", what, kindOf(key))
		case out[key.Value] != nil:
			r.at(key, "%s has the key %q twice: write it once", what, key.Value)
		case len(known) > 0 && !slices.Contains(known, key.Value):
			r.unknown(key, "key of "+what, key.Value, known)
		default:
			out[key.Value] = n.Content[i+1]
		}
	}
	return out
}

// each visits the entries of a mapping in their order.
func each(n *yaml.Node, visit func(key, value *yaml.Node)) {
	if n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			visit(n.Content[i], n.Content[i+1])
		}
	}
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if n.ShortTag() == "!!null" {
		return "empty"
	}
	return strconv.Quote(foreign.Short(n.Value, 60))
}

// number returns a finite number from lo to hi, or def if the node is absent.
func (r *reader) number(n *yaml.Node, what string, lo, hi, def float64) float64 {
	if n == nil {
		return def
	}
	var v float64
	if tag := n.ShortTag(); n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" || n.Decode(&v) != nil {
		r.at(n, "%s is %s: %s", what, kindOf(n), foreign.NumberTry(n.Value, "want a number"))
		return def
	}
	if math.IsInf(v, 0) {
		r.at(n, "%s is %s: want a finite number", what, n.Value)
		return def
	}
	if !(v >= lo && v <= hi) {
		r.at(n, "%s is %s: want %s", what, n.Value, between(lo, hi))
		return def
	}
	return v
}

func between(lo, hi float64) string {
	if math.IsInf(hi, 1) {
		return fmt.Sprintf("%g or more", lo)
	}
	return fmt.Sprintf("%g to %.10g", lo, hi)
}

// whole returns a whole number from lo to hi, or def if the node is absent.
func (r *reader) whole(n *yaml.Node, what string, lo, hi, def int) int {
	v := r.number(n, what, float64(lo), float64(hi), float64(def))
	if v != math.Trunc(v) {
		r.at(n, "%s is %g: want a whole number", what, v)
		return def
	}
	return int(v)
}

// seed returns a whole number of 64 bits.
func (r *reader) seed(n *yaml.Node) uint64 {
	var v uint64
	if n != nil && (n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(&v) != nil) {
		r.at(n, "the seed is %s: want a whole number of at least 0", kindOf(n))
	}
	return v
}

// yes reads true, false, on or off; if the node is absent it returns def.
func (r *reader) yes(n *yaml.Node, what string, def bool) bool {
	if n == nil {
		return def
	}
	if n.Kind == yaml.ScalarNode {
		switch strings.ToLower(n.Value) {
		case "true", "on", "yes":
			return true
		case "false", "off", "no":
			return false
		}
	}
	r.at(n, "%s is %s: want true or false, on or off", what, kindOf(n))
	return def
}

// choice returns which of several words a node is, or the first if the node is absent.
func (r *reader) choice(n *yaml.Node, what string, words ...string) int {
	if n == nil {
		return 0
	}
	i := slices.Index(words, n.Value)
	if n.Kind != yaml.ScalarNode || i < 0 {
		r.at(n, "%s is %s: want one of %s%s", what, kindOf(n), strings.Join(words, ", "), near(n.Value, words))
		return 0
	}
	return i
}

func near(name string, words []string) string {
	if s := did(name, words); strings.HasPrefix(s, "did") {
		return "; " + s
	}
	return ""
}

// word returns a name, or "" if the node is none.
func (r *reader) word(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		r.at(n, "%s is %s: want a name", what, kindOf(n))
		return ""
	}
	return n.Value
}

// list returns the nodes of a list, or the node itself if it stands alone.
func list(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}
