// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// PlaneHull is the convex hull of points in the plane of two of their coordinates.
type PlaneHull struct {
	X, Y int // numbers of the two coordinates; equal for an interval
	// Sides has a unit normal and an offset for each side: a x + b y + c is the distance, positive outside.
	Sides [][3]float64
}

// newPlaneHull returns the hull of coordinates x and y of points of d coordinates (monotone chain of
// Andrew, doi:10.1016/0020-0190(79)90072-3).
func newPlaneHull(points []float64, d, x, y int) (PlaneHull, error) {
	h := PlaneHull{X: x, Y: y}
	var at [][2]float64
	for i := 0; i < len(points); i += d {
		at = append(at, [2]float64{points[i+x], points[i+y]})
	}
	slices.SortFunc(at, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
	at = slices.Compact(at)
	if len(at) == 0 {
		return h, fmt.Errorf("spectra: the library has no templates, so it covers nothing: add templates")
	}
	if x == y {
		h.Sides = [][3]float64{{-1, 0, at[0][0]}, {1, 0, -at[len(at)-1][0]}}
		return h, nil
	}
	// Twice the area of a triangle that turns left is positive.
	area := func(a, b, c [2]float64) float64 { return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0]) }
	half := func(at [][2]float64) (chain [][2]float64) {
		for _, p := range at {
			for len(chain) > 1 && area(chain[len(chain)-2], chain[len(chain)-1], p) <= 0 {
				chain = chain[:len(chain)-1]
			}
			chain = append(chain, p)
		}
		return chain[:len(chain)-1]
	}
	ring := half(at)
	slices.Reverse(at)
	ring = append(ring, half(at)...)
	if len(ring) < 3 {
		return h, fmt.Errorf("spectra: the library's parameters %d and %d lie on a line, so that they cannot be told apart: leave one of them out", x, y)
	}
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		nx, ny := b[1]-a[1], a[0]-b[0]
		length := math.Hypot(nx, ny)
		nx, ny = nx/length, ny/length
		h.Sides = append(h.Sides, [3]float64{nx, ny, -nx*a[0] - ny*a[1]})
	}
	return h, nil
}

// distance returns the largest of the distances of rows of points from the sides, negative inside.
func (h PlaneHull) distance(p *ad.Node) *ad.Node {
	x, y := rows(column(p, h.X)), rows(column(p, h.Y))
	a, b, c := make([]float64, len(h.Sides)), make([]float64, len(h.Sides)), make([]float64, len(h.Sides))
	for i, s := range h.Sides {
		a[i], b[i], c[i] = s[0], s[1], s[2]
	}
	d := ad.Add(ad.Add(ad.Mul(x, ad.Const(a)), ad.Mul(y, ad.Const(b))), ad.Const(c))
	return ad.MaxAxes(d, -1)
}
