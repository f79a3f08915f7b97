// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

// angles are the sines and cosines of both angles in a block of voxels, and the components x and y of the director; z is cosTheta.
type angles[T float] struct {
	sinTheta, cosTheta, sinPsi, cosPsi, x, y []T
	missing                                  bool // whether angles that do not exist have been replaced, see direct
}

// fromAngles sets v, pa = v S and pa s s^T with the director of the Euler angles, for voxels lo to hi of a slice. v is
// the array itself.
func (p *products[T]) fromAngles(w *scratch[T], f *[anisotropic][]T, in [4][]T, lo, hi int) {
	order, pa, xx, xy, xz, yy, yz := in[1][lo:hi], f[fieldPA], f[fieldXX], f[fieldXY], f[fieldXZ], f[fieldYY], f[fieldYZ]
	f[fieldV] = in[0][lo:hi]
	a := w.blockOfAngles(hi - lo)
	if !zeros(order) {
		a.direct(order, in[2][lo:hi], in[3][lo:hi])
	}
	product(pa, f[fieldV], order)
	if yy != nil {
		product(yz, pa, a.y)
		product(yy, yz, a.y)
		product(yz, yz, a.cosTheta)
	}
	product(xz, pa, a.x)
	product(xx, xz, a.x)
	product(xy, xz, a.y)
	product(xz, xz, a.cosTheta)
}

// blockOfAngles returns memory for the angles of n voxels, at most trigBlock.
func (w *scratch[T]) blockOfAngles(n int) *angles[T] {
	a := &w.angles
	for i, v := range []*[]T{&a.sinTheta, &a.cosTheta, &a.sinPsi, &a.cosPsi, &a.x, &a.y} {
		*v = w.room(&w.trig[i], trigBlock)[:n]
	}
	return a
}

// direct computes the director of two angles, with 0 for the components that do not exist where nothing is aligned.
func (a *angles[T]) direct(order, theta, psi []T) {
	sinCos(a.sinTheta, a.cosTheta, theta)
	sinCos(a.sinPsi, a.cosPsi, psi)
	product(a.x, a.cosPsi, a.sinTheta)
	product(a.y, a.sinPsi, a.sinTheta)
	if a.missing = false; numeric(a.x) && numeric(a.cosTheta) {
		return
	}
	for i, s := range order {
		if x, z := a.x[i], a.cosTheta[i]; s == 0 && (x != x || z != z) {
			a.x[i], a.y[i], a.cosTheta[i], a.missing = 0, 0, 0, true
		}
	}
}

// toAngles is the transpose of fromAngles, for the voxels of a block: given the gradients f of the fields, of which yy and yz may be
// nil for 0, it stores those of the arrays,
//
//	dVfrac = gV + S D, dS = Vfrac D, D = the sum over fields of their gradient times s_i s_j
//
// and pa times the derivatives of D for the angles.
func (w *scratch[T]) toAngles(f *[anisotropic][]T, in, g [4][]T, fresh bool) {
	v, order, a := in[0], in[1], w.blockOfAngles(len(in[0]))
	if zeros(order) {
		if fresh = false; zeros(v) {
			copy(g[0], f[fieldV])
			clear(g[1])
			clear(g[2])
			clear(g[3])
			return
		}
	}
	if !fresh {
		a.direct(order, in[2], in[3])
	}
	x, y, z := a.x, a.y, a.cosTheta
	dx, dy, dz, t := g[2], w.row(0, len(v)), w.row(1, len(v)), w.row(2, len(v)) // derivatives of D
	product(t, f[fieldXX], x)
	addProduct(dx, f[fieldXX], x, t)
	addProduct(dx, f[fieldXY], y, dx)
	addProduct(dx, f[fieldXZ], z, dx)
	product(dy, f[fieldXY], x)
	product(dz, f[fieldXZ], x)
	if f[fieldYY] != nil {
		addProduct(dy, f[fieldYY], y, dy)
		addProduct(dy, f[fieldYY], y, dy)
		addProduct(dy, f[fieldYZ], z, dy)
		addProduct(dz, f[fieldYZ], y, dz)
	}
	product(t, dx, x) // 2 (D - gPA)
	addProduct(t, dy, y, t)
	addProduct(t, dz, z, t)
	addMultiple(t, t, 0.5, f[fieldPA])
	addProduct(g[0], order, t, f[fieldV])
	product(g[1], v, t)
	pa := w.row(3, len(v))
	product(pa, v, order)
	product(t, dx, a.y) // change with psi: pa (dy x - dx y)
	product(g[3], dy, x)
	subtract(g[3], g[3], t)
	product(g[3], g[3], pa)
	product(dx, dx, a.cosPsi) // change with theta: pa (cosTheta (dx cosPsi + dy sinPsi) - dz sinTheta)
	addProduct(dx, dy, a.sinPsi, dx)
	product(dx, dx, z)
	product(dz, dz, a.sinTheta)
	subtract(dx, dx, dz)
	product(dx, dx, pa)
	if !a.missing {
		return
	}
	for i, s := range order {
		if theta, psi := a.sinTheta[i], a.sinPsi[i]; s == 0 && (theta != theta || psi != psi) {
			g[0][i], g[1][i], g[2][i], g[3][i] = f[fieldV][i], 0, 0, 0
		}
	}
}
