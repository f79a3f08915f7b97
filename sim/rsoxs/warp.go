// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"

	"github.com/euryale-dev/euryale/kernels"
)

// warp resamples an image through an affine map: pixel (x, y) of the result is read at m (x - cx, y
// - cy) + c by bilinear interpolation. Coordinates within snap of a pixel are moved onto it, so that
// neighbours without weight do not count.
type warp struct {
	m      [2][2]float64
	ny, nx int // size of the image
	rows   int // number of rows of the result
	cols   int
	cy, cx float64
	table  []sample // samples of all rows; nil if there would be too many
}

const snap = 1e-7

// newWarp returns the map about the centre of an image. Rows and columns of m are
// x and y.
func newWarp(m [2][2]float64, ny, nx int) *warp {
	return &warp{m: m, ny: ny, nx: nx, rows: ny, cols: nx, cy: float64(ny) / 2, cx: float64(nx) / 2}
}

// newRotation returns the map that rotates the direction at angle to +x.
func newRotation(angle float64, ny, nx int) *warp {
	s, c := math.Sincos(angle)
	return newWarp([2][2]float64{{c, -s}, {s, c}}, ny, nx)
}

// newTilt returns the map from the plane across the beam to that of the detector, or nil if they
// coincide.
func newTilt(k, detector vec, ny, nx int) *warp {
	a := fromZ(detector).product(fromZ(k))
	d := a[0][0]*a[1][1] - a[0][1]*a[1][0]
	if a[0][0] == 1 && a[1][1] == 1 && a[0][1] == 0 && a[1][0] == 0 {
		return nil
	}
	return newWarp([2][2]float64{{a[1][1] / d, -a[0][1] / d}, {-a[1][0] / d, a[0][0] / d}}, ny, nx)
}

// sample is the set of elements that a pixel is read from: four elements and their weights. An
// element without weight repeats another one.
type sample = kernels.Corners

// tabulate keeps the samples of all rows.
func (a *warp) tabulate() {
	table := make([]sample, a.rows*a.cols)
	for y := range a.rows {
		a.row(y, table[y*a.cols:(y+1)*a.cols])
	}
	a.table = table
}

// row returns the samples of row y, in room unless they are tabulated.
func (a *warp) row(y int, room []sample) []sample {
	if a.table != nil {
		return a.table[y*a.cols : (y+1)*a.cols]
	}
	room = room[:a.cols]
	dy := float64(y) - a.cy
	for x := range room {
		dx := float64(x) - a.cx
		sx := a.m[0][0]*dx + a.m[0][1]*dy + a.cx
		sy := a.m[1][0]*dx + a.m[1][1]*dy + a.cy
		room[x] = a.sample(sx, sy)
	}
	return room
}

// sample returns the elements to read at the coordinates; At[0] is negative outside the image.
func (a *warp) sample(x, y float64) (s sample) {
	x0, fx := split(x)
	y0, fy := split(y)
	x1, y1 := x0, y0
	if fx > 0 {
		x1++
	}
	if fy > 0 {
		y1++
	}
	if x0 < 0 || y0 < 0 || x1 >= a.nx || y1 >= a.ny {
		s.At[0] = -1
		return s
	}
	n := a.nx
	s.At = [4]int32{int32(y0*n + x0), int32(y0*n + x1), int32(y1*n + x0), int32(y1*n + x1)}
	s.Weight = [4]float64{(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx}
	return s
}

// split returns the pixel before v and the distance from it, which is 0 if v is within snap of a
// pixel.
func split(v float64) (int, float64) {
	i := int(math.Floor(v))
	switch f := v - float64(i); {
	case f < snap:
		return i, 0
	case float64(i+1)-v < snap:
		return i + 1, 0
	default:
		return i, f
	}
}

// read returns the value of an image at a sample: NaN outside, and if an element with weight is NaN.
func read(image []float64, s *sample) float64 {
	if s.At[0] < 0 {
		return math.NaN()
	}
	return float64(s.Weight[0]*image[s.At[0]]) + float64(s.Weight[1]*image[s.At[1]]) +
		float64(s.Weight[2]*image[s.At[2]]) + float64(s.Weight[3]*image[s.At[3]])
}

// scatter is the transpose of read.
func scatter(image []float64, s *sample, g float64) {
	for i, at := range s.At {
		image[at] += s.Weight[i] * g
	}
}
