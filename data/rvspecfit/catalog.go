// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Catalog lists the template spectra of a library, as rvs_read_grid does in an SQLite database.
type Catalog struct {
	ParNames []string
	Entries  []Entry
}

// Entry is one template spectrum.
type Entry struct {
	File   string
	Params []float64 // values in the order of ParNames; temperatures in K, the others in dex
	ID     int
	// Bad reports whether the template must not be used.
	Bad bool
}

// ReadCatalog reads a database of rvspecfit, or a CSV table written by WriteCSV.
func ReadCatalog(name string) (*Catalog, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 16)
	n, _ := io.ReadFull(f, head)
	f.Close()
	if bytes.HasPrefix(head[:n], []byte("SQLite format 3")) {
		c := &Catalog{}
		return c, readDatabase(name, func(d *database) error { return c.fromDatabase(d) })
	}
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parseCatalog(name, foreign.Unmarked(b))
}

func (c *Catalog) fromDatabase(d *database) error {
	err := d.table("grid_parameters", func(row map[string]any) error {
		s, ok := row["name"].(string)
		if !ok {
			return bad(d.name, "grid_parameters", "name %d of a parameter is %s: want text", len(c.ParNames)+1, described(row["name"]))
		}
		c.ParNames = append(c.ParNames, s)
		return nil
	})
	if err != nil {
		return err
	}
	return d.table("files", func(row map[string]any) error {
		e := Entry{}
		var ok bool
		if e.File, ok = row["filename"].(string); !ok {
			return bad(d.name, "files", "row %d has no filename: make the database again with rvs_read_grid", len(c.Entries)+1)
		}
		id, _ := row["id"].(int64)
		e.ID = int(id)
		flag, _ := row["bad"].(int64)
		e.Bad = flag != 0
		for _, name := range c.ParNames {
			switch v := row[name].(type) {
			case float64:
				e.Params = append(e.Params, v)
			case int64:
				e.Params = append(e.Params, float64(v))
			default:
				return bad(d.name, "files", "%s of the template %s is %s: want a number", name, e.File, described(v))
			}
		}
		c.Entries = append(c.Entries, e)
		return nil
	})
}

func parseCatalog(name string, b []byte) (*Catalog, error) {
	r := csv.NewReader(bytes.NewReader(b))
	head, err := r.Read()
	if err != nil || len(head) < 4 || head[0] != "filename" || head[1] != "id" || head[2] != "bad" {
		return nil, &FormatError{Format: "rvspecfit", File: name, What: "the first line is not filename,id,bad and the names of parameters", Err: err, Try: "give a database of rvs_read_grid, or such a table"}
	}
	c := &Catalog{ParNames: head[3:]}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return nil, &FormatError{Format: "rvspecfit", File: name, What: "the table cannot be read", Err: err, Try: "correct the line"}
		}
		line, _ := r.FieldPos(0)
		id, err1 := strconv.Atoi(row[1])
		flag, err2 := strconv.ParseBool(row[2])
		if err1 != nil || err2 != nil {
			return nil, bad(name, "", "line %d has %q as the id and %q as the flag bad: want a whole number, and true or false", line, row[1], row[2])
		}
		e := Entry{File: row[0], ID: id, Bad: flag}
		for i, s := range row[3:] {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, bad(name, "", "line %d has %[3]q as %[2]s: want a finite number", line, c.ParNames[i], s)
			}
			e.Params = append(e.Params, x)
		}
		c.Entries = append(c.Entries, e)
	}
}

// WriteCSV writes the catalogue as a table with the columns filename, id, bad and the parameters. The name of a file or parameter
// with characters that a table cannot show is an error, since the table would name another one.
func (c *Catalog) WriteCSV(name string) error {
	for _, e := range c.Entries {
		if shown := foreign.Text(e.File); shown != e.File {
			return bad(name, "", "the name of the template %s has characters that a table cannot show: rename the file", shown)
		}
	}
	for _, p := range c.ParNames {
		if shown := foreign.Text(p); shown != p {
			return bad(name, "", "the name of the parameter %s has characters that a table cannot show: rename it", shown)
		}
	}
	return atomicfile.Write(name, true, func(w io.Writer) error {
		out := foreign.CSV(w)
		out.Write(append([]string{"filename", "id", "bad"}, c.ParNames...))
		for _, e := range c.Entries {
			row := []string{e.File, strconv.Itoa(e.ID), strconv.FormatBool(e.Bad)}
			for _, x := range e.Params {
				row = append(row, strconv.FormatFloat(x, 'g', -1, 64))
			}
			out.Write(row)
		}
		out.Flush()
		return out.Error()
	})
}

// Find returns the first usable entry whose parameters are within 0.01 of the given ones, and whether
// there is one.
func (c *Catalog) Find(params []float64) (Entry, bool) {
	for _, e := range c.Entries {
		near := !e.Bad && len(params) == len(e.Params)
		for i := 0; near && i < len(params); i++ {
			near = math.Abs(params[i]-e.Params[i]) < 0.01
		}
		if near {
			return e, true
		}
	}
	return Entry{}, false
}
