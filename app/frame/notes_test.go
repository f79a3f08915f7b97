// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/euryale-dev/euryale/app/frame"
)

// A note about many items is told once, with how many there are and the first of them.
func TestNotesOnManyItems(t *testing.T) {
	var out bytes.Buffer
	n := (&frame.App{Stderr: &out}).NotesOn("file")
	for i := range 5 {
		n.Add(fmt.Sprintf("f%d", i), "%.1f %% of the pixels were left out", 1.5*float64(i))
	}
	n.Add("f9", "it is air")
	n.Tell()
	if want := "5 files (f0, f1, f2 and 2 more): 0.0 % of the pixels were left out (so of f0; the numbers of the others differ)\nf9: it is air\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	for i := range 3 {
		n.Now(fmt.Sprintf("f%d", i), fmt.Sprintf("%d pixels are dead", i+1))
	}
	n.Others()
	if want := "f0: 1 pixels are dead\nwhat was said of f0 holds for 2 files more (f1, f2): 1 pixels are dead (so of f0; the numbers of the others differ)\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
