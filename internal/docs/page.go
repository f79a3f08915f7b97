// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs reads the claims of the documents, so that tests can check them against the code:
// snippets of Go, command lines, and the names of tests, files and targets.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Page is a Markdown document.
type Page struct {
	Path   string // path relative to the root, with slashes
	Blocks []Block
	Spans  []Span // text in backticks, outside blocks
	Links  []Span // targets of links and pictures
}

// Block is the text between two fences.
type Block struct {
	Lang, Text string
	Name       string // name of the file that the reader saves the block as: the second word after the fence
	Line       int    // line number of the first line of Text
}

// Span is a piece of a line.
type Span struct {
	Text string
	Line int
}

var (
	inTicks = regexp.MustCompile("`([^`]+)`")
	linked  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// Pages reads every document below root, in the order of their paths. It skips folders whose names
// begin with a dot, and notebooks.
func Pages(root string) ([]Page, error) {
	var all []Page
	err := Walk(root, ".md", func(path string, text []byte) error {
		if strings.HasPrefix(path, "examples/notebooks/") { // tested by make notebooks
			return nil
		}
		all = append(all, parse(path, string(text)))
		return nil
	})
	return all, err
}

// Walk calls f for every file below root with the given ending.
func Walk(root, ending string, f func(path string, text []byte) error) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "run" || rel == "bench" || rel == "bin" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ending) {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return f(rel, text)
	})
}

func parse(path, text string) Page {
	p := Page{Path: path}
	var block *Block
	prose := make([]string, 0, 100) // lines outside blocks, empty ones in their places
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && block == nil:
			lang, name, _ := strings.Cut(fence, " ")
			block = &Block{Lang: lang, Name: name, Line: i + 2}
		case isFence:
			p.Blocks = append(p.Blocks, *block)
			block = nil
		case block != nil:
			block.Text += line + "\n"
		default:
			prose = append(prose, line)
			continue
		}
		prose = append(prose, "")
	}
	p.Spans = spans(strings.Join(prose, "\n"), inTicks)
	p.Links = spans(strings.Join(prose, "\n"), linked)
	return p
}

// spans returns the matches of the first group of a pattern; line ends become spaces.
func spans(text string, pattern *regexp.Regexp) (out []Span) {
	for _, m := range pattern.FindAllStringSubmatchIndex(text, -1) {
		line := 1 + strings.Count(text[:m[2]], "\n")
		span := strings.ReplaceAll(text[m[2]:m[3]], `\|`, "|") // as tables have it
		out = append(out, Span{strings.Join(strings.Fields(span), " "), line})
	}
	return out
}

// Commands returns the lines of blocks, and the spans, that call a program: one for each call,
// without the program's name and without comments.
func (p Page) Commands(program string) (out []Span) {
	add := func(text string, line int) {
		for _, part := range regexp.MustCompile(`&&|\|\||;| \| `).Split(text, -1) {
			words := strings.Fields(part)
			if len(words) > 0 && (words[0] == program || words[0] == "./bin/"+program) {
				out = append(out, Span{strings.Join(words[1:], " "), line})
			}
		}
	}
	for _, b := range p.Blocks {
		if b.Lang != "sh" && b.Lang != "console" && b.Lang != "" {
			continue
		}
		for i, line := range strings.Split(b.Text, "\n") {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			line, _, _ = strings.Cut(line, " #")
			add(line, b.Line+i)
		}
	}
	for _, s := range p.Spans {
		add(s.Text, s.Line)
	}
	return out
}
