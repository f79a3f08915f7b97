// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// tableFile takes the table to write, if one is named last, from the arguments of a command; "" is standard output.
func tableFile(a *frame.App, what string, args []string) (out string, rest []string, err error) {
	rest = args
	if last := args[len(args)-1]; strings.ToLower(filepath.Ext(last)) == ".csv" {
		out, rest = last, args[:len(args)-1]
	}
	if len(rest) == 0 {
		return "", nil, exit.Usage("%s needs input: name a result file", what)
	}
	if out != "" {
		err = frame.MayWrite(out, "file", a.Overwrite)
	}
	return out, rest, err
}

// tabled prints or writes a table, and prints the JSON document where it is asked for.
func tabled(a *frame.App, out string, table []byte, doc any) error {
	if out == "" && !a.JSON {
		_, err := a.Stdout.Write(table)
		return exit.With(exit.CannotWrite, err)
	}
	if out != "" {
		if err := frame.WriteFile(out, table); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.Document(doc)
	}
	a.Note("wrote %s", out)
	return nil
}

// column is a curve of a table, with its own abscissas.
type column struct {
	name string
	x, y []frame.Number
}

// sideBySide returns curves as CSV: a line for each abscissa of any of them, a column for each curve, and empty cells where a
// curve has no point.
func sideBySide(x string, columns []column) []byte {
	var at []frame.Number
	for _, c := range columns {
		at = append(at, c.x...)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	row := map[frame.Number]int{}
	rows := make([][]string, len(at)+1)
	for i, v := range at {
		row[v] = i + 1
		rows[i+1] = make([]string, len(columns)+1)
		rows[i+1][0] = frame.NumberText(v)
	}
	rows[0] = []string{x}
	for j, c := range columns {
		rows[0] = append(rows[0], c.name)
		for i, v := range c.x {
			rows[row[v]][j+1] = frame.NumberText(c.y[i])
		}
	}
	var b bytes.Buffer
	_ = foreign.CSV(&b).WriteAll(rows) // a Buffer takes everything
	return b.Bytes()
}
