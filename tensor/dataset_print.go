// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
)

// String returns the dimensions, coordinates, variables and attributes, one per line, with the
// first values of each.
func (d *Dataset) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", d.Name, strings.Join(d.sizes(), ", "))
	for _, part := range d.parts() {
		if len(part.lines) > 0 {
			b.WriteString("  " + part.title + "\n")
			writeAligned(&b, part.lines)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// part is a titled table of what a dataset holds.
type part struct {
	title string
	lines [][]string
}

func (d *Dataset) parts() []part {
	parts := []part{{title: "coordinates"}, {title: "variables"}, {title: "attributes", lines: attrLines(d.Attrs)}}
	for i, list := range [][]Variable{d.coords, d.vars} {
		for _, v := range list {
			parts[i].lines = append(parts[i].lines, []string{v.Name, "(" + strings.Join(v.Dims, ", ") + ")", v.DType(), v.sample()})
		}
	}
	return parts
}

func attrLines(attrs map[string]string) [][]string {
	var out [][]string
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		out = append(out, []string{k, oneLine(attrs[k])})
	}
	return out
}

// sizes lists the dimensions with their lengths.
func (d *Dataset) sizes() []string {
	var out []string
	for _, dim := range d.dims {
		out = append(out, fmt.Sprintf("%s: %d", dim, d.length[dim]))
	}
	return out
}

// sample shows the first elements.
func (v Variable) sample() string {
	const shown = 6
	var out []string
	for i := range min(v.Len(), shown) {
		out = append(out, oneLine(v.Text(i)))
	}
	if v.Len() > shown {
		out = append(out, "...")
	}
	return strings.Join(out, " ")
}

// oneLine shortens text that would break the layout of a table.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}

// writeAligned writes lines of cells in columns; only the last column is not padded.
func writeAligned(b *strings.Builder, lines [][]string) {
	if len(lines) == 0 {
		return
	}
	last := len(lines[0]) - 1
	widths := make([]int, last)
	for _, line := range lines {
		for j, cell := range line[:last] {
			widths[j] = max(widths[j], len([]rune(cell)))
		}
	}
	for _, line := range lines {
		b.WriteString("    ")
		for j, cell := range line[:last] {
			b.WriteString(cell + strings.Repeat(" ", widths[j]-len([]rune(cell))+1))
		}
		b.WriteString(line[last] + "\n")
	}
}

// HTML returns the content as a collapsible table.
func (d *Dataset) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary><b>%s</b> (%s)</summary>\n", html.EscapeString(d.Name), html.EscapeString(strings.Join(d.sizes(), ", ")))
	for _, part := range d.parts() {
		if len(part.lines) == 0 {
			continue
		}
		b.WriteString("<p>" + part.title + "</p>\n<table>\n")
		for _, line := range part.lines {
			b.WriteString("<tr>")
			for _, cell := range line {
				b.WriteString("<td>" + html.EscapeString(cell) + "</td>")
			}
			b.WriteString("</tr>\n")
		}
		b.WriteString("</table>\n")
	}
	return b.String() + "</details>\n"
}

// SimpleRender returns the content for the notebook gophernotes.
func (d *Dataset) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": d.HTML(), "text/plain": d.String()}
}

// String returns the groups, one below the other.
func (t *DataTree) String() string {
	var b strings.Builder
	writeAligned(&b, attrLines(t.Attrs))
	for _, d := range t.groups {
		b.WriteString(d.String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// HTML returns the groups as collapsible tables.
func (t *DataTree) HTML() string {
	var b strings.Builder
	for _, d := range t.groups {
		b.WriteString(d.HTML())
	}
	return b.String()
}

// SimpleRender returns the groups for the notebook gophernotes.
func (t *DataTree) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": t.HTML(), "text/plain": t.String()}
}
