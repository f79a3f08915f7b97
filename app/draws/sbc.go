// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/batch/work"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
)

// sbcConfig are the flags of sbc.
type sbcConfig struct {
	file string
	work.Calibration
}

// SBCDoc is the JSON document of sbc.
type SBCDoc struct {
	Fits int `json:"fits"`
	// Number of posterior draws among which each prior draw is ranked.
	Ranks       int                   `json:"ranks"`
	Divergent   int                   `json:"divergent"`
	Failed      int                   `json:"failed"`
	Failures    []sbcFailureDoc       `json:"failures"` // reasons why fits gave no ranks, the most frequent first
	LeftOut     []sbcLeftOutDoc       `json:"left_out"` // derived quantities without ranks
	Quantities  map[string]uniformDoc `json:"quantities"`
	FalseAlarms frame.Number          `json:"false_alarms"`
	OK          bool                  `json:"ok"`
	Device      string                `json:"device"` // device that computed the log density
	Verdict     string                `json:"verdict"`
	Advice      []string              `json:"advice"`
}

type sbcFailureDoc struct {
	Count  int    `json:"count"`
	Reason string `json:"reason"`
}

type sbcLeftOutDoc struct {
	Name  string `json:"name"`
	NaN   int    `json:"nan"`   // number of draws from the prior at which it is NaN or infinite
	Draws int    `json:"draws"` // number of draws from the prior
	Fits  int    `json:"fits"`  // number of fits in which it is NaN or infinite
}

func sbcCommand(a *frame.App) *cobra.Command {
	var cfg sbcConfig
	c := &cobra.Command{
		Use:   "sbc --problem FILE.json",
		Short: "Check a model and its sampler by simulation",
		Long: `Check a model and its sampler by simulation-based calibration. The command draws
parameters from the priors of a problem file and data from the parameters,
samples the posterior of these data, and ranks the prior draws among the
posterior draws. The ranks are uniform if the model and the sampler are right.
The values of y in the file only determine how many there are. The format of the
file is that of sample expr. A derived quantity that is NaN or infinite for some
parameters that the priors allow, or in some fit, has no ranks and is left out.
Ctrl-C prints the ranks so far; a calibration is not saved and cannot be
resumed.

  euryale sbc --problem line.json
  euryale sbc --problem line.json --fits 200 --json
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runSBC(c.Context(), a, cfg) },
	}
	c.Flags().StringVar(&cfg.file, "problem", "", "JSON file with the problem, or - for standard input")
	frame.AddSettings(c, "sbc", &cfg.Calibration)
	if err := c.MarkFlagRequired("problem"); err != nil {
		panic(err)
	}
	return c
}

func runSBC(ctx context.Context, a *frame.App, cfg sbcConfig) error {
	if err := frame.CheckSettings(&cfg.Calibration); err != nil {
		return err
	}
	if err := cfg.Check(); err != nil {
		return frame.SettingError(err)
	}
	p, err := OpenProblem(cfg.file)
	if err != nil {
		return err
	}
	post, lost, err := work.Calibrated(p, a.Backend(1), cfg.Fits, a.Seed)
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", cfg.file, err))
	}
	for _, u := range lost {
		a.Note("%s", u)
	}
	step := max(1, cfg.Fits/10)
	r, err := infer.SBC(ctx, post, infer.SBCSettings{Fits: cfg.Fits, Draws: cfg.Ranks, Seed: a.Seed,
		Sample: infer.Settings{Warmup: cfg.Warmup, Draws: cfg.Draws, Chains: 1, Seed: a.Seed, Parallel: a.Threads},
		Done: func(n int) {
			if n%step == 0 {
				a.Note("%d of %d fits", n, cfg.Fits)
			}
		}})
	if ctx.Err() != nil && err != nil {
		return interruptedSBC(a, cfg, post, lost, r)
	}
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", cfg.file, err))
	}
	return printSBC(a, cfg, post, lost, r)
}

// interruptedSBC prints the ranks so far. They are not saved and need careful reading,
// because fits with few gradients finish first.
func interruptedSBC(a *frame.App, cfg sbcConfig, post *infer.Posterior, lost []work.Unranked, r *infer.Calibration) error {
	if r == nil || r.Fits == 0 {
		return exit.With(exit.Interrupted, fmt.Errorf("interrupted before a fit was complete"))
	}
	if err := printSBC(a, cfg, post, lost, r); err != nil && exit.CodeOf(err) == exit.CannotWrite {
		return err
	}
	return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted after %d of %d fits, whose ranks are printed above: they are not saved, and they may be biased, because quick fits finish first", r.Fits, cfg.Fits),
		Hint: fmt.Sprintf("use --fits %d to complete a calibration of this length", max(10, r.Fits))}
}

func printSBC(a *frame.App, cfg sbcConfig, post *infer.Posterior, lost []work.Unranked, r *infer.Calibration) error {
	test, err := r.Report()
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	rep := test.Diagnose()
	if a.JSON {
		d := SBCDoc{Fits: r.Fits, Ranks: cfg.Ranks, Divergent: r.Divergent, Failed: len(r.Failed), Failures: []sbcFailureDoc{}, LeftOut: []sbcLeftOutDoc{}, Quantities: map[string]uniformDoc{},
			FalseAlarms: frame.Number(test.FalseAlarms), OK: rep.OK(), Device: post.Device(), Verdict: rep.Verdict(), Advice: advice(rep)}
		for i, name := range test.Names {
			d.Quantities[name] = uniformity(test.Rows[i])
		}
		for _, f := range work.Reasons(r) {
			d.Failures = append(d.Failures, sbcFailureDoc{f.Count, f.Text})
		}
		for _, u := range lost {
			d.LeftOut = append(d.LeftOut, sbcLeftOutDoc{Name: u.Name, NaN: u.NaN, Draws: u.Draws})
		}
		for _, u := range r.LeftOut {
			d.LeftOut = append(d.LeftOut, sbcLeftOutDoc{Name: u.Name, Fits: u.Fits})
		}
		err = a.Document(d)
	} else {
		_, err = fmt.Fprintln(a.Stdout, calibrationText(test, r))
	}
	if err == nil && a.Strict && !rep.OK() {
		return exit.With(exit.Failed, fmt.Errorf("diagnostics: %s", exit.Lowered(rep.Verdict())))
	}
	return exit.With(exit.CannotWrite, err)
}

// calibrationText is the table of tests and a line on the fits, with the reasons of those that failed.
func calibrationText(test diag.SBCReport, r *infer.Calibration) string {
	return fmt.Sprintf("%v\n%s", test, work.Told(r))
}

// uniformDoc reports how close the ranks are to uniform.
type uniformDoc struct {
	Histogram []int        `json:"histogram"`
	PChi      frame.Number `json:"p_chi"`
	PECDF     frame.Number `json:"p_ecdf"`
	Lean      frame.Number `json:"lean"`
	Spread    frame.Number `json:"spread"`
}

func uniformity(u diag.Uniformity) uniformDoc {
	return uniformDoc{u.Histogram, frame.Number(u.PChi), frame.Number(u.PECDF), frame.Number(u.Lean), frame.Number(u.Spread)}
}
