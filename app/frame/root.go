// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/runlock"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// App is the state that all commands share: the output streams and the global flags.
type App struct {
	Fields         []Field
	Mistake        error          // mistake in a part that a user registered
	Program        string         // name by which help and advice call the program
	calls          *regexp.Regexp // where a text calls the program euryale, if it has another name
	Stdout, Stderr io.Writer      // output streams that make untrusted text harmless
	Bytes          io.Writer      // unmodified standard output, for a process that reads what this one found
	Screen         io.Writer      // unmodified standard error, for progress that is redrawn in place
	JSON           bool
	Quiet          bool
	Strict         bool
	Verbose        bool // print all findings and notes of verdicts, and not only one line
	Overwrite      bool
	Seed           uint64
	device         string       // value of --device
	Chosen         DeviceChoice // device that computes graphs
	Told           *ToldChoices
	Threads        int
	Precision      int
	Out, Resume    string
	LogLevel       string
	Line           string                   // command line without flags that all commands have, as results record it
	Command        string                   // command as the user called it
	running        runs.Folder              // folder of the run, set once the run can be resumed
	Again          string                   // command line that resumes the run
	folders        *runs.Writer             // locks on the folders that this process writes
	files          map[string]*runlock.Lock // locks on the files that this command writes
	shown          func(f *viz.Figure)      // takes pictures in place of files; nil in commands of their own
}

// New returns the state of one command of a program with these fields and a given name.
func New(fields []Field, program string, stdout, stderr io.Writer) *App {
	return &App{Fields: fields, Program: program, Stdout: foreign.Writer(stdout), Stderr: foreign.Writer(stderr), Bytes: stdout, Screen: stderr,
		Told: &ToldChoices{Said: map[string]bool{}}}
}

// Run executes one command line of a program with these fields and a given name.
func Run(ctx context.Context, fields []Field, program string, args []string, stdout, stderr io.Writer) (code int) {
	return New(fields, program, stdout, stderr).run(ctx, args)
}

func (a *App) run(ctx context.Context, args []string) (code int) {
	for _, word := range args {
		foreign.Name(word)
	}
	stderr := a.Stderr
	defer a.Release()
	defer func() {
		if r := recover(); r != nil {
			e := given.Recovered(r)
			code = tellPanic(stderr, e, e)
		}
	}()
	root := a.root()
	root.SetArgs(args)
	called, err := root.ExecuteContextC(ctx)
	err = a.ended(ctx, err)
	if err == nil {
		return exit.OK
	}
	if p := (*given.PanicError)(nil); errors.As(err, &p) {
		return tellPanic(stderr, err, p)
	}
	var e *exit.Error
	if path := (*fs.PathError)(nil); !errors.As(err, &e) && errors.As(err, &path) && path.Op == "write" { // of cobra's own commands
		err = exit.With(exit.CannotWrite, err)
	}
	err = a.otherKind(called, parserError(root, called, err))
	errors.As(err, &e)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		foreign.Name(path.Path)
	}
	fmt.Fprintf(stderr, "Error: %s\n", a.Renamed(foreign.Short(exit.Text(err, args), longestError)))
	if e != nil && e.Hint != "" {
		fmt.Fprintf(stderr, "Try: %s\n", a.Renamed(e.Hint))
	}
	return exit.CodeOf(err)
}

// tellPanic prints an error that comes from a panic, with what its authors need to know, and returns the exit code.
func tellPanic(stderr io.Writer, err error, p *given.PanicError) int {
	fmt.Fprintf(stderr, "Error: %s\n%s", foreign.Short(exit.Text(err, nil), longestError), p.Report())
	return exit.Bug
}

// longestError is the largest number of bytes printed of an error. Lists of mistakes are
// long, and text quoted from a file may be longer still.
const longestError = 20_000

// Tree returns the tree of all commands.
func Tree(fields []Field) *cobra.Command { return (&App{Fields: fields, Program: Euryale}).root() }

