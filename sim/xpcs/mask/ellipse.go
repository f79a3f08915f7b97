// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"math"
)

// Ellipse is a curve of equal intensity of a stretched pattern.
type Ellipse struct {
	Row, Col float64 // middle of the ellipse (pixels)
	Angle    float64 // angle of the long axis, from columns towards rows (rad)
	Major    float64 // length of the long axis (pixels)
	Minor    float64 // length of the short axis (pixels)
}

// Moments returns the ellipse that has the first and second moments of the pixels that a mask keeps: a
// drawn or thresholded region of equal intensity, for example.
func Moments(m *Mask) (Ellipse, error) {
	n, row, col := 0.0, 0.0, 0.0
	m.each(func(r, c float64) {
		n++
		row += r
		col += c
	})
	if n == 0 {
		return Ellipse{}, fmt.Errorf("mask: no pixels are marked: mark the region of the ellipse")
	}
	row, col = row/n, col/n
	rr, cc, rc := 0.0, 0.0, 0.0
	m.each(func(r, c float64) {
		rr += (r - row) * (r - row)
		cc += (c - col) * (c - col)
		rc += (r - row) * (c - col)
	})
	rr, cc, rc = rr/n, cc/n, rc/n
	root := math.Hypot(rr-cc, 2*rc)
	e := Ellipse{Row: row, Col: col, Angle: math.Pi/2 - math.Atan2(2*rc, rr-cc)/2,
		Major: 4 * math.Sqrt((rr+cc+root)/2), Minor: 4 * math.Sqrt(max(rr+cc-root, 0)/2)}
	if !(e.Minor > 1e-9*e.Major) {
		return e, fmt.Errorf("mask: the ellipse cannot be found from %g pixels on one line: mark a wider region", n)
	}
	return e, nil
}

// each calls f with row and column of every pixel that is kept.
func (m *Mask) each(f func(r, c float64)) {
	for i, k := range m.Keep {
		if k {
			f(float64(i/m.Width), float64(i%m.Width))
		}
	}
}

// Maps returns the coordinates along an ellipse, row-major (height, width): rho, which takes the place of q, is 1 on the
// ellipse and grows linearly outwards; phi, which takes that of the azimuth, is the angle from the
// long axis towards the short one (degrees, -180 to 180).
func (e Ellipse) Maps(height, width int) (rho, phi []float64, err error) {
	if err := checkShape(height, width); err != nil {
		return nil, nil, err
	}
	if !(e.Major > 0 && e.Minor > 0) || math.IsInf(e.Major, 0) || math.IsNaN(e.Row+e.Col+e.Angle) {
		return nil, nil, fmt.Errorf("mask: the ellipse has axes of %g and %g pixels about (%g, %g): want finite numbers and positive axes", e.Major, e.Minor, e.Row, e.Col)
	}
	rho, phi = make([]float64, height*width), make([]float64, height*width)
	sin, cos := math.Sincos(e.Angle)
	for i := range rho {
		v, h := float64(i/width)-e.Row, float64(i%width)-e.Col
		along, across := h*cos+v*sin, v*cos-h*sin
		rho[i] = math.Hypot(along/(e.Major/2), across/(e.Minor/2))
		phi[i] = math.Atan2(across, along) * 180 / math.Pi
	}
	return rho, phi, nil
}
