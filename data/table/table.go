// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Table is a table of columns of the same length.
type Table struct {
	// Name is that of the sheet in Excel. Default: results.
	Name    string
	Columns []Column
}

// Column is a column of numbers, texts or truth values.
type Column struct {
	Name string
	Unit string // such as s; "" for none
	// Values are []float64, []int64, []string or []bool. A NaN is an empty cell.
	Values any
}

// Header is the name with the unit, such as "tau (s)".
func (c *Column) Header() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " (" + c.Unit + ")"
}

// rows returns the number of values.
func (c *Column) rows() (int, error) {
	switch v := c.Values.(type) {
	case []float64:
		return len(v), nil
	case []int64:
		return len(v), nil
	case []string:
		return len(v), nil
	case []bool:
		return len(v), nil
	}
	return 0, fmt.Errorf("table: the column %s holds %T: want []float64, []int64, []string or []bool", c.Name, c.Values)
}

// Add appends a column to the right.
func (t *Table) Add(name, unit string, values any) {
	t.Columns = append(t.Columns, Column{name, unit, values})
}

// Rows returns the number of rows. Columns of unequal lengths or the same header are an error.
func (t *Table) Rows() (int, error) {
	n := 0
	seen := map[string]bool{}
	for i := range t.Columns {
		c := &t.Columns[i]
		rows, err := c.rows()
		switch {
		case err != nil:
			return 0, err
		case i > 0 && rows != n:
			return 0, fmt.Errorf("table: the column %s has %s and %s has %d: give all columns the same length", c.Name, errtext.Count(rows, "row"), t.Columns[0].Name, n)
		case c.Name == "" || seen[c.Header()]:
			return 0, fmt.Errorf("table: column %d is called %q: give each column a name of its own", i+1, c.Header())
		}
		n, seen[c.Header()] = rows, true
	}
	if len(t.Columns) == 0 {
		return 0, fmt.Errorf("table: there are no columns")
	}
	return n, nil
}

// writers are the formats by the extension of a file.
var writers = map[string]func(w io.Writer, t *Table, rows int) error{".csv": writeCSV, ".xlsx": writeXLSX, ".parquet": writeParquet}

// Extensions lists the extensions of the formats.
func Extensions() []string { return slices.Sorted(maps.Keys(writers)) }

// Known reports whether the extension of a file is that of a format.
func Known(file string) bool { return writers[strings.ToLower(filepath.Ext(file))] != nil }

// Write writes a table in the format of the extension, such as .csv.
func (t *Table) Write(w io.Writer, extension string) error {
	write := writers[strings.ToLower(extension)]
	if write == nil {
		return fmt.Errorf("table: there is no format %q: want %s", extension, strings.Join(Extensions(), ", "))
	}
	rows, err := t.Rows()
	if err != nil {
		return err
	}
	return write(w, t, rows)
}

// Save writes a table to a file, whose extension chooses the format. A file that exists is an error unless overwrite is true. The
// file appears under its name once it is complete.
func (t *Table) Save(file string, overwrite bool) error {
	if !Known(file) {
		return fmt.Errorf("table: %s: the extension chooses the format: want %s", file, strings.Join(Extensions(), ", "))
	}
	return atomicfile.Write(file, overwrite, func(w io.Writer) error { return t.Write(w, filepath.Ext(file)) })
}
