// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/viz"
)

// volumeFlags are the flags of plot volume. Angles are in degrees.
type volumeFlags struct {
	Azimuth, Elevation float64
	Color              string
	Lines              int
	Least              float64
	Materials          []int
	Vector             bool
}

// mostSticks is the largest number of lines of a picture.
const mostSticks = 20_000

var volumeColors = []string{viz.ByMaterial, viz.ByAzimuth, viz.ByTilt}

func plotVolume(a *frame.App) *cobra.Command {
	f := volumeFlags{Azimuth: 30, Elevation: 25, Color: viz.ByMaterial, Lines: 3000, Least: 0.3}
	c := &cobra.Command{
		Use:   "volume FILE.h5 [OUT.svg|png|pdf]",
		Short: "Draw the directors of a morphology in three dimensions",
		Long: `Draw the box of a morphology as it is seen from a direction, without
perspective: a line along the director of some of its voxels, one from each of
equal blocks, coloured by material or by angle, more opaque the larger the
volume fraction is, and paler the farther away it is. Voxels without alignment
are dots, and are drawn only if the file has no directors or --materials names
their material. The picture is written to the last file named, or to volume.svg.

  euryale plot volume film.h5
  euryale plot volume film.h5 film.png --azimuth 60 --elevation 10
  euryale plot volume film.h5 tilt.svg --color tilt --least 0.5
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error { return runPlotVolume(a, args, f) },
	}
	s := c.Flags()
	s.Float64Var(&f.Azimuth, "azimuth", f.Azimuth, "direction from which the box is seen: angle about z from x, degrees")
	s.Float64Var(&f.Elevation, "elevation", f.Elevation, "direction from which the box is seen: angle above the plane of x and y, degrees, -90 to 90")
	s.StringVar(&f.Color, "color", f.Color, "colour of the lines: "+setting.Listed(volumeColors)+"; azimuth is the angle of the director about z, and tilt that to z")
	s.IntVar(&f.Lines, "lines", f.Lines, "largest number of lines, 1 to 20000")
	s.Float64Var(&f.Least, "least", f.Least, "smallest volume fraction and S of a voxel that is drawn, 0 to 1")
	s.IntSliceVar(&f.Materials, "materials", nil, "materials to draw, counted from 1 (default those with directors)")
	s.BoolVar(&f.Vector, "vector", false, "use the vectors of a file that also has Euler angles")
	frame.Slider(c, "azimuth", -180, 180)
	frame.Slider(c, "elevation", -90, 90)
	frame.Slider(c, "least", 0, 1)
	frame.CompleteFlag(c, "color", volumeColors)
	return c
}

func runPlotVolume(a *frame.App, args []string, f volumeFlags) error {
	for _, one := range []struct {
		flag      string
		value     float64
		low, high float64
	}{{"lines", float64(f.Lines), 1, mostSticks}, {"least", f.Least, 0, 1}, {"azimuth", f.Azimuth, -3600, 3600}, {"elevation", f.Elevation, -90, 90}} {
		if !(one.low <= one.value && one.value <= one.high) {
			return exit.Usage("--%s %g: want a number from %g to %g", one.flag, one.value, one.low, one.high)
		}
	}
	out, args, err := a.PictureOfOne("volume", args)
	if err != nil {
		return err
	}
	m, err := cyrsoxs.ReadMorphology(args[0], cyrsoxs.ReadSettings{Vector: f.Vector})
	if err != nil {
		return exit.Input(err)
	}
	set := report.VolumeSettings{Least: f.Least, Most: f.Lines}
	for _, k := range f.Materials {
		if k < 1 || k > len(m.Phases) {
			return exit.Usage("--materials %d: %s has %s, counted from 1", k, args[0], errtext.Count(len(m.Phases), "material"))
		}
		set.Materials = append(set.Materials, k-1)
	}
	v := report.Volume(m.ToEuler(0), set)
	if len(v.Sticks) == 0 {
		return exit.With(exit.Data, fmt.Errorf("%s: no voxel has a volume fraction and an S of %g or more: lower --least", args[0], f.Least))
	}
	v.Title, v.Azimuth, v.Elevation, v.Color = filepath.Base(args[0]), f.Azimuth*math.Pi/180, f.Elevation*math.Pi/180, f.Color
	fig, err := viz.Volume3D(v)
	if err != nil {
		return exit.Usage("--color %s: want %s", f.Color, setting.Listed(volumeColors))
	}
	fig.Note = volumeNote(m, v, f)
	return a.SavePicture("volume", out, fig)
}

// volumeNote is the caption of a volume.
func volumeNote(m *cyrsoxs.Morphology, v viz.Volume, f volumeFlags) string {
	lines, dots := 0, 0
	for _, s := range v.Sticks {
		if s.Director == [3]float64{} {
			dots++
		} else {
			lines++
		}
	}
	var drawn []string
	if lines > 0 {
		drawn = append(drawn, errtext.Count(lines, "director"))
	}
	if dots > 0 {
		drawn = append(drawn, fmt.Sprintf("%s without alignment", errtext.Count(dots, "voxel")))
	}
	return fmt.Sprintf("Of %d x %d x %d voxels: %s, seen from azimuth %g° and elevation %g°. What is paler is farther away or has a smaller volume fraction; voxels below %g are left out.",
		m.Shape[2], m.Shape[1], m.Shape[0], strings.Join(drawn, " and "), f.Azimuth, f.Elevation, f.Least)
}
