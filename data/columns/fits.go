// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package columns

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// mostExact is the largest number up to which a float64 holds every whole number. Columns with larger ones, such as identifiers of targets, are
// texts, so that none changes.
const mostExact = 1 << 53

// readFITS reads a table of a FITS file, by the name or the number of its extension; the first one for a part that is "". Columns with several
// elements in a cell are left out, which the note says.
func readFITS(content []byte, part string) (Table, string, error) {
	f, err := fits.Read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	t, note, err := fitsTable(f, part)
	if err != nil {
		return nil, "", err
	}
	var out Table
	var left []string
	for _, c := range t.Columns() {
		v := fitsColumn(c)
		if v == nil {
			left = append(left, c.Name)
			continue
		}
		name, unit := split(c.Name)
		if unit == "" {
			unit = c.Unit
		}
		out = append(out, Column{Name: name, Unit: unit, Values: v})
	}
	if len(out) == 0 {
		return nil, "", &FormatError{Format: "columns", What: "the table has no column with one number or text in a cell", Try: "name another extension"}
	}
	if len(left) > 0 {
		note = joinNotes(note, "columns with several elements in a cell are left out: "+strings.Join(left, ", "))
	}
	return out, note, nil
}

// fitsTable finds a table of a file.
func fitsTable(f *fits.File, part string) (*fits.Table, string, error) {
	if part != "" {
		if n, err := strconv.Atoi(part); err == nil && n >= 0 && n < len(f.HDUs()) {
			t, err := f.HDUs()[n].Table()
			return t, "", err
		}
		t, err := f.Table(part)
		return t, "", err
	}
	for _, h := range f.HDUs() {
		t, err := h.Table()
		if err != nil || t.Len() == 0 || len(t.Columns()) == 0 {
			continue
		}
		return t, "the table is that of the extension " + foreign.Text(fmt.Sprint(h.Name, " (", h.Index, ")")) + " of the file", nil
	}
	return nil, "", &FormatError{Format: "columns", What: "the FITS file has no table with rows", Try: "give a file with a table"}
}

// fitsColumn is the values of a column with one element in each cell, nil for others.
func fitsColumn(c *fits.Column) any {
	if c.Type() == "string" {
		if v, err := c.Strings(); err == nil {
			return v
		}
		return nil
	}
	if c.Repeat != 1 || c.Variable() {
		return nil
	}
	unknown, err := c.Masked()
	if err != nil {
		return nil
	}
	if v, err := c.Bools(); err == nil {
		return texts(v, unknown)
	}
	if v, err := c.Int64s(); err == nil {
		for i, x := range v {
			if (x > mostExact || x < -mostExact) && !unknown[i] {
				return texts(v, unknown)
			}
		}
	}
	if v, err := c.Float64s(); err == nil {
		return v
	}
	return nil
}

// texts writes values; unknown ones are empty.
func texts[T any](v []T, unknown []bool) []string {
	out := make([]string, len(v))
	for i := range v {
		if !unknown[i] {
			out[i] = fmt.Sprint(v[i])
		}
	}
	return out
}
