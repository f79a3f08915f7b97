// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/viz"
)

func plotFigure(a *frame.App) *cobra.Command {
	row := 0
	c := &cobra.Command{
		Use:   "figure FILE.figure [OUT.svg|png|pdf]",
		Short: "Draw a picture of a fit again, from its numbers",
		Long: `Draw a picture again that a fit left in the folder plots of its results, from
the numbers that stand beside it in a file .figure, as another format. view
zooms such pictures and saves their numbers as CSV. The picture is written to
OUT if it is given, or else to figure.svg.

  euryale plot figure fit/plots/parameters.figure parameters.pdf
  euryale plot figure fit/plots/patterns.figure --row 2
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			out, args, err := a.PictureOfOne("figure", args)
			if err != nil {
				return err
			}
			b, err := foreign.ReadFile(args[0])
			if err != nil {
				return exit.Input(err)
			}
			f, err := viz.Kept(b)
			if err != nil {
				return exit.InFile(args[0], err)
			}
			if row != 0 {
				if f, err = f.Row(row); err != nil {
					return exit.InFile(args[0], err)
				}
			}
			return a.SavePicture("figure", out, f)
		},
	}
	c.Flags().IntVar(&row, "row", 0, "row of panels to draw, such as those of one energy, counted from 1; 0 draws all")
	return c
}
