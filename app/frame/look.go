// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// Look is how people look at a file or folder: the page of view lists it under a kind and offers its pictures. Every picture and every text is what
// a command line draws or prints.
type Look struct {
	Kind     string // the kind of thing in words, in the plural, such as "Correlations"
	Title    string // name in the list, of what is no file
	Note     string // sentence about what is shown, or why not more
	Pictures []Sight
	Texts    []Sight
	Content  bool     // the file is a text that people read
	Table    bool     // the file is a table, whose rows can be sorted
	Rows     *Rows    // a table beside the file, of which people choose rows; nil for none
	Works    []string // commands that take it as their argument, such as "fit g2"
	Given    []string // flags that these commands and pictures need, with what lies beside the file, as --name=value
	// Together is what several of the kind are seen in; the names of the files follow the words of the command in each line. Nil for nothing.
	Together *Look
}

// Rows are the rows of a table that choose what pictures show.
type Rows struct {
	File   string `json:"-"`
	Column string `json:"column"` // column whose number a row gives to a flag of the pictures
	Flag   string `json:"flag"`
	Clears string `json:"clears"` // flag that must then not be given
}

// Sight is a picture or a text, with the arguments of the command line that makes it.
type Sight struct {
	Title   string
	Args    []string
	Still   bool    // leaves out the sliders that the command has for other pictures
	Sliders []Range // flags that people slide, with ranges that the file sets
}

// Range is a flag of whole numbers with its lowest and highest value.
type Range struct {
	Flag      string
	Low, High int
}

// LookOf asks the fields how people look at a file or folder; nil if no field knows it.
func LookOf(fields []Field, name string, folder bool) *Look {
	for _, f := range fields {
		if f.Look == nil {
			continue
		}
		if l := f.Look(name, folder); l != nil {
			return l
		}
	}
	return nil
}

// Plotted returns the sight of a kind of picture of files, whose title is the short help of its command without its verb.
func Plotted(short, kind string, names ...string) Sight {
	title := strings.TrimPrefix(short, "Draw ")
	if title != "" && !strings.HasPrefix(title, "g2") {
		title = strings.ToUpper(title[:1]) + title[1:]
	}
	return Sight{Title: title, Args: append([]string{"plot", kind}, names...)}
}

// Ends reports whether the name of a file has one of some extensions, in any case of letters.
func Ends(name string, extensions ...string) bool {
	return slices.Contains(extensions, strings.ToLower(filepath.Ext(name)))
}

// DrawSights returns the pictures of the draws of a run, of which the trace is looked at first.
func DrawSights(run string) (all []Sight) {
	for _, k := range viz.Kinds() {
		s := Plotted(k.About, k.Name, run)
		if k.Name == "trace" {
			all = append([]Sight{s}, all...)
			continue
		}
		all = append(all, s)
	}
	return all
}

// DrawsTogether is what several runs of the same data are seen in.
func DrawsTogether() *Look {
	return &Look{Texts: []Sight{{Title: "Comparison", Args: []string{"compare"}}}}
}

// FitTexts returns the verdicts of a fit, if its folder has their document.
func FitTexts(dir runs.Folder) []Sight {
	if !foreign.Exists(dir.Path("fit.json")) {
		return nil
	}
	return []Sight{{Title: "Verdict", Args: []string{"diagnose", string(dir)}}}
}

// DrawTexts returns the tables of a run with draws.
func DrawTexts(run string) []Sight {
	return []Sight{{Title: "Summary", Args: []string{"summary", run}}, {Title: "Checks", Args: []string{"diagnose", run}}}
}
