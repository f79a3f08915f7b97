// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/report"
)

func plotMeasured(a *frame.App) *cobra.Command {
	var number int
	var linear bool
	s := scatter.Settings{Unplaced: true}
	c := &cobra.Command{
		Use:   "measured FILE|FOLDER [OUT.svg|png|pdf]",
		Short: "Draw measured scattering patterns",
		Long: `Draw measured scattering as invert rsoxs reads it: an image of the detector, a
pattern on a grid of q, I(q) by direction, or the curves of all energies. Files
are netCDF, Zarr, NeXus, HDF5, FITS, TIFF, NPY or NPZ, tables as text, or
folders of images. Pixels that do not count are grey. The picture is written to
OUT if it is given, or else to measured.svg.

  euryale plot measured scan.nc
  euryale plot measured scan.nc edge.png --number 12
  euryale plot measured curves_284.7eV.csv --q-unit 1/nm --linear
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			out, args, err := a.PictureOfOne("measured", args)
			if err != nil {
				return err
			}
			set, err := scatter.Open(args[0], s)
			if err != nil {
				return exit.Input(err)
			}
			f, err := report.MeasuredSet(set, number, linear)
			if err != nil {
				return exit.InFile(args[0], err)
			}
			return a.SavePicture("measured", out, f)
		},
	}
	f := c.Flags()
	f.IntVar(&number, "number", 1, "number of the pattern to draw, from 1")
	f.BoolVar(&linear, "linear", false, "linear colours and intensities (default logarithmic)")
	f.Float64SliceVar(&s.Energies, "energies", nil, "photon energies to take in eV; of files that do not say their energies, those that they have (default all)")
	f.StringVar(&s.QUnit, "q-unit", "", "unit of q where the file does not say it: 1/nm or 1/A")
	f.StringVar(&s.Variable, "variable", "", "name of the array to draw (default the only one, or I)")
	return c
}
