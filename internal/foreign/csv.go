// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
)

// CSV returns a writer of a table in which texts may come from outside the program: they are written as Text shows them, since tables are
// shown on terminals too, and so that no spreadsheet takes them for formulas (see Cell).
func CSV(w io.Writer) *Rows { return &Rows{csv.NewWriter(Writer(w))} }

// Rows writes the rows of a table.
type Rows struct{ *csv.Writer }

// Write writes a row.
func (r *Rows) Write(row []string) error {
	if slices.ContainsFunc(row, func(s string) bool { return Cell(s) != s }) {
		row = slices.Clone(row)
		for i, s := range row {
			row[i] = Cell(s)
		}
	}
	return r.Writer.Write(row)
}

// WriteAll writes rows, and then what is in the buffer.
func (r *Rows) WriteAll(rows [][]string) error {
	for _, row := range rows {
		if err := r.Write(row); err != nil {
			return err
		}
	}
	r.Flush()
	return r.Error()
}

// Cell puts an apostrophe before a text that a spreadsheet would take for a formula: one that begins with =, +, -, @ or white space, and is
// no number.
func Cell(s string) string {
	if len(s) < 2 || !strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
