// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

func plotQMap(a *frame.App, p report.QMapPicture) *cobra.Command {
	return &cobra.Command{
		Use:   p.Kind + " FILE [OUT.svg|png|pdf]",
		Short: p.Short,
		Long: fmt.Sprintf(`%s. Masked pixels are
grey. The picture is written to OUT if it is given, or else to %s.svg.

  euryale plot %[2]s qmap.hdf
  euryale plot %[2]s A003_results.hdf %[2]s.png
`, p.Long, p.Kind),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			out, args, err := a.PictureOfOne(p.Kind, args)
			if err != nil {
				return err
			}
			q, err := nexus.OpenQMap(args[0])
			if err != nil && p.Kind == "mask" {
				q, err = plainMask(args[0], err)
			}
			if err != nil {
				return exit.Input(err)
			}
			f, err := p.Draw(q)
			if err != nil {
				return exit.With(exit.Data, err)
			}
			return a.SavePicture(p.Kind, out, f)
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

func plotResult(a *frame.App, p report.ResultPicture) *cobra.Command {
	var bins string
	var other bool
	c := &cobra.Command{
		Use:   p.Kind + resultArgs(p) + " [OUT.svg|png|pdf]",
		Short: p.Short,
		Long: fmt.Sprintf(`%s
The picture is written to OUT if it is given, or else to %s.svg.

  euryale plot %[2]s A003_results.hdf
  euryale plot %[2]s A003_results.hdf %[2]s.png
%[3]s`, p.Long, p.Kind, moreOf(p)),
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			choose := a.PictureOfOne
			if p.Together != nil {
				choose = a.PictureFile
			}
			out, args, err := choose(p.Kind, args)
			if err != nil {
				return err
			}
			if len(args) > 1 {
				return plotTogether(a, p, out, args, bins, other)
			}
			if st, err := os.Stat(args[0]); p.Kind == "twotime" && err == nil && st.IsDir() {
				f, err := drawMotion(runs.Folder(args[0]), bins, other)
				if err != nil {
					return exit.With(exit.Data, err)
				}
				return a.SavePicture(p.Kind, out, f)
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
			f, err := p.Draw(r, report.Choice{Bins: chosen, Flag: other})
			if err != nil {
				return exit.InFile(args[0], err)
			}
			return a.SavePicture(p.Kind, out, f)
		},
	}
	if p.Bins {
		c.Flags().StringVar(&bins, "bins", "", "bins to draw, such as 1,2,5-7")
	}
	if p.Flag != "" {
		c.Flags().BoolVar(&other, p.Flag, false, p.About)
	}
	return c
}

// moreOf is another example of a command that draws results.
func moreOf(p report.ResultPicture) string {
	switch {
	case p.Kind == "twotime":
		return "  euryale plot twotime run-flow residuals.png\n"
	case p.Together != nil:
		return fmt.Sprintf("  euryale plot %s A003_results.hdf A004_results.hdf both.png\n", p.Kind)
	}
	return ""
}

// resultArgs are the arguments of a command that draws results.
func resultArgs(p report.ResultPicture) string {
	switch {
	case p.Kind == "twotime":
		return " RESULT.hdf|RUN"
	case p.Together != nil:
		return " RESULT.hdf..."
	}
	return " RESULT.hdf"
}

// plotTogether draws several results in one picture.
func plotTogether(a *frame.App, p report.ResultPicture, out string, names []string, bins string, other bool) error {
	if other {
		return exit.Usage("--%s is for one file: leave it out, or draw one file", p.Flag)
	}
	var all []*nexus.Result
	for _, name := range names {
		r, err := nexus.Open(name)
		if err != nil {
			return exit.Input(err)
		}
		defer r.Close()
		all = append(all, r)
	}
	chosen, err := chosenBins(all[0], bins)
	if err != nil {
		return err
	}
	f, err := p.Together(all, report.Choice{Bins: chosen})
	if err != nil {
		return exit.With(exit.Data, err)
	}
	return a.SavePicture(p.Kind, out, f)
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
