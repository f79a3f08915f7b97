package report

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/viz"
)

// Settings of a page. The zero value is right where nobody is to be told anything.
type Settings struct {
	Program string            // name and version of what made the page
	Seed    uint64            // of the random numbers in it
	Note    func(text string) // told of figures that cannot be drawn; nil: nobody
}

// Page is a report whose figures have the names of files.
type Page struct {
	viz.Report
	Album
}

// Save writes report.html and, below plots, the figures into a folder.
func (p *Page) Save(dir string) error {
	if err := p.Album.Save(dir); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, "report.html"), []byte(p.HTML()))
}

// Album is a list of figures with the names of their files.
type Album struct {
	Note func(text string) // told of figures that cannot be drawn; nil: nobody

	pictures []picture
}

// picture is a figure with the name of its files.
type picture struct {
	name   string
	figure *viz.Figure
}

// Add takes a figure. One that could not be drawn, as the error says, is noted and left
// out.
func (b *Album) Add(name string, f *viz.Figure, err error) {
	if err != nil {
		b.note("no %s plot: %v", name, err)
		return
	}
	b.pictures = append(b.pictures, picture{name, f})
}

// Append takes the figures of another album.
func (b *Album) Append(o *Album) { b.pictures = append(b.pictures, o.pictures...) }

// Figures returns all figures, in the order in which they came.
func (b *Album) Figures() []*viz.Figure {
	var out []*viz.Figure
	for _, p := range b.pictures {
		out = append(out, p.figure)
	}
	return out
}

// Save writes every figure as SVG and PNG into the folder plots below dir.
func (b *Album) Save(dir string) error {
	plots := filepath.Join(dir, "plots")
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	for _, p := range b.pictures {
		if err := atomicfile.WriteBytes(filepath.Join(plots, p.name+".svg"), []byte(p.figure.SVG())); err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(filepath.Join(plots, p.name+".png"), p.figure.PNG()); err != nil {
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
