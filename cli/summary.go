// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// judged is the JSON document of summary and diagnose.
type judged struct {
	Summary     map[string]rowDoc `json:"summary"`
	Diagnostics diagnosticsDoc    `json:"diagnostics"`
	// Verdict about the model, as stored in the run folder.
	Check *checkDoc `json:"model_check,omitempty"`
}

func (a *app) summary() *cobra.Command {
	return &cobra.Command{
		Use:   "summary RUN|FILE...",
		Short: "Summarise draws: means, intervals, effective sample sizes and R-hat",
		Long: `Summarise posterior draws from a run folder, CmdStan CSV files (one per chain),
a Zarr folder, a netCDF 4 file or JSON.

  euryale summary run4
  euryale summary draws.nc
  euryale summary output_1.csv output_2.csv output_3.csv output_4.csv --json
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.judge(args, true) },
	}
}

func (a *app) diagnose() *cobra.Command {
	return &cobra.Command{
		Use:   "diagnose RUN|FILE...",
		Short: "Check whether draws can be trusted, and say what to do if not",
		Long: `Check the tree depth, divergences, E-BFMI, effective sample size and R-hat of
posterior draws from a run folder, CmdStan CSV files (one per chain), a Zarr
folder, a netCDF 4 file or JSON.

  euryale diagnose run4
  euryale diagnose draws.zarr
  euryale diagnose output_*.csv --strict
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.judge(args, false) },
	}
}

func (a *app) judge(args []string, table bool) error {
	t, err := loadDraws(args)
	if err != nil {
		return err
	}
	s := t.Summary()
	d, rep := diagnosticsOf(s, t.Evidence())
	model := storedCheck(args)
	switch {
	case a.json:
		err = a.document(judged{summaryDoc(s), d, model})
	case table:
		_, err = fmt.Fprintf(a.stdout, "%s\n%s\n", s, rep.Verdict())
	default:
		_, err = fmt.Fprintln(a.stdout, rep)
	}
	if err == nil && model != nil && !a.json {
		_, err = fmt.Fprintln(a.stdout, model.lines())
	}
	switch {
	case err != nil:
		return as(exitCannotWrite, err)
	case a.strict && !rep.OK():
		return as(exitFailed, fmt.Errorf("diagnostics: %s", rep.Verdict()))
	case a.strict && model != nil && !model.OK:
		return as(exitFailed, fmt.Errorf("model check: %s", model.Summary))
	}
	return nil
}
