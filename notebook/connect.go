// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"sync"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/viz/term"
)

// Screen is the place where runs show their progress: the output of a cell. Show displays a text, as
// HTML where possible, in place of what it last displayed under the same name; ID makes such a name.
type Screen interface {
	Show(name, text, html string)
	ID() string
}

// session is what a kernel and the runs of its cells share.
var session struct {
	sync.Mutex
	screen  Screen
	running map[*run]bool
	stopped bool // whether the cell was interrupted, so that it begins no other run
}

// errInterrupted is the error of a cell that was interrupted before it had anything to keep.
var errInterrupted = errors.New("interrupted")

// run is a computation that an interrupt stops.
type run struct{ cancel context.CancelFunc }

// Connect makes runs show their progress in a kernel's cell; nil goes back to standard error. Kernels
// call it around each cell.
func Connect(s Screen) {
	session.Lock()
	defer session.Unlock()
	session.screen = s
	session.stopped = false
}

// Interrupt stops all runs of this package, which return what they have so far, and keeps the cell from
// starting others. It reports whether there were any. Kernels call it when they are interrupted.
func Interrupt() bool {
	session.Lock()
	defer session.Unlock()
	session.stopped = session.screen != nil
	for r := range session.running {
		r.cancel()
	}
	return len(session.running) > 0
}

// interruptible returns a context that Interrupt ends, and a function to call at the end.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel}
	session.Lock()
	defer session.Unlock()
	if session.stopped {
		panic(&Error{"run", errInterrupted})
	}
	if session.running == nil {
		session.running = map[*run]bool{}
	}
	session.running[r] = true
	return ctx, func() {
		cancel()
		session.Lock()
		defer session.Unlock()
		delete(session.running, r)
	}
}

// every is how often progress is shown.
const every = 200 * time.Millisecond

// progress returns what shows the progress of chains, and a function to call at the end.
func progress() (show func(infer.Progress), end func()) {
	session.Lock()
	screen := session.screen
	session.Unlock()
	if screen == nil {
		meter := term.NewMeter(os.Stderr, term.MeterSettings{})
		return meter.Update, func() { meter.Close() }
	}
	id, last := screen.ID(), time.Time{}
	return func(p infer.Progress) {
		if now := time.Now(); p.Done || now.Sub(last) >= every {
			last = now
			screen.Show(id, progressText(p), term.HTML(p))
		}
	}, func() {}
}

// steps shows how many steps of a computation are done, of total or of an unknown number if that
// is 0. It returns what shows it, with a remark such as a loss, and a function to call at the end.
func steps(name string, total int) (show func(done int, remark string), end func()) {
	session.Lock()
	screen := session.screen
	session.Unlock()
	if screen == nil {
		bar, last := term.NewBar(os.Stderr, term.BarSettings{Name: name, Total: total}), 0
		return func(done int, _ string) {
			bar.Add(done-last, 0)
			last = done
		}, func() { bar.Close() }
	}
	id, last, line := screen.ID(), time.Time{}, ""
	display := func(done int) {
		bar := ""
		if total > 0 {
			bar = fmt.Sprintf(`<progress max="%d" value="%d"></progress> `, total, done)
		}
		screen.Show(id, line, bar+html.EscapeString(line))
	}
	final := 0
	return func(done int, remark string) {
			final, line = done, fmt.Sprintf("%d %s", done, name)
			if total > 0 {
				line = fmt.Sprintf("%d of %d %s", done, total, name)
			}
			if remark != "" {
				line += ", " + remark
			}
			if now := time.Now(); now.Sub(last) >= every {
				last = now
				display(done)
			}
		}, func() {
			if line != "" {
				display(final)
			}
		}
}

// remark shows a line of text below the cell, such as what is done before a run begins.
func remark(text string) {
	session.Lock()
	screen := session.screen
	session.Unlock()
	if screen == nil {
		fmt.Fprintln(os.Stderr, text)
		return
	}
	screen.Show(screen.ID(), text, "<p>"+html.EscapeString(text)+"</p>")
}

// progressText is the progress of all chains in a line.
func progressText(p infer.Progress) string {
	done, total, divergent, begun := 0, 0, 0, true
	for _, c := range p.Chains {
		begun = begun && c.Draw > 0
		done, total, divergent = done+c.Draw, total+c.Total, divergent+c.Divergences
	}
	state := "starting"
	switch {
	case p.Done:
		state = "done"
	case begun:
		state = fmt.Sprintf("%s left", p.Remaining().Round(time.Second))
	}
	return fmt.Sprintf("%s: %d of %s, %d divergent, %s, %s", errtext.Count(len(p.Chains), "chain"), done, errtext.Count(total, "draw"), divergent, p.Elapsed.Round(100*time.Millisecond), state)
}
