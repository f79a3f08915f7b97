// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import "github.com/euryale-dev/euryale/internal/linalg"

// subtree is a finished binary subtree of a trajectory.
type subtree struct {
	level int
	// weight is the sum of exp(H0 - H) over exp(Shift).
	weight float64
	at     segment
	// Room is the memory that joined leaves need.
	Room segment
	Draw proposal
}

// segment is a part of a trajectory: where in its memory the momenta of the first
// and the last leaf are, and the sum of all. They coincide for a single leaf.
type segment struct{ First, last, rho int }

// proposal is a leaf chosen from a subtree.
type proposal struct {
	// at is the place of position and gradient in the memory of the trajectory.
	at         int
	Lp, energy float64
	index      int
}

func (p *proposal) Vectors(mem []float64, n int) (q, g []float64) {
	b := mem[p.at : p.at+2*n]
	return b[:n:n], b[n:]
}

// Hold makes s the subtree of one leaf, at a point.
func (s *subtree) Hold(mem []float64, at *Point) {
	linalg.Assign(mem[s.Room.First:s.Room.First+len(at.Z)], at.Z)
	s.Draw.hold(mem, at)
}

func (p *proposal) hold(mem []float64, at *Point) {
	q, g := p.Vectors(mem, len(at.Q))
	linalg.Assign(q, at.Q)
	linalg.Assign(g, at.G)
	p.Lp = at.Lp
}

// room returns the place of k numbers in the memory, which grows at most once
// per depth.
func (t *Tree) room(k int) int {
	at := len(t.Mem)
	t.Mem = append(t.Mem, make([]float64, k)...)
	return at
}

func (t *Tree) newProposal() proposal { return proposal{at: t.room(2 * t.n)} }

func (t *Tree) newStretch() segment {
	at := t.room(3 * t.n)
	return segment{at, at + t.n, at + 2*t.n}
}

// Next returns the place on the stack of the leaf that is made next.
func (t *Tree) Next() *subtree {
	for len(t.stack) <= t.top {
		t.stack = append(t.stack, subtree{Room: t.newStretch(), Draw: t.newProposal()})
	}
	return &t.stack[t.top]
}

// merge joins the neighbours a and b, b being later in time of construction,
// into a. It returns false when the trajectory turns within them.
func (t *Tree) merge(a, b *subtree) bool {
	cross, whole := true, false
	if a.level == 0 {
		whole = t.straightPair(a.at.First, b.at.First, a.Room.rho)
	} else {
		cross, whole = t.straight(a.at, b.at, a.Room.rho)
	}
	if t.Out.Depth >= t.untested && !(whole && (cross || t.NoCross)) {
		return false
	}
	linalg.Assign(t.Mem[a.Room.last:a.Room.last+t.n], t.Mem[b.at.last:b.at.last+t.n])
	a.at = a.Room
	a.level++
	weight := a.weight + b.weight
	if t.decide(b.weight, weight) {
		a.Draw, b.Draw = b.Draw, a.Draw
	}
	a.weight = weight
	return true
}
