// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/runs"
)

// app is the state that all commands share: the output streams and the global flags.
type app struct {
	fields         []field
	mistake        error          // in a part that a user registered
	program        string         // name by which help and advice call the program
	calls          *regexp.Regexp // where a text calls the program euryale, if it has another name
	stdout, stderr io.Writer      // output streams that make untrusted text harmless
	bytes          io.Writer      // unmodified standard output, for a process that reads what this one found
	screen         io.Writer      // unmodified standard error, for progress that is redrawn in place
	json           bool
	quiet          bool
	strict         bool
	overwrite      bool
	seed           uint64
	device         string       // value of --device
	chosen         deviceChoice // where graphs are computed
	told           *toldChoices
	threads        int
	precision      int
	out, resume    string
	logLevel       string
	command        string       // command as the user called it
	running        runs.Folder  // folder of the run, set once the run can be resumed
	again          string       // command line that resumes the run
	folders        *runs.Writer // locks on the folders that this process writes
}

// newApp returns the state of one command of a program with these fields and a given name.
func newApp(fields []field, program string, stdout, stderr io.Writer) *app {
	return &app{fields: fields, program: program, stdout: foreign.Writer(stdout), stderr: foreign.Writer(stderr), bytes: stdout, screen: stderr,
		told: &toldChoices{said: map[string]bool{}}}
}

// run executes one command line of a program with these fields and a given name.
func run(ctx context.Context, fields []field, program string, args []string, stdout, stderr io.Writer) (code int) {
	a := newApp(fields, program, stdout, stderr)
	stdout, stderr = a.stdout, a.stderr
	defer a.release()
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
		return exitOK
	}
	if p := (*given.PanicError)(nil); errors.As(err, &p) {
		return tellPanic(stderr, err, p)
	}
	var e *exitError
	err = parserError(root, called, err)
	errors.As(err, &e)
	fmt.Fprintf(stderr, "Error: %s\n", a.renamed(foreign.Short(errorText(err, args), longestError)))
	if e != nil && e.hint != "" {
		fmt.Fprintf(stderr, "Try: %s\n", a.renamed(e.hint))
	}
	return codeOf(err)
}

// tellPanic prints an error that comes from a panic, with what its authors need to know, and returns the exit code.
func tellPanic(stderr io.Writer, err error, p *given.PanicError) int {
	fmt.Fprintf(stderr, "Error: %s\n%s", foreign.Short(errorText(err, nil), longestError), p.Report())
	return exitBug
}

// longestError is the largest number of bytes printed of an error. Lists of mistakes are
// long, and text quoted from a file may be longer still.
const longestError = 20_000

// tree returns the tree of all commands.
func tree(fields []field) *cobra.Command { return (&app{fields: fields, program: euryale}).root() }

func (a *app) root() *cobra.Command {
	c := &cobra.Command{
		Use:   a.program + " VERB THING [FILE...]",
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
	c.SetOut(a.stdout)
	c.SetErr(a.stderr)
	f := c.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print one JSON document on standard output")
	f.BoolVar(&a.quiet, "quiet", false, "print no progress and no notes")
	f.BoolVar(&a.strict, "strict", false, "exit with code 1 if a verdict is bad")
	f.BoolVar(&a.overwrite, "overwrite", false, "replace an existing file or the results in a run folder, which are deleted when the run begins")
	f.Uint64Var(&a.seed, "seed", 0, "seed of all random numbers")
	f.StringVar(&a.device, "device", "", "where to compute: auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all (default EURYALE_DEVICE, then auto)")
	f.IntVar(&a.threads, "threads", 0, "largest number of threads (default one per processor)")
	f.IntVar(&a.precision, "precision", 64, "floating-point precision in bits, 32 or 64; with 32, fit spectra searches in single precision and finishes in double")
	f.StringVar(&a.out, "out", "", "folder to write the results to")
	f.StringVar(&a.resume, "resume", "", "run folder of an interrupted run to continue")
	f.StringVar(&a.logLevel, "log-level", "info", "least important log messages to print: debug, info, warn or error")
	c.AddCommand(a.commands()...)
	c.DisableSuggestions = true // unknownCommand makes them
	c.Version = version()
	c.SetVersionTemplate("euryale {{.Version}}\n")
	c.SetHelpCommand(helpCommand())
	c.InitDefaultCompletionCmd()
	ownWords(c)
	a.rename(c)
	// A command that only holds others cannot be called with flags alone.
	c.SetUsageTemplate(strings.Replace(c.UsageTemplate(), "{{if .Runnable}}", `{{if and .Runnable (not (index .Annotations "holder"))}}`, 1))
	return c
}

// limitThreads bounds what the process runs at a time, also for the garbage collector, which would use
// processors that others were given. Commands in tests share a process and leave it as it is.
var limitThreads = func(most int) {}

// check validates the global flags of a command.
func (a *app) check(c *cobra.Command) error {
	a.command = c.CommandPath()
	switch {
	case a.mistake != nil:
		return a.mistake
	case a.precision != 32 && a.precision != 64:
		return usage("--precision %d: want 32 or 64", a.precision)
	case a.precision == 32 && c.Annotations["precision"] == "":
		return usage("--precision 32 is not available here: fits and samplers need 64")
	case a.out != "" && c.Annotations["folder"] == "":
		return usage("%s has no folder of results: leave out --out %s%s", c.CommandPath(), a.out, outputHint(c))
	case a.resume != "" && c.Annotations["resume"] == "":
		return usage("%s has no run to continue: leave out --resume %s", c.CommandPath(), a.resume)
	case a.threads < 0:
		return usage("--threads %d: want 0 (all) or more", a.threads)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, a.logLevel) {
		return usage("--log-level %q: want debug, info, warn or error", a.logLevel)
	}
	if err := a.checkDevice(c); err != nil {
		return err
	}
	if a.threads > 0 {
		limitThreads(a.threads)
	}
	if s, err := os.Stat(a.resume); a.resume != "" && err == nil && s.IsDir() {
		return a.lock(a.resume)
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

// note prints a line for the user on the terminal.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprint(a.stderr, a.renamed(fmt.Sprintf(format, args...)), "\n")
	}
}

// refuseOther returns the error of a command that holds others but was called with none of them.
func refuseOther(verb string, args, names []string) error {
	if len(args) > 0 {
		return usage("%s %s: want one of %s", verb, args[0], strings.Join(names, ", "))
	}
	return usage("%s needs a second word: one of %s", verb, strings.Join(names, ", "))
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
