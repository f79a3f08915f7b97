// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// resultPlot is a picture of a result file of photon correlation.
type resultPlot struct {
	kind, short, long string
	bins              bool // whether --bins chooses what is drawn
	draw              func(r *nexus.Result, bins []int, overlay bool) (*viz.Figure, error)
}

var resultPlots = []resultPlot{
	{"g2", "Draw g2 of each bin against the delay", "Draw g2 with its errors in one frame per bin, or in one frame for all bins with\n--overlay. At most twelve evenly spread bins are drawn unless --bins names them.", true, report.G2},
	{"stability", "Draw g2 of parts of a measurement to judge its stability", "Draw g2 of the first parts of the frames beside g2 of all frames. Curves that\ndeviate show that the sample changes, or that the beam changes it.", true,
		func(r *nexus.Result, bins []int, _ bool) (*viz.Figure, error) {
			return report.Stability(r, bins[:min(len(bins), 6)])
		}},
	{"saxs", "Draw intensity against q", "Draw the intensity of the static bins: the mean over azimuth, one line per\nazimuth, and the parts of the measurement if the file has them.", false,
		func(r *nexus.Result, _ []int, _ bool) (*viz.Figure, error) { return report.SAXS(r) }},
	{"image", "Draw the mean image of the detector", "Draw the mean of all frames on axes of q, with logarithmic colours.", false,
		func(r *nexus.Result, _ []int, _ bool) (*viz.Figure, error) { return report.Scattering2D(r) }},
	{"intensity", "Draw intensity against time", "Draw the mean intensity of each frame against time.", false,
		func(r *nexus.Result, _ []int, _ bool) (*viz.Figure, error) { return report.Intensity(r) }},
	{"twotime", "Draw the two-time correlation of a bin", "Draw C2 of a bin against both times, or with --diagonals g2 along its diagonals\nfor the whole map and for blocks of age. For a run folder of fit twotime or\nsample twotime, draw the data, the model and the residuals of each angle, and\nthe mean residuals against lag and age; with --diagonals, draw data and model\nagainst the lag at three ages. For a run folder, --bins selects angles,\ncounted from 1.", true,
		func(r *nexus.Result, bins []int, diagonals bool) (*viz.Figure, error) {
			if r.Twotime == nil {
				return nil, errors.New("the file has no two-time correlation: make one with euryale correlate --correlation twotime")
			}
			i := slices.Index(r.Twotime.Bins, bins[0])
			if i < 0 {
				return nil, fmt.Errorf("bin %d has no two-time correlation: choose from bins %v", bins[0], r.Twotime.Bins)
			}
			image, curves, err := report.Twotime(r, i)
			if diagonals {
				return curves, err
			}
			return image, err
		}},
}

// qmapPlot is a picture of a q map, which result files hold too.
type qmapPlot struct {
	kind, short, long string
	draw              func(q *nexus.QMap) (*viz.Figure, error)
}

var qmapPlots = []qmapPlot{
	{"qmap", "Draw the bins of a q map", "Draw the bins of a q map or a result file", report.Partition},
	{"mask", "Draw a mask", "Draw the mask of a mask file, a q map or a result file", report.Mask},
}

func plotQMap(a *frame.App, p qmapPlot) *cobra.Command {
	return &cobra.Command{
		Use:   p.kind + " FILE [OUT.svg|png|pdf]",
		Short: p.short,
		Long: fmt.Sprintf(`%s. Masked pixels are
grey. The picture is written to OUT if it is given, or else to %s.svg.

  euryale plot %[2]s qmap.hdf
  euryale plot %[2]s A003_results.hdf %[2]s.png
`, p.long, p.kind),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			out, args, err := a.PictureFile(p.kind, args)
			if err != nil {
				return err
			}
			q, err := nexus.OpenQMap(args[0])
			if err != nil && p.kind == "mask" {
				q, err = plainMask(args[0], err)
			}
			if err != nil {
				return exit.Input(err)
			}
			f, err := p.draw(q)
			if err != nil {
				return exit.With(exit.Data, err)
			}
			return a.SavePicture(p.kind, out, f)
		},
	}
}

// plainMask reads a mask file, without a geometry. If the file is none, the error is that of reading it as a q map where it is HDF5
// without any mask.
func plainMask(name string, other error) (*nexus.QMap, error) {
	m, err := maskfile.Read(name, maskfile.Settings{})
	if err != nil {
		if isResult(name) {
			return nil, other
		}
		return nil, err
	}
	return &nexus.QMap{Maps: &nexus.Maps{Height: m.Height, Width: m.Width, Mask: m.Keep}}, nil
}

func plotResult(a *frame.App, p resultPlot) *cobra.Command {
	var bins string
	var other bool
	c := &cobra.Command{
		Use:   p.kind + map[bool]string{true: " RESULT.hdf|RUN", false: " RESULT.hdf"}[p.kind == "twotime"] + " [OUT.svg|png|pdf]",
		Short: p.short,
		Long: fmt.Sprintf(`%s
The picture is written to OUT if it is given, or else to %s.svg.

  euryale plot %[2]s A003_results.hdf
  euryale plot %[2]s A003_results.hdf %[2]s.png
%[3]s`, p.long, p.kind, map[bool]string{true: "  euryale plot twotime run-flow residuals.png\n"}[p.kind == "twotime"]),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			out, args, err := a.PictureFile(p.kind, args)
			if err != nil {
				return err
			}
			if st, err := os.Stat(args[0]); p.kind == "twotime" && err == nil && st.IsDir() {
				f, err := drawMotion(runs.Folder(args[0]), bins, other)
				if err != nil {
					return exit.With(exit.Data, err)
				}
				return a.SavePicture(p.kind, out, f)
			}
			r, err := nexus.Open(args[0])
			if err != nil {
				return exit.Input(err)
			}
			defer r.Close()
			chosen, err := chosenBins(r, bins)
			if err != nil {
				return err
			}
			f, err := p.draw(r, chosen, other)
			if err != nil {
				return exit.With(exit.Data, fmt.Errorf("%s: %w", args[0], err))
			}
			return a.SavePicture(p.kind, out, f)
		},
	}
	if p.bins {
		c.Flags().StringVar(&bins, "bins", "", "bins to draw, such as 1,2,5-7")
	}
	switch p.kind {
	case "g2":
		c.Flags().BoolVar(&other, "overlay", false, "draw all bins in one frame")
	case "twotime":
		c.Flags().BoolVar(&other, "diagonals", false, "draw g2 along the diagonals")
	}
	return c
}

// chosenBins returns the bins that a flag names, or some that stand for all.
func chosenBins(r *nexus.Result, text string) ([]int, error) {
	if text == "" {
		if r.Twotime != nil && r.Multitau == nil {
			return r.Twotime.Bins, nil
		}
		return report.BinsOf(r), nil
	}
	bins, err := numbersOf("bins", text, 1)
	if err != nil {
		return nil, err
	}
	for _, b := range bins {
		if n := r.QMap.Dynamic.Bins(); b > n {
			return nil, exit.Usage("--bins %s: want bins from 1 to %d", text, n)
		}
	}
	return bins, nil
}