func (a *App) root() *cobra.Command {
	c := &cobra.Command{
		Use:   a.Program + " VERB THING [FILE...]",
		Short: "Differentiable simulation and Bayesian inference",
		Long: `Euryale simulates, fits and samples models with exact gradients.

  euryale demo g2                              make a first picture
  euryale fit g2 A003_results.hdf              fit every q bin of a result file
  euryale sample g2 A003_results.hdf --bin 4   sample the posterior of one bin
  euryale sim rsoxs film.h5                    simulate scattering
`,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.check(c) },
	}
	c.SetOut(a.Stdout)
	c.SetErr(a.Stderr)
	f := c.PersistentFlags()
	f.BoolVar(&a.JSON, "json", false, "print one JSON document on standard output")
	f.BoolVar(&a.Quiet, "quiet", false, "print no progress and no notes")
	f.BoolVar(&a.Verbose, "verbose", false, "print all findings and notes of verdicts, not only one line")
	f.BoolVar(&a.Strict, "strict", false, "exit with code 1 if a model disagrees with its data, or a fit or chains did not converge")
	f.BoolVar(&a.Overwrite, "overwrite", false, "replace an existing file or the results in a run folder, which are deleted when the run begins")
	f.Uint64Var(&a.Seed, "seed", 0, "seed of all random numbers")
	f.StringVar(&a.device, "device", "", "where to compute: auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all (default EURYALE_DEVICE, then auto)")
	f.IntVar(&a.Threads, "threads", 0, "largest number of threads (default one per processor)")
	f.IntVar(&a.Precision, "precision", 64, "floating-point precision in bits, 32 or 64; with 32, fit spectra searches in single precision and finishes in double")
	f.StringVar(&a.Out, "out", "", "folder to write the results to; fits also write a table alone: FILE.csv, .xlsx or .parquet")
	f.StringVar(&a.Resume, "resume", "", "run folder of an interrupted run to continue")
	f.StringVar(&a.LogLevel, "log-level", "info", "least important log messages to print: debug, info, warn or error")
	c.AddCommand(a.commands()...)
	c.DisableSuggestions = true // parserError makes them
	c.Version = Version()
	c.SetVersionTemplate("euryale {{.Version}}\n")
	c.SetHelpCommand(helpCommand())
	c.InitDefaultCompletionCmd()
	ownWords(c)
	a.rename(c)
	// A command that only holds others cannot be called with flags alone.
	c.SetUsageTemplate(strings.Replace(c.UsageTemplate(), "{{if .Runnable}}", `{{if and .Runnable (not (index .Annotations "holder"))}}`, 1))
	return c
}

// LimitThreads bounds what the process runs at a time, also for the garbage collector, which would use
// processors that others were given. Commands in tests share a process and leave it as it is.
var LimitThreads = func(most int) {}

// lineOf returns the command with those flags of its own that are given, in the order of their names, and its arguments.
func lineOf(c *cobra.Command) string {
	words := []string{c.CommandPath()}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		text := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			text = strings.Join(list.GetSlice(), ",")
		}
		words = append(words, "--"+f.Name+"="+foreign.TypedValue(text))
	})
	for _, arg := range c.Flags().Args() {
		words = append(words, foreign.Typed(arg))
	}
	return strings.Join(words, " ")
}

// check validates the global flags of a command.
func (a *App) check(c *cobra.Command) error {
	a.Command, a.Line = c.CommandPath(), lineOf(c)
	switch {
	case a.Mistake != nil:
		return a.Mistake
	case a.Precision != 32 && a.Precision != 64:
		return exit.Usage("--precision %d: want 32 or 64", a.Precision)
	case a.Precision == 32 && c.Annotations["precision"] == "":
		return exit.Usage("--precision 32 is not available here: fits and samplers need 64")
	case a.Out != "" && c.Annotations["folder"] == "":
		return exit.Usage("%s has no folder of results: leave out --out %s%s", c.CommandPath(), a.Out, outputHint(c))
	case a.Resume != "" && c.Annotations["resume"] == "":
		again := ""
		if c.Annotations["again"] != "" {
			again = "; the same command, given again, goes on where it was interrupted"
		}
		return exit.Usage("%s has no run to continue: leave out --resume %s%s", c.CommandPath(), a.Resume, again)
	case a.Threads < 0:
		return exit.Usage("--threads %d: want 0 (all) or more", a.Threads)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, a.LogLevel) {
		return exit.Usage("--log-level %q: want debug, info, warn or error", a.LogLevel)
	}
	if err := a.checkDevice(c); err != nil {
		return err
	}
	if a.Threads > 0 {
		LimitThreads(a.Threads)
	}
	if s, err := os.Stat(a.Resume); a.Resume != "" && err == nil && s.IsDir() {
		return a.Lock(a.Resume)
	}
	return nil
}

// outputHint says how a command without a folder of results is told where to write, if it writes a file.
func outputHint(c *cobra.Command) string {
	if strings.Contains(c.Use, "OUT") {
		return ", and name the output last"
	}
	return ""
}

// Note prints a line for the user on the terminal.
func (a *App) Note(format string, args ...any) {
	if !a.Quiet {
		fmt.Fprint(a.Stderr, a.Renamed(fmt.Sprintf(format, args...)), "\n")
	}
}

// refuseOther returns the error of a command that holds others but was called with none of them.
func refuseOther(verb string, args, names []string) error {
	if len(args) > 0 {
		return exit.Usage("%s %s: want one of %s", verb, args[0], strings.Join(names, ", "))
	}
	return exit.Usage("%s needs a second word: one of %s", verb, strings.Join(names, ", "))
}

// thing makes the parent command of a verb that requires a subcommand.
func thing(verb, short string, children ...*cobra.Command) *cobra.Command {
	var names []string
	for _, k := range children {
		names = append(names, k.Name())
	}
	c := &cobra.Command{Use: verb, Short: short, RunE: func(_ *cobra.Command, args []string) error { return refuseOther(verb, args, names) }}
	c.AddCommand(children...)
	return annotated(c, "holder", "yes")
}
