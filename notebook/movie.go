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
	"github.com/euryale-dev/euryale/models/xpcs"
	"github.com/euryale-dev/euryale/report"
	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/viz"
)

// Movie is the frames of a detector and the bins of its pixels. It displays itself as what is known of the measurement.
type Movie struct {
	File          string
	Frames        int
	Height, Width int             // pixels of a frame
	Metadata      frames.Metadata // what the file says; set here what it does not say, or says wrongly
	Map           *nexus.QMap     // the bins of the pixels, from ReadMap or MakeMap

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

// OpenMovie opens a file of frames: HDF5, IMM, an event list of Rigaku's detectors, NPY, or raw
// numbers, which need frames.Settings that say their shape and type.
func OpenMovie(file string, settings ...frames.Settings) *Movie {
	step := "OpenMovie " + file
	m := &Movie{File: file}
	switch len(settings) {
	case 0:
	case 1:
		m.settings = settings[0]
	default:
		must(step, fmt.Errorf("%d sets of settings: want one", len(settings)))
	}
	f := value(step, func() (*frames.File, error) { return frames.Open(file, m.settings) })
	defer f.Close()
	m.Frames, m.Height, m.Width, m.Metadata = f.Frames, f.Height, f.Width, *f.Metadata()
	if f.Lost != nil {
		remark(f.Lost.Error())
	}
	return m
}

// DemoMovie returns the frames of the demonstration with their q map: 2000 simulated frames of speckles
// from diffusing particles, behind a beam stop.
func DemoMovie() *Movie {
	f := newFolder("DemoMovie")
	must("DemoMovie", demo.Particles(0).Write(f.name))
	m := OpenMovie(filepath.Join(f.name, "movie.h5")).ReadMap(filepath.Join(f.name, "qmap.hdf"))
	m.folder = f
	return m
}

// ReadMap returns the movie with the bins of a q-map file, or of a result file that has one.
func (m *Movie) ReadMap(file string) *Movie {
	other := *m
	other.Map = value("ReadMap "+file, func() (*nexus.QMap, error) { return nexus.OpenQMap(file) })
	return &other
}

// Geometry returns where the detector stands, as far as the metadata say it; what they do not say is NaN.
func (m *Movie) Geometry() sim.Geometry {
	d := m.Metadata
	return sim.Geometry{Height: m.Height, Width: m.Width, CenterRow: d.BeamY, CenterCol: d.BeamX, PixelSize: d.PixelSize, Distance: d.Distance, Energy: d.Energy}
}

// MakeMap returns the movie with the pixels that mask keeps (row-major, true for those kept; nil keeps
// all) divided into bins. The geometry of the setup is that of the metadata where it has no shape.
func (m *Movie) MakeMap(mask []bool, setup xpcs.Setup) *Movie {
	if setup.Geometry.Height == 0 {
		setup.Geometry = m.Geometry()
	}
	other := *m
	other.Map = value("MakeMap", func() (*nexus.QMap, error) { return setup.Map(mask) })
	return &other
}

// WriteMap writes the bins of the pixels as a q-map file, which viewers open.
func (m *Movie) WriteMap(file string) {
	m.hasMap("WriteMap")
	must("WriteMap "+file, nexus.WriteQMap(file, m.Map))
}

func (m *Movie) hasMap(step string) {
	if m.Map == nil {
		must(step, errors.New("the movie has no q map: movie.ReadMap(file) is the movie with one, and MakeMap makes one"))
	}
}

// Bins draws which bin each pixel belongs to.
func (m *Movie) Bins() *viz.Figure {
	m.hasMap("Bins")
	return value("Bins", func() (*viz.Figure, error) { return report.Partition(m.Map) })
}

// Correlating is how frames are correlated. The zero value computes g2 of all frames by the multi-tau
// method.
type Correlating struct {
	First, Last     int   // first frame, from 0, and the frame after the last; 0 for all, negative counts from the end
	Stride, Average int   // distance of the frames that are used, and how many of them are averaged into one. Default 1
	Twotime         bool  // whether to compute the two-time correlation as well
	Bins            []int // bins of the two-time correlation, from 1. Default all
	Parts           int   // number of g2 of first parts of the frames, which show whether it is stable
	Pixels          bool  // whether the file keeps the correlation of every pixel
	Absolute        bool  // whether frames are not divided by their means over the bins

	Skip      []int   // bad frames
	Low, High float64 // limits of the mean of a good frame in counts per pixel. Default any
}

// Correlate correlates the frames and writes a result file, which replaces one of that name. Without a
// name the file is temporary, and there for as long as the value that Correlate returns. Frames
// that are bad are replaced by others, and the result says which. An interrupt leaves no file.
func (m *Movie) Correlate(out string, how ...Correlating) *Correlated {
	step := "Correlate " + m.File
	var h Correlating
	switch len(how) {
	case 0:
	case 1:
		h = how[0]
	default:
		must(step, fmt.Errorf("%d sets of options: want one", len(how)))
	}
	m.hasMap(step)
	if !(m.Metadata.FrameTime > 0) {
		must(step, errors.New("the file does not say the time from frame to frame: set movie.Metadata.FrameTime, in s"))
	}
	f := value(step, func() (*frames.File, error) { return frames.Open(m.File, m.settings) })
	defer f.Close()
	ctx, end := interruptible()
	defer end()
	job := xpcs.Job{Frames: f, Map: m.Map, FrameTime: m.Metadata.FrameTime, CountTime: m.Metadata.CountTime, Start: m.Metadata.Start,
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

// String is what is known of the measurement.
func (m *Movie) String() string {
	var b strings.Builder
	m.facts(func(name, text string) { fmt.Fprintf(&b, "%-12s %s\n", name, text) })
	return b.String()
}

// HTML is what is known of the measurement, as a table, and the bins of the pixels.
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
	row("q map", fmt.Sprintf("%d bins for correlations, %d for intensities", m.Map.Dynamic.Bins(), m.Map.Static.Bins()))
}

// SimpleRender returns text and HTML for the kernel.
func (m *Movie) SimpleRender() map[string]interface{} { return rendered(m) }

// Correlated is a result file that Correlate wrote. It displays itself as the curves and images that it
// holds, and what was found while the frames were read.
type Correlated struct {
	File  string
	Notes []string // what was found, a sentence each
	Done  *xpcs.Done

	folder *folder
}

// G2 returns the correlation functions, to fit and to sample, with the covariance of their points.
func (c *Correlated) G2() *G2 {
	data := OpenG2(c.File)
	data.File = filepath.Base(c.File)
	return data
}

// Twotime draws the two-time correlation of a bin, from 1, and g2 along its diagonals.
func (c *Correlated) Twotime(bin int) []*viz.Figure {
	step := fmt.Sprintf("Twotime(%d)", bin)
	r := c.open(step)
	defer r.Close()
	if r.Twotime == nil {
		must(step, errors.New("there is no two-time correlation: Correlate with nb.Correlating{Twotime: true} computes it"))
	}
	for i, b := range r.Twotime.Bins {
		if b == bin {
			image, curves, err := report.Twotime(r, i)
			must(step, err)
			return []*viz.Figure{image, curves}
		}
	}
	must(step, fmt.Errorf("the two-time correlation is of the bins %v", r.Twotime.Bins))
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

// Report writes what is displayed as a page of HTML.
func (c *Correlated) Report(file string) { writePage("Report", file, c.page()) }

// String says what was correlated, and what was found.
func (c *Correlated) String() string {
	return fmt.Sprintf("%s: %d frames in %d bins\n%s", filepath.Base(c.File), c.Done.Frames, c.Done.Result.QMap.Dynamic.Bins(), strings.Join(append(c.Notes, ""), "\n"))
}

// HTML is the notes and the pictures.
func (c *Correlated) HTML() string {
	return "<p>" + html.EscapeString(filepath.Base(c.File)) + "</p>" + fragment(c.page().Report)
}

// SimpleRender returns text and HTML for the kernel.
func (c *Correlated) SimpleRender() map[string]interface{} { return rendered(c) }
