// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/xpcs"

	sim "github.com/euryale-dev/euryale/sim/xpcs"
)

// geometryFlags are the flags of commands that need to know where the detector stands.
type geometryFlags struct {
	From                    []string
	Shape                   string
	BeamX, BeamY            frame.Quantity
	Pixel, Distance, Energy frame.Quantity
	SwingH, SwingV, Roll    frame.Quantity
	Incidence               frame.Quantity
	Convention, Orientation string
	Reflection              bool
	limit                   *frame.PixelLimit
	given                   func(flag string) bool // whether the user gave a flag
	metas                   []metadataOf           // what the files of --from say that are files of metadata
}

// metadataOf is what a file says about a measurement.
type metadataOf struct {
	file string
	*frames.Metadata
}

// The edges of pixels that detectors have, in m.
const leastPixel, mostPixel = 1e-7, 1e-2

func (f *geometryFlags) add(c *cobra.Command) {
	s := c.Flags()
	f.given = s.Changed
	f.limit = frame.AddPixelLimit(c)
	f.BeamX.Units, f.BeamY.Units = frame.PixelUnits, frame.PixelUnits
	f.Pixel.Units, f.Distance.Units, f.Energy.Units = frame.LengthUnits, frame.LengthUnits, frame.EnergyUnits
	f.SwingH.Units, f.SwingV.Units, f.Roll.Units, f.Incidence.Units = frame.AngleUnits, frame.AngleUnits, frame.AngleUnits, frame.AngleUnits
	s.StringArrayVar(&f.From, "from", nil, "file that supplies whatever the other flags leave out; repeatable, and the first that has a number counts")
	s.StringVar(&f.Shape, "shape", "", "size of the detector as rows x columns, such as 512x1024")
	s.Var(&f.BeamX, "beam-x", "column of the direct beam in pixels")
	s.Var(&f.BeamY, "beam-y", "row of the direct beam in pixels")
	s.Var(&f.Pixel, "pixel-size", "edge length of a pixel, such as 75um")
	s.Var(&f.Distance, "distance", "distance from the sample to the detector")
	s.Var(&f.Energy, "energy", "photon energy")
	s.StringVar(&f.Convention, "convention", sim.Exact, "definition of q: exact (2 k sin theta), sin2theta (k sin 2theta) or viewer (k sin 2theta with hc = 12.398)")
	s.Var(&f.SwingH, "swing-h", "horizontal angle by which the detector is rotated about the sample")
	s.Var(&f.SwingV, "swing-v", "vertical angle by which the detector is rotated about the sample")
	s.Var(&f.Roll, "roll", "angle by which the detector is turned about the beam after the swings; it adds to azimuths")
	s.BoolVar(&f.Reflection, "reflection", false, "treat the measurement as reflection from a surface")
	s.Var(&f.Incidence, "incidence", "angle between the beam and the surface in reflection (default 0.14 deg)")
	s.StringVar(&f.Orientation, "orientation", sim.North, "direction in which the upper edge of the detector points in reflection: north, west, south or east")
	frame.CompleteFlag(c, "convention", []string{sim.Exact, sim.SinTwo, sim.ViewerSin})
	frame.CompleteFlag(c, "orientation", []string{sim.North, sim.West, sim.South, sim.East})
}

// geometry joins the flags and what the file of --from says.
func (f *geometryFlags) geometry() (sim.Geometry, error) {
	g, lacks, err := f.known()
	if err == nil && lacks != nil {
		err = exit.Usage("the geometry lacks %s: give what is missing as flags, or use --from with a file that has it", strings.Join(lacks, ", "))
	}
	return g, err
}

