// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/euryale-dev/euryale/infer"
)

// MeterSettings are the settings of a Meter.
type MeterSettings = Settings

// Meter shows the progress of chains. Its Update can serve as infer.Settings.Progress.
type Meter struct {
	screen *screen

	mu    sync.Mutex
	last  infer.Progress
	tenth map[int]int           // tenth of the way that Lines has reported, by chain
	ended map[int]time.Duration // time at which each chain was first seen finished
}

// NewMeter returns a meter that writes to w, usually os.Stderr.
func NewMeter(w io.Writer, s MeterSettings) *Meter {
	return &Meter{screen: newScreen(w, s), tenth: map[int]int{}, ended: map[int]time.Duration{}}
}

// Update shows the current progress. It does not wait for the terminal.
func (m *Meter) Update(p infer.Progress) {
	if m.screen.mode == Quiet {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p.Chains = slices.Clone(p.Chains)
	m.last = p
	for _, c := range p.Chains {
		if _, seen := m.ended[c.Chain]; !seen && c.Draw >= c.Total {
			m.ended[c.Chain] = p.Elapsed
		}
	}
	if m.screen.mode == Redraw {
		m.screen.show(m.table(p))
		return
	}
	for _, c := range p.Chains {
		if t := tenths(c.Draw, c.Total); t > m.tenth[c.Chain] {
			m.tenth[c.Chain] = t
			m.screen.say(lineOf(c))
		}
	}
}

// Close draws the last state once more, which stays on the screen, and ends the meter.
func (m *Meter) Close() {
	m.mu.Lock()
	if m.screen.mode == Redraw && len(m.last.Chains) > 0 {
		m.screen.show(m.table(m.last))
	}
	m.mu.Unlock()
	m.screen.close()
}

func tenths(done, of int) int {
	if of <= 0 {
		return 0
	}
	return 10 * done / of
}

// lineOf returns the report of a chain for a log.
func lineOf(c infer.ChainProgress) string {
	return fmt.Sprintf("chain %d  %d/%d (%d %%)  %s  %d divergent  step size %.3g", c.Chain+1, c.Draw, c.Total,
		100*c.Draw/max(c.Total, 1), phase(c), c.Divergences, c.StepSize)
}

func phase(c infer.ChainProgress) string {
	switch {
	case c.Draw >= c.Total:
		return "done"
	case c.Warmup:
		return "warm-up"
	}
	return "sampling"
}

// colorOf returns blue while a chain runs, green when it is done, and red from its first divergence
// on.
func colorOf(c infer.ChainProgress) string {
	switch {
	case c.Divergences > 0:
		return red
	case c.Draw >= c.Total:
		return green
	}
	return blue
}

// clock formats a duration as m:ss or h:mm:ss.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
