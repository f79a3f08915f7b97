// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Stick is a voxel of a volume, drawn as a line along its director.
type Stick struct {
	At       [3]float64 // centre of the voxel: x, y and z in nm
	Director [3]float64 // unit vector along x, y and z; zero for a voxel without alignment, which is drawn as a dot
	Opacity  float64    // 0 to 1
	Material int        // index into Volume.Materials
}

// The ways to colour sticks.
const (
	ByMaterial = "material"
	ByAzimuth  = "azimuth" // angle of the director about z, 0 to pi, as a director has no head
	ByTilt     = "tilt"    // angle between the director and z, 0 to pi/2
)

// Volume is a box of voxels as it is seen from a direction.
type Volume struct {
	Title     string
	Size      [3]float64 // edges of the box along x, y and z in nm, from the origin
	Materials []string
	Sticks    []Stick
	Length    float64 // length of the lines in nm
	// Azimuth and Elevation are the direction, in radians, from which the box is seen: the angle about z from x, and that above the plane of x and y.
	Azimuth, Elevation float64
	Color              string // colour of the sticks: ByMaterial, which is the default, ByAzimuth or ByTilt
}

// view is a projection along parallel lines.
type view struct {
	right, up, near [3]float64 // unit vectors to the right, upwards and towards the eye
	middle          [3]float64
}

func dot3(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func (v *Volume) view() view {
	sa, ca := math.Sincos(v.Azimuth)
	se, ce := math.Sincos(v.Elevation)
	return view{right: [3]float64{-sa, ca, 0}, up: [3]float64{-se * ca, -se * sa, ce}, near: [3]float64{ce * ca, ce * sa, se},
		middle: [3]float64{v.Size[0] / 2, v.Size[1] / 2, v.Size[2] / 2}}
}

// at returns where a point is seen, and how near it is, in nm from the middle of the box.
func (w *view) at(p [3]float64) (x, y, near float64) {
	for k := range p {
		p[k] -= w.middle[k]
	}
	return dot3(p, w.right), dot3(p, w.up), dot3(p, w.near)
}

// Volume3D draws a volume as it is seen from a direction, without perspective: a line along the director of each stick, those that are near over
// those that are far and paler, and the edges of the box with their lengths.
func Volume3D(v Volume) (*Figure, error) {
	if !(v.Size[0] > 0 && v.Size[1] > 0 && v.Size[2] > 0) || len(v.Sticks) == 0 {
		return nil, fmt.Errorf("viz: volume %q: there are %s in a box of %g x %g x %g nm: want at least one, and a box with a volume", v.Title, count(len(v.Sticks), "voxel", "voxels"), v.Size[0], v.Size[1], v.Size[2])
	}
	for _, s := range v.Sticks {
		if s.Material < 0 || s.Material >= len(v.Materials) {
			return nil, fmt.Errorf("viz: volume %q: a voxel has the material %d, but there are %s: want 0 to %d", v.Title, s.Material, count(len(v.Materials), "material", "materials"), len(v.Materials)-1)
		}
	}
	p := &panel{equal: true, x: axis{label: "across (nm)", none: true}, y: axis{label: "up (nm)", none: true}}
	bar, err := v.colours()
	if err != nil {
		return nil, err
	}
	w := v.view()
	wide, high := v.reach()
	p.x.limits(-wide, wide)
	p.y.limits(-high, high)
	edges := v.edges(&w)
	for _, e := range edges {
		if e.hidden {
			p.add(e.mark(fade(soft, 0.45), 3, 2))
		}
	}
	p.add(v.sticks(&w, bar))
	p.marks = append(p.marks, v.places(&w)...)
	for _, e := range edges {
		if !e.hidden {
			p.add(e.mark(fade(ink, 0.8)))
		}
	}
	p.add(names(edges, v.Size))
	f := &Figure{Title: v.Title, Width: columnWidth + 0.4, Height: 0.9 + columnWidth*high/wide, grid: &grid{rows: [][]*panel{{p}}}}
	if p.bar = bar; bar == nil {
		for k, name := range v.Materials {
			if slices.ContainsFunc(v.Sticks, func(s Stick) bool { return s.Material == k }) {
				f.keys = append(f.keys, key{name, v.color(k), stroke})
			}
		}
	}
	return f, nil
}

// reach is how far a picture extends to either side and upwards in nm: as far as a box does that turns about z, so that its size stays, and the names
// of the edges.
func (v *Volume) reach() (wide, high float64) {
	se, ce := math.Sincos(v.Elevation)
	turned := math.Hypot(v.Size[0], v.Size[1]) / 2
	high = math.Abs(se)*turned + ce*v.Size[2]/2
	wide = max(1.36*turned, 0.6*high)
	return wide, 1.06*high + 0.12*wide
}

func (v *Volume) color(material int) color.NRGBA { return chainColor(material) }

// colours returns the scale of colours of angles, nil for colours by material.
func (v *Volume) colours() (*colorbar, error) {
	switch v.Color {
	case "", ByMaterial:
		return nil, nil
	case ByAzimuth:
		b := &colorbar{axis: axis{label: "azimuth (rad)"}, colors: cyclicMap()}
		b.axis.limits(0, math.Pi)
		return b, nil
	case ByTilt:
		b := &colorbar{axis: axis{label: "tilt from z (rad)"}, colors: evenMap()[mapSize/8 : mapSize*7/8]}
		b.axis.limits(0, math.Pi/2)
		return b, nil
	}
	return nil, fmt.Errorf("viz: volume %q: there is no colour %q: want %s, %s or %s", v.Title, v.Color, ByMaterial, ByAzimuth, ByTilt)
}

// angle returns the angle that a stick is coloured by; NaN for one without a director.
func (v *Volume) angle(d [3]float64) float64 {
	if dot3(d, d) == 0 {
		return math.NaN()
	}
	if v.Color == ByTilt {
		return math.Acos(min(math.Abs(d[2]), 1))
	}
	a := math.Atan2(d[1], d[0])
	if a < 0 {
		a += math.Pi
	}
	return a
}

// farthest is the opacity of what is farthest from the eye, as a share of that of what is nearest.
const farthest = 0.4

// sticks draws what is far before what is near.
func (v *Volume) sticks(w *view, bar *colorbar) mark {
	order := make([]int, len(v.Sticks))
	depth := make([]float64, len(v.Sticks))
	for i, s := range v.Sticks {
		order[i] = i
		_, _, depth[i] = w.at(s.At)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(depth[i], depth[j]) })
	far, near := depth[order[0]], depth[order[len(order)-1]]
	return mark{draw: func(f *frame) {
		for _, i := range order {
			s := &v.Sticks[i]
			col := v.color(s.Material)
			if bar != nil {
				col = soft
				if k := int(bar.index(v.angle(s.Director))); k < len(bar.colors) {
					col = bar.colors[k]
				}
			}
			t := 1.0
			if near > far {
				t = (depth[i] - far) / (near - far)
			}
			s.draw(f, w, v.Length, fade(col, min(max(s.Opacity, 0), 1)*(farthest+(1-farthest)*t)))
		}
	}}
}

