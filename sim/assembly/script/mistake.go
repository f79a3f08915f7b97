// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Mistake is an error at one place of a script.
type Mistake struct {
	Line, Column int // place in the script, from 1; 0 if unknown
	What         string
}

// Mistakes holds all errors of a script, in the order of its lines.
type Mistakes struct {
	File string
	List []Mistake
}

// Error has a line for each mistake: file:line:column: description.
func (e *Mistakes) Error() string {
	lines := make([]string, len(e.List))
	for i, m := range e.List {
		at := e.File
		if m.Line > 0 {
			at += fmt.Sprintf(":%d", m.Line)
		}
		if m.Column > 0 {
			at += fmt.Sprintf(":%d", m.Column)
		}
		lines[i] = at + ": " + m.What
	}
	return strings.Join(lines, "\n")
}

// mostMistakes is the largest number of mistakes that are reported at once.
const mostMistakes = 50

func (e *Mistakes) add(m Mistake) {
	if len(e.List) < mostMistakes && !slices.Contains(e.List, m) {
		e.List = append(e.List, m)
	}
}

func (e *Mistakes) sorted() *Mistakes {
	slices.SortStableFunc(e.List, func(a, b Mistake) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return e
}

// did suggests the name that was probably meant, or lists the known names.
func did(name string, known []string) string {
	if meant := spelling.Meant(name, known); meant != "" {
		return fmt.Sprintf("did you mean %s?", meant)
	}
	if len(known) == 0 {
		return "there are none yet: add it first"
	}
	return "choose from " + errtext.Few(slices.Sorted(slices.Values(known)), 12)
}
