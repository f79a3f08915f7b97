// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/viz"
)

// Settings are the settings of a page. The zero value ignores figures that cannot be drawn.
type Settings struct {
	Program string // name and version of the program that made the page
	Seed    uint64 // seed of the random numbers used in figures
	// Note is called for each figure that cannot be drawn, unless it is nil.
	Note   func(text string)
	Device string // device that computed the numbers, such as cuda:0; "" leaves it out
	DPI    int    // resolution of PNG files in dots per inch; default that of the figures, 150
}

// facts appends to facts how the page was made, and then the others.
func (s Settings) facts(facts []viz.Fact, others ...viz.Fact) []viz.Fact {
	facts = append(facts, viz.Fact{Name: "version", Value: s.Program})
	if s.Device != "" {
		facts = append(facts, viz.Fact{Name: "computed on", Value: s.Device})
	}
	return append(facts, others...)
}

// Page is a report whose figures have file names.
type Page struct {
	viz.Report
	Album
}

// Save writes report.html to a folder, and the figures to its subfolder plots.
func (p *Page) Save(dir string) error {
	if err := p.Album.Save(dir); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, "report.html"), []byte(p.HTML()))
}

// KeptEnding is the ending of files of figures with their numbers, which plot figure draws again.
const KeptEnding = ".figure"

// Album is a list of figures with their file names.
type Album struct {
	// Note is called for each figure that cannot be drawn, unless it is nil.
	Note func(text string)
	DPI  int // resolution of PNG files in dots per inch; default that of the figures

	pictures []picture
}

// picture is a figure with its file name.
type picture struct {
	name   string
	figure *viz.Figure
}

// Add appends a figure. If err says that it could not be drawn, it is reported to Note
// and left out.
func (b *Album) Add(name string, f *viz.Figure, err error) {
	if err != nil {
		b.note("the plot %s is left out: %v", name, err)
		return
	}
	f.Caption = cmp.Or(f.Caption, captions[numbered.ReplaceAllString(name, "")])
	b.pictures = append(b.pictures, picture{name, f})
}

// Append adds the figures of another album.
func (b *Album) Append(o *Album) { b.pictures = append(b.pictures, o.pictures...) }

// Figures returns all figures in the order in which they were added.
func (b *Album) Figures() []*viz.Figure {
	var out []*viz.Figure
	for _, p := range b.pictures {
		out = append(out, p.figure)
	}
	return out
}

// Save writes every figure as SVG and PNG to the subfolder plots of dir, and with its numbers (viz.Figure.Keep) where that is possible.
func (b *Album) Save(dir string) error {
	plots := filepath.Join(dir, "plots")
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	for _, p := range b.pictures {
		if err := atomicfile.WriteBytes(filepath.Join(plots, p.name+".svg"), []byte(p.figure.SVG())); err != nil {
			return err
		}
		if kept, err := p.figure.Keep(); err == nil {
			if err := atomicfile.WriteBytes(filepath.Join(plots, p.name+KeptEnding), kept); err != nil {
				return err
			}
		}
		figure := *p.figure
		if b.DPI > 0 {
			figure.DPI = b.DPI
		}
		if err := atomicfile.WriteBytes(filepath.Join(plots, p.name+".png"), figure.PNG()); err != nil {
			return err
		}
	}
	return nil
}

func (b *Album) note(format string, args ...any) {
	if b.Note != nil {
		b.Note(fmt.Sprintf(format, args...))
	}
}
