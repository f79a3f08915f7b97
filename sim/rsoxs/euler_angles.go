// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

// fromAngles sets v, pa = v S and pa s s^T with the director of the Euler angles.
func (p *products[T]) fromAngles(w *scratch[T], in [4][]T) {
	copy(w.fields[fieldV], in[0])
	w.blocks(in[2], in[3], [2][]T{in[1], in[1]}, func(lo, hi int, st, ct, sp, cp []T) {
		n := hi - lo
		v, order := in[0][lo:hi], in[1][lo:hi]
		aligned, xx, xy, xz := w.fields[fieldPA][lo:hi], w.fields[fieldXX][lo:hi], w.fields[fieldXY][lo:hi], w.fields[fieldXZ][lo:hi]
		yy, yz := w.fields[fieldYY][lo:hi], w.fields[fieldYZ][lo:hi]
		st, ct, sp, cp = st[:n], ct[:n], sp[:n], cp[:n]
		for i, s := range order {
			if s == 0 { // whatever the angles are
				aligned[i], xx[i], xy[i], xz[i], yy[i], yz[i] = 0, 0, 0, 0, 0, 0
				continue
			}
			pa := v[i] * s
			x, y, z := cp[i]*st[i], sp[i]*st[i], ct[i]
			aligned[i], xx[i], xy[i], xz[i], yy[i], yz[i] = pa, pa*x*x, pa*x*y, pa*x*z, pa*y*y, pa*y*z
		}
	})
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