// known returns what the flags and the file of --from say, and the flags of what is missing.
func (f *geometryFlags) known() (g sim.Geometry, lacks []string, err error) {
	if g, err = f.fromFiles(); err != nil {
		return g, nil, err
	}
	if f.Shape != "" {
		if g.Height, g.Width, err = shapeOf("shape", f.Shape); err != nil {
			return g, nil, err
		}
	}
	for _, q := range []struct {
		flag        string
		value       frame.Quantity
		least, most float64 // in the unit of value
		words       string
	}{
		{"pixel-size", f.Pixel, leastPixel, mostPixel, "a length such as 75um, from 0.1um to 1cm"},
		{"distance", f.Distance, 1e-4, 200, "a length such as 5m or 5000mm, from 0.1mm to 200m; a number without a unit is in m"},
		{"energy", f.Energy, 1e-3, 1e3, "a photon energy such as 10keV, from 1eV to 1000keV"},
		{"swing-h", f.SwingH, -math.Pi, math.Pi, "an angle from -180 to 180 degrees"},
		{"swing-v", f.SwingV, -math.Pi, math.Pi, "an angle from -180 to 180 degrees"},
		{"roll", f.Roll, -math.Pi, math.Pi, "an angle from -180 to 180 degrees"},
	} {
		if q.value.Given && !(q.value.Value >= q.least && q.value.Value <= q.most) {
			return g, nil, exit.Usage("--%s is %g %s: want %s%s", q.flag, q.value.Value/q.value.Units[0].Scale, q.value.Units[0].Name, q.words, q.value.Otherwise(q.least, q.most))
		}
	}
	g.CenterCol, g.CenterRow = f.BeamX.Or(g.CenterCol), f.BeamY.Or(g.CenterRow)
	g.PixelSize, g.Distance, g.Energy = f.Pixel.Or(g.PixelSize), f.Distance.Or(g.Distance), f.Energy.Or(g.Energy)
	for _, q := range []struct {
		what, flag, unit  string
		have, least, most float64 // in unit
		given             bool
	}{
		{"pixel size", "pixel-size", "m", g.PixelSize, leastPixel, mostPixel, f.Pixel.Given},
		{"distance", "distance", "m", g.Distance, 1e-4, 200, f.Distance.Given},
		{"photon energy", "energy", "keV", g.Energy, 1e-3, 1e3, f.Energy.Given},
	} {
		if !q.given && !math.IsNaN(q.have) && q.have != 0 && !(q.have >= q.least && q.have <= q.most) {
			return g, nil, exit.With(exit.Data, fmt.Errorf("the %s that %s gives is %.4g %s: want %g to %g: check its unit in the file (wavelengths of PONI files are in m), or give --%s", q.what, strings.Join(f.From, ", "), q.have, q.unit, q.least, q.most, q.flag))
		}
	}
	g.SwingHorizontal, g.SwingVertical = f.SwingH.Or(g.SwingHorizontal), f.SwingV.Or(g.SwingVertical)
	g.Roll = f.Roll.Or(g.Roll)
	if g.Convention == "" || f.given("convention") {
		g.Convention = f.Convention
	}
	if g.Orientation == "" || f.given("orientation") {
		g.Orientation = f.Orientation
	}
	if g.Reflection = g.Reflection || f.Reflection; g.Reflection {
		if g.Incidence = f.Incidence.Or(g.Incidence); g.Incidence == 0 {
			g.Incidence = sim.DefaultIncidence
		}
	}
	return g, lacksOf(g), f.understood(g)
}

// understood returns an error for what the file of --from gives in a way that cannot be used, and no flag replaces.
func (f *geometryFlags) understood(g sim.Geometry) error {
	fault := func(err error, flag string) error {
		return &exit.Error{Code: exit.Data, Err: err, Hint: flag + " gives it in its place"}
	}
	for _, v := range []struct {
		field, flag string
		value       float64
	}{{"BeamX", "--beam-x", g.CenterCol}, {"BeamY", "--beam-y", g.CenterRow}, {"PixelSize", "--pixel-size", g.PixelSize}, {"Distance", "--distance", g.Distance}, {"Energy", "--energy", g.Energy},
		{"SwingHorizontal", "--swing-h", g.SwingHorizontal}, {"SwingVertical", "--swing-v", g.SwingVertical}} {
		for _, m := range f.metas {
			if err := m.FaultOf(v.field); err != nil && math.IsNaN(v.value) {
				return fault(err, v.flag)
			}
		}
	}
	for _, m := range f.metas {
		if m.PixelSize != g.PixelSize {
			continue
		}
		if err := errors.Join(m.FaultOf("PixelHeight"), m.Square()); err != nil {
			return fault(err, "--pixel-size")
		}
	}
	return nil
}

