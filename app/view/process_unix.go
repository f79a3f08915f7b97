// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package view

import (
	"os"
	"os/exec"
	"syscall"
)

// apart puts a command into a process group of its own, so that Ctrl-C in the terminal reaches the page alone, which then stops it.
func apart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
