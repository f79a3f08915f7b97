// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// maxLine is the length of the longest line in bytes.
const maxLine = 1 << 20

// Open reads the named file.
func Open(name string) (*Table, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	defer f.Close()
	return read(f, name)
}

// Read reads a table. Fields are separated by commas; if the header has none,
// by semicolons, tabs or spaces.
func Read(r io.Reader) (*Table, error) { return read(r, "input") }

// parser holds the state of reading, with what the header said.
type parser struct {
	file    string
	line    int
	split   func(string) []string
	columns []column
	table   *Table
	err     error

	covs  int   // number of columns of covariances
	lines []int // line of each row, if there are covariances

	comment string // last comment before the header, without its mark
	at      int    // line of that comment
}

// column is one column of the file.
type column struct {
	name string // column it stands for: bin, tau, g2, g2_err, samples, skew or cov_1 and so on
	unit unit
	cov  int // number of a column of covariances, from 1; 0 for others
}

func read(r io.Reader, file string) (*Table, error) {
	p := &parser{file: file, table: &Table{}}
	in := bufio.NewReader(r)
	if head, _ := in.Peek(512); foreign.NotText(head) != "" {
		p.fail(0, "", "export it as CSV", "the file is not CSV but %s", foreign.NotText(head))
		return nil, p.err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() && p.err == nil {
		p.line++
		p.take(lines.Text())
	}
	if err := lines.Err(); err != nil && p.err == nil {
		p.line++
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line has more than %d bytes", maxLine)
		}
		p.fail(0, "", "open it in a text editor to see whether it is a CSV file", "the file cannot be read: %v", err)
	}
	if p.err == nil && p.columns == nil {
		p.line = 0
		p.fail(0, "", "begin with a line such as tau,g2,g2_err", "there is no header")
	}
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	return p.table, nil
}

// finish checks the covariances, which belong to the rows of the file in their order.
func (p *parser) finish() {
	t := p.table
	if p.err != nil || t.Cov == nil {
		return
	}
	if !slices.ContainsFunc(t.Cov, func(row []float64) bool { return row != nil }) {
		t.Cov = nil
		return
	}
	if row, what := t.misfit(); what != "" {
		p.line = p.lines[row]
		p.fail(0, "", "rows were removed, added or reordered, which the columns cov_1, cov_2 ... do not allow: use the original table, or remove these columns", "%s", what)
	}
}

func (p *parser) fail(column int, name, try, format string, args ...any) {
	if p.err == nil {
		p.err = &FormatError{File: p.file, Line: p.line, Column: column, Name: name, What: fmt.Sprintf(format, args...), Try: try}
	}
}

// take processes one line.
func (p *parser) take(s string) {
	if p.line == 1 {
		s = strings.TrimPrefix(s, "\ufeff") // mark of Windows programs
	}
	s = strings.TrimSpace(s)
	switch {
	case s == "":
	case s[0] == '#':
		if p.columns == nil {
			p.comment, p.at = strings.TrimSpace(strings.TrimLeft(s, "#")), p.line
		}
	case p.columns == nil && numeric(s):
		p.commented(s)
	case p.columns == nil:
		p.header(s)
	default:
		p.row(s)
	}
}

// numeric reports whether a line contains only numbers.
func numeric(s string) bool {
	some := false
	for _, cell := range cells(splitter(s)(s)) {
		v, err := parseNumber(cell)
		if err != nil {
			return false
		}
		some = some || !math.IsNaN(v)
	}
	return some
}

// commented uses the last comment as the header of a first line of numbers if it names as many
// columns: numpy.savetxt writes its header in this way.
func (p *parser) commented(row string) {
	split, names := splitter(row), cells(splitter(p.comment)(p.comment))
	known := slices.ContainsFunc(names, func(s string) bool {
		_, err := parseName(s)
		return err == nil
	})
	if n := len(cells(split(row))); !known || len(names) != n {
		p.fail(0, "", "begin with a line such as tau,g2,g2_err", "there is no header before these numbers, neither in a line of its own nor in a comment that names %d columns", n)
		return
	}
	line := p.line
	p.line = p.at
	p.header(p.comment)
	p.line, p.split = line, split
	if p.err == nil {
		p.row(row)
	}
}

