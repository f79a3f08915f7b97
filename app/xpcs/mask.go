// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/xpcs"

	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// maskFlags are the flags of mask.
type maskFlags struct {
	geometryFlags
	imageFlags
	binFlags
	*maskSteps
	Image, Edit        string
	Blemish            string
	Recipe, SaveRecipe string
	Listen, QMap       string
	Allow              []string
	flags              *pflag.FlagSet
}

func maskCommand(a *frame.App) *cobra.Command {
	f := maskFlags{maskSteps: &maskSteps{}}
	c := &cobra.Command{
		Use:   "mask OUT",
		Short: "Make the mask of a detector with flags or in the browser",
		Long: `Make a mask and write it as HDF5, TIFF or NPY, depending on the extension of
OUT. Each step is a flag, steps are applied in the order given, and every step
masks more pixels. Rows and columns are counted from 0 and refer to pixel
centres.

--image is a result file, a picture, or frames, which are averaged. Ranges of q
and of other maps need a geometry, from --from or from the flags that qmap has.
--save-recipe writes the steps to a file; --recipe repeats them, before any
other steps.

With --edit FILE you draw the mask in the browser. The address of the page is
printed, and only this machine can open it. As you make them, the steps are
saved (mask.h5.recipe.json for OUT mask.h5), and so is the geometry
(mask.h5.geometry.json), and --edit continues from there.

  euryale mask mask.h5 --image raw.h5 --threshold :1e5 --circle 250,260,12
  euryale mask mask.tif --image raw.h5 --from raw.h5 --outliers mad:8 \
      --parameter 'q>=0.002 & q<0.01' --save-recipe recipe.json
  euryale mask mask.h5 --edit raw.h5 --from raw.h5
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("list") {
				if err := frame.Ignored(c, "--list", "list-from-one", "list-row-first"); err != nil {
					return err
				}
			}
			return runMask(c.Context(), a, args[0], f)
		},
	}
	f.geometryFlags.add(c)
	f.imageFlags.add(c)
	f.binFlags.add(c)
	f.maskSteps.add(c)
	s := c.Flags()
	f.flags = s
	s.StringVar(&f.Image, "image", "", "file with the image: a result, HDF5, TIFF, EDF, CBF, NPY, NPZ, text, or frames")
	s.StringVar(&f.Blemish, "blemish", "", "mask file of defective pixels, applied before all steps")
	s.StringVar(&f.Recipe, "recipe", "", "JSON file with steps to apply first")
	s.StringVar(&f.SaveRecipe, "save-recipe", "", "write the steps to this JSON file")
	s.StringVar(&f.Edit, "edit", "", "edit the mask in the browser, over the image in this file")
	s.StringVar(&f.Listen, "listen", "127.0.0.1:0", "address of the page, which only this machine can reach; port 0 picks a free port")
	s.StringVar(&f.QMap, "qmap", "", "q-map file for the page to write (default mask-qmap.hdf for OUT mask.h5)")
	s.StringSliceVar(&f.Allow, "allow-file", nil, "mask file that the page or a recipe may read; repeatable")
	return c
}

// known files are those that steps may read.
func (f *maskFlags) known() []string {
	return append(slices.Clone(f.maskSteps.files), f.Allow...)
}

// canvas reads the image and the geometry.
func (f *maskFlags) canvas(file string) (*maskfile.Image, sim.Geometry, error) {
	g, _, err := f.geometryFlags.known()
	if err != nil {
		return nil, g, err
	}
	image := &maskfile.Image{Height: g.Height, Width: g.Width}
	if file != "" {
		if image, err = f.imageFlags.read(file, f.Shape); err != nil {
			return nil, g, err
		}
		if image.Height*image.Width > largeImage {
			debug.SetGCPercent(25) // masks of steps are small beside the image, whose size would else be allowed for them, too
			debug.FreeOSMemory()   // what reading took
		}
		return image, g, fitShape(&g, image, file)
	}
	if g.Height == 0 {
		return nil, g, exit.Usage("mask needs the size of the detector: give --image with a file, --shape such as 512x1024, or --from with a file that has it")
	}
	return image, g, nil
}

// largeImage is the number of pixels from which on mask saves memory at the cost of some time.
const largeImage = 1 << 24

// source returns what steps make masks from.
func (f *maskFlags) source(image *maskfile.Image, g sim.Geometry) (mask.Source, error) {
	s := mask.Source{Height: image.Height, Width: image.Width, Image: image.Values, Compact: image.Compact, Open: f.openOf(image.Height, image.Width)}
	if lacksOf(g) != nil {
		return s, nil
	}
	m, err := g.QMap()
	if err != nil {
		return s, exit.With(exit.Data, err)
	}
	s.Maps = map[string][]float64{}
	for i, ch := range m.Channels {
		s.Maps[ch.Name] = m.Values[i]
	}
	return s, nil
}

// openOf returns a function that reads the mask files that the command line names, and no others.
func (f *maskFlags) openOf(height, width int) func(string) (*mask.Mask, error) {
	return func(name string) (*mask.Mask, error) {
		if name != f.Blemish && !slices.Contains(f.known(), name) {
			return nil, exit.Usage("the recipe reads the file %q: allow this with --allow-file %s", name, name)
		}
		keep, err := readMask(name, f.Dataset, height, width)
		return &mask.Mask{Height: height, Width: width, Keep: keep}, err
	}
}

// history returns the history of a recipe, if there is one, and the steps of the command line.
func (f *maskFlags) history(a *frame.App, file string, src mask.Source, g sim.Geometry) (*mask.History, error) {
	h, err := f.begun(file, src)
	if err != nil {
		return nil, err
	}
	steps, err := f.finish(src.Maps["q"] != nil)
	if err != nil {
		return nil, err
	}
	for k, s := range withUnits(steps, g) {
		if s.Constraints != nil && src.Maps == nil {
			return nil, exit.Usage("--parameter needs a geometry, which lacks %s: give what is missing as flags, or use --from with a file that has it", strings.Join(lacksOf(g), ", "))
		}
		if (s.Threshold != nil || s.Outliers != nil) && src.Image == nil && src.Compact == nil {
			return nil, exit.Usage("--%s needs an image: name its file with --image", s.Kind())
		}
		release(src)
		var regions []mask.Region
		var err error
		if s.Outliers != nil {
			_, regions, err = h.Preview(s)
		}
		changed := false
		if err == nil {
			changed, err = h.Apply(s)
		}
		if err != nil {
			return nil, exit.With(exit.Data, fmt.Errorf("step %d, %s: %w", k+1, s.Kind(), err))
		}
		if n := countingIn(regions); n > 0 {
			kind := "ring"
			if s.Outliers.Tile > 0 {
				kind = "tile"
			}
			a.Note("--outliers: in %d of %s at least half of the pixels are equal, so that their spread is 0; that of counting statistics was used there", n, errtext.Count(len(regions), kind))
		}
		if !changed {
			a.Note("step %d, %s, masks no pixel that the steps before keep", k+1, s.Kind())
		}
	}
	return h, nil
}

// release gives back the memory of masks that steps needed, if the image is large.
func release(src mask.Source) {
	if src.Height*src.Width > largeImage {
		debug.FreeOSMemory()
	}
}

// countingIn counts the regions of outliers whose spread is that of counting statistics.
func countingIn(regions []mask.Region) (n int) {
	for _, r := range regions {
		if r.Counting {
			n++
		}
	}
	return n
}

// begun returns the history of a recipe, or an empty one.
func (f *maskFlags) begun(file string, src mask.Source) (*mask.History, error) {
	if file == "" {
		h, err := mask.NewHistory(src, f.Blemish)
		return h, exit.With(exit.Data, err)
	}
	b, err := foreign.ReadFile(file, ".json")
	if err != nil {
		return nil, exit.Input(err)
	}
	r, err := mask.ReadRecipe(b)
	if err == nil && f.Blemish != "" && r.Blemish != f.Blemish {
		err = exit.Usage("the recipe %s already begins with the blemish file %q: leave out --blemish %s", file, r.Blemish, f.Blemish)
	}
	if err != nil {
		return nil, exit.With(exit.Data, err)
	}
	h, err := mask.Restore(r, src)
	return h, exit.With(exit.Data, err)
}

// maskDoc is the JSON document of mask.
type maskDoc struct {
	Device string      `json:"device"` // where it was computed: see docs/guide/gpu.md
	Engine string      `json:"engine"`
	File   string      `json:"file"`
	Image  string      `json:"image,omitempty"`
	Shape  [2]int      `json:"shape"`
	Kept   int         `json:"pixels_kept"`
	Steps  []mask.Step `json:"steps"`
	Recipe string      `json:"recipe,omitempty"`
	QMap   string      `json:"qmap,omitempty"`
}

func runMask(ctx context.Context, a *frame.App, out string, f maskFlags) error {
	if f.Edit != "" {
		return runMaskPage(ctx, a, out, f)
	}
	for _, name := range []string{out, f.SaveRecipe} {
		if name == "" {
			continue
		}
		if err := a.MayWrite(name, "file", a.Overwrite); err != nil {
			return err
		}
	}
	for _, name := range []string{"listen", "qmap", "dynamic", "static", "axes", "log", "fold", "phi-offset"} {
		if f.flags.Changed(name) {
			return exit.Usage("--%s is for the q map on the page of --edit: leave it out, or give --edit FILE; euryale qmap divides a detector into bins", name)
		}
	}
	f.imageFlags.compact = true
	image, g, err := f.canvas(f.Image)
	if err != nil {
		return err
	}
	src, err := f.source(image, g)
	src.Backend = a.Backend(a.Threads)
	if err != nil {
		return err
	}
	h, err := f.history(a, f.Recipe, src, g)
	if err != nil {
		return err
	}
	release(src)
	m, r := h.Mask(), h.Recipe()
	if n := withoutNumber(src.Image) + withoutNumber(src.Compact); n > 0 {
		a.Note("%s: masked %s without a valid number", f.Image, errtext.Count(n, "pixel"))
	}
	lowest, highest, counted := countsOf(src)
	h, src, image = nil, mask.Source{}, nil // memory for writing
	if m.Height*m.Width > largeImage {
		debug.FreeOSMemory()
	}
	if m.Count() == 0 {
		told := ""
		if counted {
			told = fmt.Sprintf(" (the image of %s goes from %.4g to %.4g, and --threshold LOW:HIGH keeps what lies between)", f.Image, lowest, highest)
		}
		a.Note("the mask keeps no pixel: leave out steps to find the one that masks too much, and check its limits%s", told)
	}
	if err := writeMask(out, m, a.Overwrite); err != nil {
		return err
	}
	if f.SaveRecipe != "" {
		if err := writeRecipe(f.SaveRecipe, r); err != nil {
			return err
		}
	}
	return maskDone(a, maskDoc{Engine: "xpcs", File: out, Image: f.Image, Shape: [2]int{m.Height, m.Width}, Kept: m.Count(), Steps: r.Steps, Recipe: f.SaveRecipe})
}

// withoutNumber counts the pixels that are no number.
func withoutNumber[F float32 | float64](image []F) (n int) {
	for _, v := range image {
		if v != v {
			n++
		}
	}
	return n
}

func maskDone(a *frame.App, d maskDoc) error {
	if a.JSON {
		d.Device = a.Where()
		return a.Document(d)
	}
	all := d.Shape[0] * d.Shape[1]
	_, err := fmt.Fprintf(a.Stdout, "%s: %d x %d pixels, %d masked (%.3g %%) in %s\n", d.File, d.Shape[0], d.Shape[1], all-d.Kept, 100*float64(all-d.Kept)/float64(all), errtext.Count(len(d.Steps), "step"))
	return exit.With(exit.CannotWrite, err)
}

func writeMask(name string, m *mask.Mask, replace bool) error {
	return exit.With(exit.CannotWrite, maskfile.Write(name, &maskfile.Mask{Height: m.Height, Width: m.Width, Keep: m.Keep}, replace))
}

func writeRecipe(name string, r mask.Recipe) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return exit.With(exit.Bug, err)
	}
	return frame.WriteFile(name, append(b, '\n'))
}

func writeSetup(name string, s xpcs.Setup) error {
	var b bytes.Buffer
	if err := xpcs.WriteSetup(&b, s); err != nil {
		return exit.With(exit.Failed, err)
	}
	return frame.WriteFile(name, b.Bytes())
}

// there reports whether a file exists.
func there(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// countsOf is the range of the numbers of an image, if there is one.
func countsOf(src mask.Source) (lowest, highest float64, ok bool) {
	lowest, highest = math.Inf(1), math.Inf(-1)
	take := func(v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			lowest, highest = min(lowest, v), max(highest, v)
		}
	}
	for _, v := range src.Image {
		take(v)
	}
	for _, v := range src.Compact {
		take(float64(v))
	}
	return lowest, highest, lowest <= highest
}
