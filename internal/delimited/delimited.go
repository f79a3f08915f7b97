// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package delimited reads the lines of tables as text: the names of the columns, then rows of cells. Cells are separated by
// commas; if the header has none, by semicolons, tabs or blanks. Lines that are blank or begin with # are skipped. If the first
// line holds only numbers, the last comment before it names the columns, which is how numpy.savetxt writes them.
//
//	separator, fault := delimited.Read(f, delimited.Table{Known: known, Example: "tau,g2", Header: header, Row: row})
package delimited

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// maxLine is the length of the longest line in bytes.
const maxLine = 1 << 20

// Table says what to do with the parts of a table.
type Table struct {
	Known   func(name string) bool // whether a cell is the name of a column
	Example string                 // header that a message shows
	// Header takes the names of the columns, and Row the cells of a line, as many as there are names. Lines count from 1.
	// Reading ends when one of them returns false.
	Header, Row func(line int, cells []string) bool
}

// Fault says what is wrong with a table as text.
type Fault struct {
	Line      int // from 1; 0 for the table as a whole
	What, Try string
}

// reader holds the state of reading.
type reader struct {
	t         Table
	line      int
	split     func(string) []string
	separator string
	columns   int
	comment   string // last comment before the header, without its mark
	at        int    // line of that comment
	decimal   bool   // whether numbers have decimal commas
	done      bool
	fault     *Fault
}

// Read reads a table in UTF-8 or, with a mark at its beginning, in UTF-16. It returns what separates the columns, in words, and says so if the
// names are those of a comment, or if numbers have decimal commas, which they may where commas do not separate the columns.
func Read(in io.Reader, t Table) (separator string, fault *Fault) {
	r := &reader{t: t}
	buffered := bufio.NewReader(in)
	if mark, _ := buffered.Peek(2); len(mark) == 2 && (mark[0] == 0xff && mark[1] == 0xfe || mark[0] == 0xfe && mark[1] == 0xff) {
		buffered = bufio.NewReader(transform.NewReader(buffered, unicode.BOMOverride(encoding.Nop.NewDecoder())))
	}
	if head, _ := buffered.Peek(512); foreign.NotText(head) != "" {
		return "", &Fault{What: "the file is not CSV but " + foreign.NotText(head), Try: "export it as CSV"}
	}
	lines := bufio.NewScanner(buffered)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	lines.Split(endOfLine)
	for !r.done && lines.Scan() {
		r.line++
		r.take(lines.Text())
	}
	if err := lines.Err(); err != nil && !r.done {
		r.line++
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line has more than %d bytes", maxLine)
		}
		r.fail("open it in a text editor to see whether it is a CSV file", "the file cannot be read: %v", err)
	}
	if !r.done && r.columns == 0 {
		r.line = 0
		r.fail("begin with a line such as "+t.Example, "there is no header")
	}
	if r.decimal {
		r.separator += DecimalCommas
	}
	return r.separator, r.fault
}

// DecimalCommas ends what Read says of a table whose numbers have decimal commas.
const DecimalCommas = ", with decimal commas"

// decimalComma is a number with a comma in place of a point.
var decimalComma = regexp.MustCompile(`^\s*[+-]?\d*,\d*(?:[eE][+-]?\d+)?\s*$`)

// pointed replaces decimal commas.
func (r *reader) pointed(cells []string) []string {
	for i, c := range cells {
		if strings.Contains(c, ",") && decimalComma.MatchString(c) {
			r.decimal = true
			cells[i] = strings.Replace(c, ",", ".", 1)
		}
	}
	return cells
}

// endOfLine splits at line feeds, at carriage returns, and at both together.
func endOfLine(data []byte, end bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case end && len(data) == 0:
		return 0, nil, nil
	case i < 0 && end:
		return len(data), data, nil
	case i < 0, data[i] == '\r' && i+1 == len(data) && !end:
		return 0, nil, nil // more is needed
	case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	}
	return i + 1, data[:i], nil
}

func (r *reader) fail(try, format string, a ...any) {
	r.done, r.fault = true, &Fault{Line: r.line, What: fmt.Sprintf(format, a...), Try: try}
}

