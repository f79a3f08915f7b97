// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Point is a pair (row, column) in pixels.
type Point [2]float64

// The kinds of shapes are Polygon, Circle, EllipseShape, Rectangle and Line.
const (
	Polygon      = "polygon"   // shape given by Vertices
	Circle       = "circle"    // shape given by Center and Radius
	EllipseShape = "ellipse"   // shape given by Center, Axes and Angle
	Rectangle    = "rectangle" // shape given by Center, Size and Angle
	Line         = "line"      // shape given by From, To and Width
)

// DefaultSides is the number of sides of the polygons that stand for circles and ellipses.
const DefaultSides = 180

// Shape is a drawn region. Its pixels are those whose middle lies inside or on the edge of a polygon,
// which for circles and ellipses has many sides.
type Shape struct {
	Kind string `json:"kind"` // kind of the shape: Polygon, Circle, EllipseShape, Rectangle or Line
	// Inclusive keeps only pixels inside such shapes, instead of those outside.
	Inclusive bool    `json:"inclusive,omitempty"`
	Vertices  []Point `json:"vertices,omitempty"` // vertices of a polygon, in order; the last is joined to the first
	Center    Point   `json:"center,omitzero"`    // middle of a circle, an ellipse or a rectangle
	Radius    float64 `json:"radius,omitempty"`   // radius of a circle (pixels)
	Axes      Point   `json:"axes,omitzero"`      // half-axes of an ellipse along rows and columns before it is turned (pixels)
	Size      Point   `json:"size,omitzero"`      // height and width of a rectangle before it is turned (pixels)
	AngleDeg  float64 `json:"angleDeg,omitempty"` // angle by which an ellipse or a rectangle is turned, from rows towards columns (degrees)
	From      Point   `json:"from,omitzero"`      // start of a line
	To        Point   `json:"to,omitzero"`        // end of a line
	Width     float64 `json:"width,omitempty"`    // width of a line (pixels)
	Sides     int     `json:"sides,omitempty"`    // number of sides of the polygon for a circle or an ellipse. 0 stands for DefaultSides
}

// Outline returns the vertices of the shape's polygon.
func (s Shape) Outline() ([]Point, error) {
	for _, v := range s.numbers() {
		if math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > 1e9 {
			return nil, fmt.Errorf("mask: %s has the coordinate %g: want finite numbers of pixels below 1e9", s.name(), v)
		}
	}
	switch s.Kind {
	case Polygon:
		if len(s.Vertices) < 3 {
			return nil, fmt.Errorf("mask: the polygon has %d %s: want at least 3", len(s.Vertices), errtext.Agree(len(s.Vertices), "vertex", "vertices"))
		}
		return s.Vertices, nil
	case Circle:
		if !(s.Radius > 0) {
			return nil, fmt.Errorf("mask: the circle has the radius %g: want a positive number of pixels", s.Radius)
		}
		return s.round(Point{s.Radius, s.Radius}, 0)
	case EllipseShape:
		if !(s.Axes[0] > 0 && s.Axes[1] > 0) {
			return nil, fmt.Errorf("mask: the ellipse has half-axes %g and %g: want positive numbers of pixels", s.Axes[0], s.Axes[1])
		}
		return s.round(s.Axes, s.AngleDeg)
	case Rectangle:
		if !(s.Size[0] > 0 && s.Size[1] > 0) {
			return nil, fmt.Errorf("mask: the rectangle has %g x %g pixels: want positive numbers", s.Size[0], s.Size[1])
		}
		h, w := s.Size[0]/2, s.Size[1]/2
		return s.turned([]Point{{-h, -w}, {-h, w}, {h, w}, {h, -w}}, s.AngleDeg), nil
	case Line:
		return s.stroke()
	}
	kinds := []string{Polygon, Circle, EllipseShape, Rectangle, Line}
	return nil, fmt.Errorf("mask: the shape is of kind %q: want one of %q%s", s.Kind, kinds, meant(s.Kind, kinds))
}

func (s Shape) name() string {
	if s.Kind == "" {
		return "a shape"
	}
	return "a " + s.Kind
}

func (s Shape) numbers() []float64 {
	all := []float64{s.Center[0], s.Center[1], s.Radius, s.Axes[0], s.Axes[1], s.Size[0], s.Size[1], s.AngleDeg, s.From[0], s.From[1], s.To[0], s.To[1], s.Width}
	for _, v := range s.Vertices {
		all = append(all, v[0], v[1])
	}
	return all
}

// round returns the polygon of an ellipse.
func (s Shape) round(axes Point, angle float64) ([]Point, error) {
	n := s.Sides
	if n == 0 {
		n = DefaultSides
	}
	if n < 3 || n > 1<<16 {
		return nil, fmt.Errorf("mask: %s has %s: want 3 to 65536", s.name(), errtext.Count(n, "side"))
	}
	list := make([]Point, n)
	for i := range list {
		sin, cos := math.Sincos(2 * math.Pi / float64(n) * float64(i))
		list[i] = Point{float64(axes[0] * sin), float64(axes[1] * cos)}
	}
	return s.turned(list, angle), nil
}

// turned turns points about the origin by an angle in degrees, from rows towards columns, and moves them to the centre.
func (s Shape) turned(list []Point, angle float64) []Point {
	sin, cos := math.Sincos(angle * math.Pi / 180)
	for i, p := range list {
		list[i] = Point{
			s.Center[0] + (float64(p[0]*cos) - float64(p[1]*sin)),
			s.Center[1] + (float64(p[0]*sin) + float64(p[1]*cos)),
		}
	}
	return list
}

// stroke returns the rectangle along a line.
func (s Shape) stroke() ([]Point, error) {
	dr, dc := s.To[0]-s.From[0], s.To[1]-s.From[1]
	length := math.Hypot(dr, dc)
	if length == 0 || !(s.Width >= 0) {
		return nil, fmt.Errorf("mask: the line has length %g and width %g pixels: want two different ends and a width of at least 0", length, s.Width)
	}
	nr, nc := -dc/length*(s.Width/2), dr/length*(s.Width/2)
	return []Point{{s.From[0] + nr, s.From[1] + nc}, {s.To[0] + nr, s.To[1] + nc}, {s.To[0] - nr, s.To[1] - nc}, {s.From[0] - nr, s.From[1] - nc}}, nil
}

// draw keeps the pixels outside all exclusive shapes and, if there are inclusive ones, inside one of
// these.
func draw(height, width int, shapes []Shape) (*Mask, error) {
	outside, inside := New(height, width), &Mask{height, width, make([]bool, height*width)}
	any := false
	for k, s := range shapes {
		outline, err := s.Outline()
		if err != nil {
			return nil, fmt.Errorf("%w (shape %d)", err, k+1)
		}
		any = any || s.Inclusive
		fill(outline, height, width, func(i int) {
			if s.Inclusive {
				inside.Keep[i] = true
			} else {
				outside.Keep[i] = false
			}
		})
	}
	if any {
		return outside, outside.And(inside)
	}
	return outside, nil
}
