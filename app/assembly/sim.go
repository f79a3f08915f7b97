// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/sim/assembly/script"
	"github.com/euryale-dev/euryale/viz/term"
)

// assemblyConfig is the content of config.json for sim assembly.
type assemblyConfig struct {
	Command string `json:"command"`
	Version string `json:"version"`
	File    string `json:"file"`
	Script  string `json:"script"` // text of the script
	Mode    string `json:"mode"`
	Seed    uint64 `json:"seed"`
	Threads int    `json:"threads"`
	Winners bool   `json:"winners"`
	Profile bool   `json:"profile"`
	Every   string `json:"checkpoint_every"`
	Device  string `json:"device,omitempty"` // what computes the steps: auto, cpu, or GPUs such as cuda:0
}

const simAssemblyCommand = "sim assembly"

func simAssembly(a *frame.App) *cobra.Command {
	var cfg assemblyConfig
	c := &cobra.Command{
		Use:   "assembly SCRIPT.yaml",
		Short: "Run an experiment with assemblies of neurons from a script",
		Long: `Run an experiment of the assembly calculus from a script. A script has areas of
neurons in which k neurons fire together, stimuli, fibres that learn, and a list
of steps.

  p: 0.01              # connection probability; also seed, activity, ...
  mode: lazy-exact     # also exact, lazy-ref: see below
  stimuli: {S: 100}
  areas: {A: {n: 10000, k: 100, beta: 0.05}}
  run:
    - {form: A, stimulus: S, steps: 25}
    - {remember: formed, area: A}
    - {complete: A, part: 0.5, as: completed}

In mode lazy-exact, neurons are drawn when they first fire, given that they lost
all rounds before; results have the distribution of those of exact, where all
neurons exist. Mode lazy-ref draws them as the reference implementation does, as
if they had never lost: the number of neurons that ever fire comes out 4 to 90 %
too large, most in small or sparse areas.

Each step has one key that says what to do, and further keys. Keys in [brackets]
after these are optional:
` + frame.Indent(foldedReference()) + `
Procedures are named lists of steps with parameters; see
https://github.com/euryale-dev/euryale/blob/main/docs/CLI.md. Results go
to a run folder: trace.csv (one row per step), measures.csv, summary.json,
brain.snapshot and plots. Ctrl-C and errors leave a checkpoint, and --resume
continues with exactly the same results.

  euryale sim assembly project.yaml
  euryale sim assembly project.yaml --seed 7 --out run --winners --profile
  euryale sim assembly --resume run
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case a.Resume != "":
				return resumeAssembly(a, c, args)
			case len(args) == 0:
				return exit.Usage("sim assembly needs SCRIPT.yaml, or --resume RUN")
			}
			if d, err := time.ParseDuration(cfg.Every); err != nil || d <= 0 {
				return exit.Usage("--checkpoint %q: want a time such as 10s", cfg.Every)
			}
			cfg.File = args[0]
			return startAssembly(c.Context(), a, cfg, c.Flags().Changed("seed"))
		},
	}
	c.Flags().BoolVar(&cfg.Winners, "winners", false, "record the winners of all areas in trace.csv")
	c.Flags().BoolVar(&cfg.Profile, "profile", false, "record the calls, the time and the bytes of each part of the steps")
	c.Flags().StringVar(&cfg.Every, "checkpoint", defaultEvery, "time between checkpoints")
	return c
}

// foldedReference returns the list of steps, folded to the width of a terminal.
func foldedReference() string {
	var b strings.Builder
	for line := range strings.Lines(script.Reference()) {
		at := 0
		lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
		hang := lead // a description continues below its beginning, a step further in
		if lead == "" {
			hang = "        "
		}
		for i, w := range strings.Fields(line) {
			switch {
			case i == 0:
				at, _ = fmt.Fprint(&b, lead+w)
			case at+1+len(w) > 76:
				fmt.Fprint(&b, "\n"+hang+w)
				at = len(hang) + len(w)
			default:
				fmt.Fprint(&b, " "+w)
				at += 1 + len(w)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// assemblyRun is a sim assembly run and its folder.
type assemblyRun struct {
	cfg    assemblyConfig
	dir    runs.Folder
	script *script.Script
	run    *script.Run
	begin  time.Time
}

func startAssembly(ctx context.Context, a *frame.App, cfg assemblyConfig, seeded bool) error {
	text, err := foreign.ReadFile(cfg.File, ".yaml", ".yml", ".json")
	if err != nil {
		return exit.Input(err)
	}
	s, err := script.Parse(cfg.File, text)
	if err != nil {
		return exit.With(exit.Config, err)
	}
	if cfg.Seed = s.Settings.Seed; seeded {
		cfg.Seed = a.Seed
	}
	if cfg.Threads = s.Settings.Threads; a.Threads > 0 {
		cfg.Threads = a.Threads
	}
	cfg.Command, cfg.Version, cfg.File, cfg.Script, cfg.Mode = simAssemblyCommand, frame.Version(), frame.Absolute(cfg.File), string(text), s.Mode
	cfg.Device = a.Chosen.String()
	r := &assemblyRun{cfg: cfg, script: s}
	r.settle()
	s.Settings.Backend = a.Backend(cfg.Threads)
	if err := s.Fits(); err != nil { // checked after applying --winners
		return exit.With(exit.Config, err)
	}
	out := a.Out
	if out == "" {
		out = "run-" + strings.TrimSuffix(strings.TrimSuffix(filepath.Base(cfg.File), ".yaml"), ".yml")
	}
	if r.dir, err = a.MakeRundir(out); err != nil {
		return err
	}
	if err := a.Begin(r.dir, simAssemblyCommand, cfg); err != nil {
		return err
	}
	return carryOut(ctx, a, r, nil)
}

// settle applies the settings of the run to the script.
func (r *assemblyRun) settle() {
	r.script.Settings.Seed, r.script.Settings.Threads = r.cfg.Seed, r.cfg.Threads
	if r.cfg.Winners {
		for _, x := range r.script.Areas {
			r.script.Winners[x.Name] = true
		}
	}
}

func resumeAssembly(a *frame.App, c *cobra.Command, args []string) error {
	if _, err := a.Reopen(c, simAssemblyCommand, args, &assemblyConfig{}); err != nil {
		return err
	}
	r, err := openAssembly(a.Resume)
	if err != nil {
		return err
	}
	f, err := foreign.Open(r.dir.Path("checkpoint"))
	if err == nil {
		defer f.Close()
	} else if foreign.Exists(r.dir.Path("summary.json")) {
		return complete(a, r.dir)
	}
	if err := a.GoOnWhere(r.cfg.Device); err != nil {
		return err
	}
	r.script.Settings.Backend = a.Backend(r.cfg.Threads)
	switch {
	case err == nil:
		return carryOut(c.Context(), a, r, f)
	case errors.Is(err, os.ErrNotExist):
		return carryOut(c.Context(), a, r, nil) // the run never reached a checkpoint
	}
	return exit.Input(err)
}

// complete reports that a run has nothing left to do.
func complete(a *frame.App, dir runs.Folder) error {
	a.Note("%s is complete", dir)
	if !a.JSON {
		return nil
	}
	b, err := foreign.ReadFile(dir.Path("summary.json"))
	if err != nil {
		return exit.Input(err)
	}
	if b, err = foreign.JSON(b); err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w: restore the file, or make the run again", dir.Path("summary.json"), err))
	}
	_, err = a.Stdout.Write(b)
	return exit.With(exit.CannotWrite, err)
}

// openAssembly reads the script and the settings of a run folder.
func openAssembly(name string) (*assemblyRun, error) {
	r := &assemblyRun{dir: runs.Folder(name)}
	if err := frame.ConfigError(r.dir.Config(&r.cfg)); err != nil {
		return nil, err
	}
	switch r.cfg.Command {
	case simAssemblyCommand:
	case "":
		return nil, exit.With(exit.Data, fmt.Errorf("%s names no command: is the file complete?", r.dir.Path("config.json")))
	default:
		return nil, exit.With(exit.Config, fmt.Errorf("%s is a run of %q: want a run of %s", name, r.cfg.Command, simAssemblyCommand))
	}
	var err error
	if r.script, err = script.Parse(r.cfg.File, []byte(r.cfg.Script)); err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", r.dir.Path("config.json"), err))
	}
	r.settle()
	return r, nil
}

// defaultEvery is the time between checkpoints. Saving takes at most a tenth of the run
// time.
const defaultEvery = "30s"

// carryOut runs the script, from a checkpoint if there is one.
func carryOut(ctx context.Context, a *frame.App, r *assemblyRun, checkpoint io.Reader) error {
	r.begin = time.Now()
	set := term.BarSettings{Name: "steps", Total: r.script.Rounds}
	if a.Quiet {
		set.Mode = term.Quiet
	}
	bar := term.NewBar(a.Screen, set)
	defer bar.Close()
	every, err := time.ParseDuration(r.cfg.Every)
	if err != nil {
		every, _ = time.ParseDuration(defaultEvery)
	}
	next, done := time.Now().Add(every), 0
	shown := liveTables{next: r.begin.Add(liveEvery)}
	o := script.Settings{Profile: r.cfg.Profile, Save: r.saveSnapshot, Progress: func(p script.Progress) {
		bar.Add(p.Done-done, 0)
		shown.update(r)
		if done = p.Done; time.Now().After(next) {
			begin, pause := time.Now(), every
			if err := r.saveCheckpoint(); err != nil { // the run continues and is saved later
				a.NotSaved(err)
				pause = max(every, runs.LongestPause)
			}
			next = time.Now().Add(max(pause, 10*time.Since(begin)))
		}
	}}
	if checkpoint == nil {
		r.run, err = r.script.Start(o)
	} else if r.run, err = r.script.Resume(checkpoint, o); err != nil {
		return a.Unreadable(r.dir, fmt.Errorf("%s: %w", r.dir.Path("checkpoint"), err))
	}
	if err != nil {
		return exit.With(exit.Config, err)
	}
	_, err = r.run.Go(ctx)
	bar.Close()
	if ctx.Err() != nil && err != nil {
		return r.interrupted()
	}
	if err == nil {
		if err = finishAssembly(a, r); exit.CodeOf(err) != exit.CannotWrite {
			return err
		}
	}
	return stopped(ctx, a, r, err)
}

// stopped saves the state of a run that failed.
func stopped(ctx context.Context, a *frame.App, r *assemblyRun, err error) error {
	err = exit.With(exit.Failed, err)
	if kept := a.Patiently(ctx, r.keep); kept != nil {
		return &exit.Error{Code: exit.CodeOf(err), Err: fmt.Errorf("%w\nat %s; the run could not be saved either: %w", err, r.run.At(), kept)}
	}
	hint := fmt.Sprintf("another script, as its line says, with --overwrite; what there is can be drawn: euryale plot support %s", foreign.Typed(string(r.dir)))
	if exit.CodeOf(err) == exit.CannotWrite {
		hint = "" // ended adds the hint
	}
	return &exit.Error{Code: exit.CodeOf(err), Err: fmt.Errorf("%w\nstopped at %s; trace.csv, measures.csv and the checkpoint up to that step are kept in %s", err, r.run.At(), r.dir), Hint: hint}
}

// keep writes a checkpoint and the tables of an incomplete run.
func (r *assemblyRun) keep() error {
	if err := r.saveCheckpoint(); err != nil {
		return err
	}
	return r.writeTables()
}

// interrupted saves a run and says how to resume it.
func (r *assemblyRun) interrupted() error {
	if err := r.keep(); err != nil {
		return exit.With(exit.CannotWrite, fmt.Errorf("interrupted at %s; the steps since the last checkpoint are lost: %w", r.run.At(), err))
	}
	return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted at %s; the run is kept in %s", r.run.At(), r.dir),
		Hint: "euryale " + simAssemblyCommand + " --resume " + foreign.Typed(string(r.dir))}
}

func (r *assemblyRun) saveCheckpoint() error {
	return exit.With(exit.CannotWrite, atomicfile.Write(r.dir.Path("checkpoint"), true, r.run.Save))
}

// saveSnapshot writes a snapshot that the script requests.
func (r *assemblyRun) saveSnapshot(name string, b *assembly.Brain) error {
	if err := os.MkdirAll(r.dir.Path("snapshots"), 0o755); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	return exit.With(exit.CannotWrite, atomicfile.Write(r.dir.Path("snapshots", name+".snapshot"), true, b.Save))
}
