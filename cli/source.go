// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// loadSource reads draws. It tells the user if they come from a table that no sampler seems to have written:
// any table of numbers can be read as draws.
func (a *app) loadSource(args []string) (*runs.Source, error) {
	s, err := runs.Open(args...)
	if err == nil {
		for _, note := range s.Notes() {
			a.note("note: %s: %s", s.Name, note)
		}
	}
	if err == nil && s.PlainTable() {
		a.note("note: %s has no column lp__ and no other column of a sampler, so it is read as a plain table of draws, one draw per row", s.Name)
	}
	if err != nil && len(args) == 1 {
		if r, e := nexus.Open(args[0]); e == nil {
			r.Close()
			return nil, &exitError{code: exitData, err: fmt.Errorf("%s holds correlations, not draws", args[0]), hint: "euryale plot g2 " + args[0] + ", or euryale sample g2 " + args[0] + " to make draws"}
		}
	}
	return s, a.sourceError(err)
}

// sourceError adds advice to the error of an input without draws.
func (a *app) sourceError(err error) error {
	var none *runs.NoDrawsError
	var arrow *runs.ArrowError
	var alone *runs.AloneError
	switch {
	case errors.As(err, &alone):
		return usage("%w", err)
	case errors.As(err, &arrow):
		return &exitError{code: exitData, err: err, hint: "name the file or folder that it was made from"}
	case errors.As(err, &none):
		if err := a.drawless(none.Folder); err != nil {
			return err
		}
		return &exitError{code: exitNoInput, err: err, hint: "name the folder that was given to --out, or a file of draws"}
	}
	return input(err)
}

// drawless says why a run folder has no draws: its command does not sample, or the run
// has not finished. It returns nil if the folder is not a run folder.
func (a *app) drawless(r runs.Folder) error {
	var ran struct {
		Command string `json:"command"`
	}
	known := r.Config(&ran) == nil && ran.Command != ""
	for _, f := range a.fields {
		if f.result == nil {
			continue
		}
		if has := f.result(r, ran.Command); has != nil {
			return instead(has, r, ran.Command)
		}
	}
	switch {
	case known:
		return unfinished(r, ran.Command)
	case foreign.Exists(r.Path("fit.json")):
		return &exitError{code: exitNoInput, err: fmt.Errorf("%s holds a fit, not draws: the sample commands make draws", r), hint: r.Path("report.html") + " shows the fit"}
	}
	return nil
}

// instead says what a run folder has in place of draws.
func instead(has *runResult, r runs.Folder, command string) error {
	hint := has.look
	switch file := r.Path(has.file); {
	case has.file == "":
	case !foreign.Exists(file):
		hint = resumeLine(command, r)
	case hint != "":
		hint = "its results in " + file + ", or " + hint
	default:
		hint = "its results in " + file
	}
	return &exitError{code: exitNoInput, err: fmt.Errorf("%s holds no draws: it is a run of %s", r, has.what), hint: hint}
}

func unfinished(r runs.Folder, command string) error {
	return &exitError{code: exitNoInput, err: fmt.Errorf("%s has no chain-*.csv: the run did not finish; continue it with --resume", r), hint: resumeLine(command, r)}
}
