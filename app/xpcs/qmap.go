// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/xpcs"

	sim "github.com/euryale-dev/euryale/sim/xpcs"
)

// qmapFlags are the flags of qmap.
type qmapFlags struct {
	geometryFlags
	binFlags
	Mask, Merge string
	Dataset     string // of the mask
	bad         int    // number of pixels that do not work by the file of --from
}

// usualBins are the numbers of dynamic bins unless others are given.
const usualBins = "36x1"

// binFlags are the flags of commands that divide the pixels into bins.
type binFlags struct {
	Axes, Dynamic, Static string
	Log                   bool
	Offset                frame.Quantity
	Fold                  int
}

func qmapCommand(a *frame.App) *cobra.Command {
	var f qmapFlags
	c := &cobra.Command{
		Use:   "qmap OUT.hdf",
		Short: "Make a q map: the momentum transfer and the bin of each pixel",
		Long: `Compute the momentum transfer and the azimuth of every pixel of a detector,
divide the pixels into bins, and write a q-map file for euryale correlate and
for the programs of beamline 8-ID.

The geometry comes from flags. Whatever they leave out comes from --from: a file
of frames, its metadata file (NAME_metadata.hdf beside the frames is found),
another q map, a result, the JSON file that euryale fit geometry writes, or a
geometry of pyFAI (.poni). --from can be given several times, such as once for
the frames, which have the shape, and once for the geometry.

Lengths are in m unless they have a unit, energies in keV and angles in degrees.
Pixels are counted from 0; x is the column and y the row of the direct beam, and
both can be fractions. Pixels that the detector itself marks as bad (pixel_mask
in the file of --from) are masked.

Dynamic bins are used for correlations. Static bins subdivide them and are used
for intensities. Bins divide q and the azimuth (--axes q,phi), or any two of q,
phi, qx, qy, x and y; in reflection also qr, qz, alpha_f (exit angle) and tth
(2 theta). The azimuth phi is 0 to the right, along the rows, and 90 degrees
upwards.

  euryale qmap qmap.hdf --from A003_metadata.hdf --shape 1813x1558
  euryale qmap qmap.hdf --shape 512x512 --beam-x 260 --beam-y 250.5 \
      --pixel-size 75um --distance 5 --energy 10 --mask mask.h5 --dynamic 36x8
  euryale qmap gi.hdf --from raw.h5 --reflection --axes qr,qz --dynamic 40x10
  euryale qmap both.hdf --merge small.hdf,large.hdf
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !f.Reflection && len(f.From) == 0 { // a file may be of a reflection
				if err := frame.Ignored(c, "--reflection", "incidence", "orientation"); err != nil {
					return err
				}
			}
			return runQMap(a, args[0], f)
		},
	}
	f.add(c)
	return c
}

func (f *qmapFlags) add(c *cobra.Command) {
	f.geometryFlags.add(c)
	f.binFlags.add(c)
	c.Flags().StringVar(&f.Merge, "merge", "", "q maps of the same detector to join along their first axis, such as a.hdf,b.hdf")
	c.Flags().StringVar(&f.Mask, "mask", "", "file with the mask to use: HDF5, TIFF, NPY, NPZ or text, in which pixels above 0 are good, EDF or CBF, in which 0 is good, a list of bad pixels, a q map or a result")
	c.Flags().StringVar(&f.Dataset, "dataset", "", "path of the mask in HDF5 or NPZ files (default: the usual places)")
}

func (f *binFlags) add(c *cobra.Command) {
	s := c.Flags()
	f.Offset.Units = frame.AngleUnits
	s.StringVar(&f.Axes, "axes", "", "two maps to divide into bins (default q,phi; in reflection qr,qz)")
	s.StringVar(&f.Dynamic, "dynamic", usualBins, "numbers of bins for correlations (dynamic bins) along the two axes")
	s.StringVar(&f.Static, "static", "360x1", "numbers of bins for intensities (static bins), rounded up to multiples of the dynamic ones")
	s.BoolVar(&f.Log, "log", false, "space the bins of q evenly in its logarithm")
	s.Var(&f.Offset, "phi-offset", "angle to add to azimuths before dividing them into bins")
	s.IntVar(&f.Fold, "fold", 0, "fold azimuths onto the first of this many equal sectors")
}

// setup returns what the flags ask for.
func (f *qmapFlags) setup() (xpcs.Setup, error) {
	g, err := f.geometry()
	if err != nil {
		return xpcs.Setup{}, err
	}
	return f.binFlags.setup(g, strings.Join(f.From, ", "))
}

// setup returns what the flags ask for, with a geometry that is made for the file source.
func (f *binFlags) setup(g sim.Geometry, source string) (xpcs.Setup, error) {
	s := xpcs.Setup{Geometry: g, Log: f.Log, Fold: f.Fold, Offset: f.Offset.Value * 180 / math.Pi, Source: source}
	var err error
	text := f.Axes
	if text == "" {
		if text = "q,phi"; g.Reflection {
			text = "qr,qz"
		}
	}
	axes := strings.Split(text, ",")
	var names []string
	for _, ch := range s.Geometry.Channels() {
		names = append(names, ch.Name)
	}
	if len(axes) != 2 || axes[0] == axes[1] {
		return s, exit.Usage("--axes %q: want two of %s, such as q,phi", text, strings.Join(names, ", "))
	}
	for _, name := range axes {
		if !slices.Contains(names, name) {
			return s, exit.Usage("--axes %s", setting.Unknown(name, names))
		}
	}
	s.First, s.Second = axes[0], axes[1]
	for _, v := range []struct {
		flag, NumberText string
		to               *[2]int
	}{{"dynamic", f.Dynamic, &s.Dynamic}, {"static", f.Static, &s.Static}} {
		if n, bad := strconv.Atoi(v.NumberText); bad == nil { // along the first axis alone
			v.NumberText = fmt.Sprintf("%dx1", n)
		}
		if v.to[0], v.to[1], err = shapeOf(v.flag, v.NumberText); err != nil {
			return s, exit.Usage("--%s %q: want numbers of bins along the two axes, such as 36x4, or along the first alone, such as 36", v.flag, v.NumberText)
		}
	}
	return s, nil
}

// qmapDoc is the JSON document of qmap.
type qmapDoc struct {
	Device  string                  `json:"device"` // where it was computed: see docs/guide/gpu.md
	Engine  string                  `json:"engine"`
	File    string                  `json:"file"`
	Hash    string                  `json:"hash"`
	Shape   [2]int                  `json:"shape"`
	Kept    int                     `json:"pixels_kept"`
	Axes    [2]string               `json:"axes"`
	Units   [2]string               `json:"units"`
	Dynamic int                     `json:"dynamic_bins"`
	Static  int                     `json:"static_bins"`
	Range   [2]frame.Number         `json:"first_axis"` // means over the pixels of the first and the last bin
	Values  map[string]frame.Number `json:"geometry"`
}

// make returns the q map that the flags ask for.
func (f *qmapFlags) make(b ad.Backend) (*nexus.QMap, error) {
	if f.Merge != "" {
		return mergeQMaps(f.Merge)
	}
	s, err := f.setup()
	s.Backend = b
	if err != nil {
		return nil, err
	}
	var mask []bool
	if f.Mask != "" {
		if mask, err = readMask(f.Mask, f.Dataset, s.Geometry.Height, s.Geometry.Width); err != nil {
			return nil, err
		}
	}
	works, err := f.detectorMask(s.Geometry.Height, s.Geometry.Width)
	if err != nil {
		return nil, err
	}
	q, err := s.Map(both(mask, works))
	if err != nil {
		return nil, exit.With(exit.Data, err)
	}
	if len(q.Dynamic.Cells) == 0 {
		switch {
		case f.Mask != "":
			return nil, exit.With(exit.Data, fmt.Errorf("the mask %s keeps no pixel, so every bin would be empty: use another mask", f.Mask))
		case f.bad > 0:
			return nil, exit.With(exit.Data, fmt.Errorf("all pixels of the detector in %s are marked as bad, so every bin would be empty", strings.Join(f.From, ", ")))
		}
		return nil, exit.With(exit.Data, errors.New("no pixel has a finite q in this geometry: correct the beam centre, distance, pixel size and energy"))
	}
	return q, nil
}

// detectorMask returns which pixels work by the files of --from, or nil if they do not say so.
func (f *qmapFlags) detectorMask(height, width int) (works []bool, err error) {
	f.bad = 0
	for _, name := range f.From {
		m, err := maskfile.ReadPixelMask(name, maskfile.Settings{Height: height, Width: width, MaxPixels: max(maskfile.MostPixels, height*width)})
		if err != nil {
			return nil, exit.Input(err)
		}
		if m != nil {
			works = both(works, m.Keep)
		}
	}
	for _, w := range works {
		if !w {
			f.bad++
		}
	}
	return works, nil
}

// both returns the pixels that two masks keep, each of which may be nil and keeps all then.
func both(a, b []bool) []bool {
	if a == nil || b == nil {
		return slices.Concat(a, b)
	}
	out := make([]bool, len(a))
	for i := range out {
		out[i] = a[i] && b[i]
	}
	return out
}

func runQMap(a *frame.App, out string, f qmapFlags) error {
	if err := a.MayWrite(out, "file", a.Overwrite); err != nil {
		return err
	}
	q, err := f.make(a.Backend(a.Threads))
	if err != nil {
		return err
	}
	if given, some := f.fromFlags(); some && len(f.metas) > 0 {
		a.Note("given by flags: %s", given)
		if instead, other := f.replaced(); other {
			a.Note("in place of what files say: %s", instead)
		}
	}
	for i, m := range f.metas {
		a.Note("read from %s: %s", m.file, f.used(i))
		for _, fault := range m.Faults { // what a flag replaces, or a q map does not need
			a.Note("left out: %v", fault.Err)
		}
	}
	if err := nexus.WriteQMap(out, q); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if f.bad > 0 {
		a.Note("%s: masked %s that the detector's own mask marks as bad", strings.Join(f.From, ", "), errtext.Count(f.bad, "pixel"))
	}
	noteFewPixels(a, q.Maps.Mask)
	doc := newQMapDoc(out, q)
	if a.JSON {
		doc.Device = a.Where()
		return a.Document(doc)
	}
	fmt.Fprintf(a.Stdout, "%s: %d x %d pixels, %d kept (%.3g %%), in %d dynamic and %d static bins\n%s from %.4g to %.4g %s (means over the pixels of bins)\n", out, doc.Shape[0], doc.Shape[1],
		doc.Kept, 100*float64(doc.Kept)/float64(doc.Shape[0]*doc.Shape[1]), doc.Dynamic, doc.Static, doc.Axes[0], float64(doc.Range[0]), float64(doc.Range[1]), doc.Units[0])
	return nil
}

// fewPixels is the share of the pixels below which a mask may be inverted.
const fewPixels = 0.02

// noteFewPixels notes a mask (true for kept pixels) that keeps so few pixels that it may be inverted.
func noteFewPixels(a *frame.App, mask []bool) {
	kept := 0
	for _, keep := range mask {
		if keep {
			kept++
		}
	}
	if share := float64(kept) / float64(len(mask)); share < fewPixels {
		a.Note("the mask keeps %d of %d pixels (%.2g %%): is it inverted?", kept, len(mask), 100*share)
	}
}

func newQMapDoc(file string, q *nexus.QMap) qmapDoc {
	d := qmapDoc{Engine: "xpcs", File: file, Hash: q.Hash, Shape: [2]int{q.Maps.Height, q.Maps.Width}, Axes: [2]string(q.Names), Units: [2]string(q.Units),
		Dynamic: q.Dynamic.Bins(), Static: q.Static.Bins(), Values: map[string]frame.Number{"beam_x": frame.Number(q.BeamX), "beam_y": frame.Number(q.BeamY),
			"pixel_size": frame.Number(q.PixelSize), "distance": frame.Number(q.Distance), "energy": frame.Number(q.Energy)}}
	for _, keep := range q.Maps.Mask {
		if keep {
			d.Kept++
		}
	}
	d.Range = [2]frame.Number{frame.Number(q.Q(1)), frame.Number(q.Q(q.Dynamic.Bins()))}
	return d
}
