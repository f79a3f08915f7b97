// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// fitFiles returns the documents of fits below the names of inputs: of a folder its fit.json, or those of the folders in it, and files that end in
// .json themselves. Other inputs are
// among them as they are, to be told, but it returns nil if none of the inputs is of a fit.
func fitFiles(in []string) (all []string) {
	fits := false
	for _, name := range in {
		var found []string
		st, err := os.Stat(name)
		switch {
		case err != nil: // told as one that cannot be read, if others are fits
		case !st.IsDir() && strings.EqualFold(filepath.Ext(name), ".json"):
			found = []string{name}
		case st.IsDir() && foreign.Exists(runs.Folder(name).Path("fit.json")):
			found = []string{runs.Folder(name).Path("fit.json")}
		case st.IsDir():
			entries, _ := os.ReadDir(name) // none in a folder that cannot be read, which is told as one without draws
			for _, e := range entries {
				if file := filepath.Join(name, e.Name(), "fit.json"); e.IsDir() && foreign.Exists(file) {
					found = append(found, file)
				}
			}
		}
		if fits = fits || found != nil; found == nil {
			found = []string{name}
		}
		all = append(all, found...)
	}
	if !fits {
		return nil
	}
	return all
}

// fitsDoc is the JSON document of convert for fits.
type fitsDoc struct {
	In   []string `json:"in"`
	Out  string   `json:"out"`
	Rows int      `json:"rows"`
}

// convertFits writes the documents of fits as one table.
func convertFits(a *frame.App, in, files []string, out string) error {
	if err := a.MayWrite(out, "file", a.Overwrite); err != nil {
		return err
	}
	var docs []json.RawMessage
	first, engine := "", ""
	lost := frame.LostOf("file", len(files))
	for _, file := range files {
		doc, of, err := fitDocument(file)
		switch {
		case err != nil && !lost.Add(a, file, err):
			return err
		case err != nil:
			continue
		case first != "" && of != engine:
			return exit.With(exit.Data, fmt.Errorf("%s is a fit of %s, but %s is one of %s: make a table of each kind", first, engine, file, of))
		}
		first, engine, docs = file, of, append(docs, doc)
	}
	if lost.None() {
		return lost.Err("")
	}
	t, err := fitTable(a, engine, docs)
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", strings.Join(files, ", "), err))
	}
	if err := exit.With(exit.CannotWrite, t.Save(out, a.Overwrite)); err != nil {
		return err
	}
	rows, err := t.Rows()
	if err != nil {
		return exit.With(exit.Bug, err)
	}
	if a.JSON {
		return errors.Join(a.Document(fitsDoc{In: in, Out: out, Rows: rows}), lost.Err("converted"))
	}
	a.Note("wrote %s: %s", out, errtext.Count(rows, "row"))
	return lost.Err("converted")
}

// fitDocument reads the document of a fit, and says which engine made it.
func fitDocument(file string) (doc json.RawMessage, engine string, err error) {
	b, err := foreign.ReadFile(file)
	if err != nil {
		return nil, "", exit.Input(err)
	}
	var of struct {
		Engine string `json:"engine"`
	}
	if err = foreign.Decode(b, &doc, false); err == nil {
		err = json.Unmarshal(doc, &of)
	}
	switch {
	case err != nil:
		return nil, "", exit.With(exit.Data, fmt.Errorf("%s: %w", file, err))
	case of.Engine == "":
		return nil, "", exit.With(exit.Data, fmt.Errorf("%s is not the document of a fit: want fit.json of a run folder, or what a command prints with --json", file))
	}
	return doc, of.Engine, nil
}

// fitTable makes the table of the field whose engine made the documents, or that of their parameters.
func fitTable(a *frame.App, engine string, docs []json.RawMessage) (*table.Table, error) {
	for _, f := range a.Fields {
		if of := f.FitTables[engine]; of != nil {
			return of(docs)
		}
	}
	var all []any
	for _, d := range docs {
		all = append(all, d)
	}
	return frame.ParameterTable(all...)
}