// cells drops the empty cell that a separator at the end of a line makes.
func cells(all []string) []string {
	if n := len(all); n > 1 && strings.TrimSpace(all[n-1]) == "" {
		return all[:n-1]
	}
	return all
}

// header reads the names of columns.
func (p *parser) header(s string) {
	p.split = splitter(s)
	seen := map[string]int{}
	for i, cell := range cells(p.split(s)) {
		c, err := parseName(cell)
		if err != nil {
			p.fail(i+1, "", "", "%v", err)
			return
		}
		if seen[c.name] > 0 {
			p.fail(i+1, c.name, "keep one of them", "the column already exists, as number %d", seen[c.name])
			return
		}
		seen[c.name] = i + 1
		p.columns = append(p.columns, c)
	}
	for _, name := range []string{"tau", "g2"} {
		if seen[name] == 0 {
			p.fail(0, "", "begin with a line such as tau,g2,g2_err", "the header %q has no column %s", shorten(s), name)
		}
	}
	if seen["g2_err"] > 0 {
		p.table.Err = []float64{}
	}
	if seen["bin"] > 0 {
		p.table.Bin = []int{}
	}
	if seen["samples"] > 0 {
		p.table.Samples = []float64{}
	}
	if seen["skew"] > 0 {
		p.table.Skew = []float64{}
	}
	for _, c := range p.columns {
		p.covs = max(p.covs, c.cov)
	}
	for k := 1; k <= min(p.covs, len(p.columns)+1); k++ {
		if name := fmt.Sprint("cov_", k); seen[name] == 0 {
			p.fail(0, name, "use the original table, or remove all columns of this kind", "the header has the column cov_%d but not %s", p.covs, name)
			return
		}
	}
	if p.covs > 0 {
		p.table.Cov = [][]float64{}
	}
}

// splitter chooses the separator: comma, semicolon, tab or spaces. Names may have a space before a
// unit, so those are joined first.
func splitter(header string) func(string) []string {
	for _, sep := range []string{",", ";", "\t"} {
		if strings.Contains(header, sep) {
			return func(s string) []string { return strings.Split(s, sep) }
		}
	}
	return func(s string) []string {
		return strings.Fields(strings.NewReplacer(" (", "(", " [", "[").Replace(s))
	}
}

// row reads the numbers of one line.
func (p *parser) row(s string) {
	all := p.split(s)
	if len(all) == len(p.columns)+1 {
		all = cells(all)
	}
	if len(all) != len(p.columns) {
		p.fail(0, "", "use the separator of the header, and a point as the decimal sign", "the line has %d fields, but the header has %d", len(all), len(p.columns))
		return
	}
	var cov []float64
	if p.covs > 0 {
		cov = make([]float64, p.covs)
	}
	for i, c := range p.columns {
		v, err := parseNumber(all[i])
		if err != nil {
			p.fail(i+1, c.name, "write a number, or nan", "%q is not a number", shorten(all[i]))
			return
		}
		if c.cov > 0 {
			cov[c.cov-1] = v
		} else {
			p.add(i+1, c, v)
		}
	}
	if cov == nil {
		return
	}
	for len(cov) > 0 && math.IsNaN(cov[len(cov)-1]) { // bins of fewer rows have empty cells at the end
		cov = cov[:len(cov)-1]
	}
	if len(cov) == 0 {
		cov = nil
	}
	p.table.Cov, p.lines = append(p.table.Cov, cov), append(p.lines, p.line)
}

func (p *parser) add(at int, c column, v float64) {
	t := p.table
	switch c.name {
	case "tau":
		t.Tau = append(t.Tau, v*c.unit.times/c.unit.per)
	case "g2":
		t.G2 = append(t.G2, v)
	case "g2_err":
		t.Err = append(t.Err, v)
	case "samples":
		t.Samples = append(t.Samples, v)
	case "skew":
		t.Skew = append(t.Skew, v)
	case "bin":
		if v != math.Trunc(v) || v < 1 || v > 1<<31 {
			p.fail(at, c.name, "use whole numbers from 1", "%v is not the number of a bin", v)
		}
		t.Bin = append(t.Bin, int(v))
	}
}

// parseNumber parses a decimal number; an empty cell and nan, in any case, are NaN.
func parseNumber(s string) (float64, error) {
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

// shorten shortens text for a message.
func shorten(s string) string {
	if len(s) > 60 {
		return s[:57] + "..."
	}
	return s
}
