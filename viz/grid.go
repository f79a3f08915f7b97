// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
)

// Grid draws many curves as small multiples with common axes, such as g2 of all bins. Each curve keeps
// its title; the labels are those of the first.
func Grid(curves []Curve) (*Figure, error) {
	if len(curves) == 0 {
		return nil, fmt.Errorf("viz: grid: there are no curves to draw: pass at least one")
	}
	var panels []*panel
	var s selection
	left, empty := 0, 0
	for _, c := range curves {
		c, err := c.checked("grid")
		if err != nil {
			return nil, err
		}
		if c.empty() {
			empty++
		}
		left += len(c.X) - c.drawable()
		panels = append(panels, c.panel(1.2))
	}
	if empty == len(curves) {
		return nil, fmt.Errorf("viz: grid: none of the %d curves has a finite point: check the data", len(curves))
	}
	if left > 0 {
		s.remark("%s", leftOut(left, "point", "points", "not finite"+orNotPositive(curves[0].LogX || curves[0].LogY)))
	}
	shareAxes(panels)
	cols := gridColumns(len(panels))
	f := tiles(count(len(panels), "curve", "curves"), s, "", panels, cols)
	f.grid.gapX, f.grid.gapY = 6, 4
	f.grid.xLabel, f.grid.yLabel = curves[0].XLabel, curves[0].YLabel
	bareInner(f.grid.rows)
	f.Height = float64(len(f.grid.rows))*(0.84*pageWidth/float64(cols)+0.1) + 0.7
	f.keys, panels[0].keys = panels[0].keys, nil
	for _, p := range panels {
		p.keys = nil
	}
	return f, nil
}

func gridColumns(n int) int {
	return min(n, max(2, min(6, int(math.Ceil(math.Sqrt(1.2*float64(n)))))))
}

// shareAxes gives all panels the range that holds all data.
func shareAxes(panels []*panel) {
	x, y := panels[0].x, panels[0].y
	for _, p := range panels {
		if p.x.set && p.y.set {
			x.include(p.x.lo, p.x.hi)
			y.include(p.y.lo, p.y.hi)
		}
	}
	x.label, y.label = "", ""
	for _, p := range panels {
		p.x, p.y = x, y
	}
}

// bareInner removes tick labels from panels that have a neighbour below or to the left.
func bareInner(rows [][]*panel) {
	for j, row := range rows {
		for i, p := range row {
			if p != nil {
				p.x.bare = j+1 < len(rows) && rows[j+1][i] != nil
				p.x.over = j+1 < len(rows) && !p.x.bare
				p.y.bare = i > 0
			}
		}
	}
}
