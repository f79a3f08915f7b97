// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs"
	"github.com/euryale-dev/euryale/viz/term"
)

func averageCommand(a *frame.App) *cobra.Command {
	var s xpcs.AverageSettings
	var qmap string
	c := &cobra.Command{
		Use:   "average RESULT.hdf... OUT.hdf",
		Short: "Average repeated measurements, or regroup pixels with another q map",
		Long: `Average the results of repeated measurements: g2 with its errors and covariance,
the intensities and the mean image. A repeat is left out if it cannot be read,
or if its g2 does not approach 1: the mean of one bin at the longest delays must
lie between --low and --high. Every repeat that is left out is reported, and one
that cannot be read makes the exit code 65.

With --pixels the correlations of single pixels are averaged too, if correlate
--save-pixels stored them, and --qmap groups the pixels into other bins. One
file is enough for that, so you can also regroup a single result.

  euryale average A003_*_results.hdf A003_mean_results.hdf
  euryale average a_results.hdf b_results.hdf mean_results.hdf --high 1.1
  euryale average a_results.hdf phi_results.hdf --all --pixels --qmap phi.hdf
`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if !s.Pixels {
				if err := frame.Ignored(c, "--pixels", "non-zero"); err != nil {
					return err
				}
			}
			if s.All {
				for _, name := range []string{"low", "high", "bin", "window"} {
					if c.Flags().Changed(name) {
						return exit.Usage("--%s chooses repeats, and --all takes all of them: leave out one of the two", name)
					}
				}
			}
			return runAverage(c.Context(), a, args, s, qmap)
		},
	}
	f := c.Flags()
	f.IntVar(&s.Bin, "bin", 1, "bin whose g2 decides whether a repeat is good")
	f.IntVar(&s.Window, "window", 10, "number of longest delays over which g2 of --bin is averaged")
	f.Float64Var(&s.Low, "low", 0.95, "smallest mean of a good repeat")
	f.Float64Var(&s.High, "high", 1.05, "largest mean of a good repeat")
	f.BoolVar(&s.All, "all", false, "average all repeats, good or not")
	f.BoolVar(&s.Customary, "customary-errors", false, "divide the mean error by the square root of the number of repeats, as viewers do (default: root of the summed squares of the errors, divided by the number of repeats)")
	f.BoolVar(&s.Pixels, "pixels", false, "also average the correlations of single pixels")
	f.BoolVar(&s.NonZero, "non-zero", false, "with --pixels, leave correlations that are 0 in a repeat out of the mean")
	f.StringVar(&qmap, "qmap", "", "group the pixels into the bins of this q map (needs --pixels)")
	return c
}

// averageDoc is the JSON document of average.
type averageDoc struct {
	Engine string       `json:"engine"`
	Result string       `json:"result"`
	Used   int          `json:"used"`
	Files  []repeatsDoc `json:"files"`
}

type repeatsDoc struct {
	File     string       `json:"file"`
	Baseline frame.Number `json:"baseline"`
	Used     bool         `json:"used"`
	Message  string       `json:"message,omitempty"`
}

func runAverage(ctx context.Context, a *frame.App, args []string, s xpcs.AverageSettings, qmap string) error {
	files, out := args[:len(args)-1], args[len(args)-1]
	if err := a.MayWrite(out, "file", true); err != nil {
		return err
	}
	if there(out) && !a.Overwrite {
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists, and the last file named is the output", out), Hint: "--overwrite, or another name"}
	}
	for _, name := range files {
		if sameFile(name, out) {
			return exit.Usage("average: %s is both an input and the output: name another output file last", out)
		}
	}
	if qmap != "" {
		var err error
		if s.Map, err = nexus.OpenQMap(qmap); err != nil {
			return exit.Input(err)
		}
	}
	set := term.BarSettings{Name: "files", Total: len(files)}
	if a.Quiet {
		set.Mode = term.Quiet
	}
	bar := term.NewBar(a.Screen, set)
	s.Progress = func(int, int) { bar.Add(1, 0) }
	lost := frame.LostOf("file", len(files))
	repeats, err := xpcs.Average(ctx, files, out, s)
	bar.Close()
	doc := averageDoc{Engine: "xpcs", Result: out, Files: []repeatsDoc{}}
	notes := a.NotesOn("file")
	for _, r := range repeats {
		doc.Files = append(doc.Files, repeatsDoc{r.File, frame.Number(r.Baseline), r.Used, r.Why})
		if r.Used {
			doc.Used++
		} else if err == nil {
			notes.Add(r.File, "left out: %s", r.Why)
			if r.Unusable {
				lost.Keep(r.File, exit.With(exit.Data, errors.New(r.Why)))
			}
		}
	}
	notes.Tell()
	if err != nil {
		return exit.Output(exit.With(exit.Data, err), err)
	}
	if a.JSON {
		return errors.Join(a.Document(doc), lost.Err("averaged"))
	}
	fmt.Fprintf(a.Stdout, "%s: mean of %d of %d files\n", out, doc.Used, len(doc.Files))
	return lost.Err("averaged")
}
