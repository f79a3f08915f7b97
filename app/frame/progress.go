// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"context"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/viz/term"
)

// Meter shows the progress of chains on standard error.
func (a *App) Meter() *term.Meter {
	s := term.MeterSettings{}
	if a.Quiet {
		s.Mode = term.Quiet
	}
	return term.NewMeter(a.Screen, s)
}

// BarSettings returns the settings of a progress bar with a name and a total.
func (a *App) BarSettings(name string, total int) term.BarSettings {
	s := term.BarSettings{Name: name, Total: total}
	if a.Quiet {
		s.Mode = term.Quiet
	}
	return s
}

// Waiting says on standard error what is under way, such as "writing the report", and for how long, until it is closed. It is for work
// that takes a while and has no items to count.
func (a *App) Waiting(name string) *term.Wait {
	s := term.WaitSettings{}
	if a.Quiet {
		s.Mode = term.Quiet
	}
	return term.NewWait(a.Screen, name, s)
}

// WhileWaiting does work and says meanwhile what it is.
func (a *App) WhileWaiting(name string, work func() error) error {
	w := a.Waiting(name)
	defer w.Close()
	return work()
}

// WhileWaitingIn is WhileWaiting for work that cannot be stopped on its way, such as a verdict with its fits: if ctx ends first, it returns at
// once with the error of ctx, and the work goes on until the process ends.
func (a *App) WhileWaitingIn(ctx context.Context, name string, work func() error) error {
	w := a.Waiting(name)
	defer w.Close()
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer given.CaughtAs(&err, func(err error) error { return exit.With(exit.Bug, err) })
		err = work()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
