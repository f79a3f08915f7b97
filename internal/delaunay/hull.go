// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package delaunay

import (
	"slices"
)

// mostDim is the largest dimension of a hull.
const mostDim = 10

// facet is a simplex of the hull's boundary.
type facet struct {
	verts   []int32
	neigh   []int32 // facet opposite of each vertex
	plane   plane
	out     float64 // sign of the side that is outside
	dead    bool
	mark    int32   // point for which it was last looked at
	seen    bool    // from that point
	above   []int32 // points outside, that no other facet holds
	highest int     // place of the farthest of them
	dist    float64 // its distance
}

// hull is the convex hull of points in dim dimensions.
type hull struct {
	dim    int
	at     []float64 // points, one after another
	inside []float64 // a point in the interior
	facets []*facet
	free   []int32
	ridges map[[mostDim]int32]ridge
	calls  int32
}

// ridge is a side of a new facet that waits for its neighbour.
type ridge struct {
	facet int32
	side  int
}

func (h *hull) point(i int32) []float64 { return h.at[int(i)*h.dim : (int(i)+1)*h.dim] }

// newHull returns the hull of n points, or the points that span them if they lie in a plane.
func newHull(at []float64, dim int) (h *hull, flat []int32) {
	h = &hull{dim: dim, at: at, ridges: map[[mostDim]int32]ridge{}}
	first := h.spanning()
	if len(first) <= dim {
		return nil, first
	}
	h.inside = make([]float64, dim)
	for _, v := range first {
		for k, x := range h.point(v) {
			h.inside[k] += x / float64(dim+1)
		}
	}
	for i := range first {
		verts := slices.Delete(slices.Clone(first), i, i+1)
		f := h.add(verts)
		if h.facets[f].out == 0 {
			return nil, first[:dim] // as flat as makes no difference
		}
		for k := range dim {
			// Vertex k of facet i is first[k] or first[k+1]; the facet without it is its neighbour.
			if k < i {
				h.facets[f].neigh[k] = int32(k)
			} else {
				h.facets[f].neigh[k] = int32(k + 1)
			}
		}
	}
	all := make([]int32, 0, len(at)/dim)
	for i := range int32(len(at) / dim) {
		if !slices.Contains(first, i) {
			all = append(all, i)
		}
	}
	h.deal(all, h.facets)
	h.grow()
	return h, nil
}

// flatness is the width of a set of points, relative to its length, that is taken for rounding.
const flatness = 1e-13

// spanning returns points that span the space, or as many as span what the points lie in.
func (h *hull) spanning() []int32 {
	n := int32(len(h.at) / h.dim)
	if n == 0 {
		return nil
	}
	lo, hi := int32(0), int32(0)
	for k := range h.dim {
		for i := range n {
			if h.point(i)[k] < h.point(lo)[k] {
				lo = i
			}
			if h.point(i)[k] > h.point(hi)[k] {
				hi = i
			}
		}
		if lo != hi && h.point(lo)[k] < h.point(hi)[k] {
			break
		}
	}
	chosen := []int32{lo}
	if lo == hi {
		return chosen
	}
	// The farthest from the plane of those chosen so far is the next, unless it lies in that plane.
	var axes [][]float64
	next, widest := hi, 0.0
	for {
		e := make([]float64, h.dim)
		for k := range e {
			e[k] = h.point(next)[k] - h.point(lo)[k]
		}
		reduce(e, axes)
		length := norm(e)
		if widest = max(widest, length); length <= flatness*widest {
			break
		}
		for k := range e {
			e[k] /= length
		}
		chosen, axes = append(chosen, next), append(axes, e)
		if len(chosen) == h.dim+1 {
			break
		}
		best, far := int32(-1), 0.0
		left := make([]float64, h.dim)
		for i := range n {
			for k := range left {
				left[k] = h.point(i)[k] - h.point(lo)[k]
			}
			reduce(left, axes)
			if d := norm(left); d > far && !slices.Contains(chosen, i) {
				best, far = i, d
			}
		}
		if best < 0 {
			break
		}
		next = best
	}
	if len(chosen) == h.dim+1 {
		p := newPlane(h, chosen[:h.dim])
		if p.side(h, chosen[:h.dim], h.point(chosen[h.dim])) == 0 {
			return chosen[:h.dim]
		}
	}
	return chosen
}

