// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/runs"
)

// Judged is the JSON document of summary and diagnose.
type Judged struct {
	Summary     map[string]RowDoc `json:"summary"`
	Units       map[string]string `json:"units,omitempty"` // units of the parameters that have one, as stored in the run folder
	Diagnostics diagnosticsDoc    `json:"diagnostics"`
	// Verdict about the model, as stored in the run folder.
	Check *frame.CheckDoc `json:"model_check,omitempty"`
}

func summaryCommand(a *frame.App) *cobra.Command {
	return &cobra.Command{
		Use:   "summary RUN|FILE...",
		Short: "Summarise draws: means, intervals, effective sample sizes and R-hat",
		Long: `Summarise posterior draws from a run folder, CmdStan CSV files (one per chain),
a Zarr folder, a netCDF 4 file or JSON.

The table has the mean, the standard deviation (sd) and the interval from
eti89_lb to eti89_ub, which holds 89 % of the draws and leaves equally many
below and above it. ess_bulk and ess_tail are effective sample sizes for the
centre and for the tails, r_hat compares the chains (1 if they agree), and
mcse_mean is the error of the mean that is due to the number of draws. With
--json, each quantity also has its 5 %, 50 % and 95 % quantiles (q05, q50, q95)
and the shortest interval that holds 94 % of the draws (hdi94_lo, hdi94_hi).
Pictures show the shortest intervals that hold 50 % and 95 % of them.

  euryale summary run4
  euryale summary draws.nc
  euryale summary output_1.csv output_2.csv output_3.csv output_4.csv --json
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return judge(a, args, true) },
	}
}

func diagnoseCommand(a *frame.App) *cobra.Command {
	return &cobra.Command{
		Use:   "diagnose RUN|FILE...",
		Short: "Check whether draws can be trusted, and say what to do if not",
		Long: `Check the tree depth, divergences, E-BFMI, effective sample size and R-hat of
posterior draws from a run folder, CmdStan CSV files (one per chain), a Zarr
folder, a netCDF 4 file or JSON. The folder of a fit has no draws: for it, the
command prints whether the fit converged and its models agree with their data.

  euryale diagnose run4
  euryale diagnose fit
  euryale diagnose draws.zarr
  euryale diagnose output_*.csv --strict
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if fit := heldFit(args); fit != "" {
				return judgeFit(a, fit)
			}
			a.Verbose = true // the details are what the command is for
			return judge(a, args, false)
		},
	}
}

// drawsOf counts the draws of all chains.
func drawsOf(t *runs.Table) (n int) {
	if len(t.X) > 0 {
		for _, chain := range t.X[0] {
			n += len(chain)
		}
	}
	return n
}

// unrepeated returns the failed checks, of those that a run has stored, that its draws alone cannot tell.
func unrepeated(lines []string) (out diag.Report) {
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, ": ")
		switch c := diag.Check(name); c {
		case diag.CheckModes, diag.CheckBounded, infer.CheckLaplace, infer.CheckEvidence:
			cause, remedy, _ := strings.Cut(rest, ". Try: ")
			out = append(out, diag.Advice{Check: c, Cause: cause, Remedy: remedy})
		}
	}
	return out
}

func judge(a *frame.App, args []string, table bool) error {
	w := a.Waiting("reading the draws")
	defer w.Close()
	t, err := LoadDraws(a, args)
	if err != nil {
		return err
	}
	w.Stage(fmt.Sprintf("summarising %s of %s", errtext.Count(len(t.Names), "column"), errtext.Count(drawsOf(t), "draw")), -1)
	s := t.Summary()
	d, rep := diagnosticsOf(s, t.Evidence())
	w.Close()
	stored, err := frame.StoredCheck(args)
	if err != nil {
		return err
	}
	model, units := stored.Check, stored.Units
	rep = append(rep, unrepeated(stored.Diagnostics.Advice)...)
	d.OK, d.Advice = rep.OK(), advice(rep)
	switch {
	case a.JSON:
		err = a.Document(Judged{SummaryDoc(s), units, d, model})
	default:
		if table {
			_, err = fmt.Fprintln(a.Stdout, withUnits(s, units))
		}
		if err == nil {
			err = printVerdicts(a, rep, model, nil)
		}
	}
	switch {
	case err != nil:
		return exit.With(exit.CannotWrite, err)
	case a.Strict && !rep.OK():
		return exit.With(exit.Failed, fmt.Errorf("diagnostics: %s", exit.Lowered(rep.Verdict())))
	case a.Strict && model != nil && !model.OK:
		return exit.With(exit.Failed, fmt.Errorf("model check: %s", exit.Lowered(model.Summary)))
	}
	return nil
}
