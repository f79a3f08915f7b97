// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// grid is a table of text. Its first line names the columns, and its first column names the lines.
type grid [][]string

// text aligns the columns, the first to the left and the others to the right.
func (g grid) text() string {
	g = g.lines()
	widths := make([]int, len(g[0]))
	for _, line := range g {
		for j, cell := range line {
			widths[j] = max(widths[j], len([]rune(cell)))
		}
	}
	lines := make([]string, len(g))
	for i, line := range g {
		var b strings.Builder
		for j, cell := range line {
			pad := strings.Repeat(" ", widths[j]-len([]rune(cell)))
			if j == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		lines[i] = b.String()
	}
	return strings.Join(lines, "\n")
}

// lines returns the table with every cell on one line, whatever the names in it are.
func (g grid) lines() grid {
	out := make(grid, len(g))
	for i := range g {
		for _, cell := range g[i] {
			out[i] = append(out[i], foreign.Line(cell))
		}
	}
	return out
}

func (g grid) markdown() string {
	g = g.lines()
	var b strings.Builder
	for i, line := range g {
		cells := make([]string, len(line))
		for j := range line {
			cells[j] = strings.ReplaceAll(line[j], "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			b.WriteString("|---|" + strings.Repeat("---:|", len(line)-1) + "\n")
		}
	}
	return b.String()
}

func (g grid) html() string {
	var b strings.Builder
	b.WriteString("<table>\n")
	for i, line := range g {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		b.WriteString("<tr>")
		for _, cell := range line {
			fmt.Fprintf(&b, "<%s>%s</%s>", tag, html.EscapeString(cell), tag)
		}
		b.WriteString("</tr>\n")
	}
	return b.String() + "</table>\n"
}

func (g grid) csv() string {
	var b strings.Builder
	w := foreign.CSV(&b)
	w.WriteAll(g)
	return b.String()
}

// exact writes a number with all digits; non-finite numbers are written as NaN, Inf and -Inf.
func exact(v float64) string {
	return strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+")
}

func exactAll(name string, v ...float64) []string {
	out := []string{name}
	for _, x := range v {
		out = append(out, exact(x))
	}
	return out
}