// lacksOf returns the flags of what a geometry does not have.
func lacksOf(g sim.Geometry) (flags []string) {
	for _, v := range []struct {
		flag  string
		value float64
	}{{"--shape", float64(g.Height)}, {"--beam-x", g.CenterCol}, {"--beam-y", g.CenterRow}, {"--pixel-size", g.PixelSize}, {"--distance", g.Distance}, {"--energy", g.Energy}} {
		if beam := strings.HasPrefix(v.flag, "--beam"); math.IsNaN(v.value) || !beam && v.value == 0 {
			flags = append(flags, v.flag)
		}
	}
	return flags
}

// fromFiles returns the geometry of the files of --from, and of the metadata beside them if they lack something; what they do not have
// is NaN or 0.
func (f *geometryFlags) fromFiles() (sim.Geometry, error) {
	f.metas = nil
	g := unknownGeometry()
	files := f.From
	for _, name := range f.From {
		if beside := frames.MetadataBeside(name); beside != "" && !slices.Contains(files, beside) {
			files = append(slices.Clone(files), beside)
		}
	}
	for i, name := range files {
		if i >= len(f.From) && lacksOf(g) == nil {
			break
		}
		more, err := f.fromFile(name)
		if err != nil {
			return g, err
		}
		g = completed(g, more)
	}
	return g, nil
}

func unknownGeometry() sim.Geometry {
	nan := math.NaN()
	return sim.Geometry{CenterRow: nan, CenterCol: nan, PixelSize: nan, Distance: nan, Energy: nan}
}

// completed returns a geometry with what another one has and it lacks. The beam's place goes with the swings and the roll.
func completed(g, more sim.Geometry) sim.Geometry {
	if g.Height == 0 {
		g.Height, g.Width = more.Height, more.Width
	}
	if math.IsNaN(g.CenterRow) && math.IsNaN(g.CenterCol) && g.SwingHorizontal == 0 && g.SwingVertical == 0 && g.Roll == 0 {
		g.SwingHorizontal, g.SwingVertical, g.Roll = more.SwingHorizontal, more.SwingVertical, more.Roll
	}
	for _, v := range []struct{ mine, theirs *float64 }{{&g.CenterRow, &more.CenterRow}, {&g.CenterCol, &more.CenterCol}, {&g.PixelSize, &more.PixelSize}, {&g.Distance, &more.Distance}, {&g.Energy, &more.Energy}} {
		if math.IsNaN(*v.mine) {
			*v.mine = *v.theirs
		}
	}
	if g.Convention == "" {
		g.Convention = more.Convention
	}
	if !g.Reflection && more.Reflection {
		g.Reflection, g.Incidence, g.Orientation = true, more.Incidence, more.Orientation
	}
	return g
}

