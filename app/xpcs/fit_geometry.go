// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/geometry"
	"github.com/euryale-dev/euryale/models/xpcs"
	"github.com/euryale-dev/euryale/report"

	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// calibrateFlags are the flags of fit geometry.
type calibrateFlags struct {
	geometryFlags
	imageFlags
	Rings      string
	Free       []string
	Mask       string
	KeepCenter bool
	Within     float64
}

// freeNames are the parameters that --free takes.
var freeNames = []string{"center", "distance", "energy", "swing_h", "swing_v"}

func fitGeometry(a *frame.App) *cobra.Command {
	var f calibrateFlags
	c := &cobra.Command{
		Use:   "geometry IMAGE [OUT.json]",
		Short: "Calibrate the position of a detector from powder rings",
		Long: `Find the diffraction rings of a powder in an image, and fit the beam centre and
the sample-detector distance to them. The result has standard errors and a
verdict that says whether the rings and the geometry agree. qmap and mask accept
OUT.json with --from. With --out the results go to a folder, as fit.json and as
the table fits.csv with a row for each parameter; --out FILE.csv, .xlsx or
.parquet writes only the table.

IMAGE is a result file, a picture (HDF5, TIFF, NPY) or a file of frames, which
are averaged. The energy and the pixel size must be right, and the distance must
be right within --within. Without --beam-x and --beam-y the centre is found in
the image. Rings are given as momentum transfers in 1/angstrom, or as agbh for
silver behenate (agbh:4 for its first four orders).

  euryale fit geometry agbh.tif geometry.json --rings agbh --pixel-size 172um \
      --distance 0.35 --energy 10 --mask mask.h5
  euryale fit geometry agbh.h5 --rings 0.1076,0.2152 --from raw.h5 --json
  euryale fit geometry wide.tif --rings agbh --from geometry.json --free energy
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error { return runFitGeometry(c.Context(), a, args, f) },
	}
	f.geometryFlags.add(c)
	f.imageFlags.add(c)
	s := c.Flags()
	s.StringVar(&f.Rings, "rings", "", "momentum transfers of the rings in 1/angstrom, or agbh or agbh:N (required)")
	s.StringSliceVar(&f.Free, "free", nil, "parameters to fit besides the centre and the distance: energy, swing_h, swing_v")
	s.StringVar(&f.Mask, "mask", "", "file with the mask to use")
	s.BoolVar(&f.KeepCenter, "keep-center", false, "search for rings around the given beam centre instead of finding the centre in the image")
	s.Float64Var(&f.Within, "within", 0.15, "relative range around the given distance in which to search for rings")
	frame.CompleteFlag(c, "free", freeNames)
	return c
}

// rings reads the momentum transfers of --rings.
func (f *calibrateFlags) rings() ([]float64, error) {
	if f.Rings == "" {
		return nil, exit.Usage("fit geometry needs the rings: give --rings with momentum transfers in 1/angstrom, such as 0.1076,0.2152, or --rings agbh")
	}
	if name, orders, counted := strings.Cut(f.Rings, ":"); name == "agbh" {
		n := 4
		if counted {
			var err error
			if n, err = strconv.Atoi(orders); err != nil || n < 1 || n > 100 {
				return nil, exit.Usage("--rings %q: want agbh:N with 1 to 100 orders", f.Rings)
			}
		}
		return geometry.SilverBehenate(n), nil
	}
	q, err := setting.List(f.Rings)
	if err != nil || len(q) == 0 || !slices.IsSorted(q) || q[0] <= 0 {
		return nil, exit.Usage("--rings %q: want ascending momentum transfers in 1/angstrom such as 0.1076,0.2152, or agbh", f.Rings)
	}
	return q, nil
}

func (f *calibrateFlags) settings() (geometry.Settings, error) {
	s := geometry.Settings{KeepCenter: f.KeepCenter, DistanceRange: f.Within, Free: []string{geometry.CenterRow, geometry.CenterCol, geometry.Distance}}
	if !(f.Within > 0 && f.Within < 1) {
		return s, exit.Usage("--within %g: want a relative range above 0 and below 1", f.Within)
	}
	for _, name := range f.Free {
		switch name {
		case "center", "distance": // always
		case "energy":
			s.Free = append(s.Free, geometry.Energy)
		case "swing_h":
			s.Free = append(s.Free, geometry.SwingHorizontal)
		case "swing_v":
			s.Free = append(s.Free, geometry.SwingVertical)
		default:
			return s, exit.Usage("--free %s", setting.Unknown(name, freeNames))
		}
	}
	return s, nil
}

// start returns the geometry from which the fit starts. A centre that nobody gave is the middle of the detector.
func (f *calibrateFlags) start(shape [2]int) (sim.Geometry, error) {
	g, _, err := f.known()
	if err != nil {
		return g, err
	}
	g.Height, g.Width = shape[0], shape[1]
	if math.IsNaN(g.CenterRow) || math.IsNaN(g.CenterCol) {
		if f.KeepCenter {
			return g, exit.Usage("--keep-center needs the centre: give --beam-x and --beam-y, or a file that has it with --from")
		}
		g.CenterRow, g.CenterCol = float64(g.Height-1)/2, float64(g.Width-1)/2
	}
	if lacks := lacksOf(g); lacks != nil {
		return g, exit.Usage("the geometry lacks %s: give what is missing as flags, or use --from with a file that has it", strings.Join(lacks, ", "))
	}
	return g, nil
}

// geometryDoc is the JSON document of fit geometry.
type geometryDoc struct {
	Engine   string                  `json:"engine"`
	File     string                  `json:"file"`
	Rings    []frame.Number          `json:"rings"`
	Names    []string                `json:"names"`
	X        map[string]frame.Number `json:"x"`
	SD       map[string]frame.Number `json:"sd"`
	Units    map[string]string       `json:"units"`
	Cov      []frame.Number          `json:"cov"` // row-major, in the order of names
	Status   string                  `json:"status"`
	Reduced  frame.Number            `json:"chi2_reduced"`
	Points   int                     `json:"points"`
	Outliers int                     `json:"outliers"`
	Check    *frame.CheckDoc         `json:"model_check"`
	Geometry map[string]float64      `json:"geometry"`
	Out      string                  `json:"out,omitempty"`
}

func runFitGeometry(ctx context.Context, a *frame.App, args []string, f calibrateFlags) error {
	q, err := f.rings()
	if err != nil {
		return err
	}
	s, err := f.settings()
	if err != nil {
		return err
	}
	out := ""
	if len(args) == 2 {
		if out = args[1]; !strings.HasSuffix(strings.ToLower(out), ".json") {
			return exit.Usage("%s: a geometry is written as JSON: name a file that ends in .json", out)
		}
		if err := a.MayWrite(out, "json", a.Overwrite); err != nil {
			return err
		}
	}
	image, err := f.imageFlags.read(args[0], f.Shape)
	if err != nil {
		return err
	}
	g, err := f.start([2]int{image.Height, image.Width})
	if err != nil {
		return err
	}
	keep := mask.New(image.Height, image.Width)
	if f.Mask != "" {
		if keep.Keep, err = readMask(f.Mask, f.Dataset, image.Height, image.Width); err != nil {
			return err
		}
	}
	for i, v := range image.Values {
		keep.Keep[i] = keep.Keep[i] && !math.IsNaN(v)
	}
	to, err := a.OpenOutputs(args[0])
	if err != nil {
		return err
	}
	fit, err := geometry.Calibrate(ctx, image.Values, keep, g, q, s)
	if err != nil {
		if ctx.Err() != nil {
			return exit.With(exit.Interrupted, err)
		}
		return exit.With(exit.Data, err)
	}
	return calibrated(a, args[0], out, to, q, fit)
}

// calibrated writes and prints a fit.
func calibrated(a *frame.App, file, out string, to frame.Outputs, q []float64, fit *geometry.Fit) error {
	if out != "" {
		var b bytes.Buffer
		if err := xpcs.WriteGeometry(&b, fit.Geometry); err != nil {
			return exit.With(exit.Failed, err)
		}
		if err := frame.WriteFile(out, b.Bytes()); err != nil {
			return err
		}
	}
	g := fit.Geometry
	doc := geometryDoc{Engine: "geometry", File: file, Rings: frame.Numbers(q), Names: fit.Names, Units: geometry.Units, X: frame.Named(fit.Names, fit.X), SD: frame.Named(fit.Names, fit.SD), Cov: frame.Numbers(fit.Cov),
		Status: fit.Status.String(), Reduced: frame.Number(fit.ReducedChiSquared), Points: len(fit.Points), Outliers: len(fit.Outliers), Check: frame.CheckDocument(fit.Check), Out: out,
		Geometry: map[string]float64{"beam_x": g.CenterCol, "beam_y": g.CenterRow, "pixel_size": g.PixelSize, "distance": g.Distance, "energy": g.Energy, "swing_h": g.SwingHorizontal, "swing_v": g.SwingVertical, "roll": g.Roll}}
	err := to.SaveParameters(a, doc)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.Document(doc)
	} else {
		for i, n := range fit.Names {
			say(a, "%-12s %s", n, frame.WithUnit(report.PlusMinus(fit.X[i], fit.SD[i]), geometry.Units[n]))
		}
		say(a, "%d points, %d left out, reduced chi-square %.3g, %v", len(fit.Points), len(fit.Outliers), fit.ReducedChiSquared, fit.Status)
		err = a.PrintVerdict(doc.Check, nil, nil)
		if err == nil && out != "" {
			_, err = fmt.Fprintf(a.Stdout, "wrote %s, which euryale qmap and mask read with --from\n", out)
		}
	}
	if told := to.Told(); told != "" {
		a.Note("%s", told)
	}
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if a.Strict {
		return frame.Strictly(fit.Check)
	}
	return nil
}
