// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"maps"
	"slices"
)

// nodeSet is a set of Nodes in the order of their making. Nodes of one graph are made one after another, so that their numbers lie
// together: it is an array of pages by the number, which needs neither a table of Nodes nor a sort.
type nodeSet struct {
	pages map[uint64]*nodePage
	last  *nodePage // that of the Node before
	at    uint64    // its number
	size  int
}

type nodePage [512]*Node

// add puts a Node into the set and returns whether it is new there.
func (s *nodeSet) add(n *Node) bool {
	at, slot := n.id/uint64(len(nodePage{})), n.id%uint64(len(nodePage{}))
	if s.last == nil || s.at != at {
		s.turnTo(at)
	}
	if s.last[slot] != nil {
		return false
	}
	s.last[slot] = n
	s.size++
	return true
}

func (s *nodeSet) turnTo(at uint64) {
	if s.pages == nil {
		s.pages = map[uint64]*nodePage{}
	}
	page := s.pages[at]
	if page == nil {
		page = new(nodePage)
		s.pages[at] = page
	}
	s.last, s.at = page, at
}

// inOrder returns the Nodes, inputs before what is computed from them.
func (s *nodeSet) inOrder() []*Node {
	order := make([]*Node, 0, s.size)
	for _, at := range slices.Sorted(maps.Keys(s.pages)) {
		for _, n := range s.pages[at] {
			if n != nil {
				order = append(order, n)
			}
		}
	}
	return order
}
