// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Mode says how progress is written.
type Mode int

// The modes. Lines and Redraw override the detection of a terminal, for tests or special cases.
const (
	Auto   Mode = iota // Redraw on a terminal, otherwise Lines
	Lines              // a line of text now and then
	Redraw             // a display that redraws itself
	Quiet              // silence: no output at all
)

// Settings are the settings of meters and bars. The zero value is the default.
type Settings struct {
	Mode Mode
	// NoColor turns colours off. They are also off if the variable NO_COLOR is set.
	NoColor bool
	Width   int           // number of columns. Default: those of the terminal, 80 if unknown
	Height  int           // number of rows. Default: those of the terminal, 24 if unknown
	Every   time.Duration // shortest time between two redraws; default 100 ms: faster than the eye, slower than a terminal
}

// screen writes to a terminal from its own goroutine, so that the work it reports on never waits for
// a slow terminal.
//
// It uses mpb for the terminal, which supports all systems, but not mpb's bars: an mpb bar counts
// one number with its own clock, whereas the rows here form one table made from a snapshot of all
// chains.
type screen struct {
	mode   Mode
	color  bool
	width  int
	height int
	every  time.Duration
	out    *terminal
	raw    io.Writer

	mu    sync.Mutex
	frame []string // next frame to draw; nil if none
	lines []string // lines to write next
	wake  chan struct{}
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once
}

func newScreen(w io.Writer, s Settings) *screen {
	out := newTerminal(w)
	c := &screen{mode: s.Mode, width: s.Width, height: s.Height, every: s.Every, out: out, raw: w,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	dumb := os.Getenv("TERM") == "dumb"
	if c.mode == Auto {
		c.mode = Lines
		if out.IsTerminal() && !dumb {
			c.mode = Redraw
		}
	}
	c.color = c.mode == Redraw && !s.NoColor && os.Getenv("NO_COLOR") == "" && !dumb
	if c.every <= 0 {
		c.every = 100 * time.Millisecond
	}
	c.measure()
	if c.mode == Quiet {
		close(c.done)
	} else {
		go c.loop()
	}
	return c
}

// measure fills in a size that is not set.
func (c *screen) measure() {
	w, h, err := c.out.GetTermSize()
	if err != nil || w <= 0 || h <= 0 {
		w, h = 80, 24
	}
	if c.width <= 0 {
		c.width = w
	}
	if c.height <= 0 {
		c.height = h
	}
}

// show requests a frame in place of the one before.
func (c *screen) show(frame []string) {
	c.mu.Lock()
	c.frame = frame
	c.mu.Unlock()
	c.signal()
}

// say requests a line that stays.
func (c *screen) say(line string) {
	c.mu.Lock()
	c.lines = append(c.lines, line)
	c.mu.Unlock()
	c.signal()
}

func (c *screen) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// patience is the time that close waits for a terminal that does not read.
const patience = time.Second

// close writes what is still pending.
func (c *screen) close() {
	if c.mode == Quiet {
		return
	}
	c.once.Do(func() { close(c.stop) })
	select {
	case <-c.done:
	case <-time.After(patience):
	}
}

func (c *screen) loop() {
	defer close(c.done)
	for {
		select {
		case <-c.stop:
			c.write(true)
			return
		case <-c.wake:
			c.write(false)
		}
		if c.mode == Redraw {
			select {
			case <-c.stop:
			case <-time.After(c.every):
			}
		}
	}
}

// write writes what was requested since the last call; the frame stays on the screen after the last
// one.
func (c *screen) write(last bool) {
	c.mu.Lock()
	frame, lines := c.frame, c.lines
	c.frame, c.lines = nil, nil
	c.mu.Unlock()
	if len(lines) > 0 {
		io.WriteString(c.raw, strings.Join(lines, "\n")+"\n")
	}
	if frame == nil {
		return
	}
	c.out.WriteString(strings.Join(frame, "\n") + "\n")
	if last {
		c.out.Flush(0)
	} else {
		c.out.Flush(len(frame))
	}
}

// Colours of ANSI terminals.
const (
	blue  = "34"
	red   = "31"
	green = "32"
	dim   = "2"
)

func (c *screen) paint(code, s string) string {
	if !c.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// bar draws a filled part of a bar of the given width.
func (c *screen) bar(part float64, width int, code string) string {
	part = min(max(part, 0), 1)
	n := int(part * float64(width))
	return c.paint(code, strings.Repeat("━", n)) + c.paint(dim, strings.Repeat("─", width-n))
}
