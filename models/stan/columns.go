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

	"github.com/euryale-dev/euryale/internal/delimited"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// ReadFile reads variables from the content of a file, and says whether it is a table, of which the name tells.
func ReadFile(name string, b []byte) (d Data, table bool, err error) {
	table = slices.Contains([]string{".csv", ".tsv", ".txt", ".dat"}, strings.ToLower(filepath.Ext(name))) && !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{"))
	if table {
		d, err = ReadColumns(b)
	} else {
		d, err = ReadData(bytes.NewReader(b))
	}
	return d, table, err
}

// ReadColumns reads a table as text, whose columns become arrays under their names; points in names become underscores. See
// Program.CountRows for the number of its rows.
func ReadColumns(b []byte) (Data, error) {
	var names []string
	var columns [][]string
	var fault error
	_, wrong := delimited.Read(bytes.NewReader(b), delimited.Table{
		Known:   func(name string) bool { _, err := delimited.Number(name); return err != nil },
		Example: "x,y",
		Header: func(_ int, cells []string) bool {
			for _, c := range cells {
				name, _, _ := strings.Cut(strings.Trim(strings.TrimSpace(c), `"`), " (") // of a unit
				names = append(names, strings.ReplaceAll(name, ".", "_"))
			}
			columns = make([][]string, len(names))
			return true
		},
		Row: func(line int, cells []string) bool {
			for i, c := range cells {
				x, err := delimited.Number(c)
				if err != nil {
					fault = fmt.Errorf("stan: line %d: %s of column %s is not a number: number the groups 1, 2 and so on", line, strconv.Quote(foreign.Text(strings.TrimSpace(c))), foreign.Text(names[i]))
					return false
				}
				columns[i] = append(columns[i], asJSON(x))
			}
			return true
		}})
	if wrong != nil {
		return nil, fmt.Errorf("stan: line %d: %s: %s", wrong.Line, wrong.What, wrong.Try)
	}
	if fault != nil {
		return nil, fault
	}
	d := Data{}
	for i, name := range names {
		if name == "" { // the numbers of rows, as R writes them
			continue
		}
		if d[name] != nil {
			return nil, fmt.Errorf("stan: the table has two columns %s: rename one", foreign.Text(name))
		}
		d[name] = json.RawMessage("[" + strings.Join(columns[i], ",") + "]")
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
