// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/gpubench"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

func benchGPU(a *frame.App) *cobra.Command {
	var set gpubench.Settings
	var table bool
	c := &cobra.Command{
		Use:   "gpu",
		Short: "Measure operations on a GPU against the limits of the hardware",
		Long: `Measure operations on a GPU in float32. Each figure is the median of 21 samples
after 3 that warm up, timed by events of the device on random numbers, with 4
sets of arrays in turn. It is shown beside the hardware limit (the bytes to move
divided by the measured copy bandwidth, or the arithmetic divided by the peak
rate, whichever is longer) and beside the time on the CPU with all its threads.

  euryale bench gpu
  euryale bench gpu --device cuda:1 --only matmul --json
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runBenchGPU(c.Context(), a, set, table) },
	}
	c.Flags().StringVar(&set.Only, "only", "", "measure only operations whose name contains this text")
	c.Flags().BoolVar(&table, "csv", false, "print the table as CSV")
	return c
}

func runBenchGPU(ctx context.Context, a *frame.App, set gpubench.Settings, table bool) error {
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
	case a.JSON:
		return a.Document(r)
	case table:
		return benchCSV(a, r)
	}
	_, err = fmt.Fprint(a.Stdout, r)
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
