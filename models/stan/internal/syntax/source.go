// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package syntax reads programs of the Stan language: lexer, syntax tree and parser.
package syntax

import (
	"fmt"
	"strings"
)

// Span is a stretch of the source, from one byte to before another.
type Span struct{ From, To int }

// to returns the span from the start of s to the end of t.
func (s Span) to(t Span) Span { return Span{s.From, t.To} }

// Source is the text of a program.
type Source struct {
	Name string
	Text string
}

// line returns the number of the line of a byte, from 1, and the column, from 0.
func (s *Source) line(at int) (line, column int) {
	at = min(at, len(s.Text))
	head := s.Text[:at]
	return strings.Count(head, "\n") + 1, at - (strings.LastIndexByte(head, '\n') + 1)
}

// Line returns the number of the line at which a span starts, from 1.
func (s *Source) Line(at Span) int {
	line, _ := s.line(at.From)
	return line
}

// Error is a mistake in a program.
type Error struct {
	Source *Source
	Span   Span
	Syntax bool   // found by the parser
	Text   string // what is wrong, without the place
}

// Error gives the place, the lines around it with a caret, and what is wrong, in the layout that users of Stan know.
func (e *Error) Error() string {
	kind, tail := "Semantic error", ""
	if e.Syntax {
		kind, tail = "Syntax error", ", parsing error"
	}
	line, column := e.Source.line(e.Span.From)
	last, end := e.Source.line(e.Span.To)
	to := fmt.Sprintf("column %d", end)
	if last != line {
		to = fmt.Sprintf("line %d, column %d", last, end)
	}
	return fmt.Sprintf("%s in '%s', line %d, column %d to %s%s:\n%s\n%s", kind, e.Source.Name, line, column, to, tail, e.Source.excerpt(line, column), e.Text)
}

const rule = "   -------------------------------------------------\n"

// longest is how much of a line an excerpt shows.
const longest = 160

// excerpt shows a line with two on each side, and a caret below a column.
func (s *Source) excerpt(line, column int) string {
	var b strings.Builder
	b.WriteString(rule)
	lines := strings.Split(strings.TrimSuffix(s.Text, "\n"), "\n")
	for i := max(1, line-2); i <= min(line+2, len(lines)); i++ {
		text := strings.TrimSuffix(lines[i-1], "\r")
		from := 0
		if i == line && column > longest {
			from = column - longest/2
		}
		text = printable(text[min(from, len(text)):])
		if len(text) > longest {
			text = text[:longest] + " ..."
		}
		fmt.Fprintf(&b, "%6d:  %s\n", i, text)
		if i == line {
			fmt.Fprintf(&b, "%s^\n", strings.Repeat(" ", 9+column-from))
		}
	}
	b.WriteString(rule)
	return b.String()
}

// printable replaces what could move the cursor of a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) || (r >= 0x200e && r <= 0x200f) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) {
			return '?'
		}
		return r
	}, s)
}
