// Command euryale simulates scattering and neural assemblies, fits and samples models,
// and reports on the results.
//
// Usage: euryale VERB THING [FILE...] [flags]; see euryale help.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	// Keep ignoring SIGHUP under nohup, so that the run outlives its terminal.
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	limitThreads = func(most int) { runtime.GOMAXPROCS(min(most, runtime.GOMAXPROCS(0))) }
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
