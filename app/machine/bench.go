// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/gpubench"
	"github.com/euryale-dev/euryale/internal/roofline"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

func benchGPU(a *frame.App) *cobra.Command {
	var set gpubench.Settings
	var how printed
	c := &cobra.Command{
		Use:   "gpu",
		Short: "Measure operations on a GPU against the limits of the hardware",
		Long: `Measure operations on a GPU in float32. Each figure is the median of 21 samples
after 3 that warm up, timed by events of the device on random numbers, with 4
sets of arrays in turn. It is shown beside the hardware limit (the bytes to move
divided by the measured copy bandwidth, or the arithmetic divided by the peak
rate, whichever is longer) and beside the time on the CPU with all its threads.

With --explain it lists the kernels of each operation with their work, the time
that a model of the card expects, and what bounds it. This needs no GPU: see
docs/GPU.md.

With --learn it prints what scripts/gpu.sh experiment found out about a card, as
tables. --into CHECKOUT puts them into docs/GPU.md there, and makes the values
that are faster the defaults of the card. This needs no GPU either.

  euryale bench gpu
  euryale bench gpu --device cuda:1 --only matmul --json
  euryale bench gpu --explain --card A100 --only transpose
  euryale bench gpu --learn experiment.json --into .
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runBenchGPU(c.Context(), a, set, how) },
	}
	c.Flags().StringVar(&set.Only, "only", "", "measure only operations whose name contains this text")
	c.Flags().BoolVar(&how.table, "csv", false, "print the table as CSV")
	c.Flags().BoolVar(&how.explain, "explain", false, "list the kernels of each operation with the time that a model expects of them")
	c.Flags().StringVar(&how.card, "card", "", "card `NAME` whose times --explain expects, without measuring: "+strings.Join(roofline.Names(), ", ")+" (default the GPU, which is measured too, or "+roofline.Names()[0]+" if there is none)")
	c.Flags().StringVar(&how.learn, "learn", "", "`FILE.json` that scripts/gpu.sh experiment wrote, whose tables are printed")
	c.Flags().StringVar(&how.into, "into", "", "root folder of a `CHECKOUT` of the source, where the file of --learn updates docs/GPU.md and the defaults of cards")
	return c
}

// printed says what is printed of a measurement.
type printed struct {
	table, explain    bool
	card, learn, into string
}

func runBenchGPU(ctx context.Context, a *frame.App, set gpubench.Settings, how printed) error {
	switch {
	case how.into != "" && how.learn == "":
		return exit.Usage("--into %s says where what an experiment found out goes: add --learn FILE.json", how.into)
	case how.learn != "" && (how.explain || how.card != "" || how.table || set.Only != ""):
		return exit.Usage("--learn %s prints all that the file has: leave out --explain, --card, --csv and --only", how.learn)
	case how.learn != "":
		return learnGPU(a, how)
	}
	if how.card != "" && !how.explain {
		return exit.Usage("--card %s says whose times to expect: add --explain", how.card)
	}
	if how.explain && (how.card != "" || a.Chosen.CPU || !a.Chosen.Demanded && cuda.Available() != nil) {
		return explainGPU(a, set.Only, how, nil)
	}
	if a.Chosen.CPU {
		return exit.Usage("bench gpu measures a GPU: leave out %s, or choose a GPU with cuda:N", a.Chosen.By)
	}
	set.Device, set.Copy = a.Chosen.Ordinal, tune.BenchCopy
	set.Told = func(name string) { a.Log("debug", "%s", name) }
	r, err := gpubench.Run(ctx, set)
	switch {
	case errors.Is(err, cuda.ErrNoDriver), errors.Is(err, cuda.ErrNoDevice), errors.Is(err, cuda.ErrDriverTooOld):
		return &exit.Error{Code: exit.NoDevice, Err: fmt.Errorf("there is no GPU to measure: %w", err)}
	case ctx.Err() != nil:
		return exit.With(exit.Interrupted, errors.New("interrupted"))
	case err != nil:
		return exit.With(exit.Failed, err)
	case len(r.Rows) == 0:
		return exit.Usage("--only %q: no operation has a name that contains this: run without --only to list them", set.Only)
	case how.explain:
		return explainMeasured(a, set.Only, how, r)
	}
	return reportGPU(a, how, r)
}

// reportGPU prints what was measured.
func reportGPU(a *frame.App, how printed, r *gpubench.Report) error {
	switch {
	case a.JSON:
		return a.Document(r)
	case how.table:
		return benchCSV(a, r)
	}
	_, err := fmt.Fprint(a.Stdout, r)
	return exit.With(exit.CannotWrite, err)
}

// benchCSV prints the table for spreadsheets.
func benchCSV(a *frame.App, r *gpubench.Report) error {
	w := foreign.CSV(a.Stdout)
	w.Write([]string{"name", "how", "gpu_ms", "floor_ms", "gb_s", "gflop_s", "cpu_ms", "cpu_threads", "device", "error"})
	for _, x := range r.Rows {
		f := func(v float64) string { return fmt.Sprintf("%.6g", v) }
		w.Write([]string{x.Name, x.How, f(x.Millis), f(x.Floor), f(x.GBs), f(x.GFlops), f(x.Processor), fmt.Sprint(r.Processors), r.Device, x.Error})
	}
	w.Flush()
	return exit.With(exit.CannotWrite, w.Error())
}
