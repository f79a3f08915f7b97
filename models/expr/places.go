// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/data/columns"
)

// places say where the rows of a problem come from.
type places struct {
	files []string
	rows  []place
}

// place is a row of a file, and its line in it, from 1. The line is 0 for arrays.
type place struct{ file, row, line int32 }

// From remembers from which tables the rows of the problem come, one table below the other, for messages.
func (p *Problem) From(files []string, tables []columns.Table) {
	p.places = &places{files: files}
	for f, t := range tables {
		if len(t) == 0 {
			continue
		}
		for i := range Columns(t[:1])[t[0].Name].Len() {
			at := place{file: int32(f), row: int32(i + 1)}
			if t[0].Lines != nil {
				at.line = int32(t[0].Lines[i])
			}
			p.places.rows = append(p.places.rows, at)
		}
	}
}

// keep returns the places of some rows.
func (w *places) keep(row func(i int) bool) *places {
	if w == nil {
		return nil
	}
	kept := &places{files: w.files}
	for i, at := range w.rows {
		if row(i) {
			kept.rows = append(kept.rows, at)
		}
	}
	kept.rows = slices.Clip(kept.rows)
	return kept
}

// Row says in words which row of the data i, counted from 0, is: row 2 of data.csv (line 3), counted from 1.
func (p *Problem) Row(i int) string {
	if p.places == nil || i >= len(p.places.rows) {
		return fmt.Sprintf("row %d", i+1)
	}
	at := p.places.rows[i]
	s := fmt.Sprintf("row %d of %s", at.row, p.places.files[at.file])
	if at.line > 0 {
		s += fmt.Sprintf(" (line %d)", at.line)
	}
	return s
}
