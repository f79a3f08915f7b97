// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"fmt"
)

// fewPoints is the largest number of points of a curve whose points are marked.
const fewPoints = 40

// Plots draws plots of named curves one below the other, each with its legend. Curves with few
// points have them marked.
func Plots(title string, plots ...Lines) (*Figure, error) {
	if len(plots) == 0 {
		return nil, fmt.Errorf("viz: plots %q: there are no plots to draw: pass at least one", title)
	}
	g := &grid{gapY: gutter}
	high := 0.0 // of all plots
	for _, l := range plots {
		part := cmp.Or(l.Height, 1)
		g.high, high = append(g.high, part), high+part
		p, err := l.marked()
		if err != nil {
			return nil, err
		}
		g.rows = append(g.rows, []*panel{p})
	}
	return &Figure{Title: title, grid: g, Width: columnWidth + 0.8, Height: 2.9*high + 0.4}, nil
}

// Tiles draws plots of the same quantities beside each other on common axes, with one legend: that of the first, so give the curves of all
// plots in the same order.
func Tiles(title string, plots ...Lines) (*Figure, error) {
	if len(plots) == 0 {
		return nil, fmt.Errorf("viz: tiles %q: there are no plots to draw: pass at least one", title)
	}
	var panels []*panel
	for _, l := range plots {
		p, err := l.marked()
		if err != nil {
			return nil, err
		}
		panels = append(panels, p)
	}
	shareAxes(panels)
	f := tiles(title, selection{}, "", panels, columns(len(panels)))
	f.keys = panels[0].keys
	for _, p := range panels {
		p.keys = nil
	}
	f.grid.gapX, f.grid.gapY, f.grid.xLabel, f.grid.yLabel = 6, 4, plots[0].XLabel, plots[0].YLabel
	bareInner(f.grid.rows)
	f.Height = float64(len(f.grid.rows))*2.15 + 0.8
	return f, nil
}
