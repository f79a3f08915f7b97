// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"bytes"
	"slices"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// column is a curve of a table, with its own abscissas.
type column struct {
	name string
	x, y []frame.Number
}

// sideBySide returns curves as CSV: a line for each abscissa of any of them, a column for each curve, and empty cells where a
// curve has no point.
func sideBySide(x string, columns []column) []byte {
	var at []frame.Number
	for _, c := range columns {
		at = append(at, c.x...)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	row := map[frame.Number]int{}
	rows := make([][]string, len(at)+1)
	for i, v := range at {
		row[v] = i + 1
		rows[i+1] = make([]string, len(columns)+1)
		rows[i+1][0] = frame.NumberText(v)
	}
	rows[0] = []string{x}
	for j, c := range columns {
		rows[0] = append(rows[0], c.name)
		for i, v := range c.x {
			rows[row[v]][j+1] = frame.NumberText(c.y[i])
		}
	}
	var b bytes.Buffer
	_ = foreign.CSV(&b).WriteAll(rows) // a Buffer takes everything
	return b.Bytes()
}
