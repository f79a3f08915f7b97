// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the script and the letters of pages
	"encoding/base64"
	"encoding/json"
	"html/template"
	"math"
	"slices"
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
func (f Fact) Long() bool { return f.Verdict != 0 || utf8.RuneCountInString(f.Value) >= longFact }

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

//go:embed report.js
var pageScript string

//go:embed fonts/regular.woff2
var regularLetters []byte

//go:embed fonts/bold.woff2
var boldLetters []byte

// pageLetters are the letters that pages carry, so that they look alike on every machine.
func pageLetters() string {
	face := func(weight string, font []byte) string {
		return "@font-face { font-family: \"Euryale Sans\"; font-weight: " + weight + "; src: url(data:font/woff2;base64," + base64.StdEncoding.EncodeToString(font) + ") format(\"woff2\") }\n"
	}
	return face("400", regularLetters) + face("700", boldLetters)
}

// ReportPolicy returns the content security policy under which a server can show the page of a Report that it does not trust: it may use
// what it contains, and runs the script of this version's pages only.
func ReportPolicy() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; sandbox allow-scripts; frame-ancestors 'none'"
}

// HTML returns the page as a single file that refers to no other: pictures, style, tables and a small script, by which pictures zoom and
// say what is under the cursor, are in it. It can be printed. Facts with a verdict come first.
func (r Report) HTML() string {
	page := pageData{Title: r.Title, Summary: r.Summary, Script: template.JS(pageScript), Facts: slices.Clone(r.Facts)}
	slices.SortStableFunc(page.Facts, func(a, b Fact) int { return cmp.Compare(min(b.Verdict, 1), min(a.Verdict, 1)) })
	number := 0
	for i, s := range r.Sections {
		out := sectionData{ID: i + 1, Title: s.Title, Text: paragraphs(s.Text)}
		for _, t := range s.Tables {
			out.Tables = append(out.Tables, tableData{HTML: template.HTML(t), Many: strings.Count(t, "</th>") > manyColumns})
		}
		for _, f := range s.Figures {
			if f != nil {
				number++
				out.Figures = append(out.Figures, figureData{Number: number, Title: f.Title, Note: strings.TrimSpace(f.Note + " " + f.Caption), Wide: f.Width > 5, Tall: f.Height > tallFigure*f.Width, Picture: template.HTML(f.pageHTML()), Frames: f.pageFrames()})
			}
		}
		page.Sections = append(page.Sections, out)
	}
	var pictures strings.Builder
	for _, s := range page.Sections {
		for _, f := range s.Figures {
			pictures.WriteString(string(f.Picture))
		}
	}
	page.Style = template.CSS(pageLetters() + pageStyle + "@media screen and (prefers-color-scheme: dark) {\n" + darkRules(pictures.String()) + "}\n")
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
	return strings.ReplaceAll(p.HTML(), family, "'Euryale Sans',"+family)
}

// pageFrame is a panel as the script of pages needs it.
type pageFrame struct {
	Title  string     `json:"t,omitempty"`
	X      string     `json:"x"`
	Y      string     `json:"y"`
	LogX   bool       `json:"lx,omitempty"`
	LogY   bool       `json:"ly,omitempty"`
	Down   bool       `json:"d,omitempty"`
	Window [4]float64 `json:"w"`
	Frame  [4]float64 `json:"f"`
}

// pageFrames returns the panels of the picture without its title and note, as JSON.
func (f *Figure) pageFrames() string {
	all := []pageFrame{}
	for _, a := range f.plain().Frames() {
		round := func(v float64) float64 { return math.Round(1e4*v) / 1e4 }
		all = append(all, pageFrame{a.Title, a.XLabel, a.YLabel, a.LogX, a.LogY, a.Down, [4]float64{a.XLow, a.XHigh, a.YLow, a.YHigh},
			[4]float64{round(a.Left), round(a.Top), round(a.Right), round(a.Bottom)}})
	}
	b, _ := json.Marshal(all) // finite numbers
	return string(b)
}

type pageData struct {
	Title, Summary string
	Style          template.CSS
	Script         template.JS
	Facts          []Fact
	Sections       []sectionData
}

type sectionData struct {
	ID      int
	Title   string
	Text    []paragraph
	Tables  []tableData
	Figures []figureData
}

// manyColumns are more than paper has room for in letters of the usual size.
const manyColumns = 8

// tallFigure is the height of a picture as a share of its width from which it takes a sheet of paper of its own.
const tallFigure = 1.1

type tableData struct {
	HTML template.HTML
	Many bool
}

type figureData struct {
	Number      int
	Title, Note string
	Wide, Tall  bool
	Picture     template.HTML
	Frames      string
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
