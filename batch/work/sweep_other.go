// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package work

import (
	"os"
	"os/exec"
)

// together lets a command be ended; the processes that it started go on.
func together(cmd *exec.Cmd) (kill func()) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return func() {}
}
