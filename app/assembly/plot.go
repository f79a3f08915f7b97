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
)

func plotAssembly(a *frame.App, p report.AssemblyPicture) *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   p.Kind + " RUN [OUT.svg|png|pdf]",
		Short: p.Short,
		Long: fmt.Sprintf(`Draw from a run folder of sim assembly %s
The picture is written to OUT if it is given, or else to %s.svg.

  euryale plot %s run-project
  euryale plot %s run-project %s.png --var A
`, p.Long, p.Kind, p.Kind, p.Kind, p.Kind),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error { return runPlotAssembly(a, p, args, names) },
	}
	c.Flags().StringSliceVar(&names, "var", nil, "areas or measures to draw (default all)")
	return c
}

func runPlotAssembly(a *frame.App, p report.AssemblyPicture, args, names []string) error {
	out, args, err := a.PictureOfOne(p.Kind, args)
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return exit.Usage("plot %s takes one run folder, and the name of a picture that ends in .svg, .png or .pdf", p.Kind)
	}
	run, err := openAssembly(args[0])
	if err != nil {
		return err
	}
	r, err := readAssemblyResult(run.dir)
	if err != nil {
		return err
	}
	f, err := p.Draw(run.script, r, report.Choice{Names: names})
	var unknown *report.UnknownError
	switch {
	case errors.As(err, &unknown):
		return exit.Usage("%s has no %s: --var accepts %s", args[0], unknown.Name, strings.Join(unknown.Known, ", "))
	case errors.Is(err, report.ErrNoWinners):
		return exit.With(exit.Data, fmt.Errorf("%s: trace.csv has no winners: run the script with --winners", args[0]))
	case err != nil:
		return exit.InFile(args[0], err)
	}
	return a.SavePicture(p.Kind, out, f)
}
