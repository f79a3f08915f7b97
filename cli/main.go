// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the command line of Euryale. A program of your own that calls [Main] has all of its
// commands, and also what its packages have registered: models, distributions and so on. Help and advice call
// the program by the name of its file.
//
//	func main() { os.Exit(cli.Main()) }
//
// The commands themselves are in the packages of the folder app.
package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app"
)

// Main runs the command that the arguments of the process name and returns its exit code. Ctrl-C and the
// other signals that ask a process to end let a run save what it has; a second signal ends the
// process at once.
func Main() int { return app.Main() }

// Run executes one command line, the arguments behind the program's name, and returns its exit code.
// Documents and tables go to stdout; progress, notes and errors go to stderr. When ctx ends, a run saves what
// it has.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return app.Run(ctx, args, stdout, stderr)
}

// Command returns the tree of all commands, from which manual pages and completions are made. To run a
// command, use Main or Run.
func Command() *cobra.Command { return app.Command() }
