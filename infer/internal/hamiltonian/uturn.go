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
	n, m := t.n, t.Mem
	rs, ss, begins, nears, fars, ends, sums := m[a.rho:][:n], m[b.rho:][:n], m[a.First:][:n], m[a.last:][:n], m[b.First:][:n], m[b.last:][:n], m[sum:][:n]
	for i, r := range rs {
		s, begin, near, far, end := ss[i], begins[i], nears[i], fars[i], ends[i]
		left, right, all := r+far, s+near, r+s
		u += begin * left
		v += far * left
		w += near * right
		x += end * right
		y += begin * all
		z += end * all
		sums[i] = all
	}
	return u > 0 && v > 0 && w > 0 && x > 0, y > 0 && z > 0
}

// straightPair is straight of two leaves, whose joint has no tests of its own.
func (t *Tree) straightPair(a, b, sum int) bool {
	var y, z float64
	first, last, rho := t.Mem[a:a+t.n], t.Mem[b:b+t.n], t.Mem[sum:sum+t.n]
	for i, begin := range first {
		all := begin + last[i]
		y += begin * all
		z += last[i] * all
		rho[i] = all
	}
	return y > 0 && z > 0
}
