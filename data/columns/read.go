// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package columns reads the tables that people have: text with any separator, with or without names, NumPy arrays, and tables of HDF5 and FITS files; and Excel
// workbooks where package data/table is part of the program.
//
//	t, note, err := columns.Read(content)
//	for _, c := range t {
//		fmt.Println(c.Name, c.Unit, c.Values)
//	}
package columns

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/internal/delimited"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

// Table is columns of one length, from the left.
type Table []Column

// Column is a column of numbers or texts.
type Column struct {
	Name, Unit string
	// Values are []float64, in which empty cells are NaN, or []string.
	Values any
	// Lines are the lines of a text, or the rows of a sheet, on which the values stand, from 1. They are nil for arrays.
	Lines []int
}

// Workbook reads the cells of a sheet of an Excel workbook, by name or by number from 1, the first for "", and gives the names of all sheets and which was read. It is
// nil where no package provides it.
var Workbook func(content []byte, sheet string) (rows [][]string, sheets []string, read string, err error)

// Read reads a table from the content of a file: text whose columns are separated by commas, semicolons, tabs or blanks, the first sheet of
// an Excel workbook, a NumPy array of one or two axes, or the first table of an HDF5 or FITS file. A column is []float64 if all of its cells are numbers, where empty cells are NaN, and []string otherwise;
// numbers with marks of thousands are numbers, and dates are days since the first or, with times of day, seconds.
// Names are such as formulas take: Dose (mg) becomes Dose with the unit mg, and characters that are no letters or digits become
// underscores. Columns of a table without names are x and y, with sigma as a third, or c1, c2 and so on if there are more; note says so, and
// whether numbers have decimal commas.
func Read(content []byte) (t Table, note string, err error) { return ReadPart(content, "") }

// SplitPart takes a name such as book.xlsx:Sheet2 or run.h5:/entry/data apart into that of the file and the part of it that is to be read, "" if the name is that of a file alone.
func SplitPart(name string) (file, part string) {
	if m := parted.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}

var parted = regexp.MustCompile(`(?i)^(.*\.(?:xlsx|h5|hdf5|hdf|nxs|nx5|fits|fit)):(.+)$`)

// ReadPart is Read for a sheet of a workbook or an extension of a FITS file, by name or number, or a path in an HDF5 file.
func ReadPart(content []byte, part string) (t Table, note string, err error) {
	switch {
	case bytes.HasPrefix(content, []byte("PK\x03\x04")):
		return readWorkbook(content, part)
	case bytes.HasPrefix(content, []byte("\x89HDF\r\n\x1a\n")):
		return readHDF5(content, part)
	case bytes.HasPrefix(content, []byte("SIMPLE  =")):
		return readFITS(content, part)
	case part != "":
		return nil, "", &FormatError{Format: "columns", What: "the file is neither an Excel workbook nor an HDF5 or FITS file, and so has no part " + foreign.Text(part), Try: "leave the part out"}
	case bytes.HasPrefix(content, []byte("\x93NUMPY")):
		return readArray(content)
	}
	return readText(content)
}

// cells are the columns of a table as text.
type cells struct {
	names   []string
	columns [][]string
	lines   []int // of the rows
}

func (c *cells) header(names []string) {
	c.names, c.columns = names, make([][]string, len(names))
}

func (c *cells) row(line int, row []string) {
	for i := range c.names {
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		c.columns[i] = append(c.columns[i], strings.TrimSpace(cell))
	}
	c.lines = append(c.lines, line)
}

