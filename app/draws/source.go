// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// loadSource reads draws. It tells the user if they come from a table that no sampler seems to have written:
// any table of numbers can be read as draws.
func loadSource(a *frame.App, args []string) (*runs.Source, error) {
	s, err := runs.Open(args...)
	if err == nil {
		for _, note := range s.Notes() {
			a.Note("note: %s: %s", s.Name, note)
		}
	}
	if err == nil && s.PlainTable() {
		a.Note("note: %s has no column lp__ and no other column of a sampler, so it is read as a plain table of draws, one draw per row", s.Name)
	}
	if err != nil && len(args) == 1 {
		if r, e := nexus.Open(args[0]); e == nil {
			r.Close()
			return nil, &exit.Error{Code: exit.Data, Err: fmt.Errorf("%s holds correlations, not draws", args[0]), Hint: "euryale plot g2 " + args[0] + ", or euryale sample g2 " + args[0] + " to make draws"}
		}
	}
	return s, sourceError(a, err)
}

// sourceError adds advice to the error of an input without draws.
func sourceError(a *frame.App, err error) error {
	var none *runs.NoDrawsError
	var arrow *runs.ArrowError
	var alone *runs.AloneError
	switch {
	case errors.As(err, &alone):
		return exit.Usage("%w", err)
	case errors.As(err, &arrow):
		return &exit.Error{Code: exit.Data, Err: err, Hint: "name the file or folder that it was made from"}
	case errors.As(err, &none):
		if err := drawless(a, none.Folder); err != nil {
			return err
		}
		return &exit.Error{Code: exit.NoInput, Err: err, Hint: "name the folder that was given to --out, or a file of draws"}
	}
	return exit.Input(err)
}

// drawless says why a run folder has no draws: its command does not sample, or the run
// has not finished. It returns nil if the folder is not a run folder.
func drawless(a *frame.App, r runs.Folder) error {
	var ran struct {
		Command string `json:"command"`
	}
	known := r.Config(&ran) == nil && ran.Command != ""
	for _, f := range a.Fields {
		if f.Result == nil {
			continue
		}
		if has := f.Result(r, ran.Command); has != nil {
			return instead(has, r, ran.Command)
		}
	}
	switch {
	case known:
		return unfinished(r, ran.Command)
	case foreign.Exists(r.Path("fit.json")):
		return &exit.Error{Code: exit.NoInput, Err: fmt.Errorf("%s holds a fit, not draws: the sample commands make draws", r), Hint: r.Path("report.html") + " shows the fit"}
	}
	return nil
}

// instead says what a run folder has in place of draws.
func instead(has *frame.RunResult, r runs.Folder, command string) error {
	hint := has.Look
	switch file := r.Path(has.File); {
	case has.File == "":
	case !foreign.Exists(file):
		hint = frame.ResumeLine(command, r)
	case hint != "":
		hint = "its results in " + file + ", or " + hint
	default:
		hint = "its results in " + file
	}
	return &exit.Error{Code: exit.NoInput, Err: fmt.Errorf("%s holds no draws: it is a run of %s", r, has.What), Hint: hint}
}

func unfinished(r runs.Folder, command string) error {
	return &exit.Error{Code: exit.NoInput, Err: fmt.Errorf("%s has no chain-*.csv: the run did not finish; continue it with --resume", r), Hint: frame.ResumeLine(command, r)}
}
