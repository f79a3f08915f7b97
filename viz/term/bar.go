// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// BarSettings are the settings of a Bar.
type BarSettings struct {
	Settings
	Name  string    // name of the counted items, such as "fits"
	Total int       // total number of items; 0 if unknown
	Begin time.Time // time at which the work began; default: the time at which the bar is made

	now func() time.Time // clock, replaced by tests
}

// Bar shows how many items of a batch are finished, how fast, and how many of
// them failed. Its methods may be called from many goroutines.
type Bar struct {
	screen *screen
	set    BarSettings

	mu           sync.Mutex
	begin        time.Time
	done, failed int
	tenth        int
	drawn        time.Time
}

// NewBar returns a bar that writes to w and starts its clock.
func NewBar(w io.Writer, s BarSettings) *Bar {
	if s.now == nil {
		s.now = time.Now
	}
	if s.Begin.IsZero() {
		s.Begin = s.now()
	}
	return &Bar{screen: newScreen(w, s.Settings), set: s, begin: s.Begin}
}

// Add counts finished items, of which some failed. It does not wait for the terminal.
func (b *Bar) Add(done, failed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += done
	b.failed += failed
	switch now := b.set.now(); b.screen.mode {
	case Redraw:
		if now.Sub(b.drawn) >= b.screen.every {
			b.drawn = now
			b.screen.show([]string{b.line(now)})
		}
	case Lines:
		if t := tenths(b.done, b.set.Total); t > b.tenth {
			b.tenth = t
			b.screen.say(b.line(now))
		}
	}
}

// Close draws the last state, which stays on the screen, and ends the bar.
func (b *Bar) Close() {
	b.mu.Lock()
	if b.screen.mode == Redraw {
		b.screen.show([]string{b.line(b.set.now())})
	} else if b.screen.mode == Lines && (b.set.Total == 0 || b.done < b.set.Total) {
		b.screen.say(b.line(b.set.now()))
	}
	b.mu.Unlock()
	b.screen.close()
}

// line returns a line such as "fits ━━━─── 512/1000 (51 %) 48.1/s remaining 0:10 failed 3".
func (b *Bar) line(now time.Time) string {
	s := b.screen
	elapsed := now.Sub(b.begin)
	count := fmt.Sprint(b.done)
	if b.set.Total > 0 {
		count = fmt.Sprintf("%d/%d (%d %%)", b.done, b.set.Total, 100*b.done/b.set.Total)
	}
	text := "  " + count + "  " + b.rate(elapsed)
	if b.failed > 0 {
		text += fmt.Sprintf("  %d failed", b.failed)
	}
	if s.mode == Lines {
		return b.set.Name + text
	}
	room := s.width - 1 - len([]rune(b.set.Name)) - 2 - len([]rune(text))
	if b.set.Total == 0 || room < leastBar {
		return cutTo(b.set.Name+text, s.width-1)
	}
	code := blue
	switch {
	case b.failed > 0:
		code = red
	case b.done >= b.set.Total:
		code = green
	}
	return b.set.Name + "  " + s.bar(float64(b.done)/float64(b.set.Total), min(room, mostBar), code) + text
}

// rate returns the speed and the remaining time or, at the end, the time taken.
func (b *Bar) rate(elapsed time.Duration) string {
	if b.done == 0 || elapsed <= 0 {
		return "-/s"
	}
	perSecond := float64(b.done) / elapsed.Seconds()
	text := fmt.Sprintf("%.3g/s", perSecond)
	if perSecond >= 1000 {
		text = fmt.Sprintf("%.0f/s", perSecond)
	}
	if left := b.set.Total - b.done; left > 0 {
		return text + "  remaining " + clock(time.Duration(float64(left)/perSecond*float64(time.Second)))
	}
	return text + "  in " + clock(elapsed)
}
