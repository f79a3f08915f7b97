// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Notes are notes about many items, such as files. Those that differ only in their numbers are told once, with the first items.
type Notes struct {
	a    *App
	what string // what an item is, such as file
	all  errtext.Alike
}

// NotesOn begins notes about items.
func (a *App) NotesOn(what string) *Notes { return &Notes{a: a, what: what} }

// Add keeps a note for Tell.
func (n *Notes) Add(item, format string, args ...any) { n.all.Add(item, fmt.Sprintf(format, args...)) }

// Tell tells the notes.
func (n *Notes) Tell() {
	n.all.Each(func(text string, items []string) {
		if len(items) == 1 {
			n.a.Note("%s: %s", items[0], text)
			return
		}
		n.a.Note("%s (%s): %s", errtext.Count(len(items), n.what), errtext.Named(items), text)
	})
	n.all = errtext.Alike{}
}

// Now tells a note at once if it is the first of its kind, and keeps it for Others.
func (n *Notes) Now(item, text string) {
	if n.all.Add(item, text) {
		n.a.Note("%s: %s", item, text)
	}
}

// Others tells of which items Now kept notes that it did not tell.
func (n *Notes) Others() {
	n.all.Each(func(text string, items []string) {
		if more := items[1:]; len(more) > 0 {
			n.a.Note("what was said of %s holds for %s more (%s): %s", items[0], errtext.Count(len(more), n.what), errtext.Named(more), text)
		}
	})
	n.all = errtext.Alike{}
}
