// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

// The no-U-turn criterion: a part of a trajectory goes on while the momenta at both of
// its ends point along the sum of all of its momenta. Whitened momenta make that sum the
// vector from end to end.
//
// Reference: Betancourt, arXiv:1601.00225.

// straight writes the sum of the momenta of a and b, which follows it, and
// reports whether the ends of both together still point along it, and whether
// those of each with its neighbour in the other do, across the joint. NaN does not.
func (t *Tree) straight(a, b segment, sum int) (cross, whole bool) {
	var u, v, w, x, y, z float64
	m := t.Mem
	for i := range t.n {
		r, s, begin, near, far, end := m[a.rho+i], m[b.rho+i], m[a.First+i], m[a.last+i], m[b.First+i], m[b.last+i]
		left, right, all := r+far, s+near, r+s
		u += begin * left
		v += far * left
		w += near * right
		x += end * right
		y += begin * all
		z += end * all
		m[sum+i] = all
	}
	return u > 0 && v > 0 && w > 0 && x > 0, y > 0 && z > 0
}
