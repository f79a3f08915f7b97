// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/cluster/queue"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/given"
)

// open makes the task of a manifest. It knows the kinds of work that this program was built with.
var open func(*batch.Manifest, allowed) (batch.Task, error)

// app is the state that all commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json, quiet    bool
	strict         bool
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	a := &app{stdin: stdin, stdout: stdout, stderr: foreign.Writer(stderr)}
	defer func() {
		if r := recover(); r != nil {
			e := given.Recovered(r)
			fmt.Fprintf(a.stderr, "Error: %v\n%s", e, e.Report())
			code = exitBug
		}
	}()
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	e := coded(ctx, err)
	if e.code == exitFailed && misused(err) {
		e = &exitError{code: exitUsage, err: err, hint: "euryale-cluster help"}
	}
	const longest = 20_000
	fmt.Fprintf(a.stderr, "Error: %s\n", foreign.Short(err.Error(), longest))
	if e.hint != "" {
		fmt.Fprintf(a.stderr, "Try: %s\n", e.hint)
	}
	return e.code
}

// misused reports whether the command-line parser returned the error.
func misused(err error) bool {
	for _, s := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ", "invalid argument", "flag needs", "required flag"} {
		if strings.HasPrefix(err.Error(), s) {
			return true
		}
	}
	return false
}

func (a *app) root() *cobra.Command {
	c := &cobra.Command{
		Use:   "euryale-cluster VERB [ARGUMENTS]",
		Short: "Work on many machines, by a queue or an object store",
		Long: `euryale-cluster distributes the items of a manifest among workers on many machines.

  euryale-cluster lead run/manifest.txt --listen 0.0.0.0:4222
  euryale-cluster work tls://node1:4222 --token-file run/results/leader/token
  euryale-cluster fetch s3://bucket/run/results results
`,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("there is no command %q: use lead, work, fetch or push", args[0])
			}
			return &exitError{code: exitUsage, err: errors.New("the command is missing: use lead, work, fetch or push"), hint: "euryale-cluster help"}
		},
	}
	f := c.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print one JSON document on standard output")
	f.BoolVar(&a.quiet, "quiet", false, "print no progress and no notes")
	f.BoolVar(&a.strict, "strict", false, "exit with code 1 if items failed")
	c.AddCommand(a.lead(), a.work(), a.apart(), a.fetch(), a.push())
	return c
}

// note prints a line for the user on the terminal.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}

// say prints what a command found, as JSON or as a sentence.
func (a *app) say(document any, format string, args ...any) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(document)
	}
	_, err := io.WriteString(a.stdout, foreign.Text(fmt.Sprintf(format+"\n", args...)))
	return err
}

// tokenOf reads a token: of a file, which it waits for as long as for its leader, or of the environment.
func tokenOf(ctx context.Context, file string, wait time.Duration) (string, error) {
	if file == "" {
		return strings.TrimSpace(os.Getenv("EURYALE_TOKEN")), nil
	}
	for until := time.Now().Add(wait); ; {
		token, err := queue.ReadToken(file)
		if !errors.Is(err, fs.ErrNotExist) || time.Now().After(until) {
			return token, err
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
