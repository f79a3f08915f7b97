// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/xpcs"
	"github.com/euryale-dev/euryale/report"
	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/viz"
)

// Movie holds the frames of a detector and the bins of its pixels. It displays itself as a summary of
// what is known about the measurement.
type Movie struct {
	File   string
	Frames int
	// Height and Width are the number of rows and columns of a frame, in pixels.
	Height, Width int
	// Metadata is what the file says about the measurement. Set what it leaves out or gets wrong here.
	Metadata frames.Metadata
	Map      *nexus.QMap // bins of the pixels, from ReadMap or MakeMap

	settings frames.Settings
	folder   *folder
}

// folder is a temporary folder that is removed when nothing refers to it any more.
type folder struct{ name string }

func newFolder(step string) *folder {
	f := &folder{value(step, func() (string, error) { return os.MkdirTemp("", "euryale-") })}
	runtime.AddCleanup(f, func(name string) { os.RemoveAll(name) }, f.name)
	return f
}

// OpenMovie opens a file of frames: HDF5, IMM, an event list of a Rigaku detector, NPY, or raw numbers,
// for which frames.Settings must give their shape and type.
func OpenMovie(file string, settings ...frames.Settings) *Movie {
	step := "OpenMovie " + file
	m := &Movie{File: file}
	switch len(settings) {
	case 0:
	case 1:
		m.settings = settings[0]
	default:
		must(step, fmt.Errorf("there are %d sets of settings: want one", len(settings)))
	}
	f := value(step, func() (*frames.File, error) { return frames.Open(file, m.settings) })
	defer f.Close()
	m.Frames, m.Height, m.Width, m.Metadata = f.Frames, f.Height, f.Width, *f.Metadata()
	if f.Lost != nil {
		remark(f.Lost.Error())
	}
	if f.Missing != "" {
		remark(f.Missing)
	}
	return m
}

// DemoMovie returns the frames of the demonstration with their q map: 2000 simulated frames of speckles
// from diffusing particles, with a beam stop.
func DemoMovie() *Movie {
	f := newFolder("DemoMovie")
	must("DemoMovie", demo.Particles(0).Write(f.name))
	m := OpenMovie(filepath.Join(f.name, "movie.h5")).ReadMap(filepath.Join(f.name, "qmap.hdf"))
	m.folder = f
	return m
}

// ReadMap returns the movie with the bins from a q-map file, or from a result file that contains a q
// map.
func (m *Movie) ReadMap(file string) *Movie {
	other := *m
	other.Map = value("ReadMap "+file, func() (*nexus.QMap, error) { return nexus.OpenQMap(file) })
	return &other
}

// Geometry returns the position of the detector as far as the metadata give it. Values that they do not
// give are NaN.
func (m *Movie) Geometry() sim.Geometry {
	d := m.Metadata
	must("Geometry", errors.Join(d.FaultOf("BeamX", "BeamY", "PixelSize", "PixelHeight", "Distance", "Energy", "SwingHorizontal", "SwingVertical"), d.Square()))
	g := sim.Geometry{Height: m.Height, Width: m.Width, CenterRow: d.BeamY, CenterCol: d.BeamX, PixelSize: d.PixelSize, Distance: d.Distance, Energy: d.Energy,
		SwingHorizontal: d.SwingHorizontal, SwingVertical: d.SwingVertical, Roll: d.Roll}
	if g.Reflection = !math.IsNaN(d.Incidence); g.Reflection {
		g.Incidence = d.Incidence
	}
	return g
}

// MakeMap returns the movie with the pixels that mask keeps divided into bins. The mask is row-major
// and true for pixels to keep; nil keeps all. If the geometry of the setup has no shape, that of the
// metadata is used.
func (m *Movie) MakeMap(mask []bool, setup xpcs.Setup) *Movie {
	if setup.Geometry.Height == 0 {
		setup.Geometry = m.Geometry()
	}
	other := *m
	other.Map = value("MakeMap", func() (*nexus.QMap, error) { return setup.Map(mask) })
	return &other
}

