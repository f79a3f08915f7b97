// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command euryale-cluster distributes the items of a manifest among workers on many machines, and moves files
// between them and object stores.
//
// Usage: euryale-cluster VERB [ARGUMENTS] [flags]; see euryale-cluster help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if open == nil { // tests have their own
		open = openWork
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	// Keep ignoring SIGHUP under nohup, so that the run outlives its terminal.
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