// add makes a facet.
func (h *hull) add(verts []int32) int32 {
	f := &facet{verts: verts, neigh: make([]int32, h.dim), plane: newPlane(h, verts), mark: -1}
	f.out = -float64(f.plane.side(h, verts, h.inside))
	if n := len(h.free); n > 0 {
		i := h.free[n-1]
		h.free = h.free[:n-1]
		h.facets[i] = f
		return i
	}
	h.facets = append(h.facets, f)
	return int32(len(h.facets) - 1)
}

// outside reports whether a point is strictly outside of a facet.
func (h *hull) outside(f *facet, p int32) bool {
	return f.out*float64(f.plane.side(h, f.verts, h.point(p))) > 0
}

// deal gives every point to a facet that it is outside of; those of none lie in the hull.
func (h *hull) deal(points []int32, facets []*facet) {
	for _, p := range points {
		for _, f := range facets {
			if !h.outside(f, p) {
				continue
			}
			if d := f.plane.distance(h.point(p)); len(f.above) == 0 || d > f.dist {
				f.dist, f.highest = d, len(f.above)
			}
			f.above = append(f.above, p)
			break
		}
	}
}

// grow adds the points outside one by one, the farthest of a facet first.
func (h *hull) grow() {
	var todo []int32
	for i := range h.facets {
		todo = append(todo, int32(i))
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		f := h.facets[i]
		if f.dead || len(f.above) == 0 {
			todo = todo[:len(todo)-1]
			continue
		}
		p := f.above[f.highest]
		f.above = slices.Delete(f.above, f.highest, f.highest+1)
		todo = append(todo, h.extend(i, p)...)
	}
}

// extend replaces the facets that a point sees, facet from among them, by those that join it to the
// horizon, and returns these.
func (h *hull) extend(from, p int32) []int32 {
	h.calls++
	sees := func(i int32) bool {
		f := h.facets[i]
		if f.mark != h.calls {
			f.mark, f.seen = h.calls, h.outside(f, p)
		}
		return f.seen
	}
	h.facets[from].mark, h.facets[from].seen = h.calls, true
	visible := []int32{from}
	var fresh []int32
	var orphans []int32
	found := map[int32]bool{from: true}
	for k := 0; k < len(visible); k++ {
		f := h.facets[visible[k]]
		for side, n := range f.neigh {
			if sees(n) {
				if !found[n] {
					found[n] = true
					visible = append(visible, n)
				}
				continue
			}
			verts := slices.Clone(f.verts)
			verts[side] = p
			i := h.add(verts)
			fresh = append(fresh, i)
			g := h.facets[i]
			g.neigh[side] = n
			other := h.facets[n]
			for s, back := range other.neigh {
				if back == visible[k] && !slices.Contains(f.verts, other.verts[s]) {
					other.neigh[s] = i
				}
			}
			h.join(i, side)
		}
		orphans = append(orphans, f.above...)
	}
	for _, i := range visible {
		h.facets[i].dead, h.facets[i].above = true, nil
	}
	facets := make([]*facet, len(fresh))
	for k, i := range fresh {
		facets[k] = h.facets[i]
	}
	h.deal(orphans, facets)
	h.free = append(h.free, visible...)
	return fresh
}

// join makes neighbours of a new facet and others of the same point, on all sides but one.
func (h *hull) join(i int32, but int) {
	f := h.facets[i]
	for side := range f.verts {
		if side == but {
			continue
		}
		var key [mostDim]int32
		n := 0
		for k, v := range f.verts {
			if k != side && k != but {
				key[n] = v + 1
				n++
			}
		}
		slices.Sort(key[:n])
		other, ok := h.ridges[key]
		if !ok {
			h.ridges[key] = ridge{i, side}
			continue
		}
		f.neigh[side] = other.facet
		h.facets[other.facet].neigh[other.side] = i
		delete(h.ridges, key)
	}
}

// reduce subtracts from e its parts along unit vectors, twice, so that rounding leaves none.
func reduce(e []float64, axes [][]float64) {
	for range 2 {
		for _, a := range axes {
			dot := 0.0
			for k := range e {
				dot += e[k] * a[k]
			}
			for k := range e {
				e[k] -= dot * a[k]
			}
		}
	}
}
