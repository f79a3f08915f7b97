// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/runs"
)

// FitsFile is the table in the folder of a fit.
const FitsFile = "fits.csv"

// Outputs is where the results of a fit go: into a folder, or as a table alone where the name ends in .csv, .xlsx or .parquet. Both are ""
// if the results are only printed.
type Outputs struct {
	Folder runs.Folder
	Table  string
}

// OpenOutputs makes the folder of --out, or looks whether the table of that name can be written, which must be none of the inputs. Commands call
// it before they compute.
func (a *App) OpenOutputs(inputs ...string) (to Outputs, err error) {
	switch {
	case a.Out == "":
		return to, nil
	case slices.ContainsFunc(inputs, func(name string) bool { return sameFile(name, a.Out) }):
		return to, exit.Usage("--out %s: this is the input: name another file", a.Out)
	case slices.Contains([]string{".txt", ".dat", ".tsv", ".json", ".html", ".fits", ".xls", ".ods", ".h5", ".hdf", ".nc", ".npz", ".png", ".svg", ".pdf", ".yaml"}, strings.ToLower(filepath.Ext(a.Out))):
		return to, exit.Usage("--out %s: a table has the ending %s: choose one of them, or name a folder", a.Out, strings.Join(table.Extensions(), ", "))
	case table.Known(a.Out):
		return Outputs{Table: a.Out}, a.MayWrite(a.Out, "file", a.Overwrite)
	}
	to.Folder, err = a.MakeRundir(a.Out)
	return to, err
}

// sameFile reports whether two names are those of one file that exists.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Save writes the table of a fit, and the document into the folder, if there is one.
func (to Outputs) Save(a *App, doc any, rows *table.Table) error {
	name := to.Table
	if to.Folder != "" {
		name = to.Folder.Path(FitsFile)
		if err := WriteJSON(to.Folder.Path("fit.json"), doc); err != nil {
			return err
		}
	}
	if name == "" {
		return nil
	}
	return exit.With(exit.CannotWrite, rows.Save(name, a.Overwrite || to.Folder != ""))
}

// Told says in one line where the results are; it is "" if they are only printed.
func (to Outputs) Told() string {
	switch {
	case to.Table != "":
		return "wrote " + to.Table
	case to.Folder != "":
		return "results in " + string(to.Folder) + ", with the table " + FitsFile
	}
	return ""
}