func readText(content []byte) (Table, string, error) {
	if other := foreign.NotText(content[:min(len(content), 512)]); other != "" && !marked(content) {
		return nil, "", &FormatError{Format: "columns", What: "the file is not CSV but " + other, Try: "export it as CSV"}
	}
	c, note := &cells{}, ""
	content, dots, err := withoutDots(content)
	if err != nil {
		return nil, "", err
	}
	if names := namesFor(content); names != nil {
		content = append([]byte(strings.Join(names, "\t")+"\n"), content...)
		sep := separatorOf(content)
		content = bytes.Replace(content, []byte("\t"), []byte(sep), len(names)-1)
		note = "the table has no names of columns: they are called " + strings.Join(names, ", ")
	}
	first := 0
	if note != "" {
		first = 1 // line that was put before the others
	}
	separator, fault := delimited.Read(bytes.NewReader(content), delimited.Table{
		Known:   func(name string) bool { _, err := delimited.Number(name); return err != nil },
		Example: "x,y",
		Header:  func(_ int, names []string) bool { c.header(names); return true },
		Row:     func(line int, row []string) bool { c.row(line-first, row); return true },
	})
	if fault != nil {
		return nil, "", &FormatError{Format: "columns", Line: max(0, fault.Line-first), What: fault.What, Try: fault.Try}
	}
	if strings.HasSuffix(separator, delimited.DecimalCommas) {
		note = strings.TrimPrefix(note+"; numbers have decimal commas", "; ")
	}
	t, more, err := c.table()
	return t, joinNotes(note, dots, more), err
}

// marked reports whether a text begins with the mark of UTF-16, which tables may have.
func marked(content []byte) bool {
	return bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff"))
}

// firstRow returns the first line that is no comment, and whether a comment stands before it.
func firstRow(content []byte) (row string, comment bool) {
	for line := range bytes.Lines(content) {
		s := strings.TrimSpace(strings.TrimPrefix(string(line), "\ufeff"))
		switch {
		case strings.HasPrefix(s, "#"):
			comment = comment || strings.Trim(s, "# ") != ""
		case s != "":
			return s, comment
		}
	}
	return "", comment
}

// separatorOf is the separator of the first line of numbers.
func separatorOf(content []byte) string {
	lines := bytes.SplitN(content, []byte("\n"), 2)
	row, _ := firstRow(lines[len(lines)-1])
	for _, sep := range []string{"\t", ";", ","} {
		if strings.Contains(row, sep) {
			return sep
		}
	}
	return " "
}

// namesFor returns names for the columns of a table that begins with numbers and has no comment that could name them; nil if it has names.
func namesFor(content []byte) []string {
	row, comment := firstRow(content)
	if row == "" || comment {
		return nil
	}
	fields := strings.FieldsFunc(row, func(r rune) bool { return r == '\t' || r == ';' || r == ',' || r == ' ' })
	if strings.Contains(row, ";") || strings.Contains(row, "\t") { // then commas are decimal
		fields = strings.FieldsFunc(strings.ReplaceAll(row, ",", "."), func(r rune) bool { return r == '\t' || r == ';' || r == ' ' })
	}
	for _, f := range fields {
		if _, err := delimited.Number(f); err != nil {
			return nil
		}
	}
	return unnamed(len(fields))
}

// unnamed are the names of columns that have none.
func unnamed(n int) (names []string) {
	if n == 2 || n == 3 {
		return []string{"x", "y", "sigma"}[:n]
	}
	for i := range n {
		names = append(names, "c"+strconv.Itoa(i+1))
	}
	return names
}

// table makes columns of numbers where all cells are numbers.
func (c *cells) table() (t Table, note string, err error) {
	if len(c.lines) == 0 {
		return nil, "", &FormatError{Format: "columns", What: "the table has names of columns and no rows", Try: "add the numbers below them"}
	}
	seen, notes := map[string]int{}, []string(nil)
	for i, header := range c.names {
		name, unit := split(header)
		if name == "" { // numbers of rows, as R and pandas write them
			continue
		}
		if other, twice := seen[name]; twice {
			return nil, "", &FormatError{Format: "columns", What: fmt.Sprintf("the columns %d and %d are both called %s", other, i+1, foreign.Text(name)), Try: "rename one"}
		}
		seen[name] = i + 1
		v, own, note := read(name, c.columns[i])
		if notes = append(notes, note); unit == "" {
			unit = own
		}
		t = append(t, Column{name, unit, v, c.lines})
	}
	if len(t) == 0 {
		return nil, "", &FormatError{Format: "columns", What: "the table has no column with a name", Try: "write names such as x,y in the first line"}
	}
	return t, joinNotes(notes...), nil
}

