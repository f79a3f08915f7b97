package csv

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Table holds g2 against delay for one or more bins.
type Table struct {
	Bin []int     // bin of each row, from 1; nil if the file has no such column and all rows belong to bin 1
	Tau []float64 // delay of each row in s
	G2  []float64
	Err []float64 // standard error of each row; nil if unknown
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.Tau) }

// Bins lists the bins, ascending.
func (t *Table) Bins() []int {
	if t.Bin == nil {
		if t.Len() == 0 {
			return nil
		}
		return []int{1}
	}
	all := slices.Clone(t.Bin)
	slices.Sort(all)
	return slices.Compact(all)
}

// Select returns the rows of one bin, in their order.
func (t *Table) Select(bin int) *Table {
	s := &Table{}
	for i := range t.Tau {
		if t.Bin != nil && t.Bin[i] != bin || t.Bin == nil && bin != 1 {
			continue
		}
		s.Tau, s.G2 = append(s.Tau, t.Tau[i]), append(s.G2, t.G2[i])
		if t.Err != nil {
			s.Err = append(s.Err, t.Err[i])
		}
		if t.Bin != nil {
			s.Bin = append(s.Bin, bin)
		}
	}
	return s
}

// check returns an error if columns have different lengths.
func (t *Table) check() error {
	n := t.Len()
	if len(t.G2) != n || t.Err != nil && len(t.Err) != n || t.Bin != nil && len(t.Bin) != n {
		return fmt.Errorf("csv: columns differ in length: tau %d, g2 %d, g2_err %d, bin %d", n, len(t.G2), len(t.Err), len(t.Bin))
	}
	return nil
}

// FormatError says what is wrong with a file, and where.
type FormatError struct {
	File   string
	Line   int    // line in the file, from 1; 0 for the file as a whole
	Column int    // column in the line, from 1; 0 for the line as a whole
	Name   string // name of the column
	What   string
	Try    string
}

// Error returns file, line, column, what is wrong and what to try.
func (e *FormatError) Error() string {
	at := ""
	if e.Line > 0 {
		at = fmt.Sprintf("line %d", e.Line)
	}
	if e.Column > 0 {
		at += fmt.Sprintf(", column %d", e.Column)
	}
	if e.Name != "" {
		at += " (" + e.Name + ")"
	}
	return errtext.Join("csv", e.File, at, e.What, e.Try)
}
