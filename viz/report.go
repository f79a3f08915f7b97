// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"html/template"
	"strings"
	"unicode/utf8"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Report is a page about one analysis.
type Report struct {
	Title    string
	Summary  string // a sentence or two below the title
	Facts    []Fact
	Sections []Section
}

// Fact is a name and a value at the head of a report.
type Fact struct {
	Name, Value string
	Verdict     Verdict
}

// longFact is the number of letters from which the value of a fact takes a line of its own.
const longFact = 40

// Long reports whether the value takes a line of its own on the page.
func (f Fact) Long() bool { return utf8.RuneCountInString(f.Value) >= longFact }

// Verdict is the colour of a Fact.
type Verdict int

// The verdicts. Most facts have none.
const (
	None Verdict = iota
	Good
	Bad
)

// Section is a part of a report.
type Section struct {
	Title   string
	Text    string // paragraphs separated by empty lines; lines that begin with "- " form a list
	Figures []*Figure
	// Tables are HTML and are written unchanged: they must already be escaped, as by the HTML
	// methods of diag.Summary and diag.Report.
	Tables []string
}

// HTML returns the page as a single file that refers to no other: pictures, style and tables are in
// it. It can be printed.
func (r Report) HTML() string {
	page := pageData{Title: r.Title, Summary: r.Summary, Style: template.CSS(pageStyle), Facts: r.Facts}
	number := 0
	for i, s := range r.Sections {
		out := sectionData{ID: i + 1, Title: s.Title, Text: paragraphs(s.Text)}
		for _, t := range s.Tables {
			out.Tables = append(out.Tables, template.HTML(t))
		}
		for _, f := range s.Figures {
			if f != nil {
				number++
				out.Figures = append(out.Figures, figureData{Number: number, Title: f.Title, Note: f.Note, Wide: f.Width > 5, Picture: template.HTML(f.pageHTML())})
			}
		}
		page.Sections = append(page.Sections, out)
	}
	var b strings.Builder
	if err := pageTemplate.Execute(&b, page); err != nil {
		return "<!doctype html><title>report</title><p>" + template.HTMLEscapeString(err.Error())
	}
	return foreign.Text(b.String())
}

// pageHTML returns the picture without its title and note, which become its description.
func (f *Figure) pageHTML() string {
	p := f.plain()
	p.described = f.alt()
	return p.HTML()
}

type pageData struct {
	Title, Summary string
	Style          template.CSS
	Facts          []Fact
	Sections       []sectionData
}

type sectionData struct {
	ID      int
	Title   string
	Text    []paragraph
	Tables  []template.HTML
	Figures []figureData
}

type figureData struct {
	Number      int
	Title, Note string
	Wide        bool
	Picture     template.HTML
}

// paragraph is a text or a list.
type paragraph struct {
	Text  string
	Items []string
}

func paragraphs(text string) (out []paragraph) {
	for _, block := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		var p paragraph
		for _, l := range strings.Split(block, "\n") {
			if item, ok := strings.CutPrefix(strings.TrimSpace(l), "- "); ok {
				p.Items = append(p.Items, item)
			} else if len(p.Items) == 0 {
				p.Text = strings.TrimSpace(p.Text + " " + l)
			} else {
				p.Items[len(p.Items)-1] += " " + strings.TrimSpace(l)
			}
		}
		if p.Text != "" || len(p.Items) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// Class returns the name of a verdict in the style sheet of the page.
func (v Verdict) Class() string { return [...]string{"", "good", "bad"}[min(max(v, 0), 2)] }
