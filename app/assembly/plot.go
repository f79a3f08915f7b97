// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/sim/assembly/script"
	"github.com/euryale-dev/euryale/viz"
)

// assemblyPlot draws one kind of picture of a sim assembly run, for all areas or measures
// or for a selection.
type assemblyPlot struct {
	kind, short, about string
	draw               func(s *script.Script, r *script.Result, names []string) (*viz.Figure, error)
}

var assemblyPlots = []assemblyPlot{
	{"support", "Draw how many neurons of each area have fired so far", `how many neurons of each
area have fired so far, divided by k, against the step.`, report.Support},
	{"overlap", "Draw the overlaps that a script measures", `the overlaps that the
script measures, one curve per name, against the step.`,
		func(_ *script.Script, r *script.Result, names []string) (*viz.Figure, error) {
			return report.Overlaps(r, names)
		}},
	{"raster", "Draw which neurons fire in each step", `which neurons fire in each
step, coloured by whether they last fired in the step before, earlier, or never.
The winners must be in trace.csv: put "winners: true" in the script, or run it
with --winners.`,
		func(_ *script.Script, r *script.Result, names []string) (*viz.Figure, error) {
			return report.Raster(r, names)
		}},
}

func plotAssembly(a *frame.App, p assemblyPlot) *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   p.kind + " RUN [OUT.svg|png|pdf]",
		Short: p.short,
		Long: fmt.Sprintf(`Draw from a run folder of sim assembly %s
The picture is written to OUT if it is given, or else to %s.svg.

  euryale plot %s run-project
  euryale plot %s run-project %s.png --var A
`, p.about, p.kind, p.kind, p.kind, p.kind),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error { return runPlotAssembly(a, p, args, names) },
	}
	c.Flags().StringSliceVar(&names, "var", nil, "areas or measures to draw (default all)")
	return c
}

func runPlotAssembly(a *frame.App, p assemblyPlot, args, names []string) error {
	out, args, err := a.PictureFile(p.kind, args)
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return exit.Usage("plot %s takes one run folder, and the name of a picture that ends in .svg, .png or .pdf", p.kind)
	}
	run, err := openAssembly(args[0])
	if err != nil {
		return err
	}
	r, err := readAssemblyResult(run.dir)
	if err != nil {
		return err
	}
	f, err := p.draw(run.script, r, names)
	var unknown *report.UnknownError
	switch {
	case errors.As(err, &unknown):
		return exit.Usage("%s has no %s: --var accepts %s", args[0], unknown.Name, strings.Join(unknown.Known, ", "))
	case errors.Is(err, report.ErrNoWinners):
		return exit.With(exit.Data, fmt.Errorf("%s: trace.csv has no winners: run the script with --winners", args[0]))
	case err != nil:
		return exit.With(exit.Data, fmt.Errorf("%s: %w", args[0], err))
	}
	return a.SavePicture(p.kind, out, f)
}
