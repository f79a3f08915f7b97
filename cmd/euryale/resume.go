package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/runs"
)

// withResume says that a command goes on with a folder of its results, and so takes
// --resume.
func withResume(c *cobra.Command) *cobra.Command {
	all := map[string]string{"resume": "yes"}
	maps.Copy(all, c.Annotations)
	c.Annotations = all
	return c
}

// besideResume are the flags that say how a command speaks and where it computes. All
// others are settings of the run, which its folder holds.
var besideResume = []string{"resume", "json", "quiet", "strict", "log-level", "device", "precision"}

// reopen reads the config of the run to resume. Arguments and flags that the run folder
// decides are refused, but for those in takes.
func (a *app) reopen(c *cobra.Command, command string, args []string, config any, takes ...string) (runs.Folder, error) {
	given := slices.Clone(args)
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(besideResume, f.Name) && !slices.Contains(takes, f.Name) {
			given = append(given, "--"+f.Name)
		}
	})
	if len(given) > 0 {
		return "", usage("--resume takes its problem and its settings from the run folder: leave out %s", strings.Join(given, ", "))
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

// configError is the error of settings in a folder: it has none, or they are damaged.
func configError(err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return &exitError{code: exitNoInput, err: err, hint: "the folder given to --out"}
	}
	return as(exitData, err)
}

// checkpointOf names the checkpoint of a run, or none.
func (a *app) checkpointOf(dir runs.Folder) string {
	name := dir.Checkpoint()
	if name == "" {
		a.note("%s has no checkpoint yet: starting over", dir)
	}
	return name
}

// resumeLine is the command line that goes on with a run.
func resumeLine(command string, dir runs.Folder) string {
	return "euryale " + command + " --resume " + string(dir)
}

// begin writes config.json. From then on the run can be resumed.
func (a *app) begin(dir runs.Folder, command string, config any) error {
	if err := written(dir.Begin(config)); err != nil {
		return err
	}
	a.running, a.again = dir, resumeLine(command, dir)
	return nil
}

// ended gives the error of a run that was interrupted, or could not write, its exit code
// and the line that resumes it, unless it has them.
func (a *app) ended(ctx context.Context, err error) error {
	var e *exitError
	switch errors.As(err, &e); {
	case err == nil, e != nil && e.hint != "":
		return err
	case ctx.Err() != nil && errors.Is(err, context.Canceled) && a.again == "":
		return as(exitInterrupted, errors.New("interrupted"))
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted; the run is kept in %s", a.running), hint: a.again}
	case codeOf(err) != exitCannotWrite || a.again == "":
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &exitError{code: exitCannotWrite, err: err, hint: "make room, then " + a.again}
	}
	return &exitError{code: exitCannotWrite, err: err, hint: "once it can be written, " + a.again}
}

// patience is how long the last checkpoint of a run is tried again if it cannot be
// written, as while a disk is full.
var patience = time.Minute

// patiently saves a run, if need be again and again, and tells of every failure. An
// interrupt ends the attempts.
func (a *app) patiently(ctx context.Context, save func() error) error {
	return runs.Patiently(ctx, patience, save, a.notSaved)
}

// unreadable is the error of a checkpoint that cannot be read, with the way out.
func (a *app) unreadable(dir runs.Folder, err error) error {
	return &exitError{code: exitData, err: err, hint: fmt.Sprintf("remove %s, then %s: this makes the run again from its start", dir.Path("checkpoint"), a.again)}
}
