// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/sim/assembly"
)

var (
	traceColumns   = []string{"step", "area", "support", "first", "kept", "fired", "kth", "next", "input", "line", "mode", "winners"}
	measureColumns = []string{"measure", "quantity", "step", "value", "branch", "line", "mode"}
)

// WriteTrace writes the rounds of a run as CSV, a line for every step and area. Winners,
// where they were kept, are joined by spaces.
func (r *Result) WriteTrace(w io.Writer) error {
	out := foreign.CSV(w)
	out.Write(traceColumns) // errors come with Flush
	for _, x := range r.Rounds {
		var w []string
		for _, j := range x.Winners {
			w = append(w, strconv.Itoa(int(j)))
		}
		out.Write([]string{strconv.Itoa(x.Step), x.Area, strconv.Itoa(x.Support), strconv.Itoa(x.First), strconv.Itoa(x.Kept), strconv.Itoa(x.Fired),
			numeral(x.Kth), numeral(x.Next), numeral(x.Input), strconv.Itoa(x.Line), r.Mode, strings.Join(w, " ")})
	}
	out.Flush()
	return out.Error()
}

// WriteMeasures writes the measures of a run as CSV.
func (r *Result) WriteMeasures(w io.Writer) error {
	out := foreign.CSV(w)
	out.Write(measureColumns)
	for _, m := range r.Measures {
		out.Write([]string{m.Name, m.Quantity, strconv.Itoa(m.Step), numeral(m.Value), strconv.FormatBool(m.Branch), strconv.Itoa(m.Line), r.Mode})
	}
	out.Flush()
	return out.Error()
}

func numeral(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ReadTrace reads rounds that WriteTrace wrote, and the mode; name appears in error messages.
func (r *Result) ReadTrace(in io.Reader, name string) error {
	return readTable(in, name, traceColumns, func(c *cells) {
		x := Round{Step: c.whole(), Round: assembly.Round{Area: c.text(), Support: c.whole(), First: c.whole(), Kept: c.whole()}, Fired: c.whole()}
		x.Kth, x.Next, x.Input, x.Line = c.real(), c.real(), c.real(), c.whole()
		r.Mode = c.text()
		for _, w := range strings.Fields(c.text()) {
			j, err := strconv.ParseInt(w, 10, 32)
			c.fail(err)
			x.Winners = append(x.Winners, int32(j))
		}
		r.Rounds = append(r.Rounds, x)
	})
}

// ReadMeasures reads measures that WriteMeasures wrote; name appears in error messages.
func (r *Result) ReadMeasures(in io.Reader, name string) error {
	return readTable(in, name, measureColumns, func(c *cells) {
		m := Measure{Name: c.text(), Quantity: c.text(), Step: c.whole(), Value: c.real()}
		m.Branch, m.Line = c.text() == "true", c.whole()
		r.Measures = append(r.Measures, m)
	})
}

// cells are those of a line, taken one after the other.
type cells struct {
	list []string
	err  error
}

func (c *cells) text() string {
	s := c.list[0]
	c.list = c.list[1:]
	return s
}

func (c *cells) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *cells) whole() int {
	v, err := strconv.Atoi(c.text())
	c.fail(err)
	return v
}

func (c *cells) real() float64 {
	v, err := strconv.ParseFloat(c.text(), 64)
	c.fail(err)
	return v
}

// readTable reads a table line by line.
func readTable(file io.Reader, name string, columns []string, each func(c *cells)) error {
	in := csv.NewReader(file)
	for line := 1; ; line++ {
		row, err := in.Read()
		if errors.Is(err, io.EOF) && line > 1 {
			return nil
		}
		if err == nil && line == 1 && !slices.Equal(row, columns) {
			err = fmt.Errorf("the columns are %v: want %v", row, columns)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if line == 1 {
			continue
		}
		c := &cells{list: row}
		if each(c); c.err != nil {
			return fmt.Errorf("%s, line %d: %w", name, line, c.err)
		}
	}
}
