// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "math"

// cut returns where pixel (y, x) meets the Ewald sphere, and false if that is outside the volume's
// planes.
func (v *view) cut(y, x int) (cut, bool) {
	if v.grid == CyRSoXSGrid && (y == v.n[1]-1 || x == v.n[2]-1) {
		return cut{}, false
	}
	kx, ky := v.kv[0]+v.q(2, x), v.kv[1]+v.q(1, y)
	val := v.wave*v.wave - kx*kx - ky*ky
	if val < 0 {
		return cut{}, false
	}
	if v.n[0] == 1 {
		return cut{}, true
	}
	zf := (math.Sqrt(val) - v.kv[2] - v.first0) / v.step0
	if v.interp == Nearest {
		z := math.Floor(zf + 0.5)
		return cut{z: int(z)}, z >= 0 && z <= float64(v.n[0]-1)
	}
	z := math.Floor(zf)
	c := cut{z: int(z), part: zf - z}
	return c, z >= 0 && (z+1 <= float64(v.n[0]-1) || c.part == 0 && z == float64(v.n[0]-1))
}
