// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

// fromAngles sets v, pa = v S and pa s s^T with the director of the Euler angles, for voxels lo to hi of a slice. v is
// the array itself.
func (p *products[T]) fromAngles(w *scratch[T], f *[anisotropic][]T, in [4][]T, lo, hi int) {
	order, pa, xx, xy, xz, yy, yz := in[1][lo:hi], f[fieldPA], f[fieldXX], f[fieldXY], f[fieldXZ], f[fieldYY], f[fieldYZ]
	f[fieldV] = in[0][lo:hi]
	var trig [4][]T
	for i := range trig {
		trig[i] = w.room(&w.trig[i], trigBlock)[:hi-lo]
	}
	if !zeros(order) {
		sinCos(trig[0], trig[1], in[2][lo:hi])
		sinCos(trig[2], trig[3], in[3][lo:hi])
	}
	x, y, z := director(order, trig[0], trig[1], trig[2], trig[3])
	product(pa, f[fieldV], order)
	if yy != nil {
		product(yz, pa, y)
		product(yy, yz, y)
		product(yz, yz, z)
	}
	product(xz, pa, x)
	product(xx, xz, x)
	product(xy, xz, y)
	product(xz, xz, z)
}

// director computes the components of the director in the memory of the sines and cosines of its angles. They are 0
// where nothing is aligned, whatever the angles are.
func director[T float](order, st, ct, sp, cp []T) (x, y, z []T) {
	if !(leastOf(order) > 0) {
		for i, s := range order {
			if s == 0 {
				st[i], ct[i], sp[i], cp[i] = 0, 0, 0, 0
			}
		}
	}
	product(cp, cp, st)
	product(sp, sp, st)
	return cp, sp, ct
}

// toAngles is the transpose of fromAngles: with D the sum over fields of their
// gradient times s_i s_j, dVfrac = gV + S D, dS = Vfrac D, and pa times the
// derivatives of D for the angles.
func (p *products[T]) toAngles(w *scratch[T], in, g [4][]T) {
	w.blocks(in[2], in[3], [2][]T{in[0], in[1]}, func(lo, hi int, st, ct, sp, cp []T) {
		n := hi - lo
		var f [anisotropic][]T
		for k := range f {
			f[k] = w.fields[k][lo:hi]
		}
		v, order := in[0][lo:hi], in[1][lo:hi]
		gv, gs, gt, gp := g[0][lo:hi], g[1][lo:hi], g[2][lo:hi], g[3][lo:hi]
		st, ct, sp, cp = st[:n], ct[:n], sp[:n], cp[:n]
		for i, s := range order {
			if s == 0 && v[i] == 0 || st[i] != st[i] || sp[i] != sp[i] { // no material, or angles that do not exist where S = 0
				gv[i], gs[i], gt[i], gp[i] = f[fieldV][i], 0, 0, 0
				continue
			}
			x, y, z := cp[i]*st[i], sp[i]*st[i], ct[i]
			xx, xy, xz, yy, yz := f[fieldXX][i], f[fieldXY][i], f[fieldXZ][i], f[fieldYY][i], f[fieldYZ][i]
			dx, dy, dz := 2*xx*x+xy*y+xz*z, xy*x+2*yy*y+yz*z, xz*x+yz*y // of D
			d := f[fieldPA][i] + (dx*x+dy*y+dz*z)/2
			gv[i], gs[i] = f[fieldV][i]+s*d, v[i]*d
			pa := v[i] * s
			gt[i] = pa * (dx*cp[i]*ct[i] + dy*sp[i]*ct[i] - dz*st[i])
			gp[i] = pa * (dy*x - dx*y)
		}
	})
}
