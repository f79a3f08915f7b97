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
		p, err := l.panel()
		if err != nil {
			return nil, err
		}
		for i, c := range l.Curves {
			if len(c.X) <= fewPoints {
				p.add(dots(c.X, c.Y, chainColor(i), 1.8))
			}
		}
		g.rows = append(g.rows, []*panel{p})
	}
	return &Figure{Title: title, grid: g, Width: columnWidth + 0.8, Height: 2.9*high + 0.4}, nil
}
