// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Parse reads a notebook written in Markdown. Code between fences whose first word is go or golang is a
// cell; everything else is text, including other fences. Fences follow CommonMark: three or more
// backticks or tildes, indented by at most three spaces, closed by at least as many. A Go fence that is
// not a cell because of its indentation or its braces is reported among the warnings.
func Parse(name string, text []byte) (*Notebook, error) {
	if strings.EqualFold(filepath.Ext(name), ".ipynb") {
		return nil, &Error{Notebook: name, Text: "the file is a Jupyter notebook, not Markdown: convert it with jupyter nbconvert --to markdown " + name}
	}
	p := reader{book: &Notebook{Name: name}, first: 1}
	s := strings.TrimPrefix(string(text), "\ufeff")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	for i, line := range strings.Split(s, "\n") {
		p.line(i+1, line)
	}
	if p.open.size > 0 {
		return nil, &Error{Notebook: name, Line: p.open.line, Text: fmt.Sprintf("the fence %s is never closed: end it with a line of the same characters", p.open.text)}
	}
	p.flush(Markdown, 0)
	for _, c := range p.book.Cells {
		if c.Kind == Code {
			return p.book, nil
		}
	}
	return nil, &Error{Notebook: name, Text: "there is no Go cell: write one between ```go and ```"}
}

// reader holds what is open while the lines of a text pass.
type reader struct {
	book    *Notebook
	open    fence // the fence that was opened; its size is 0 outside
	comment bool  // within a comment of HTML
	first   int   // line at which lines begins
	lines   []string
}

// line takes one line of the text.
func (p *reader) line(n int, line string) {
	f, isFence := fenceOf(line)
	if p.open.size == 0 && !p.comment {
		p.warn(n, line)
	}
	switch {
	case p.comment:
		p.comment = !strings.Contains(line, "-->")
	case p.open.size == 0 && isFence:
		p.open, p.open.line = f, n
		if f.isGo {
			p.flush(Markdown, n+1)
			return
		}
	case p.open.size == 0 && strings.HasPrefix(strings.TrimLeft(line, " "), "<!--"):
		p.comment = !strings.Contains(line, "-->")
	case p.open.size > 0 && isFence && f.closes(p.open):
		isGo := p.open.isGo
		p.open = fence{}
		if isGo {
			p.flush(Code, n+1)
			return
		}
	case p.open.isGo:
		line = unindented(line, p.open.indent)
	}
	p.lines = append(p.lines, line)
}

// warn notes a line that begins a fence of Go and is none that makes a cell.
func (p *reader) warn(n int, line string) {
	flat := strings.TrimLeft(line, " \t")
	f, isFence := fenceOf(flat)
	words := strings.Fields(f.info)
	switch {
	case !isFence:
	case f.isGo && len(line)-len(flat) > 3, f.isGo && strings.HasPrefix(line, "\t"):
		p.book.Warnings = append(p.book.Warnings, fmt.Sprintf("%s, line %d: a fence of Go that is indented by more than three spaces is text and no cell", p.book.Name, n))
	case len(words) > 0 && (strings.EqualFold(words[0], "{go}") || strings.EqualFold(words[0], "{golang}")):
		p.book.Warnings = append(p.book.Warnings, fmt.Sprintf("%s, line %d: a fence of %s is text and no cell: write go without braces", p.book.Name, n, words[0]))
	}
}

// flush makes the lines so far a cell, unless they are blank, and begins the next one.
func (p *reader) flush(kind string, next int) {
	lines, first := p.lines, p.first
	p.lines, p.first = nil, next
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines, first = lines[1:], first+1
	}
	if source := strings.TrimRight(strings.Join(lines, "\n"), " \t\n"); source != "" {
		p.book.Cells = append(p.book.Cells, Cell{Kind: kind, Source: source, Line: first})
	}
}

// fence is a line that begins or ends code.
type fence struct {
	text   string // the characters themselves
	size   int    // how many
	indent int    // spaces before them
	info   string // what stands behind them
	isGo   bool
	line   int
}

// fenceOf returns the fence that a line is.
func fenceOf(line string) (fence, bool) {
	rest := strings.TrimLeft(line, " ")
	indent := len(line) - len(rest)
	if indent > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return fence{}, false
	}
	size := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	f := fence{text: rest[:size], size: size, indent: indent, info: strings.TrimSpace(rest[size:])}
	if size < 3 || rest[0] == '`' && strings.Contains(f.info, "`") {
		return fence{}, false
	}
	if words := strings.Fields(f.info); len(words) > 0 {
		f.isGo = strings.EqualFold(words[0], "go") || strings.EqualFold(words[0], "golang")
	}
	return f, true
}

// closes reports whether a fence ends the code that another one began.
func (f fence) closes(open fence) bool {
	return f.text[0] == open.text[0] && f.size >= open.size && f.info == ""
}

// unindented takes up to n spaces off the beginning of a line.
func unindented(line string, n int) string {
	for range n {
		line = strings.TrimPrefix(line, " ")
	}
	return line
}
