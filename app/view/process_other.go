// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package view

import (
	"os"
	"os/exec"
)

func apart(*exec.Cmd) {}

// interrupt ends a process: other systems than Unix send no signals. What it had saved last is kept.
func interrupt(p *os.Process) error { return p.Kill() }
