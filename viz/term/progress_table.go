// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/infer"
)

// columns are the columns of the table beside the bar; the order says which to drop first.
var columns = []struct {
	head  string
	width int
	order int // rank for dropping: columns of a high order are dropped first when there is little room
	cell  func(c infer.ChainProgress, elapsed time.Duration) string
}{
	{"draws", 13, 0, func(c infer.ChainProgress, _ time.Duration) string { return fmt.Sprintf("%d/%d", c.Draw, c.Total) }},
	{"divergences", 11, 1, func(c infer.ChainProgress, _ time.Duration) string { return strconv.Itoa(c.Divergences) }},
	{"step size", 9, 3, func(c infer.ChainProgress, _ time.Duration) string { return known(c.StepSize) }},
	{"grads/draw", 10, 4, func(c infer.ChainProgress, _ time.Duration) string {
		return known(float64(c.Gradients) / float64(max(c.Draw, 1)))
	}},
	{"elapsed", 7, 5, func(_ infer.ChainProgress, t time.Duration) string { return clock(t) }},
	{"remaining", 9, 2, func(c infer.ChainProgress, t time.Duration) string {
		if c.Draw == 0 {
			return "-"
		}
		return clock(time.Duration(float64(t) * float64(max(c.Total-c.Draw, 0)) / float64(c.Draw)))
	}},
}

func known(v float64) string {
	if !(v > 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

const (
	chainWidth = 5
	phaseWidth = 8
	leastBar   = 10
	mostBar    = 40
)

// table draws all chains, or as many as the terminal has rows for.
func (m *Meter) table(p infer.Progress) []string {
	s := m.screen
	keep, bar := fit(s.width - 1)
	head := fmt.Sprintf("%*s  %-*s", chainWidth, "chain", bar+2+phaseWidth, "progress")
	for i, c := range columns {
		if keep[i] {
			head += fmt.Sprintf("  %*s", c.width, c.head)
		}
	}
	out := []string{s.paint(dim, cutTo(head, s.width-1))}
	rows := min(len(p.Chains), max(s.height-3, 1))
	for _, c := range p.Chains[:rows] {
		elapsed, over := m.ended[c.Chain]
		if !over {
			elapsed = p.Elapsed
		}
		row := fmt.Sprintf("%*d  ", chainWidth, c.Chain+1)
		row += s.bar(float64(c.Draw)/float64(max(c.Total, 1)), bar, colorOf(c))
		row += "  " + s.paint(colorOf(c), fmt.Sprintf("%-*s", phaseWidth, phase(c)))
		for i, col := range columns {
			if keep[i] {
				row += fmt.Sprintf("  %*s", col.width, col.cell(c, elapsed))
			}
		}
		out = append(out, row)
	}
	if more := len(p.Chains) - rows; more > 0 {
		out = append(out, s.paint(dim, fmt.Sprintf("%*s  and %d more", chainWidth, "", more)))
	}
	return out
}

// fit chooses the columns and the length of the bar for a terminal of some width.
func fit(width int) (keep []bool, bar int) {
	keep = make([]bool, len(columns))
	free := width - chainWidth - 2 - leastBar - 2 - phaseWidth
	for order := range columns {
		for i, c := range columns {
			if c.order == order && free >= c.width+2 {
				keep[i] = true
				free -= c.width + 2
			}
		}
	}
	return keep, min(leastBar+max(free, -leastBar+1), mostBar)
}

func cutTo(s string, n int) string {
	if r := []rune(s); len(r) > n && n > 0 {
		return string(r[:n])
	}
	return s
}

// HTML returns a table of the progress for a notebook.
func HTML(p infer.Progress) string {
	var b strings.Builder
	b.WriteString("<table>\n<tr><th>chain</th><th>progress</th><th></th>")
	for _, c := range columns {
		fmt.Fprintf(&b, "<th>%s</th>", c.head)
	}
	b.WriteString("</tr>\n")
	web := map[string]string{blue: "#0072b2", red: "#d55e00", green: "#009e73"}
	for _, c := range p.Chains {
		fmt.Fprintf(&b, `<tr><td>%d</td><td><progress max="%d" value="%d" style="accent-color:%s"></progress></td><td>%s</td>`,
			c.Chain+1, max(c.Total, 1), c.Draw, web[colorOf(c)], phase(c))
		for _, col := range columns {
			fmt.Fprintf(&b, "<td>%s</td>", html.EscapeString(col.cell(c, p.Elapsed)))
		}
		b.WriteString("</tr>\n")
	}
	return b.String() + "</table>\n"
}
