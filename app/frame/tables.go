// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/table"
)

// TableFile takes the table to write (.csv, .xlsx or .parquet), if one is named last, from the arguments of a command, and makes sure that it
// can be written; "" is standard output.
func (a *App) TableFile(what string, args []string) (out string, rest []string, err error) {
	rest = args
	if last := args[len(args)-1]; table.Known(last) {
		out, rest = last, args[:len(args)-1]
	}
	if len(rest) == 0 {
		return "", nil, exit.Usage("%s needs input: name a file before the table", what)
	}
	if out != "" {
		err = a.MayWrite(out, "file", a.Overwrite)
	}
	return out, rest, err
}

// Tabled prints a table, which is given as CSV, or writes it to a file in the format of its extension, and prints the JSON document where it is
// asked for.
func (a *App) Tabled(out string, text []byte, doc any) error {
	if out == "" && !a.JSON {
		_, err := a.Stdout.Write(text)
		return exit.With(exit.CannotWrite, err)
	}
	if out != "" {
		if err := saveTable(out, text, a.Overwrite); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.Document(doc)
	}
	a.Note("wrote %s", out)
	return nil
}

func saveTable(out string, text []byte, overwrite bool) error {
	if strings.EqualFold(filepath.Ext(out), ".csv") {
		return WriteFile(out, text)
	}
	t, err := tableOf(text)
	if err != nil {
		return exit.With(exit.Bug, err)
	}
	return exit.With(exit.CannotWrite, t.Save(out, overwrite))
}

// tableOf returns the table of a CSV text, without its comments. Columns of which every cell is empty or a number are numbers.
func tableOf(text []byte) (*table.Table, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("the table cannot be read again: %v", err)
	}
	t := &table.Table{}
	for k, name := range rows[0] {
		texts, numbers := make([]string, len(rows)-1), make([]float64, len(rows)-1)
		all := true
		for i, row := range rows[1:] {
			texts[i] = row[k]
			if numbers[i], err = strconv.ParseFloat(cellNumber(row[k]), 64); err != nil {
				all = false
			}
		}
		if all {
			t.Add(name, "", numbers)
		} else {
			t.Add(name, "", texts)
		}
	}
	return t, nil
}

// cellNumber returns the text of a cell as a number; an empty cell is NaN.
func cellNumber(cell string) string {
	if cell == "" {
		return "NaN"
	}
	return cell
}
