package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs"
	sim "github.com/euryale-dev/euryale/sim/xpcs"
)

// qmapFlags are the flags of qmap.
type qmapFlags struct {
	From, Shape                       string
	BeamX, BeamY                      float64
	Pixel, Distance, Energy           quantity
	SwingH, SwingV, Incidence, Offset quantity
	Convention, Orientation           string
	Reflection, Log                   bool
	Mask                              string
	Axes, Dynamic, Static             string
	Fold                              int
	Merge                             string
}

func (a *app) qmap() *cobra.Command {
	var f qmapFlags
	c := &cobra.Command{
		Use:   "qmap OUT.hdf",
		Short: "Make a q map: where pixels look, and their bins",
		Long: `Compute the momentum transfer and azimuth of every pixel of a detector, divide
the pixels into bins, and write a q-map file for euryale correlate and for the
programs of beamline 8-ID.

Geometry comes from flags, and what they leave out from --from: a file of
frames, the metadata beside it, another q map or a result. Lengths are in m
unless they have a unit, energies in keV, angles in degrees. Pixels are counted
from 0; x is the column and y the row of the direct beam, with fractions.

Dynamic bins are for correlations, static ones, which subdivide them, for
intensities. They divide q and the azimuth (--axes q,phi), or any two of q,
phi, qx, qy, x, y, and in reflection qr, qz, alpha_f, tth.

  euryale qmap qmap.hdf --from A003_metadata.hdf --shape 1813x1558
  euryale qmap qmap.hdf --shape 512x512 --beam-x 260 --beam-y 250.5 \
      --pixel-size 75um --distance 5 --energy 10 --mask mask.h5 --dynamic 36x8
  euryale qmap gi.hdf --from raw.h5 --reflection --axes qr,qz --dynamic 40x10
  euryale qmap both.hdf --merge small.hdf,large.hdf
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.runQMap(args[0], f) },
	}
	f.add(c)
	return c
}

func (f *qmapFlags) add(c *cobra.Command) {
	s := c.Flags()
	f.Pixel.units, f.Distance.units, f.Energy.units = lengthUnits, lengthUnits, energyUnits
	f.SwingH.units, f.SwingV.units, f.Incidence.units, f.Offset.units = angleUnits, angleUnits, angleUnits, angleUnits
	s.StringVar(&f.From, "from", "", "file with what the other flags leave out")
	s.StringVar(&f.Shape, "shape", "", "rows x columns of the detector, such as 512x1024")
	s.Float64Var(&f.BeamX, "beam-x", math.NaN(), "column of the direct beam in pixels")
	s.Float64Var(&f.BeamY, "beam-y", math.NaN(), "row of the direct beam in pixels")
	s.Var(&f.Pixel, "pixel-size", "edge of a pixel, such as 75um")
	s.Var(&f.Distance, "distance", "from the sample to the detector")
	s.Var(&f.Energy, "energy", "photon energy")
	s.StringVar(&f.Convention, "convention", sim.Exact, "q: exact (2 k sin theta), sin2theta (k sin 2theta) or viewer (that, with hc = 12.398)")
	s.Var(&f.SwingH, "swing-h", "horizontal angle by which the detector is turned about the sample")
	s.Var(&f.SwingV, "swing-v", "vertical one")
	s.BoolVar(&f.Reflection, "reflection", false, "the beam is reflected from a surface")
	s.Var(&f.Incidence, "incidence", "angle between beam and surface in reflection (default 0.14 deg)")
	s.StringVar(&f.Orientation, "orientation", sim.North, "where the upper edge of the detector points in reflection: north, west, south or east")
	s.StringVar(&f.Mask, "mask", "", "q-map or result file whose mask is used")
	s.StringVar(&f.Axes, "axes", "", "maps that are divided (default q,phi; in reflection qr,qz)")
	s.StringVar(&f.Dynamic, "dynamic", "36x1", "numbers of bins for correlations")
	s.StringVar(&f.Static, "static", "360x1", "numbers of bins for intensities, rounded up to multiples of those")
	s.BoolVar(&f.Log, "log", false, "divide q equally in its logarithm")
	s.Var(&f.Offset, "phi-offset", "added to azimuths before they are divided")
	s.IntVar(&f.Fold, "fold", 0, "fold azimuths onto one of this many equal sectors")
	s.StringVar(&f.Merge, "merge", "", "join these q maps of one detector along their first axis, such as a.hdf,b.hdf")
	complete(c, "convention", []string{sim.Exact, sim.SinTwo, sim.ViewerSin})
	complete(c, "orientation", []string{sim.North, sim.West, sim.South, sim.East})
}

// geometry joins the flags and what the file of --from says.
func (f *qmapFlags) geometry() (sim.Geometry, error) {
	g, err := f.fromFile()
	if err != nil {
		return g, err
	}
	if f.Shape != "" {
		if g.Height, g.Width, err = shapeOf("shape", f.Shape); err != nil {
			return g, err
		}
	}
	or := func(v, other float64) float64 {
		if math.IsNaN(v) {
			return other
		}
		return v
	}
	g.CenterCol, g.CenterRow = or(f.BeamX, g.CenterCol), or(f.BeamY, g.CenterRow)
	g.PixelSize, g.Distance, g.Energy = f.Pixel.or(g.PixelSize), f.Distance.or(g.Distance), f.Energy.or(g.Energy)
	g.Convention, g.Reflection, g.Orientation = f.Convention, f.Reflection, f.Orientation
	g.SwingHorizontal, g.SwingVertical = f.SwingH.value, f.SwingV.value
	if f.Reflection {
		g.Incidence = f.Incidence.or(sim.DefaultIncidence)
	}
	var lacks []string
	for _, v := range []struct {
		flag  string
		value float64
	}{{"--shape", float64(g.Height)}, {"--beam-x", g.CenterCol}, {"--beam-y", g.CenterRow}, {"--pixel-size", g.PixelSize}, {"--distance", g.Distance}, {"--energy", g.Energy}} {
		if beam := strings.HasPrefix(v.flag, "--beam"); math.IsNaN(v.value) || !beam && v.value == 0 {
			lacks = append(lacks, v.flag)
		}
	}
	if lacks != nil {
		return g, usage("the geometry lacks %s: give them, or --from a file that has them", strings.Join(lacks, ", "))
	}
	return g, nil
}

// fromFile returns the geometry of the file of --from; what it does not have is NaN or 0.
func (f *qmapFlags) fromFile() (sim.Geometry, error) {
	nan := math.NaN()
	g := sim.Geometry{CenterRow: nan, CenterCol: nan, PixelSize: nan, Distance: nan, Energy: nan}
	if f.From == "" {
		return g, nil
	}
	if q, err := nexus.OpenQMap(f.From); err == nil {
		return sim.Geometry{Height: q.Maps.Height, Width: q.Maps.Width, CenterRow: q.BeamY, CenterCol: q.BeamX, PixelSize: q.PixelSize, Distance: q.Distance, Energy: q.Energy}, nil
	}
	m, err := frames.ReadMetadata(f.From)
	if err != nil {
		return g, input(err)
	}
	g.CenterRow, g.CenterCol, g.PixelSize, g.Distance, g.Energy = m.BeamY, m.BeamX, m.PixelSize, m.Distance, m.Energy
	if movie, err := frames.Open(f.From, frames.Settings{}); err == nil {
		g.Height, g.Width = movie.Height, movie.Width
		movie.Close()
	}
	return g, nil
}

// setup returns what the flags ask for.
func (f *qmapFlags) setup() (xpcs.Setup, error) {
	s := xpcs.Setup{Log: f.Log, Fold: f.Fold, Offset: f.Offset.value * 180 / math.Pi, Source: f.From}
	var err error
	if s.Geometry, err = f.geometry(); err != nil {
		return s, err
	}
	if f.Axes == "" {
		if f.Axes = "q,phi"; f.Reflection {
			f.Axes = "qr,qz"
		}
	}
	axes := strings.Split(f.Axes, ",")
	var names []string
	for _, ch := range s.Geometry.Channels() {
		names = append(names, ch.Name)
	}
	if len(axes) != 2 || axes[0] == axes[1] {
		return s, usage("--axes %q: want two of %s, such as q,phi", f.Axes, strings.Join(names, ", "))
	}
	for _, name := range axes {
		if !slices.Contains(names, name) {
			return s, usage("%s", oneOf("--axes", name, names))
		}
	}
	s.First, s.Second = axes[0], axes[1]
	for _, v := range []struct {
		flag, text string
		to         *[2]int
	}{{"dynamic", f.Dynamic, &s.Dynamic}, {"static", f.Static, &s.Static}} {
		if v.to[0], v.to[1], err = shapeOf(v.flag, v.text); err != nil {
			return s, usage("--%s %q: want numbers of bins along the two axes, such as 36x1", v.flag, v.text)
		}
	}
	return s, nil
}

// qmapDoc is the JSON document of qmap.
type qmapDoc struct {
	Engine  string            `json:"engine"`
	File    string            `json:"file"`
	Hash    string            `json:"hash"`
	Shape   [2]int            `json:"shape"`
	Kept    int               `json:"pixels_kept"`
	Axes    [2]string         `json:"axes"`
	Units   [2]string         `json:"units"`
	Dynamic int               `json:"dynamic_bins"`
	Static  int               `json:"static_bins"`
	Range   [2]number         `json:"first_axis"` // centres of the first and the last bin
	Values  map[string]number `json:"geometry"`
}

// make returns the q map that the flags ask for.
func (f *qmapFlags) make() (*nexus.QMap, error) {
	if f.Merge != "" {
		return mergeQMaps(f.Merge)
	}
	s, err := f.setup()
	if err != nil {
		return nil, err
	}
	var mask []bool
	if f.Mask != "" {
		if mask, err = readMask(f.Mask, s.Geometry.Height, s.Geometry.Width); err != nil {
			return nil, err
		}
	}
	q, err := s.Map(mask)
	if err != nil {
		return nil, as(exitData, err)
	}
	if len(q.Dynamic.Cells) == 0 {
		return nil, as(exitData, fmt.Errorf("the mask %s keeps no pixel: no bin would have any", f.Mask))
	}
	return q, nil
}

func (a *app) runQMap(out string, f qmapFlags) error {
	q, err := f.make()
	if err != nil {
		return err
	}
	if _, err := os.Stat(out); err == nil && !a.overwrite {
		return as(exitCannotWrite, fmt.Errorf("%s exists: name another file, or replace it with --overwrite", out))
	}
	if err := nexus.WriteQMap(out, q); err != nil {
		return as(exitCannotWrite, err)
	}
	doc := newQMapDoc(out, q)
	if a.json {
		return a.document(doc)
	}
	fmt.Fprintf(a.stdout, "%s: %d x %d pixels, %d kept, in %d dynamic and %d static bins\n%s from %.4g to %.4g %s (centres of bins)\n", out, doc.Shape[0], doc.Shape[1],
		doc.Kept, doc.Dynamic, doc.Static, doc.Axes[0], float64(doc.Range[0]), float64(doc.Range[1]), doc.Units[0])
	return nil
}

func newQMapDoc(file string, q *nexus.QMap) qmapDoc {
	d := qmapDoc{Engine: "xpcs", File: file, Hash: q.Hash, Shape: [2]int{q.Maps.Height, q.Maps.Width}, Axes: [2]string(q.Names), Units: [2]string(q.Units),
		Dynamic: q.Dynamic.Bins(), Static: q.Static.Bins(), Values: map[string]number{"beam_x": number(q.BeamX), "beam_y": number(q.BeamY),
			"pixel_size": number(q.PixelSize), "distance": number(q.Distance), "energy": number(q.Energy)}}
	for _, keep := range q.Maps.Mask {
		if keep {
			d.Kept++
		}
	}
	first, _ := q.Dynamic.Values(1)
	last, _ := q.Dynamic.Values(q.Dynamic.Bins())
	d.Range = [2]number{number(first), number(last)}
	return d
}