// fromFile returns the geometry of one file.
func (f *geometryFlags) fromFile(name string) (sim.Geometry, error) {
	g := unknownGeometry()
	if strings.HasSuffix(strings.ToLower(name), ".json") {
		b, err := foreign.ReadFile(name)
		if err == nil {
			g, err = xpcs.ReadGeometry(b)
		}
		return g, exit.Input(err)
	}
	if q, err := nexus.OpenQMap(name); err == nil {
		return sim.Geometry{Height: q.Maps.Height, Width: q.Maps.Width, CenterRow: q.BeamY, CenterCol: q.BeamX, PixelSize: q.PixelSize, Distance: q.Distance, Energy: q.Energy}, nil
	}
	movie, noFrames := frames.Open(name, frames.Settings{MaxPixels: f.limit.Pixels()})
	if noFrames == nil {
		g.Height, g.Width = movie.Height, movie.Width
		movie.Close()
	}
	m, err := frames.ReadMetadataFor(name, f.Pixel.Or(math.NaN()))
	if err != nil {
		if noFrames == nil { // frames of a format that says nothing of the measurement
			return g, nil
		}
		return g, exit.Input(err)
	}
	f.metas = append(f.metas, metadataOf{name, m})
	g.CenterRow, g.CenterCol, g.PixelSize, g.Distance, g.Energy = m.BeamY, m.BeamX, m.PixelSize, m.Distance, m.Energy
	g.SwingHorizontal, g.SwingVertical, g.Roll = m.SwingHorizontal, m.SwingVertical, m.Roll
	if g.Reflection = !math.IsNaN(m.Incidence); g.Reflection {
		g.Incidence = m.Incidence
	}
	if g.Height == 0 {
		g.Height, g.Width = m.Height, m.Width
	}
	if errors.Is(noFrames, data.ErrUnsupported) {
		return g, exit.Input(noFrames)
	}
	return g, nil
}

// origin is a number of the geometry, which a flag may give.
type origin struct {
	flag frame.Quantity
	of   func(m *frames.Metadata) *float64
	none float64 // what says that a file does not have it
}

// origins are the numbers of the geometry.
func (f *geometryFlags) origins() []origin {
	nan := math.NaN()
	return []origin{
		{f.Energy, func(m *frames.Metadata) *float64 { return &m.Energy }, nan},
		{f.Distance, func(m *frames.Metadata) *float64 { return &m.Distance }, nan},
		{f.Pixel, func(m *frames.Metadata) *float64 { return &m.PixelSize }, nan},
		{f.BeamX, func(m *frames.Metadata) *float64 { return &m.BeamX }, nan},
		{f.BeamY, func(m *frames.Metadata) *float64 { return &m.BeamY }, nan},
		{f.SwingH, func(m *frames.Metadata) *float64 { return &m.SwingHorizontal }, 0},
		{f.SwingV, func(m *frames.Metadata) *float64 { return &m.SwingVertical }, 0},
		{f.Incidence, func(m *frames.Metadata) *float64 { return &m.Incidence }, nan},
		{f.Roll, func(m *frames.Metadata) *float64 { return &m.Roll }, 0},
	}
}

// fromFlags returns the numbers of the geometry that flags give, and whether there are some.
func (f *geometryFlags) fromFlags() (m *frames.Metadata, some bool) {
	m = &frames.Metadata{FrameTime: math.NaN()}
	for _, o := range f.origins() {
		*o.of(m) = o.none
		if o.flag.Given {
			*o.of(m), some = o.flag.Value, true
		}
	}
	return m, some
}

// replaced returns what the first file that has them says about the numbers that flags give otherwise, and whether there are some.
func (f *geometryFlags) replaced() (m *frames.Metadata, some bool) {
	m = &frames.Metadata{FrameTime: math.NaN()}
	for _, o := range f.origins() {
		*o.of(m) = o.none
		for _, file := range f.metas {
			if v := *o.of(file.Metadata); o.flag.Given && !math.IsNaN(v) && v != o.none {
				if math.Abs(v-o.flag.Value) > 1e-6*math.Abs(v) {
					*o.of(m), some = v, true
				}
				break
			}
		}
	}
	return m, some
}

// used returns what the geometry has from file i of the files of metadata: what no flag and no file before it gives.
func (f *geometryFlags) used(i int) *frames.Metadata {
	m := *f.metas[i].Metadata
	for _, o := range f.origins() {
		earlier := slices.ContainsFunc(f.metas[:i], func(e metadataOf) bool { return !math.IsNaN(*o.of(e.Metadata)) && *o.of(e.Metadata) != o.none })
		if o.flag.Given || earlier {
			*o.of(&m) = o.none
		}
	}
	if math.IsNaN(m.BeamX) {
		m.ShiftX = 0
	}
	if math.IsNaN(m.BeamY) {
		m.ShiftY = 0
	}
	return &m
}
