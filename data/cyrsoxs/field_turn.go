// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

// turn copies a range along X of an array in the order X, Y, Z into a field in the order Z, Y, X.
// There are n numbers per voxel.
func turn(f, part Field, shape [3]int, s slab, n int) {
	switch {
	case f.Float64 != nil && part.Float64 != nil:
		turned(f.Float64, part.Float64, shape, s, n)
	case f.Float64 != nil:
		turned(f.Float64, part.Float32, shape, s, n)
	case part.Float64 != nil:
		turned(f.Float32, part.Float64, shape, s, n)
	default:
		turned(f.Float32, part.Float32, shape, s, n)
	}
}

func turned[D, S float32 | float64](dst []D, src []S, shape [3]int, s slab, n int) {
	nz, ny, nx := shape[0], shape[1], shape[2]
	for z := range nz {
		for y := range ny {
			row := dst[((z*ny+y)*nx+s.from)*n:]
			for x := range s.to - s.from {
				from := src[((x*ny+y)*nz+z)*n:]
				for k := range n {
					row[x*n+k] = D(from[k])
				}
			}
		}
	}
}

// turnBack returns a field in the order X, Y, Z. The shape is that of the original field, Z, Y, X.
func turnBack(f Field, shape [3]int, n int) Field {
	out := newField(f.Len(), f.Float64 != nil)
	turn(out, f, [3]int{shape[2], shape[1], shape[0]}, slab{0, shape[0]}, n)
	return out
}
