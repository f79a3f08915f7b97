// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// WaitSettings are the settings of a Wait.
type WaitSettings struct {
	Settings
	// After is the time of silence before the first word, so that short work is not spoken of, and Again the time between two lines
	// without a terminal. Defaults: 1 s and 5 s.
	After, Again time.Duration

	now  func() time.Time // clock, replaced by tests
	tick <-chan time.Time // replaced by tests
}

// Wait says what is under way and for how long, where the work has no items to count. Its methods may be called from many goroutines.
type Wait struct {
	screen *screen
	set    WaitSettings
	stop   chan struct{}
	done   chan struct{}
	once   sync.Once

	mu    sync.Mutex
	begin time.Time
	told  time.Time // when a line was last written; zero before the first
	stage string
	share float64
}

// NewWait returns a Wait for work of a name, such as "writing the report", that begins at once. It writes to w until Close.
func NewWait(w io.Writer, name string, s WaitSettings) *Wait {
	if s.now == nil {
		s.now = time.Now
	}
	if s.After == 0 {
		s.After = time.Second
	}
	if s.Again == 0 {
		s.Again = 5 * time.Second
	}
	v := &Wait{screen: newScreen(w, s.Settings), set: s, stop: make(chan struct{}), done: make(chan struct{}), begin: s.now(), stage: name, share: -1}
	go v.loop()
	return v
}

// Stage says what is done now, and which share of that is done, from 0 to 1, or -1 if that is not known.
func (v *Wait) Stage(name string, share float64) {
	v.mu.Lock()
	v.stage, v.share = name, share
	v.mu.Unlock()
}

// Close ends the display, also if it is called again; its last line stays on the terminal.
func (v *Wait) Close() {
	v.once.Do(func() {
		close(v.stop)
		<-v.done
		v.screen.close()
	})
}

func (v *Wait) loop() {
	defer close(v.done)
	tick := v.set.tick
	if tick == nil {
		t := time.NewTicker(v.set.After / 4)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case <-v.stop:
			return
		case <-tick:
			v.tell(v.set.now())
		}
	}
}

// tell writes a line if it is time.
func (v *Wait) tell(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	elapsed := now.Sub(v.begin)
	if elapsed < v.set.After {
		return
	}
	text := v.stage
	if v.share >= 0 {
		text += fmt.Sprintf("  %.0f %%", 100*v.share)
	}
	text += "  " + clock(elapsed)
	switch v.screen.mode {
	case Redraw:
		v.told = now
		v.screen.show([]string{cutTo(text, v.screen.width-1)})
	case Lines:
		if v.told.IsZero() || now.Sub(v.told) >= v.set.Again {
			v.told = now
			v.screen.say(text)
		}
	}
}
