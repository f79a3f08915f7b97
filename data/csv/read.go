// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/delimited"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Open reads the named file.
func Open(name string) (*Table, error) {
	f, err := foreign.Open(name, ".csv", ".txt", ".dat")
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
	columns []column
	table   *Table
	err     error

	covs  int   // number of columns of covariances
	lines []int // line of each row, if there are covariances
}

// column is one column of the file.
type column struct {
	name string // column it stands for: bin, age, q, phi, tau, g2, g2_err, samples, skew or cov_1 and so on
	unit unit
	cov  int // number of a column of covariances, from 1; 0 for others
	// assumed means that the column may have units, and does not say which.
	assumed bool
}

func read(r io.Reader, file string) (*Table, error) {
	p := &parser{file: file, table: &Table{}}
	known := func(name string) bool { _, err := parseName(name); return err == nil }
	header := func(line int, cells []string) bool { p.line = line; p.header(cells); return p.err == nil }
	row := func(line int, cells []string) bool { p.line = line; p.row(cells); return p.err == nil }
	separator, f := delimited.Read(r, delimited.Table{Known: known, Example: "tau,g2,g2_err", Header: header, Row: row})
	p.table.Decimal = strings.HasSuffix(separator, delimited.DecimalCommas)
	if f != nil {
		p.line = f.Line
		p.fail(0, "", f.Try, "%s", f.What)
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
		p.err = &FormatError{Format: "csv", File: p.file, Line: p.line, Column: column, Place: name, What: fmt.Sprintf(format, args...), Try: try}
	}
}

// header reads the names of columns.
func (p *parser) header(cells []string) {
	seen := map[string]int{}
	for i, cell := range cells {
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
		p.table.Seconds = p.table.Seconds || c.assumed && c.name == "tau"
	}
	for _, name := range []string{"tau", "g2"} {
		if seen[name] == 0 {
			p.fail(0, "", "begin with a line such as tau,g2,g2_err", "the header %q has no column %s", shorten(strings.Join(cells, ",")), name)
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
	for name, to := range map[string]*[]float64{"age": &p.table.Age, "q": &p.table.Q, "phi": &p.table.Phi} {
		if seen[name] > 0 {
			*to = []float64{}
		}
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

// row reads the numbers of one line.
func (p *parser) row(all []string) {
	var cov []float64
	if p.covs > 0 {
		cov = make([]float64, p.covs)
	}
	for i, c := range p.columns {
		v, err := delimited.Number(all[i])
		if err != nil {
			p.fail(i+1, c.name, foreign.NumberTry(all[i], "write a number, or nan"), "%q is not a number", shorten(all[i]))
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
	case "age":
		t.Age = append(t.Age, v*c.unit.times/c.unit.per)
	case "q":
		t.Q = append(t.Q, v*c.unit.times/c.unit.per)
	case "phi":
		t.Phi = append(t.Phi, v)
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

// shorten shortens text for a message.
func shorten(s string) string {
	if len(s) > 60 {
		return s[:57] + "..."
	}
	return s
}
