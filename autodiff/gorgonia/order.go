// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"unsafe"

	G "gorgonia.org/gorgonia"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// childrenField is where a node keeps its arguments.
var childrenField, _ = reflect.TypeFor[G.Node]().FieldByName("children")

// children returns the arguments of n in order. They are read from the node
// itself: the graph looks neighbours up by positions, which it does not renew
// when it removes a node.
func children(n *G.Node) []*G.Node {
	if n.Op() == nil || isConstant(n) || childrenField.Type != reflect.TypeFor[G.Nodes]() {
		return nil
	}
	return *(*G.Nodes)(unsafe.Add(unsafe.Pointer(n), childrenField.Offset))
}

// order returns outs and what they need, arguments first and else in the order
// of creation. It leaves out the nodes of known and what only these need. It
// returns an error where the graph is damaged: see check.
func order(outs []*G.Node, known map[*G.Node]bool) ([]*G.Node, error) {
	found, err := closure(outs, known)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b *G.Node) int { return cmp.Compare(a.ID(), b.ID()) })
	w := walk{state: make(map[*G.Node]progress, len(found)), order: make([]*G.Node, 0, len(found))}
	for n := range known {
		w.state[n] = done
	}
	for _, n := range found {
		if err := w.visit(n); err != nil {
			return nil, err
		}
	}
	for _, n := range w.order {
		if replaced(n) {
			return nil, fmt.Errorf("gorgonia: import: an argument of %v has changed since that node was built: %w", n, errReplaced)
		}
	}
	return w.order, nil
}

// closure returns outs and everything they need, each once.
func closure(outs []*G.Node, known map[*G.Node]bool) ([]*G.Node, error) {
	if childrenField.Type != reflect.TypeFor[G.Nodes]() {
		return nil, fmt.Errorf("gorgonia: import: the nodes differ from those of Gorgonia v0.9.18: use that version")
	}
	var found []*G.Node
	seen := map[*G.Node]bool{}
	stack := slices.Clone(outs)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[n] || known[n] {
			continue
		}
		if err := check(n, outs[0]); err != nil {
			return nil, err
		}
		seen[n] = true
		found = append(found, n)
		stack = append(stack, children(n)...)
	}
	return found, nil
}

// walk visits nodes depth first, on a stack of its own: graphs may be deep.
type walk struct {
	state map[*G.Node]progress
	stack []frame
	order []*G.Node
}

type progress uint8

const (
	begun progress = iota + 1
	done
)

// frame is a node whose arguments are being visited, and the next of them.
type frame struct {
	node *G.Node
	next int
}

// visit appends n to the order, after its arguments.
func (w *walk) visit(n *G.Node) error {
	w.push(n)
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		kids := children(top.node)
		if top.next == len(kids) {
			w.state[top.node] = done
			w.order = append(w.order, top.node)
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		kid := kids[top.next]
		top.next++
		if w.state[kid] == begun {
			return fmt.Errorf("gorgonia: import: %v depends on itself, through %v: %w", kid, top.node, errReplaced)
		}
		w.push(kid)
	}
	return nil
}

func (w *walk) push(n *G.Node) {
	if w.state[n] == 0 {
		w.state[n] = begun
		w.stack = append(w.stack, frame{node: n})
	}
}

// errReplaced says how a graph comes to hold nodes that nobody put there.
var errReplaced = errors.New("Gorgonia returned a node in use to its pool and used it again for another, " +
	"as happens to 1+x and 1-x when Log replaces them by Log1p: build that node again after the Log")

// check returns an error if n is no sound node of the graph of first: deleted,
// of another graph, or with arguments that do not fit its operation.
func check(n, first *G.Node) error {
	switch {
	case n == nil:
		return fmt.Errorf("gorgonia: import: an output is nil: pass nodes of a graph")
	case deleted(n):
		return fmt.Errorf("gorgonia: import: an output was deleted: %w", errReplaced)
	case n.Graph() != first.Graph() && !isConstant(n):
		return fmt.Errorf("gorgonia: import: %v and %v belong to different graphs: import each graph by itself", n, first)
	case n.Op() == nil || isConstant(n) || isStatement(n):
		return nil
	}
	kids := children(n)
	if want := n.Op().Arity(); want >= 0 && want != len(kids) {
		return fmt.Errorf("gorgonia: import: %v has %s, but %T takes %d", n, errtext.Count(len(kids), "argument"), n.Op(), want)
	}
	for i, k := range kids {
		if k == nil || deleted(k) {
			return fmt.Errorf("gorgonia: import: argument %d of %v was deleted: %w", i, n, errReplaced)
		}
	}
	return nil
}

// deleted reports whether Gorgonia has cleared n to use it again.
func deleted(n *G.Node) bool { return n.Op() == nil && n.Type() == nil && n.Graph() == nil }

// replaced reports whether an argument of n became another node after n was
// built: it is younger than n, and with it the hash of n is another. That of an
// operation with a training mode may change with the mode.
func replaced(n *G.Node) bool {
	if _, changes := n.Op().(G.TrainModeOp); changes || isConstant(n) || !slices.ContainsFunc(children(n), func(k *G.Node) bool { return k.ID() > n.ID() }) {
		return false
	}
	h := fnv.New32a()
	n.WriteHash(h)
	return h.Sum32() != n.Hashcode()
}

// isStatement recognises what Read and Set add: they compute no value.
func isStatement(n *G.Node) bool {
	name := opName(n.Op())
	return name == "readOp" || name == "letOp"
}