// WriteMap writes the bins of the pixels as a q-map file, which viewers can open.
func (m *Movie) WriteMap(file string) {
	m.hasMap("WriteMap")
	must("WriteMap "+file, nexus.WriteQMap(file, m.Map))
}

func (m *Movie) hasMap(step string) {
	if m.Map == nil {
		must(step, errors.New("the movie has no q map: read one with movie.ReadMap(file), or make one with movie.MakeMap"))
	}
}

// Bins draws the bin of each pixel.
func (m *Movie) Bins() *viz.Figure {
	m.hasMap("Bins")
	return value("Bins", func() (*viz.Figure, error) { return report.Partition(m.Map) })
}

// Correlating controls how frames are correlated. The zero value computes g2 of all frames by the
// multi-tau method.
type Correlating struct {
	// First is the first frame, from 0, and Last the frame after the last one. 0 in Last means all
	// frames, and a negative number counts from the end.
	First, Last int
	// Stride is the distance between the frames that are used, and Average the number of these that are
	// averaged into one. Default 1.
	Stride, Average int
	// Twotime also computes the two-time correlation.
	Twotime bool
	Bins    []int // numbers of the bins of the two-time correlation, from 1; default: all bins
	Parts   int   // number of initial parts of the measurement for which g2 is computed separately, to show whether it is stable
	// Pixels keeps the correlation of every pixel in the file.
	Pixels bool
	// Absolute leaves the frames as they are, instead of dividing them by their means over the bins.
	Absolute bool

	Skip []int // numbers of bad frames
	// Low and High are the limits of the mean of a good frame, in counts per pixel. Default: no limits.
	Low, High float64
}

// Correlate correlates the frames and writes a result file, replacing one of the same name. If the name
// is empty, the file is temporary and exists for as long as the value that Correlate returns. Bad
// frames are replaced by others, and the result says which. An interrupt leaves no file behind.
func (m *Movie) Correlate(out string, how ...Correlating) *Correlated {
	step := "Correlate " + m.File
	var h Correlating
	switch len(how) {
	case 0:
	case 1:
		h = how[0]
	default:
		must(step, fmt.Errorf("there are %d sets of options: want one", len(how)))
	}
	m.hasMap(step)
	if !(m.Metadata.FrameTime > 0) {
		must(step, m.Metadata.FaultOf("FrameTime"))
		must(step, errors.New("the file does not give the time between frames: set movie.Metadata.FrameTime, in s"))
	}
	f := value(step, func() (*frames.File, error) { return frames.Open(m.File, m.settings) })
	defer f.Close()
	ctx, end := interruptible()
	defer end()
	job := xpcs.Job{Frames: f, Map: m.Map, Metadata: &m.Metadata, FrameTime: m.Metadata.FrameTime, CountTime: m.Metadata.CountTime, Start: m.Metadata.Start,
		Multitau: true, Twotime: h.Twotime, Pixels: h.Pixels,
		Settings: correlate.Settings{Selection: correlate.Selection{First: h.First, Last: h.Last, Stride: h.Stride, Average: h.Average},
			Normalize: !h.Absolute, Parts: h.Parts, Bins: h.Bins},
		Gate: correlate.Gate{Skip: h.Skip, Low: h.Low, High: h.High}}
	show, ended := func(int, string) {}, func() {}
	was := ""
	job.Progress = func(what string, done, all int) {
		if what != was {
			ended()
			show, ended = steps("frames, "+what, all)
			was = what
		}
		show(done, "")
	}
	c := &Correlated{File: out}
	if out == "" {
		c.folder = newFolder(step)
		stem := strings.TrimSuffix(filepath.Base(m.File), filepath.Ext(m.File))
		c.File = filepath.Join(c.folder.name, stem+"_results.hdf")
	}
	done, err := xpcs.Correlate(ctx, job, c.File)
	ended()
	must(step, err)
	c.Done, c.Notes = done, done.Notes()
	return c
}

// String returns a summary of what is known about the measurement.
func (m *Movie) String() string {
	var b strings.Builder
	m.facts(func(name, text string) { fmt.Fprintf(&b, "%-12s %s\n", name, text) })
	return b.String()
}

