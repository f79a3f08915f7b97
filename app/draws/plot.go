// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/viz"
)

// plotKinds describes the kinds of pictures of draws, one per line.
func plotKinds() string {
	var b strings.Builder
	for _, k := range viz.Kinds() {
		fmt.Fprintf(&b, "  %-17s%s\n", k.Name, k.About)
	}
	return b.String()
}

// plotNames lists the kinds of pictures of draws.
func plotNames() (names []string) {
	for _, k := range viz.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

func plotCommand(a *frame.App) *cobra.Command {
	var names, ranges []string
	c := &cobra.Command{
		Use:   "plot KIND RUN|FILE... [OUT.svg|png|pdf]",
		Short: "Draw posterior draws, patterns, correlations, morphologies or assemblies",
		Long: `Draw posterior draws from a run folder, CmdStan CSV files (one per chain), a
Zarr folder, a netCDF 4 file or JSON. The picture is written to the last file
named, or to KIND.svg. KIND is one of these, or a command listed below:

` + plotKinds() + `
  euryale plot pair run4 pair.png
  euryale plot trace output_1.csv output_2.csv --var mu,tau
  euryale plot pair run4 --highlight tau=0:1
  euryale plot pattern HDF5
`,
		Args:      cobra.MinimumNArgs(2),
		ValidArgs: plotNames(),
		RunE:      func(_ *cobra.Command, args []string) error { return runPlot(a, args[0], args[1:], names, ranges) },
	}
	c.Flags().StringSliceVar(&names, "var", nil, "quantities to draw (default all)")
	c.Flags().StringSliceVar(&ranges, "highlight", nil, "highlight draws with a quantity in a range, as `NAME=LOW:HIGH` (no number for no end)")
	c.AddCommand(a.Below("plot")...)
	taken := []string{"help"}
	for _, sub := range c.Commands() {
		taken = append(taken, sub.Name())
	}
	for _, name := range taken {
		if slices.Contains(plotNames(), name) {
			a.Mistake = &exit.Error{Code: exit.Bug, Err: fmt.Errorf("the kind of picture %q that was registered with viz.Register has the name of a command, plot %s: give it another name", name, name)}
		}
	}
	return c
}

// unknownPicture names the kinds of pictures, or the one that was meant.
func unknownPicture(a *frame.App, kind string) error {
	all := plotNames()
	for _, sub := range plotCommand(a).Commands() {
		all = append(all, sub.Name())
	}
	if near := spelling.Meant(kind, all); near != "" {
		return exit.Usage("plot %s: there is no such picture: did you mean %s?", kind, near)
	}
	return exit.Usage("plot %s: want one of %s%s", kind, strings.Join(all, ", "), errtext.OwnPart)
}

// rangeOf reads a range such as tau=0:1 or tau=:1.
func rangeOf(text string) (r viz.Range, err error) {
	name, ends, ok := strings.Cut(text, "=")
	low, high, two := strings.Cut(ends, ":")
	r = viz.Range{Name: name, Low: math.Inf(-1), High: math.Inf(1)}
	for _, end := range []struct {
		text string
		to   *float64
	}{{low, &r.Low}, {high, &r.High}} {
		if end.text == "" {
			continue
		}
		if *end.to, err = strconv.ParseFloat(strings.TrimSpace(end.text), 64); err != nil || math.IsNaN(*end.to) {
			return r, exit.Usage("--highlight %s: %q is no number: want NAME=LOW:HIGH, such as tau=0.5:2 or tau=:2", text, end.text)
		}
	}
	if !ok || !two || name == "" || low == "" && high == "" {
		return r, exit.Usage("--highlight %s: want NAME=LOW:HIGH, such as tau=0.5:2 or tau=:2", text)
	}
	return r, nil
}

// highlighted returns draws with those marked that lie in all of some ranges.
func highlighted(d viz.Draws, texts []string) (viz.Draws, error) {
	var ranges []viz.Range
	for _, text := range texts {
		r, err := rangeOf(text)
		if err != nil {
			return d, err
		}
		ranges = append(ranges, r)
	}
	d, err := d.Highlight(ranges...)
	if err != nil {
		return d, exit.Usage("%w", err)
	}
	return d, nil
}

func runPlot(a *frame.App, kind string, args, names, ranges []string) error {
	at := slices.IndexFunc(viz.Kinds(), func(k viz.Kind) bool { return k.Name == kind })
	if at < 0 {
		return unknownPicture(a, kind)
	}
	out, args, err := a.PictureFile(kind, args)
	if err != nil {
		return err
	}
	t, err := LoadDraws(a, args)
	if err != nil {
		return err
	}
	d := frame.DrawsOf(t)
	stored, _ := frame.StoredCheck(args) // a picture needs no verdict
	d.Units = stored.Units
	if d, err = highlighted(d, ranges); err != nil {
		return err
	}
	f, err := viz.Kinds()[at].Draw(d, names...)
	if err != nil {
		return exit.Usage("%w", err)
	}
	return a.SavePicture(kind, out, f)
}
