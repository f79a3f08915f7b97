// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"go/token"
	"io"
	"os"
	"os/signal"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosmos72/gomacro/base"
	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/imports"
	"github.com/cosmos72/gomacro/xreflect"

	"github.com/euryale-dev/euryale/notebook"
)

// newInterpreter returns an interpreter for cells. An interrupt of the kernel stops what a cell does,
// and not the kernel: a run of package notebook ends and keeps its draws, anything else fails its
// cell.
func newInterpreter() (ir *interp.Interp) {
	quietly(func() { ir = interp.New() })
	ir.Comp.Universe.Importer = &xreflect.Importer{} // types come from what is compiled in, and not from the go command
	ir.DeclVar(catcher, nil, caught.add)
	ir.DeclVar(marker, nil, func(line int) { cell.line.Store(int64(line)) })
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		for s := range interrupts {
			cell.interrupt(ir, s)
		}
	}()
	return ir
}

// quietly does something without what it prints: a new interpreter warns of a generic function.
func quietly(do func()) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		do()
		return
	}
	defer null.Close()
	stdout := os.Stdout
	os.Stdout = null
	defer func() { os.Stdout = stdout }()
	do()
}

// Functions that would end the kernel, or that an interrupt could not end, are others for cells.
func init() {
	bind := func(path, name string, f any) { imports.Packages[path].Binds[name] = reflect.ValueOf(f) }
	bind("time", "Sleep", sleep)
	bind("os", "Exit", func(code int) {
		panic(fmt.Errorf("os.Exit(%d): a cell cannot end the kernel; return, or panic to fail the cell", code))
	})
	bind("runtime", "Goexit", func() { panic(fmt.Errorf("runtime.Goexit: a cell cannot end the kernel's goroutine; return instead")) })
	bind("log", "Fatal", func(v ...any) { panic(fmt.Errorf("%s", fmt.Sprint(v...))) })
	bind("log", "Fatalf", func(format string, v ...any) { panic(fmt.Errorf(format, v...)) })
	bind("log", "Fatalln", func(v ...any) { panic(fmt.Errorf("%s", bytes.TrimSpace(fmt.Appendln(nil, v...)))) })
}

// cell is what the kernel knows of the cell that it runs.
var cell running

// running is the state of a cell: whether it runs, and who sleeps in it.
type running struct {
	busy   atomic.Bool
	number atomic.Int64 // of cells so far
	stops  atomic.Int64 // interrupts of this cell
	total  atomic.Int64 // interrupts of all cells and between them
	engine atomic.Pointer[interp.Run]
	last   token.Pos    // of the last statement, once the cell runs
	line   atomic.Int64 // of the statement that runs; 0 in declarations
	mu     sync.Mutex
	sleeps chan struct{} // closed by an interrupt
}

// begin marks the beginning of a cell and returns what marks its end. An interrupt that came too
// late for the cell before does not count.
func (c *running) begin(ir *interp.Interp) (end func()) {
	if run := ir.PrepareEnv().Run; run != nil {
		run.Signals.Async = base.SigNone
		c.engine.Store(run)
	}
	c.number.Add(1)
	c.stops.Store(0)
	c.line.Store(0)
	c.last = token.NoPos
	c.busy.Store(true)
	return func() { c.busy.Store(false) }
}

// patience is how long a run of package notebook may take to end after an interrupt, before
// functions of the cell that it calls are ended.
const patience = 500 * time.Millisecond

// interrupt ends what the cell does: runs of package notebook, which keep their draws, or else its
// statements. A second interrupt ends its statements in any case.
func (c *running) interrupt(ir *interp.Interp, s os.Signal) {
	c.total.Add(1)
	if !c.busy.Load() {
		return
	}
	first := c.stops.Add(1) == 1
	if notebook.Interrupt() && first {
		go c.insist(ir, s, c.number.Load())
		return
	}
	ir.Interrupt(s)
	c.wake()
}

// insist ends functions of a cell that a run calls and waits for. A run that takes its time in compiled
// code does not notice, as the request is withdrawn after a moment: it keeps its draws.
func (c *running) insist(ir *interp.Interp, s os.Signal, number int64) {
	const moment = 20 * time.Millisecond
	for {
		time.Sleep(patience)
		if c.number.Load() != number || !c.busy.Load() || c.stops.Load() > 1 || !notebook.Interrupt() {
			return
		}
		ir.Interrupt(s)
		c.wake()
		time.Sleep(moment)
		if run := c.engine.Load(); run != nil && c.number.Load() == number && c.stops.Load() == 1 {
			run.Signals.Async = base.SigNone
		}
	}
}

// run marks that a cell was compiled and runs; its last statement is at last.
func (c *running) run(last token.Pos) { c.last = last }

// runs reports whether the cell was compiled.
func (c *running) runs() bool { return c.last != token.NoPos }

// interrupted returns the channel that the next interrupt closes.
func (c *running) interrupted() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sleeps == nil {
		c.sleeps = make(chan struct{})
	}
	return c.sleeps
}

// wake ends all sleeps.
func (c *running) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sleeps != nil {
		close(c.sleeps)
	}
	c.sleeps = nil
}

// sleep is time.Sleep for cells: an interrupt ends it, and the goroutine that slept.
func sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-cell.interrupted():
		panic(base.SigInterrupt)
	}
}

// noWarnings writes to standard error but for the interpreter's warnings, such as of a name that is
// defined again, which cells do all the time.
type noWarnings struct{}

var _ io.Writer = noWarnings{}

func (noWarnings) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("// warning: ")) || bytes.HasPrefix(b, []byte("// debug: ")) {
		return len(b), nil
	}
	return os.Stderr.Write(b)
}
