// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// Detector is a flat detector. Row index and column index count pixels along y and x; the centre of pixel i lies at (i + 0.5) times the
// size of a pixel, as in pyFAI.
type Detector struct {
	Rows, Columns  int
	PixelY, PixelX float64 // size of a pixel in mm
	// Pad is a number of pixels that are added around the detector, so that a blur has what it needs beyond the edges.
	Pad int
}

// Pose is where a detector stands, in the convention of pyFAI: all are scalars. Rotations that are nil are 0.
type Pose struct {
	Distance         *ad.Node // distance from the sample to the plane of the detector, in mm
	PoniY, PoniX     *ad.Node // foot of the normal through the sample on the detector, in mm from its corner
	Rot1, Rot2, Rot3 *ad.Node // rotations in radians
}

// Directions are unit vectors from the sample to the pixels, less that of the beam, which is along +z; each is a vector over the padded
// detector, row by row. Times the wave number they are q.
type Directions struct {
	X, Y, Z *ad.Node
	// SolidAngle is that of a pixel relative to one at the foot of the normal.
	SolidAngle *ad.Node
}

// Size returns the number of rows and columns with the padding.
func (d Detector) Size() (rows, columns int) { return d.Rows + 2*d.Pad, d.Columns + 2*d.Pad }

// Directions returns the directions of all pixels of the padded detector.
//
// Gradient: with respect to all of the pose.
func (d Detector) Directions(p Pose) Directions {
	rows, columns := d.Size()
	y, x := make([]float64, 0, rows*columns), make([]float64, 0, rows*columns)
	for i := range rows {
		for j := range columns {
			y, x = append(y, (float64(i-d.Pad)+0.5)*d.PixelY), append(x, (float64(j-d.Pad)+0.5)*d.PixelX)
		}
	}
	return DirectionsTo(ad.Const(y, len(y)), ad.Const(x, len(x)), p)
}

// DirectionsTo returns the directions of places on the plane of the detector, in mm from its corner along y and x.
//
// Gradient: with respect to the places and all of the pose.
func DirectionsTo(y, x *ad.Node, p Pose) Directions {
	p1, p2, dist := ad.Sub(y, p.PoniY), ad.Sub(x, p.PoniX), p.Distance
	c1, s1 := turned(p.Rot1)
	c2, s2 := turned(p.Rot2)
	c3, s3 := turned(p.Rot3)
	ty := ad.Sub(ad.Add(times(p1, c2, c3), ad.Mul(p2, ad.Sub(times(c3, s1, s2), times(c1, s3)))), ad.Mul(dist, ad.Add(times(c1, c3, s2), times(s1, s3))))
	tx := ad.Sub(ad.Add(times(p1, c2, s3), ad.Mul(p2, ad.Add(times(c1, c3), times(s1, s2, s3)))), ad.Mul(dist, ad.Sub(times(c1, s2, s3), times(c3, s1))))
	tz := ad.Add(ad.Sub(times(p1, s2), times(p2, c2, s1)), times(dist, c1, c2))
	square := ad.AddN(ad.Square(p1), ad.Square(p2), ad.Square(dist)) // also |t|^2: rotations leave lengths alone
	r := ad.Sqrt(square)
	across := ad.Add(ad.Square(tx), ad.Square(ty))
	return Directions{X: ad.Div(tx, r), Y: ad.Div(ty, r),
		Z:          ad.Neg(ad.Div(across, ad.Mul(r, ad.Add(r, tz)))), // z/r - 1 without cancellation
		SolidAngle: ad.Pow(ad.Div(dist, r), ad.Scalar(3))}
}

func turned(angle *ad.Node) (cos, sin *ad.Node) {
	if angle == nil {
		return ad.Scalar(1), ad.Scalar(0)
	}
	return ad.Cos(angle), ad.Sin(angle)
}

func times(x *ad.Node, more ...*ad.Node) *ad.Node {
	for _, y := range more {
		x = ad.Mul(x, y)
	}
	return x
}