// HTML returns a summary of what is known about the measurement as a table, and the bins of the pixels.
func (m *Movie) HTML() string {
	var b strings.Builder
	b.WriteString("<table>")
	m.facts(func(name, text string) {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td></tr>", name, html.EscapeString(text))
	})
	b.WriteString("</table>")
	if m.Map != nil {
		b.WriteString(m.Bins().HTML())
	}
	return b.String()
}

func (m *Movie) facts(row func(name, text string)) {
	d := m.Metadata
	say := func(unit string, v ...float64) string {
		var words []string
		for _, x := range v {
			if math.IsNaN(x) {
				return "not known"
			}
			words = append(words, fmt.Sprintf("%.6g", x))
		}
		return strings.Join(words, ", ") + " " + unit
	}
	row("file", filepath.Base(m.File))
	row("frames", fmt.Sprintf("%d of %d x %d pixels", m.Frames, m.Height, m.Width))
	row("frame time", say("s", d.FrameTime))
	row("energy", say("keV", d.Energy))
	row("distance", say("m", d.Distance))
	row("pixel size", say("m", d.PixelSize))
	row("beam", say("(row, column)", d.BeamY, d.BeamX))
	if m.Map == nil {
		row("q map", "none yet")
		return
	}
	row("q map", fmt.Sprintf("%s for correlations, %d for intensities", errtext.Count(m.Map.Dynamic.Bins(), "bin"), m.Map.Static.Bins()))
}

// SimpleRender returns text and HTML for the kernel.
func (m *Movie) SimpleRender() map[string]interface{} { return rendered(m) }

// Correlated is a result file that Correlate wrote. It displays itself as the curves and images in the
// file and the notes made while reading the frames.
type Correlated struct {
	File  string
	Notes []string // notes made while reading the frames, one sentence each
	Done  *xpcs.Done

	folder *folder
}

// G2 returns the correlation functions with the covariance of their points, for fitting and sampling.
func (c *Correlated) G2() *G2 {
	data := OpenG2(c.File)
	data.File = filepath.Base(c.File)
	return data
}

// Twotime draws the two-time correlation of the bin with the given number, from 1, and g2 along its
// diagonals.
func (c *Correlated) Twotime(bin int) []*viz.Figure {
	step := fmt.Sprintf("Twotime(%d)", bin)
	r := c.open(step)
	defer r.Close()
	if r.Twotime == nil {
		must(step, errors.New("there is no two-time correlation: compute it by Correlate with nb.Correlating{Twotime: true}"))
	}
	for i, b := range r.Twotime.Bins {
		if b == bin {
			image, curves, err := report.Twotime(r, i)
			must(step, err)
			return []*viz.Figure{image, curves}
		}
	}
	must(step, fmt.Errorf("bin %d has no two-time correlation: choose one of the bins %v", bin, r.Twotime.Bins))
	return nil
}

func (c *Correlated) open(step string) *nexus.Result {
	return value(step, func() (*nexus.Result, error) { return nexus.Open(c.File) })
}

func (c *Correlated) page() *report.Page {
	r := c.open("page")
	defer r.Close()
	return report.Correlation(r, c.Notes, report.Settings{Program: "notebook"})
}

// Report writes what is displayed as an HTML page.
func (c *Correlated) Report(file string) { writePage("Report", file, c.page()) }

// String returns a description of what was correlated, and the notes.
func (c *Correlated) String() string {
	return fmt.Sprintf("%s: %s in %s\n%s", filepath.Base(c.File), errtext.Count(c.Done.Frames, "frame"), errtext.Count(c.Done.Result.QMap.Dynamic.Bins(), "bin"), strings.Join(append(c.Notes, ""), "\n"))
}

// HTML returns the notes and the pictures.
func (c *Correlated) HTML() string {
	return "<p>" + html.EscapeString(filepath.Base(c.File)) + "</p>" + fragment(c.page().Report)
}

// SimpleRender returns text and HTML for the kernel.
func (c *Correlated) SimpleRender() map[string]interface{} { return rendered(c) }
