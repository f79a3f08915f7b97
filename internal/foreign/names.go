// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
)

// names are the parts of names of files with line feeds or tabs that this process was given or tried to open, longest first. A line feed
// of a text is as good as any other, so what prints a text can tell those of a name only if it knows the name. They are kept for the
// process, since an error that is printed does not say which names it holds.
var names struct {
	mu   sync.Mutex
	list atomic.Pointer[[]string]
}

// mostNames is the number of names that are kept: nobody has that many by accident.
const mostNames = 1000

// Name makes Text show the line feeds and tabs of a file's name, or of a word of a command line, as \n and \t wherever the name, one of
// its folders, or the name without its extension appears in a text.
func Name(name string) {
	if !strings.ContainsAny(name, "\n\t") {
		return
	}
	names.mu.Lock()
	defer names.mu.Unlock()
	var list []string
	if old := names.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || r == '=' }) {
		if dot := strings.LastIndexByte(part, '.'); dot > 0 && strings.ContainsAny(part[:dot], "\n\t") {
			part = part[:dot]
		}
		if strings.ContainsAny(part, "\n\t") && strings.TrimSpace(part) != "" && !slices.Contains(list, part) && len(list) < mostNames {
			list = append(list, part)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	names.list.Store(&list)
}

// broken returns a text with the line feeds and tabs of known names made visible.
func broken(s string) string {
	list := names.list.Load()
	if list == nil || !strings.ContainsAny(s, "\n\t") {
		return s
	}
	for _, name := range *list {
		s = strings.ReplaceAll(s, name, breaks.Replace(name))
	}
	return s
}

var breaks = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// Table lays out columns that are separated by tabs, two spaces apart, and shows text from outside the program as Text does.
func Table(w io.Writer, flags uint) *Columns {
	return &Columns{tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)}
}

// Columns is a table that is being written.
type Columns struct{ *tabwriter.Writer }

// Write adds text to the table. Flush writes it.
func (c *Columns) Write(p []byte) (int, error) {
	if _, err := io.WriteString(c.Writer, Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
