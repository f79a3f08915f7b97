// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"reflect"

	G "gorgonia.org/gorgonia"
)

// read is a gorgonia.Read: a node whose value is stored in a variable at each run.
type read struct {
	node *G.Node
	into *G.Value
}

func (r *read) store() { *r.into = r.node.Value() }

// readsOf returns the Reads of what outs depend on.
func readsOf(outs []*G.Node) []read {
	list, err := order(outs, nil)
	if err != nil || len(outs) == 0 || outs[0].Graph() == nil {
		return nil // Import reports it
	}
	needed := map[*G.Node]bool{}
	for _, n := range list {
		needed[n] = true
	}
	var reads []read
	for _, n := range outs[0].Graph().AllNodes() {
		if !isRead(n) {
			continue
		}
		if kids := children(n); len(kids) == 1 && needed[kids[0]] {
			into := reflect.ValueOf(n.Op()).FieldByName("into").UnsafePointer()
			reads = append(reads, read{kids[0], (*G.Value)(into)})
		}
	}
	return reads
}

func isRead(n *G.Node) bool { return n.Op() != nil && opName(n.Op()) == "readOp" }

// values returns outs once each, with Reads replaced by what they read.
func values(outs []*G.Node) []*G.Node {
	var list []*G.Node
	seen := map[*G.Node]bool{}
	for _, n := range outs {
		if n != nil && isRead(n) {
			if kids := children(n); len(kids) == 1 {
				n = kids[0]
			}
		}
		if !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}
