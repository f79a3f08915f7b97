// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/columns"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// ReadFiles reads variables from several files, each of a kind that ReadFile knows, and says whether one of them is a table. It fails if two
// files have the same variable. An error of read is returned as it is.
func ReadFiles(names []string, read func(name string) ([]byte, error)) (d Data, table bool, err error) {
	d, from := Data{}, map[string]string{}
	for _, name := range names {
		b, err := read(name)
		if err != nil {
			return nil, table, err
		}
		own, columns, err := ReadFile(name, b)
		if err != nil {
			return nil, table, &dataError{fmt.Errorf("%s: %w", name, err)}
		}
		table = table || columns
		for v, x := range own {
			if d[v] != nil {
				return nil, table, &dataError{fmt.Errorf("%s has the variable %s, which %s has too: leave it out of one", name, v, from[v])}
			}
			d[v], from[v] = x, name
		}
	}
	return d, table, nil
}

// ReadFile reads variables from the content of a file, and says whether it is a table, of which the name tells.
func ReadFile(name string, b []byte) (d Data, table bool, err error) {
	table = slices.Contains([]string{".csv", ".tsv", ".txt", ".dat", ".xlsx", ".npy"}, strings.ToLower(filepath.Ext(name))) && !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{"))
	if table {
		d, err = ReadColumns(b)
	} else {
		d, err = ReadData(bytes.NewReader(b))
	}
	return d, table, err
}

// ReadColumns reads a table, whose columns become arrays under their names; points in names become underscores. See Program.CountRows for the
// number of its rows.
func ReadColumns(b []byte) (Data, error) {
	t, _, err := columns.Read(b)
	if err != nil {
		return nil, fmt.Errorf("stan: %w", err)
	}
	d := Data{}
	for _, c := range t {
		numbers, ok := c.Values.([]float64)
		if !ok {
			i := slices.IndexFunc(c.Values.([]string), func(s string) bool { _, err := strconv.ParseFloat(s, 64); return err != nil })
			return nil, fmt.Errorf("stan: row %d of the table: %s of column %s is not a number: number the groups 1, 2 and so on", i+1, strconv.Quote(foreign.Text(c.Values.([]string)[i])), foreign.Text(c.Name))
		}
		var row []string
		for _, x := range numbers {
			row = append(row, asJSON(x))
		}
		d[c.Name] = json.RawMessage("[" + strings.Join(row, ",") + "]")
	}
	return d, nil
}

func asJSON(x float64) string {
	switch {
	case math.IsNaN(x):
		return `"NaN"`
	case math.IsInf(x, 0):
		return strconv.Quote(map[bool]string{true: "Inf", false: "-Inf"}[x > 0])
	case x == math.Trunc(x) && math.Abs(x) < 1<<53:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// CountRows completes data that were read as columns: a whole number of the data block that has no value, and is the size of a variable
// that has a column, becomes the number of rows. It returns the names of those.
func (p *Program) CountRows(d Data) (counted []string) {
	b := p.tree.Blocks[syntax.Data]
	if b == nil {
		return nil
	}
	open := map[string]bool{}
	for _, s := range b.List {
		decl := s.(*syntax.Declare)
		if decl.Type.Kind == typing.Int && len(decl.Type.Dims) == 0 && d[decl.Name] == nil {
			open[decl.Name] = true
		}
		raw := d[decl.Name]
		size, ok := firstSize(decl.Type).(*syntax.Name)
		if !ok || raw == nil || !open[size.Name] {
			continue
		}
		var rows []json.RawMessage
		if json.Unmarshal(raw, &rows) == nil {
			d[size.Name], open[size.Name] = json.RawMessage(strconv.Itoa(len(rows))), false
			counted = append(counted, size.Name)
		}
	}
	return counted
}

// firstSize is the first size of a type; nil for a number.
func firstSize(t *syntax.Sized) syntax.Expr {
	switch {
	case len(t.Dims) > 0:
		return t.Dims[0]
	case len(t.Sizes) > 0:
		return t.Sizes[0]
	}
	return nil
}
