// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package app is the command line: it brings the fields together, each of which registers its commands with
// package frame.
package app

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/frame"
)

// Main runs the command that the arguments of the process name and returns its exit code. Ctrl-C and the
// other signals that ask a process to end let a run save what it has; a second signal ends the
// process at once.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	frame.LimitThreads = func(most int) { runtime.GOMAXPROCS(min(most, runtime.GOMAXPROCS(0))) }
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	code := frame.Run(ctx, fields(), name, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	return code
}

// Command returns the tree of all commands, from which manual pages and completions are made. To run a
// command, use Main or Run.
func Command() *cobra.Command { return frame.Tree(fields()) }

// Run executes one command line, the arguments behind the program's name, and returns its exit code.
// Documents and tables go to stdout; progress, notes and errors go to stderr. When ctx ends, a run saves what
// it has.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return frame.Run(ctx, fields(), frame.Euryale, args, stdout, stderr)
}
