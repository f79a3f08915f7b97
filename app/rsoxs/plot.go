// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/viz"
)

// patternFlags are the flags of plot pattern.
type patternFlags struct {
	reduceFlags
	Cuts     bool
	Energies []string
	Number   int
	Beam     int
	Linear   bool
	Lowest   float64
	Highest  float64
}

func plotPattern(a *frame.App) *cobra.Command {
	var f patternFlags
	c := &cobra.Command{
		Use:   "pattern DIR|FILE... [OUT.svg|png|pdf]",
		Short: "Draw scattering patterns with I(q) and A(q)",
		Long: `Draw scattering patterns, one row per energy: the image on axes of q (1/nm) with
logarithmic colours, the intensity against q (averaged over all directions,
along the field and across it), and the anisotropy. --cuts replaces the averages
by cuts along q_x and q_y through the centre. At most six evenly spread energies
are drawn unless --energies names them. The picture is written to the last file
named, or to pattern.svg.
` + voxelHelp + `

  euryale plot pattern HDF5 pattern.png
  euryale plot pattern HDF5 --energies 284.7,285.2 --cuts
  euryale plot pattern out/Energy_285.20.h5 --phys-size 2.5 --radii true
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runPlotPattern(a, args, f) },
	}
	f.Layout = "all"
	frame.AddSettings(c, "plot pattern", &f.reduceFlags)
	c.Flags().BoolVar(&f.Cuts, "cuts", false, "draw cuts through the centre instead of averages")
	c.Flags().StringSliceVar(&f.Energies, "energies", nil, "energies to draw in eV, or all")
	c.Flags().IntVar(&f.Number, "number", 0, "draw one energy, by its number from 1 (default those of --energies)")
	c.Flags().BoolVar(&f.Linear, "linear", false, "linear colours (default logarithmic)")
	c.Flags().Float64Var(&f.Lowest, "lowest", 0, "intensity of the darkest colour, together with --highest (default from the image)")
	c.Flags().Float64Var(&f.Highest, "highest", 0, "intensity of the brightest colour, together with --lowest (default from the image)")
	c.Flags().IntVar(&f.Beam, "beam", 0, "direction of the light to draw, counted from 0")
	return c
}

func runPlotPattern(a *frame.App, args []string, f patternFlags) error {
	r, err := f.reduction()
	if err != nil {
		return err
	}
	out, args, err := a.PictureFile("pattern", args)
	if err != nil {
		return err
	}
	lost := frame.LostOf("file", len(args))
	p, beams, err := readablePatterns(a, args, f.voxelFlags, lost)
	if err != nil {
		return err
	}
	if f.Beam < 0 || f.Beam >= len(beams) {
		return exit.Usage("--beam %d: want 0 to %d", f.Beam, len(beams)-1)
	}
	if r.Axis != rsoxs.Perpendicular && oblique(beams) {
		return exit.Usage("--axis %s is for beams along +z: want perp", f.Axis)
	}
	which, err := f.which(a, p)
	if err != nil {
		return err
	}
	list, err := report.PatternRows(p, r, which, f.Beam, f.Cuts)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	if err := f.colour(list); err != nil {
		return err
	}
	fig, err := viz.Scattering("Scattering patterns", list)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	return errors.Join(a.SavePicture("pattern", out, fig), lost.Err("drawn"))
}

// colour sets the scale of the colours.
func (f *patternFlags) colour(list []viz.PatternRow) error {
	given := f.Lowest != 0 || f.Highest != 0
	if given && !(f.Lowest < f.Highest && (f.Linear || f.Lowest > 0) && linalg.Finite(f.Highest-f.Lowest)) {
		return exit.Usage("--lowest %g --highest %g: give both as finite numbers, the smaller one first%s", f.Lowest, f.Highest, map[bool]string{false: " and above 0, or add --linear"}[f.Linear])
	}
	for i := range list {
		list[i].Pattern.Log = !f.Linear
		if given {
			list[i].Pattern.Low, list[i].Pattern.High = f.Lowest, f.Highest
		}
	}
	return nil
}

// which returns the indices of the energies to draw.
func (f *patternFlags) which(a *frame.App, p *rsoxs.Pattern) (list []int, err error) {
	switch n := len(p.Energies); {
	case f.Number != 0 && len(f.Energies) > 0:
		return nil, exit.Usage("--number and --energies: give one of them")
	case f.Number < 0 || f.Number > n:
		return nil, exit.Usage("--number %d: want 1 to %d, the number of energies", f.Number, n)
	case f.Number > 0:
		return []int{f.Number - 1}, nil
	}
	if len(f.Energies) == 0 {
		list = report.Rows(p)
		if len(list) < len(p.Energies) {
			a.Note("drawing %d of %d energies; use --energies all to draw all of them", len(list), len(p.Energies))
		}
		return list, nil
	}
	if slices.Equal(f.Energies, []string{"all"}) {
		for i := range p.Energies {
			list = append(list, i)
		}
		return list, nil
	}
	for _, s := range f.Energies {
		e, err := strconv.ParseFloat(s, 64)
		i := slices.IndexFunc(p.Energies, func(x float64) bool { return math.Abs(x-e) < 0.005 })
		if err != nil || i < 0 {
			return nil, exit.Usage("--energies %s is not in the data: choose from %s eV", s, strings.Trim(fmt.Sprint(p.Energies), "[]"))
		}
		list = append(list, i)
	}
	return list, nil
}

// morphologyFlags are the flags of plot morphology.
type morphologyFlags struct {
	Slice      string
	Depth      float64
	Subsample  int
	Least      float64
	Directors  int
	Histograms bool
	Vector     bool
}

func plotMorphology(a *frame.App) *cobra.Command {
	var f morphologyFlags
	c := &cobra.Command{
		Use:   "morphology FILE.h5 [OUT.svg|png|pdf]",
		Short: "Draw a slice of a morphology, or its histograms",
		Long: `Draw a slice through a morphology, one row per material: the volume fraction,
the order parameter S, and the angles theta (0 to pi) and psi (0 to 2 pi, in
cyclic colours) with lines along the directors. Angles are grey where the volume
fraction or S is below --least. --histograms draws the distributions of the four
quantities over the whole volume instead. The picture is written to the last
file named, or to morphology.svg.

  euryale plot morphology film.h5
  euryale plot morphology film.h5 film.png --slice y:40 --subsample 2
  euryale plot morphology film.h5 spread.svg --histograms
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error { return runPlotMorphology(a, args, f) },
	}
	c.Flags().StringVar(&f.Slice, "slice", "z", "axis perpendicular to the slice and its position, such as z or z:12 (default z, in the middle)")
	c.Flags().Lookup("slice").DefValue = ""
	c.Flags().Float64Var(&f.Depth, "depth", 0.5, "place of a slice without a position, as a share of the box, 0 to 1")
	frame.Slider(c, "depth", 0, 1)
	c.Flags().IntVar(&f.Subsample, "subsample", 1, "draw every n-th voxel along each axis")
	c.Flags().Float64Var(&f.Least, "least", 0.05, "smallest volume fraction and S for which angles are drawn, 0 to 1")
	c.Flags().IntVar(&f.Directors, "directors", 0, "draw a director at every n-th voxel drawn, -1 for none (default about 20 per side)")
	c.Flags().BoolVar(&f.Histograms, "histograms", false, "draw histograms of the volume instead of a slice")
	c.Flags().BoolVar(&f.Vector, "vector", false, "use the vectors of a file that also has Euler angles")
	return c
}

