// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !js

package app

import (
	"os"
	"os/signal"
	"syscall"
)

// ends lists the signals that ask a process to end. SIGHUP stays ignored under nohup, so that a run outlives its terminal.
func ends() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
