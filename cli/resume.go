// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// besideResume lists the flags that control only output and hardware and so may accompany
// --resume. All others are settings of the run, which its folder records.
var besideResume = []string{"resume", "json", "quiet", "strict", "log-level", "device", "precision"}

// reopen reads the configuration of the run to resume. It refuses arguments and flags
// that the run folder determines, except those in takes.
func (a *app) reopen(c *cobra.Command, command string, args []string, config any, takes ...string) (runs.Folder, error) {
	given := slices.Clone(args)
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(besideResume, f.Name) && !slices.Contains(takes, f.Name) {
			given = append(given, "--"+f.Name)
		}
	})
	if len(given) > 0 {
		return "", usage("--resume takes the problem and the settings from the run folder: leave out %s", strings.Join(given, ", "))
	}
	dir := runs.Folder(a.resume)
	err := dir.Resume(command, config)
	if other := (*runs.OtherRunError)(nil); errors.As(err, &other) {
		return "", as(exitConfig, err)
	}
	if err != nil {
		return "", configError(err)
	}
	a.running, a.again = dir, resumeLine(command, dir)
	return dir, nil
}

// unchanged is an error if an input of a run that is resumed has changed.
func unchanged(dir runs.Folder) error {
	err := dir.Unchanged()
	if errors.Is(err, fs.ErrNotExist) {
		return as(exitNoInput, err)
	}
	return as(exitData, err)
}

// configError describes a run folder whose settings are missing or damaged.
func configError(err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return &exitError{code: exitNoInput, err: err, hint: "name the folder that was given to --out"}
	}
	return as(exitData, err)
}

// checkpointOf returns the path of a run's checkpoint, or "" if there is none.
func (a *app) checkpointOf(dir runs.Folder) string {
	name := dir.Checkpoint()
	if name == "" {
		a.note("%s has no checkpoint yet: starting over", dir)
	}
	return name
}

// resumeLine returns the command line that resumes a run.
func resumeLine(command string, dir runs.Folder) string {
	return "euryale " + command + " --resume " + foreign.Typed(string(dir))
}

// begin records the inputs that resuming reads again, which are files or folders, and writes config.json. From then on the run can be
// resumed.
func (a *app) begin(dir runs.Folder, command string, config any, inputs ...string) error {
	if len(inputs) > 0 {
		if err := written(dir.Record(inputs...)); err != nil {
			return err
		}
	}
	if err := written(dir.Begin(config)); err != nil {
		return err
	}
	a.running, a.again = dir, resumeLine(command, dir)
	return nil
}

// ended adds the exit code and the resume command to the error of a run that was
// interrupted or could not write, unless the error already has them.
func (a *app) ended(ctx context.Context, err error) error {
	var e *exitError
	switch errors.As(err, &e); {
	case err != nil && ctx.Err() != nil && strings.HasPrefix(a.command, a.program+" demo "):
		return &exitError{code: exitInterrupted, err: errors.New("interrupted"), hint: a.command + " --overwrite, which begins anew"}
	case err == nil, e != nil && e.hint != "":
		return err
	case ctx.Err() != nil && errors.Is(err, context.Canceled) && a.again == "":
		return as(exitInterrupted, errors.New("interrupted"))
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted; the run is kept in %s", a.running), hint: a.again}
	case codeOf(err) != exitCannotWrite:
		return err
	}
	switch room := atomicfile.Room(err); {
	case room != "" && a.again != "":
		return &exitError{code: exitCannotWrite, err: err, hint: room + ", then run " + a.again}
	case room != "":
		return &exitError{code: exitCannotWrite, err: err, hint: room + ", then run the command again"}
	case a.again == "":
		return err
	}
	return &exitError{code: exitCannotWrite, err: err, hint: "once the folder is writable, " + a.again}
}

// patiently saves a run, retrying if necessary, and reports every failure. An interrupt
// ends the retries.
func (a *app) patiently(ctx context.Context, save func() error) error {
	return runs.Patiently(ctx, patience, save, a.notSaved)
}

// unreadable describes a checkpoint that cannot be read and what to do about it.
func (a *app) unreadable(dir runs.Folder, err error) error {
	return &exitError{code: exitData, err: err, hint: fmt.Sprintf("remove %s, then %s: this makes the run again from its start", dir.Path("checkpoint"), a.again)}
}

// notSaved reports a checkpoint that could not be written.
func (a *app) notSaved(err error) {
	a.note("%v: trying again; free some space, or stop the run with Ctrl-C and resume it later", err)
}
