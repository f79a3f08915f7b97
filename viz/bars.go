// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Bars are groups of bars: one group for each label, with one bar of each series.
type Bars struct {
	Title, XLabel, YLabel string // labels are written as "name (unit)"
	Labels                []string
	Series                []BarSeries
	// High is the upper end of y, which begins at 0. Default: that of the bars.
	High float64
}

// BarSeries is the height of one bar of every group. A height that is not finite leaves a gap.
type BarSeries struct {
	Name string
	Y    []float64
}

// mostBarLabels is the largest number of labels that are written below the bars of one panel.
const mostBarLabels = 7

// BarGrid draws charts of bars as small multiples that share their axes, with one legend.
func BarGrid(title string, charts ...Bars) (*Figure, error) {
	if len(charts) == 0 {
		return nil, fmt.Errorf("viz: bars %q: there are no charts to draw: pass at least one", title)
	}
	var panels []*panel
	for _, c := range charts {
		p, err := c.panel()
		if err != nil {
			return nil, err
		}
		panels = append(panels, p)
	}
	shareAxes(panels)
	cols := gridColumns(len(panels))
	f := tiles(title, selection{}, "", panels, cols)
	f.grid.gapX, f.grid.gapY = 6, 4
	f.grid.xLabel, f.grid.yLabel = charts[0].XLabel, charts[0].YLabel
	bareInner(f.grid.rows)
	f.Height = float64(len(f.grid.rows))*(0.62*pageWidth/float64(cols)+0.25) + 0.8
	f.keys, panels[0].keys = panels[0].keys, nil
	for _, p := range panels {
		p.keys = nil
	}
	return f, nil
}

// panel draws one chart.
func (b Bars) panel() (*panel, error) {
	n := len(b.Labels)
	if n == 0 || len(b.Series) == 0 {
		return nil, fmt.Errorf("viz: bars %q: there are %s and %s: pass at least one of each", b.Title, count(n, "label", "labels"), count(len(b.Series), "series", "series"))
	}
	p := &panel{title: b.Title, x: axis{label: b.XLabel}, y: axis{label: b.YLabel}}
	p.x.limits(-0.6, float64(n)-0.4)
	p.x.fixed = []tick{}
	for i := 0; i < n; i += (n + mostBarLabels - 1) / mostBarLabels {
		p.x.fixed = append(p.x.fixed, tick{float64(i), b.Labels[i]})
	}
	const group = 0.8 // of the distance of two groups
	width, high := group/float64(len(b.Series)), b.High
	for s, series := range b.Series {
		if len(series.Y) != n {
			return nil, fmt.Errorf("viz: bars %q: %s has %s for %s: give one for each", b.Title, series.Name, count(len(series.Y), "height", "heights"), count(n, "label", "labels"))
		}
		color := fade(chainColor(s), 0.85)
		for i, y := range series.Y {
			if !linalg.Finite(y) {
				continue
			}
			if b.High == 0 {
				high = max(high, 1.05*y)
			}
			left := float64(i) - group/2 + float64(s)*width
			p.add(rectangle(left, left+width, 0, y, color))
		}
		p.keys = append(p.keys, key{series.Name, color, patch})
	}
	p.y.limits(0, max(high, 1e-300))
	return p, nil
}
