// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package work

import (
	"os/exec"
	"syscall"
)

// together lets a command be ended with the processes that it starts: they are a group of their own.
func together(cmd *exec.Cmd) (kill func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	return func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