func (s *Stick) draw(f *frame, w *view, length float64, col color.NRGBA) {
	x, y, _ := w.at(s.At)
	if dot3(s.Director, s.Director) == 0 {
		f.DrawGlyph(draw.GlyphStyle{Color: col, Radius: 1.3, Shape: draw.CircleGlyph{}}, f.at(x, y))
		return
	}
	dx, dy := length/2*dot3(s.Director, w.right), length/2*dot3(s.Director, w.up)
	a, b := f.at(x-dx, y-dy), f.at(x+dx, y+dy)
	if math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y)) < 1 { // seen along its director
		f.DrawGlyph(draw.GlyphStyle{Color: col, Radius: 0.7, Shape: draw.CircleGlyph{}}, f.at(x, y))
		return
	}
	f.StrokeLine2(draw.LineStyle{Color: col, Width: 1.1}, a.X, a.Y, b.X, b.Y)
}

// places are the voxels of each material as data, which are drawn already.
func (v *Volume) places(w *view) (all []mark) {
	for k := range v.Materials {
		d := &Data{Kind: "directors", color: v.color(k)}
		for _, s := range v.Sticks {
			if s.Material == k {
				x, y, _ := w.at(s.At)
				d.X, d.Y = append(d.X, x), append(d.Y, y)
			}
		}
		if len(d.X) > 0 {
			all = append(all, mark{data: d, draw: func(*frame) {}})
		}
	}
	return all
}

// edge is one of the twelve edges of a box.
type edge struct {
	x, y   [2]float64 // its ends as they are seen
	axis   int        // direction: 0 for x, 1 for y, 2 for z
	hidden bool       // true if it lies behind the box
}

func (e edge) mark(c color.NRGBA, dash ...vg.Length) mark {
	return mark{draw: line(e.x[:], e.y[:], c, thin, dash...).draw}
}

// edges are those of the box. The three that meet at the corner farthest from the eye are hidden.
func (v *Volume) edges(w *view) (all []edge) {
	for axis := range 3 {
		for k := range 4 {
			var ends [2][3]float64
			hidden := true
			for other, side := range map[int]int{(axis + 1) % 3: k & 1, (axis + 2) % 3: k >> 1} {
				at := float64(side) * v.Size[other]
				ends[0][other], ends[1][other] = at, at
				hidden = hidden && (w.near[other] > 0) == (side == 0)
			}
			ends[1][axis] = v.Size[axis]
			e := edge{axis: axis, hidden: hidden}
			for i, p := range ends {
				e.x[i], e.y[i], _ = w.at(p)
			}
			all = append(all, e)
		}
	}
	return all
}

// names writes the name and the length of each axis at the edge that lies farthest outside: below the box for x and y, to its left for z.
func names(edges []edge, size [3]float64) mark {
	return mark{draw: func(f *frame) {
		for axis := range 3 {
			best, value := edge{}, math.Inf(1)
			for _, e := range edges {
				at := e.y[0] + e.y[1]
				if axis == 2 {
					at = e.x[0] + e.x[1]
				}
				if e.axis == axis && at < value-1e-9 {
					best, value = e, at
				}
			}
			a, b := f.at(best.x[0], best.y[0]), f.at(best.x[1], best.y[1])
			if math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y)) < 20 { // it is seen end on
				continue
			}
			p := vg.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}
			text := fmt.Sprintf("%c, %.4g nm", "xyz"[axis], size[axis])
			if axis == 2 {
				tickText.draw(f.Canvas.Canvas, vg.Point{X: p.X - 5, Y: p.Y}, right, middle, text)
				continue
			}
			side := middle
			if out := p.X - f.Center().X; out < -15 {
				side = right
			} else if out > 15 {
				side = left
			}
			tickText.draw(f.Canvas.Canvas, vg.Point{X: p.X, Y: p.Y - 5}, side, top, text)
		}
	}}
}
