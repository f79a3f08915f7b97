// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package runlock

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// running reports whether the process accepts signals, and has not ended without its parent having noticed.
func running(p *os.Process) bool {
	err := p.Signal(syscall.Signal(0))
	return (err == nil || errors.Is(err, os.ErrPermission)) && !zombie(p.Pid)
}

// zombie reports whether a process has ended, where Linux says so: the letter after its name in brackets is Z or X.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return ok && len(state) > 0 && (state[0] == 'Z' || state[0] == 'X')
}
