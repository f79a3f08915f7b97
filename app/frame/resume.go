// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// besideResume lists the flags that control only output and hardware and so may accompany
// --resume. All others are settings of the run, which its folder records.
var besideResume = []string{"resume", "json", "quiet", "strict", "log-level", "device", "precision"}

// Reopen reads the configuration of the run to resume. It refuses arguments and flags
// that the run folder determines, except those in takes.
func (a *App) Reopen(c *cobra.Command, command string, args []string, config any, takes ...string) (runs.Folder, error) {
	given := slices.Clone(args)
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(besideResume, f.Name) && !slices.Contains(takes, f.Name) {
			given = append(given, "--"+f.Name)
		}
	})
	if len(given) > 0 {
		return "", exit.Usage("--resume takes the problem and the settings from the run folder: leave out %s", strings.Join(given, ", "))
	}
	dir := runs.Folder(a.Resume)
	err := dir.Resume(command, config)
	if other := (*runs.OtherRunError)(nil); errors.As(err, &other) {
		return "", exit.With(exit.Config, err)
	}
	if err != nil {
		return "", ConfigError(err)
	}
	a.running, a.Again = dir, ResumeLine(command, dir)
	return dir, nil
}

// Unchanged is an error if an input of a run that is resumed has changed.
func Unchanged(dir runs.Folder) error {
	err := dir.Unchanged()
	if errors.Is(err, fs.ErrNotExist) {
		return exit.With(exit.NoInput, err)
	}
	return exit.With(exit.Data, err)
}

// ConfigError describes a run folder whose settings are missing or damaged.
func ConfigError(err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return &exit.Error{Code: exit.NoInput, Err: err, Hint: "name the folder that was given to --out"}
	}
	return exit.With(exit.Data, err)
}

// CheckpointOf returns the path of a run's checkpoint, or "" if there is none.
func (a *App) CheckpointOf(dir runs.Folder) string {
	name := dir.Checkpoint()
	if name == "" {
		a.Note("%s has no checkpoint yet: starting over", dir)
	}
	return name
}

// ResumeLine returns the command line that resumes a run.
func ResumeLine(command string, dir runs.Folder) string {
	return "euryale " + command + " --resume " + foreign.Typed(string(dir))
}

// Begin records the inputs that resuming reads again, which are files or folders, and writes config.json. From then on the run can be
// resumed.
func (a *App) Begin(dir runs.Folder, command string, config any, inputs ...string) error {
	if len(inputs) > 0 {
		if err := written(dir.Record(inputs...)); err != nil {
			return err
		}
	}
	if err := written(dir.Begin(config)); err != nil {
		return err
	}
	a.running, a.Again = dir, ResumeLine(command, dir)
	return nil
}

// ended adds the exit code and the resume command to the error of a run that was
// interrupted or could not write, unless the error already has them.
func (a *App) ended(ctx context.Context, err error) error {
	var e *exit.Error
	switch errors.As(err, &e); {
	case err != nil && ctx.Err() != nil && strings.HasPrefix(a.Command, a.Program+" demo "):
		return &exit.Error{Code: exit.Interrupted, Err: errors.New("interrupted"), Hint: a.Command + " --overwrite, which begins anew"}
	case err == nil, e != nil && e.Hint != "":
		return err
	case ctx.Err() != nil && errors.Is(err, context.Canceled) && a.Again == "":
		return exit.With(exit.Interrupted, errors.New("interrupted"))
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted; the run is kept in %s", a.running), Hint: a.Again}
	case exit.CodeOf(err) != exit.CannotWrite:
		return err
	case a.running != "" && !foreign.Exists(a.running.Path(runs.ConfigFile)):
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%w: the folder %s was removed or renamed during the run, and what it held is lost unless it has another name now", err, a.running),
			Hint: "the same command with another --out to make the run again, or --resume with the new name of the folder"}
	}
	switch room := atomicfile.Room(err); {
	case room != "" && a.Again != "":
		return &exit.Error{Code: exit.CannotWrite, Err: err, Hint: room + ", then run " + a.Again}
	case room != "":
		return &exit.Error{Code: exit.CannotWrite, Err: err, Hint: room + ", then run the command again"}
	case a.Again == "":
		return err
	}
	return &exit.Error{Code: exit.CannotWrite, Err: err, Hint: "once the folder is writable, " + a.Again}
}

// Patiently saves a run, retrying if necessary, and reports every failure. An interrupt
// ends the retries.
func (a *App) Patiently(ctx context.Context, save func() error) error {
	return runs.Patiently(ctx, tune.Patience, save, a.NotSaved)
}

// Unreadable describes a checkpoint that cannot be read and what to do about it.
func (a *App) Unreadable(dir runs.Folder, err error) error {
	return &exit.Error{Code: exit.Data, Err: err, Hint: fmt.Sprintf("remove %s, then %s: this makes the run again from its start, in place of the draws and results there", dir.Path("checkpoint"), a.Again)}
}

// NotSaved reports a checkpoint that could not be written.
func (a *App) NotSaved(err error) {
	if atomicfile.Lasts(err) { // told where the run ends
		return
	}
	a.Note("%v: trying again; free some space, or stop the run with Ctrl-C and resume it later", err)
}
