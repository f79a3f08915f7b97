package notebook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/viz/term"
)

// Screen is where runs show their progress: the output of a cell. Show displays a text, in HTML
// where it can, in place of what it displayed before under the same name; ID makes such a name.
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

// run is a computation that an interrupt stops.
type run struct{ cancel context.CancelFunc }

// Connect makes a kernel's cell the place where runs show their progress; nil makes it standard
// error again. Kernels call it around each cell.
func Connect(s Screen) {
	session.Lock()
	defer session.Unlock()
	session.screen = s
	session.stopped = false
}

// Interrupt stops all runs of this package, which return what they have, and reports whether
// there were any. Kernels call it when they are interrupted.
func Interrupt() bool {
	session.Lock()
	defer session.Unlock()
	for r := range session.running {
		r.cancel()
		session.stopped = session.screen != nil
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
		panic(&Error{"run", errors.New("the cell was interrupted")})
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

// progressText is the progress of all chains in a line.
func progressText(p infer.Progress) string {
	done, total, divergent := 0, 0, 0
	for _, c := range p.Chains {
		done, total, divergent = done+c.Draw, total+c.Total, divergent+c.Divergences
	}
	state := fmt.Sprintf("%s left", p.Remaining().Round(time.Second))
	if p.Done {
		state = "done"
	}
	return fmt.Sprintf("%d chains: %d of %d draws, %d divergent, %s, %s", len(p.Chains), done, total, divergent, p.Elapsed.Round(100*time.Millisecond), state)
}
