// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package columns

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

var (
	// dotted is a number whose thousands are set apart by points, with or without a decimal comma.
	dotted = regexp.MustCompile(`^[+-]?\d{1,3}(\.\d{3})+(,\d*)?$`)
	// certainlyDotted is one that is nothing else.
	certainlyDotted = regexp.MustCompile(`^[+-]?\d{1,3}((\.\d{3})+,\d*|(\.\d{3}){2,})$`)
	// withComma is a number with a decimal comma.
	withComma = regexp.MustCompile(`^[+-]?\d*,\d*([eE][+-]?\d+)?$`)
)

// withoutDots removes the points that set thousands apart, as in 1.234,5, from a table whose columns are not separated by commas. Whether 1.234 is one thousand is decided by the other numbers of its
// column; where none decides and the table has decimal commas, that is an error.
func withoutDots(content []byte) ([]byte, string, error) {
	row, _ := firstRow(content)
	sep := separatorOf(append([]byte("\n"), row...))
	if sep == "," || !bytes.Contains(content, []byte(",")) {
		return content, "", nil
	}
	split := func(line string) []string {
		if sep == " " {
			return strings.Fields(line)
		}
		return strings.Split(line, sep)
	}
	lines := strings.Split(string(content), "\n")
	kinds := map[int]*dottedColumn{}
	commas := false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for k, cell := range split(line) {
			cell = strings.Trim(strings.TrimSpace(cell), `"`)
			if kinds[k] == nil {
				kinds[k] = &dottedColumn{}
			}
			commas = commas || withComma.MatchString(cell) || certainlyDotted.MatchString(cell)
			kinds[k].see(cell, i+1)
		}
	}
	if !commas {
		return content, "", nil
	}
	var changed []string
	for k := range len(kinds) {
		c := kinds[k]
		switch {
		case c.certain && c.plain:
			return nil, "", &FormatError{Format: "columns", Line: c.line, What: fmt.Sprintf("column %d has numbers such as 1.234,5, in which points set thousands apart, and others in which a point is the decimal sign, such as %s", k+1, foreign.Text(c.odd)), Try: "write them alike"}
		case c.certain:
			changed = append(changed, fmt.Sprint(k+1))
		case c.dots > 0 && !c.plain:
			return nil, "", &FormatError{Format: "columns", Line: c.line, What: fmt.Sprintf("the table has decimal commas, and %s in column %d may be a thousand or a decimal number", foreign.Text(c.odd), k+1), Try: "write thousands without points, as 1234, and decimal numbers with a comma, as 1,234, or all with a point"}
		}
	}
	if len(changed) == 0 {
		return content, "", nil
	}
	for i, line := range lines {
		cells := split(line)
		for k := range cells {
			if c := kinds[k]; c.certain && dotted.MatchString(strings.Trim(strings.TrimSpace(cells[k]), `"`)) {
				cells[k] = strings.ReplaceAll(cells[k], ".", "")
			}
		}
		if sep != " " || len(cells) > 0 && !strings.HasPrefix(line, "#") {
			lines[i] = strings.Join(cells, sep)
		}
	}
	return []byte(strings.Join(lines, "\n")), "points in column " + strings.Join(changed, ", ") + " set thousands apart", nil
}

// dottedColumn is what the numbers of a column say about points.
type dottedColumn struct {
	certain bool // some have a point between thousands for certain
	plain   bool // some have a point as the decimal sign for certain
	dots    int  // number of those that may be either
	odd     string
	line    int
}

func (c *dottedColumn) see(cell string, line int) {
	switch {
	case certainlyDotted.MatchString(cell):
		c.certain = true
	case dotted.MatchString(cell):
		if c.dots++; c.dots == 1 && !c.plain {
			c.odd, c.line = cell, line
		}
	case strings.Count(cell, ".") == 1 && !strings.Contains(cell, ",") && numeric([]string{cell}):
		if !c.plain {
			c.plain, c.odd, c.line = true, cell, line
		}
	}
}