// values are the numbers of cells, or their texts.
func values(column []string) any {
	numbers := make([]float64, len(column))
	for i, s := range column {
		x, err := delimited.Number(s)
		if err != nil {
			texts := make([]string, len(column))
			for k := range texts {
				texts[k] = strings.Trim(column[k], `"`)
			}
			return texts
		}
		numbers[i] = x
	}
	return numbers
}

// split makes a name that formulas take of a header, and the unit in brackets behind it.
func split(header string) (name, unit string) {
	header = strings.Trim(strings.TrimSpace(header), `"`)
	if i := strings.IndexAny(header, "(["); i > 0 && strings.ContainsAny(header[len(header)-1:], ")]") {
		header, unit = strings.TrimSpace(header[:i]), strings.TrimSpace(header[i+1:len(header)-1])
	}
	name = strings.Map(func(r rune) rune {
		if r == '_' || r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return r
		}
		return '_'
	}, header)
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "c" + name
	}
	return name, unit
}

// readWorkbook reads a sheet of a workbook.
func readWorkbook(content []byte, sheet string) (Table, string, error) {
	if Workbook == nil {
		return nil, "", &FormatError{Format: "columns", What: "the file begins like an Excel workbook, which this program does not read", Try: "export CSV, or import package data/table"}
	}
	rows, sheets, name, err := Workbook(content, sheet)
	if err != nil && sheets != nil {
		return nil, "", &FormatError{Format: "columns", What: err.Error(), Try: "name one of them"}
	}
	if err != nil {
		return nil, "", &FormatError{Format: "columns", What: "the file begins like an Excel workbook and cannot be opened as one: " + err.Error(), Try: "save it again as .xlsx, or export CSV"}
	}
	c := &cells{}
	note := ""
	if len(sheets) > 1 && sheet == "" {
		note = fmt.Sprintf("the first of %d sheets is read, %s", len(sheets), foreign.Text(name))
	}
	for i, row := range rows {
		switch {
		case strings.TrimSpace(strings.Join(row, "")) == "":
		case c.names == nil && numeric(row):
			c.header(unnamed(len(row)))
			note = strings.TrimPrefix(note+"; the table has no names of columns: they are called "+strings.Join(c.names, ", "), "; ")
			c.row(i+1, row)
		case c.names == nil:
			c.header(row)
		default:
			c.row(i+1, row)
		}
	}
	if c.names == nil {
		return nil, "", &FormatError{Format: "columns", What: "the sheet " + foreign.Text(name) + " is empty", Try: "name another sheet"}
	}
	t, more, err := c.table()
	return t, joinNotes(note, more), err
}

func numeric(row []string) bool {
	for _, s := range row {
		if _, err := delimited.Number(s); err != nil || s == "" {
			return false
		}
	}
	return true
}

// readArray reads a NumPy array: a column, or one column for each index of the second axis.
func readArray(content []byte) (Table, string, error) {
	a, err := tensor.ReadNPY(bytes.NewReader(content))
	if err != nil {
		return nil, "", err
	}
	shape := a.Shape()
	if len(shape) == 0 || len(shape) > 2 {
		return nil, "", &FormatError{Format: "columns", What: fmt.Sprintf("the array has the shape %v", shape), Try: "save a table, with a row by point and a column by quantity"}
	}
	n := 1
	if len(shape) == 2 {
		n = shape[1]
	}
	flat, names := a.Float64s(), unnamed(n)
	t := Table{}
	for k, name := range names {
		column := make([]float64, shape[0])
		for i := range column {
			column[i] = flat[i*n+k]
		}
		t = append(t, Column{Name: name, Values: column})
	}
	return t, "the columns of the array are called " + strings.Join(names, ", "), nil
}