// take processes one line.
func (r *reader) take(s string) {
	if r.line == 1 {
		s = strings.TrimPrefix(s, "\ufeff") // mark of Windows programs
	}
	s = strings.Trim(s, " ") // a tab at the end stands for an empty cell
	switch {
	case strings.TrimSpace(s) == "":
	case s[0] == '#':
		if r.columns == 0 {
			r.comment, r.at = strings.TrimSpace(strings.TrimLeft(s, "#")), r.line
		}
	case r.columns == 0 && numeric(s):
		r.commented(s)
	case r.columns == 0:
		r.header(s)
	default:
		r.row(s)
	}
}

// numeric reports whether a line contains only numbers.
func numeric(s string) bool {
	split, separator := splitter(s)
	some := false
	cells := ended(split(s))
	if separator != "commas" {
		cells = new(reader).pointed(slices.Clone(cells))
	}
	for _, cell := range cells {
		v, err := Number(cell)
		if err != nil {
			return false
		}
		some = some || !math.IsNaN(v)
	}
	return some
}

// commented uses the last comment as the header of a first line of numbers if it names as many columns.
func (r *reader) commented(row string) {
	split, separator := splitter(row)
	own, _ := splitter(r.comment)
	names := ended(own(r.comment))
	if n := len(ended(split(row))); !slices.ContainsFunc(names, r.t.Known) || len(names) != n {
		r.fail("begin with a line such as "+r.t.Example, "there is no header before these numbers, neither in a line of its own nor in a comment that names %d columns", n)
		return
	}
	line := r.line
	r.line = r.at
	r.header(r.comment)
	r.line, r.split, r.separator = line, split, separator+", with the names in a comment"
	if !r.done {
		r.row(row)
	}
}

// ended drops the empty cell that a separator at the end of a line makes.
func ended(all []string) []string {
	if n := len(all); n > 1 && strings.TrimSpace(all[n-1]) == "" {
		return all[:n-1]
	}
	return all
}

func (r *reader) header(s string) {
	r.split, r.separator = splitter(s)
	cells := ended(r.split(s))
	r.columns = len(cells)
	r.done = !r.t.Header(r.line, cells)
}

func (r *reader) row(s string) {
	all := r.split(s)
	if len(all) == r.columns+1 {
		all = ended(all)
	}
	if len(all) != r.columns {
		r.fail("use the separator of the header, and a point as the decimal sign", "the line has %d fields, but the header has %d", len(all), r.columns)
		return
	}
	if !strings.HasPrefix(r.separator, "commas") {
		all = r.pointed(all)
	}
	r.done = !r.t.Row(r.line, all)
}

// splitter chooses the separator: tab, semicolon, comma or blanks. Names may have a blank before a unit, so those are joined
// first.
func splitter(header string) (split func(string) []string, name string) {
	for _, sep := range []struct{ sign, name string }{{"\t", "tabs"}, {";", "semicolons"}, {",", "commas"}} {
		if strings.Contains(header, sep.sign) {
			return func(s string) []string {
				if strings.Contains(s, `"`) {
					in := csv.NewReader(strings.NewReader(s))
					in.Comma, in.LazyQuotes, in.TrimLeadingSpace = rune(sep.sign[0]), true, sep.sign != "\t"
					if cells, err := in.Read(); err == nil {
						return cells
					}
				}
				return strings.Split(s, sep.sign)
			}, sep.name
		}
	}
	return func(s string) []string {
		return strings.Fields(strings.NewReplacer(" (", "(", " [", "[").Replace(s))
	}, "blanks"
}

// Number parses a decimal number; an empty cell, na and nan, in any case, are NaN.
func Number(s string) (float64, error) {
	s = strings.Trim(strings.TrimSpace(s), `"`)
	if s == "" || strings.EqualFold(s, "nan") || strings.EqualFold(s, "na") {
		return math.NaN(), nil
	}
	if strings.ContainsAny(s, "xX_pP") { // Go's own forms are not meant
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, err
	}
	return v, nil
}
