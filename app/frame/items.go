// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Lost are the items of a list that failed, in their order, while a command did the others.
type Lost struct {
	what string // what an item is, such as file
	all  int
	errs []error
}

// LostOf begins a list of items, all of them, of which none has failed yet.
func LostOf(what string, all int) *Lost { return &Lost{what: what, all: all} }

// Grow adds items to the list, where one turned out to be several.
func (l *Lost) Grow(n int) { l.all += n }

// Add is Keep, and tells.
func (l *Lost) Add(a *App, item string, err error) (goOn bool) {
	if !l.Keep(item, err) {
		return false
	}
	a.Note("left out: %s", exit.Text(l.errs[len(l.errs)-1], nil))
	return true
}

// Keep notes that an item failed. It reports whether the command may go on: it may not if the
// item is the only one, or if an end was asked for.
func (l *Lost) Keep(item string, err error) (goOn bool) {
	if code := exit.CodeOf(err); errors.Is(err, context.Canceled) || code == exit.Interrupted || l.all == 1 {
		return false
	}
	if text := err.Error(); item != "" && !strings.Contains(text, item) {
		err = &exit.Error{Code: exit.CodeOf(exit.Input(err)), Err: fmt.Errorf("%s: %w", item, err)}
	}
	l.errs = append(l.errs, err)
	return true
}

// None reports whether nothing is left of the list.
func (l *Lost) None() bool { return len(l.errs) == l.all }

// Err says at the end which items failed and why; it is nil if none did. The exit code is that of bad data, unless something else than the items
// failed, such as a disk or a device. If all items failed, it is that of the first. Done says what the others were, such as "fitted".
func (l *Lost) Err(done string) error {
	if len(l.errs) == 0 {
		return nil
	}
	codes := make([]int, len(l.errs))
	for i, err := range l.errs {
		codes[i] = exit.CodeOf(exit.Input(err))
	}
	if l.None() {
		return &exit.Error{Code: codes[0], Err: fmt.Errorf("all of %s failed: %w", errtext.Count(l.all, l.what), errors.Join(l.errs...))}
	}
	code := exit.Data
	if i := slices.IndexFunc(codes, func(c int) bool { return c != exit.Data && c != exit.NoInput && c != exit.Failed }); i >= 0 {
		code = codes[i]
	}
	return &exit.Error{Code: code, Err: fmt.Errorf("%d of %s failed, and the others were %s: %w", len(l.errs), errtext.Count(l.all, l.what), done, errors.Join(l.errs...))}
}
