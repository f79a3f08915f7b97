package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/sim/assembly/script"
)

var (
	traceColumns   = []string{"step", "area", "support", "first", "kept", "fired", "kth", "next", "input", "line", "mode", "winners"}
	measureColumns = []string{"measure", "quantity", "step", "value", "branch", "line", "mode"}
)

// traceTable is a line for every step and area. Winners, where they were kept, are
// joined by spaces.
func traceTable(out *csv.Writer, r *script.Result) {
	out.Write(traceColumns) // errors come with Flush
	for _, x := range r.Rounds {
		var w []string
		for _, j := range x.Winners {
			w = append(w, strconv.Itoa(int(j)))
		}
		out.Write([]string{strconv.Itoa(x.Step), x.Area, strconv.Itoa(x.Support), strconv.Itoa(x.First), strconv.Itoa(x.Kept), strconv.Itoa(x.Fired),
			digits(x.Kth), digits(x.Next), digits(x.Input), strconv.Itoa(x.Line), r.Mode, strings.Join(w, " ")})
	}
}

func measureTable(out *csv.Writer, r *script.Result) {
	out.Write(measureColumns)
	for _, m := range r.Measures {
		out.Write([]string{m.Name, m.Quantity, strconv.Itoa(m.Step), digits(m.Value), strconv.FormatBool(m.Branch), strconv.Itoa(m.Line), r.Mode})
	}
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// writeTable writes a table line by line.
func writeTable(name string, fill func(*csv.Writer)) error {
	return as(exitCannotWrite, atomicfile.Write(name, true, func(w io.Writer) error {
		out := csv.NewWriter(w)
		fill(out)
		out.Flush()
		return out.Error()
	}))
}

// readAssemblyResult reads the tables of a run folder.
func readAssemblyResult(dir runs.Folder) (*script.Result, error) {
	r := &script.Result{}
	err := readAssemblyTable(dir.Path("trace.csv"), traceColumns, func(c *cells) {
		x := script.Round{Step: c.whole(), Round: assembly.Round{Area: c.text(), Support: c.whole(), First: c.whole(), Kept: c.whole()}, Fired: c.whole()}
		x.Kth, x.Next, x.Input, x.Line = c.real(), c.real(), c.real(), c.whole()
		r.Mode = c.text()
		for _, w := range strings.Fields(c.text()) {
			j, err := strconv.ParseInt(w, 10, 32)
			c.fail(err)
			x.Winners = append(x.Winners, int32(j))
		}
		r.Rounds = append(r.Rounds, x)
	})
	if err != nil {
		return nil, err
	}
	return r, readAssemblyTable(dir.Path("measures.csv"), measureColumns, func(c *cells) {
		m := script.Measure{Name: c.text(), Quantity: c.text(), Step: c.whole(), Value: c.real()}
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

func readAssemblyTable(name string, columns []string, each func(c *cells)) error {
	f, err := foreign.Open(name)
	if err != nil {
		return input(err)
	}
	defer f.Close()
	in := csv.NewReader(f)
	for line := 1; ; line++ {
		row, err := in.Read()
		if errors.Is(err, io.EOF) && line > 1 {
			return nil
		}
		if err == nil && line == 1 && !slices.Equal(row, columns) {
			err = fmt.Errorf("the columns are %v: want %v", row, columns)
		}
		if err != nil {
			return as(exitData, fmt.Errorf("%s: %w", name, err))
		}
		if line == 1 {
			continue
		}
		c := &cells{list: row}
		if each(c); c.err != nil {
			return as(exitData, fmt.Errorf("%s, line %d: %w", name, line, c.err))
		}
	}
}
