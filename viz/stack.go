// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image/color"
)

// Stack draws many curves in one frame, each shifted upwards by step relative to the one before,
// coloured from dark to light and named at its right end. A step of 0 overlays them.
func Stack(curves []Curve, step float64) (*Figure, error) {
	if len(curves) == 0 {
		return nil, fmt.Errorf("viz: stack: there are no curves to draw: pass at least one")
	}
	p := &panel{}
	p.x, p.y = curves[0].axes()
	if step != 0 {
		p.y.label = label(curves[0].YLabel, fmt.Sprintf("shifted by %.3g each", step))
	}
	var s selection
	left, drawn := 0, 0
	f := &Figure{Title: count(len(curves), "curve", "curves"), Width: columnWidth, Height: 3.6, grid: &grid{rows: [][]*panel{{p}}}}
	for i, c := range curves {
		c, err := c.prepared("stack")
		if err != nil {
			left += len(c.X)
			continue
		}
		left += len(c.X) - c.drawable()
		drawn++
		p.stack(c, float64(i)*step, ramp(i, len(curves)))
		if c.Title != "" && len(curves) <= 30 {
			p.side = append(p.side, sideLabel{text: c.Title, y: lastOf(c.Y) + float64(i)*step, color: ramp(i, len(curves))})
		}
	}
	if drawn == 0 {
		return nil, fmt.Errorf("viz: stack: none of the %d curves can be drawn: check that X and Y have equal lengths and finite values", len(curves))
	}
	if left > 0 {
		s.remark("%s", leftOut(left, "point", "points", "not finite or part of a curve that cannot be drawn"))
	}
	f.Note = s.note("")
	return f, nil
}

func (p *panel) stack(c Curve, shift float64, col color.NRGBA) {
	y, model := raise(c.Y, shift), raise(c.Line, shift)
	p.x.include(c.X...)
	p.x.include(c.LineX...)
	p.y.include(y...)
	p.y.include(model...)
	p.add(whiskers(c.X, y, c.Err, fade(col, 0.5)), dots(c.X, y, col, 1.6), line(c.LineX, model, col, 1))
	p.occupy(c.X, y)
}

func raise(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = v[i] + by
	}
	return out
}

func lastOf(v []float64) float64 {
	if f := finites(v); len(f) > 0 {
		return f[len(f)-1]
	}
	return 0
}

// ramp returns colour i of n from the intensity map, without its lightest part.
func ramp(i, n int) color.NRGBA {
	m := evenMap()
	return m[mapSize/7+mapSize*6*i/(10*max(1, n-1))]
}
