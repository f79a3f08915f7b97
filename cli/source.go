// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/morph"
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
	return s, sourceError(err)
}

// sourceError adds advice to the error of an input without draws.
func sourceError(err error) error {
	var none *runs.NoDrawsError
	var arrow *runs.ArrowError
	var alone *runs.AloneError
	switch {
	case errors.As(err, &alone):
		return usage("%w", err)
	case errors.As(err, &arrow):
		return &exitError{code: exitData, err: err, hint: "name the file or folder that it was made from"}
	case errors.As(err, &none):
		if err := drawless(none.Folder); err != nil {
			return err
		}
		return &exitError{code: exitNoInput, err: err, hint: "name the folder that was given to --out, or a file of draws"}
	}
	return input(err)
}

// drawless says why a run folder has no draws: its command does not sample, or the run
// has not finished. It returns nil if the folder is not a run folder.
func drawless(r runs.Folder) error {
	var ran struct {
		Command string `json:"command"`
	}
	if exists(r.Path(morph.SimulationRecordFile)) {
		return &exitError{code: exitNoInput, err: fmt.Errorf("%s holds no draws: it is a run of \"sim rsoxs\"", r), hint: "euryale plot pattern " + string(r)}
	}
	if err := r.Config(&ran); err != nil || ran.Command == "" {
		if exists(r.Path("fit.json")) {
			return &exitError{code: exitNoInput, err: fmt.Errorf("%s holds a fit, not draws: the sample commands make draws", r), hint: r.Path("report.html") + " shows the fit"}
		}
		return nil
	}
	var inversion struct {
		Problem struct {
			Method string `json:"method"`
		} `json:"problem"`
	}
	what, result := fmt.Sprintf("%q", ran.Command), "summary.json"
	switch ran.Command {
	case simAssemblyCommand, trainCommand:
	case invertCommand:
		if err := r.Config(&inversion); err != nil || inversion.Problem.Method == "nuts" {
			return unfinished(r, ran.Command)
		}
		what, result = what+" that fits and does not sample", "fit.json"
	default:
		return unfinished(r, ran.Command)
	}
	hint := "its results in " + r.Path(result)
	switch {
	case !exists(r.Path(result)):
		hint = resumeLine(ran.Command, r)
	case ran.Command == simAssemblyCommand:
		hint += ", or euryale plot support " + string(r)
	}
	return &exitError{code: exitNoInput, err: fmt.Errorf("%s holds no draws: it is a run of %s", r, what), hint: hint}
}

func unfinished(r runs.Folder, command string) error {
	return &exitError{code: exitNoInput, err: fmt.Errorf("%s has no chain-*.csv: the run did not finish; continue it with --resume", r), hint: resumeLine(command, r)}
}
