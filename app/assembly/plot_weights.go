// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// snapshotFile is the file of the brain at the end of a run, in its folder.
const snapshotFile = "brain.snapshot"

func plotWeights(a *frame.App) *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   "weights RUN [OUT.svg|png|pdf]",
		Short: "Draw the weights of the synapses at the end of a run",
		Long: `Draw the mean weights of the synapses between blocks of neurons at the end of a
run of sim assembly, one picture for each fibre between areas. The neurons whose
weights grew most come first, so that an assembly is a corner. The picture is
written to OUT if it is given, or else to weights.svg.

  euryale plot weights run-project
  euryale plot weights run-associate weights.png --var "A>A,A>B"
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			out, args, err := a.PictureOfOne("weights", args)
			if err != nil {
				return err
			}
			name := runs.Folder(args[0]).Path(snapshotFile)
			file, err := foreign.Open(name)
			if errors.Is(err, fs.ErrNotExist) && foreign.Exists(args[0]) {
				return exit.With(exit.NoInput, fmt.Errorf("%s has no %s, which a run of sim assembly leaves: give the folder of one", args[0], snapshotFile))
			}
			if err != nil {
				return exit.Input(err)
			}
			defer file.Close()
			b, err := assembly.Load(file, nil)
			if err != nil {
				return exit.InFile(name, err)
			}
			f, err := report.Weights(b, names)
			if unknown := (*report.UnknownError)(nil); errors.As(err, &unknown) {
				return exit.Usage("%s has no fibre %s: --var accepts %s", args[0], unknown.Name, strings.Join(unknown.Known, ", "))
			}
			if err != nil {
				return exit.InFile(name, err)
			}
			return a.SavePicture("weights", out, f)
		},
	}
	c.Flags().StringSliceVar(&names, "var", nil, "fibres to draw, such as A>B (default all)")
	return c
}
