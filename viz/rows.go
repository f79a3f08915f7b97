// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
	"strings"
)

// Rows returns the number of rows of panels, or 0 for pictures made by FromPlots.
func (f *Figure) Rows() int {
	if f.grid == nil {
		return 0
	}
	return len(f.grid.rows)
}

// Row returns the picture of one row of panels, counted from 1, such as data, model and residual of one energy.
func (f *Figure) Row(n int) (*Figure, error) {
	rows := f.Rows()
	if n < 1 || n > rows {
		return nil, fmt.Errorf("viz: row %d: the picture has %d rows of panels, counted from 1", n, rows)
	}
	const title = 0.45 // height of what stands above the panels, in inches
	c := f.Clone()
	c.grid.rows, c.grid.high = c.grid.rows[n-1:n], nil
	c.Height = max(f.Height-title, title)/float64(rows) + title
	return c, nil
}

// crowded is the share of the least width of a panel below which tables of images are taken apart, too.
const crowded = 0.8

// Reflow puts panels that stand side by side because there is room into fewer columns, so that each is at least so many inches wide, and so
// those of a table of images that is crowded. Pictures whose columns belong together stay as they are. No row of panels is then too flat for
// its letters.
func (f *Figure) Reflow(least float64) {
	g := f.grid
	if g == nil || len(g.rows) == 0 {
		return
	}
	cols, rows := len(g.rows[0]), len(g.rows)
	images := g.imageRows() > 0
	may := g.flows || images && g.wide == nil && g.high == nil && f.Width < crowded*least*float64(cols)
	fit := max(1, int(f.Width/least))
	if images && cols%fit != 0 {
		fit = 1 // images of a row stay together
	}
	if may && fit < cols {
		g.rows = inRows(g.panels(), fit)
		if g.xLabel != "" || g.yLabel != "" {
			bareInner(g.rows)
		}
		f.Height *= float64(len(g.rows)*cols) / float64(rows*fit)
	}
	const flattest, head = 1.5, 0.5 // inches of a row of panels, and above and below all
	if !images && g.high == nil {
		f.Height = max(f.Height, flattest*float64(len(g.rows))+head)
	}
}

// panels are the panels of a grid, row by row, without its gaps.
func (g *grid) panels() (all []*panel) {
	for _, row := range g.rows {
		for _, p := range row {
			if p != nil {
				all = append(all, p)
			}
		}
	}
	return all
}

// inRows arranges panels in rows of so many; nil panels at the end are left out.
func inRows(panels []*panel, cols int) (rows [][]*panel) {
	for len(panels) > 0 && panels[len(panels)-1] == nil {
		panels = panels[:len(panels)-1]
	}
	for i := 0; i < len(panels); i += cols {
		row := make([]*panel, cols)
		copy(row, panels[i:min(i+cols, len(panels))])
		rows = append(rows, row)
	}
	return rows
}

// rowsNote begins the comment in the head of a kept figure of images, which tells how many rows there are without reading it.
const rowsNote = "rows "

// imageRows is the number of rows of a table of images; 0 for other pictures.
func (g *grid) imageRows() int {
	for _, row := range g.rows {
		for _, p := range row {
			if p != nil && p.bar != nil {
				return len(g.rows)
			}
		}
	}
	return 0
}

// KeptRows returns how many rows of images the figure of a document of Keep has, of which the beginning is enough; 0 if it has none or is not known.
func KeptRows(document []byte) int {
	r, err := gzip.NewReader(bytes.NewReader(document))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(r.Comment, rowsNote))
	return max(n, 0)
}
