// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/columns"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/viz"
)

// plotFlags are the settings of plot table.
type plotFlags struct {
	curveFlags
	x, err     string
	y          []string
	logX, logY bool
}

func plotTable(a *frame.App) *cobra.Command {
	var f plotFlags
	c := &cobra.Command{
		Use:   "table FILE [OUT.svg|png|pdf]",
		Short: "Draw columns of a table",
		Long: `Draw columns of a table (CSV, TSV, Excel, NPY, HDF5, FITS) against another: by
default the first four columns of numbers after the first one. Long columns
whose abscissae are in order are drawn as lines, others as points. The picture
is written to OUT if it is given, or else to table.svg.

  euryale plot table data.csv
  euryale plot table spectrum.csv --x wavelength --y flux --error sigma
  euryale plot table fits.csv taus.png --x q --y value --log-x --log-y
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			out, args, err := a.PictureOfOne("table", args)
			if err != nil {
				return err
			}
			t, err := f.readTable(a, args[0])
			if err != nil {
				return err
			}
			figure, err := f.draw(t)
			if err != nil {
				return err
			}
			return a.SavePicture("table", out, figure)
		},
	}
	c.Flags().StringVar(&f.x, "x", "", "column of the abscissae (default the first with numbers)")
	c.Flags().StringSliceVar(&f.y, "y", nil, "columns to draw (default the next four with numbers)")
	c.Flags().StringVar(&f.err, "error", "", "column of the standard deviations of y, where one column is drawn")
	c.Flags().BoolVar(&f.logX, "log-x", false, "logarithmic axis x")
	c.Flags().BoolVar(&f.logY, "log-y", false, "logarithmic axis y")
	c.Flags().StringVar(&f.sheet, "sheet", "", "sheet of a workbook or extension of a FITS file, by name or number")
	return c
}

// mostDrawn is the number of columns that are drawn where none are named, and manyRows that of points above which columns in order are lines.
const (
	mostDrawn = 4
	manyRows  = 300
)

// draw makes the picture.
func (f *plotFlags) draw(t columns.Table) (*viz.Figure, error) {
	var numbers []columns.Column
	for _, c := range t {
		if _, ok := c.Values.([]float64); ok {
			numbers = append(numbers, c)
		}
	}
	if len(numbers) < 2 {
		return nil, exit.With(exit.Data, fmt.Errorf("the table has %s of numbers: a picture needs two", errtext.Count(len(numbers), "column")))
	}
	x, err := numbered(numbers, "--x", f.x, numbers[0])
	if err != nil {
		return nil, err
	}
	var errors columns.Column
	if f.err != "" {
		if len(f.y) != 1 {
			return nil, exit.Usage("--error %s: name one column with --y, whose errors they are", f.err)
		}
		if errors, err = numbered(numbers, "--error", f.err, x); err != nil {
			return nil, err
		}
	}
	var curves []viz.Curve
	for _, name := range f.y {
		y, err := numbered(numbers, "--y", name, x)
		if err != nil {
			return nil, err
		}
		curves = append(curves, f.curve(x, y, errors))
	}
	for _, y := range numbers {
		if len(f.y) == 0 && y.Name != x.Name && len(curves) < mostDrawn && filled(y) {
			curves = append(curves, f.curve(x, y, errors))
		}
	}
	if len(curves) == 0 {
		return nil, exit.With(exit.Data, fmt.Errorf("no column of numbers beside %q has a number: a picture needs two", x.Name))
	}
	figure, err := viz.Multiples("", curves...)
	return figure, exit.With(exit.Data, err)
}

// filled reports whether a column has any number.
func filled(c columns.Column) bool {
	return slices.ContainsFunc(c.Values.([]float64), func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) })
}

// numbered returns the column of numbers with a name, or another one for the name "".
func numbered(all []columns.Column, flag, name string, usual columns.Column) (columns.Column, error) {
	if name == "" {
		return usual, nil
	}
	var names []string
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	if near := spelling.Meant(name, names); near != "" {
		return usual, exit.Usage("%s %s: there is no such column of numbers: did you mean %s?", flag, name, near)
	}
	return usual, exit.Usage("%s %s: want one of the columns of numbers: %s", flag, name, strings.Join(names, ", "))
}

func (f *plotFlags) curve(x, y, errors columns.Column) viz.Curve {
	c := viz.Curve{Title: y.Name, XLabel: withUnit(x), YLabel: withUnit(y), LogX: f.logX, LogY: f.logY}
	xs, ys := x.Values.([]float64), y.Values.([]float64)
	if errors.Values == nil && len(xs) > manyRows && slices.IsSorted(xs) {
		c.LineX, c.Line = xs, ys
		return c
	}
	c.X, c.Y = xs, ys
	if errors.Values != nil {
		c.Err = errors.Values.([]float64)
	}
	return c
}

func withUnit(c columns.Column) string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " (" + c.Unit + ")"
}