func runPlotMorphology(a *frame.App, args []string, f morphologyFlags) error {
	if f.Subsample < 1 || !(f.Least >= 0 && f.Least <= 1) || f.Directors < -1 {
		return exit.Usage("--subsample %d, --least %g, --directors %d: want 1 or more, 0 to 1, and -1 or more", f.Subsample, f.Least, f.Directors)
	}
	if f.Least == 0 {
		f.Least = -1 // show angles everywhere
	}
	out, args, err := a.PictureOfOne("morphology", args)
	if err != nil {
		return err
	}
	m, err := cyrsoxs.ReadMorphology(args[0], cyrsoxs.ReadSettings{Vector: f.Vector})
	if err != nil {
		return exit.Input(err)
	}
	m = m.ToEuler(0)
	title := filepath.Base(args[0])
	var fig *viz.Figure
	if f.Histograms {
		fig, err = viz.Histograms(title, report.Sampled(m), f.Least)
	} else {
		var s viz.Slice
		if s, err = f.slice(m); err != nil {
			return err
		}
		s.Title = title + s.Title
		fig, err = viz.Morphology(s)
	}
	if err != nil {
		return exit.With(exit.Data, err)
	}
	return a.SavePicture("morphology", out, fig)
}

// slice cuts a slice through the volume.
func (f *morphologyFlags) slice(m *cyrsoxs.Morphology) (viz.Slice, error) {
	name, place, placed := strings.Cut(f.Slice, ":")
	axis := strings.Index("zyx", name)
	if axis < 0 || len(name) != 1 {
		return viz.Slice{}, exit.Usage("--slice %s: want z, y or x, and a place, such as z:12", f.Slice)
	}
	if !(f.Depth >= 0 && f.Depth <= 1) {
		return viz.Slice{}, exit.Usage("--depth %g: want a share of the box, 0 to 1", f.Depth)
	}
	at := min(int(f.Depth*float64(m.Shape[axis])), m.Shape[axis]-1)
	if placed {
		var err error
		if at, err = strconv.Atoi(place); err != nil || at < 0 || at >= m.Shape[axis] {
			return viz.Slice{}, exit.Usage("--slice %s: the volume has %d voxels along %s: want 0 to %d", f.Slice, m.Shape[axis], name, m.Shape[axis]-1)
		}
	}
	return report.Slice(m, report.SliceSettings{Axis: axis, At: at, Subsample: f.Subsample, Least: f.Least, Directors: f.Directors}), nil
}
