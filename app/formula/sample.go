// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// exprConfig is the content of config.json for sample expr.
type exprConfig struct {
	draws.ChainConfig
	Problem *expr.Problem `json:"problem"`
}

const problemHelp = `  {"expr": "b1*(1-exp(-b2*x))", "data": {"x": [...], "y": [...]}, "sigma": "s",
   "priors": {"b1": "normal(240, 50)", "b2": "lognormal(-7, 1)",
              "s": "halfnormal(5)"}}

"sigma" is a column or a formula. "y" is a column or a formula of columns
(default y). The arguments of priors are numbers or formulas of other
parameters, such as normal(m, 2*t).

Optional keys: "likelihood", such as "studentt(4, mu, s)" or "poisson(mu)",
where mu is the value of expr (default "normal(mu, sigma)"); "fixed" {"b1": 3};
"tied" {"b3": "2*b1"}; "bounds" {"b1": [0, null]}, which truncate a prior or
stand for a uniform one; "flat" ["b1"] for no prior; "start" {"b1": 200, ...};
"derived" {"half": "log(2)/b2"}.

For vectors, "groups" {"theta": {"over": "school"}} gives theta one element per
label of the column school, which formulas write as theta[school]. "noncentred"
["theta"] samples the elements in standardised form.
`

func sampleExpr(a *frame.App) *cobra.Command {
	var cfg exprConfig
	c := &cobra.Command{
		Use:   "expr FILE.json",
		Short: "Sample the parameters of a formula with priors",
		Long: `Sample the posterior of the parameters of a formula with NUTS, given columns of
numbers and priors.
` + problemHelp + `
Results go to a run folder: draws, summary, verdict, plots and a report. Ctrl-C
saves the draws so far, and --resume continues with exactly the draws that an
uninterrupted run would have made.

  euryale sample expr misra1a.json
  euryale sample expr schools.json --out schools --target-accept 0.95
  euryale sample expr --resume schools
  euryale sample expr --resume schools --draws 4000
`,
		Args: cobra.NoArgs,
	}
	cfg.AddProblem(a, c, cfg.run(a, "sample expr"))
	return c
}

// run is the run of a problem by a command.
func (cfg *exprConfig) run(a *frame.App, command string) *draws.ProblemRun {
	return &draws.ProblemRun{Command: command, Folder: "run-expr", Chain: &cfg.ChainConfig, Config: cfg,
		Read: func(b []byte) (err error) {
			cfg.Problem, err = draws.ParseProblem(b, cfg.File)
			return err
		},
		Has: func() bool { return cfg.Problem != nil },
		Model: func(context.Context) (*infer.Model, error) {
			m, err := cfg.Problem.Model()
			return m, err
		},
		Starts:   func(post *infer.Posterior) ([][]float64, error) { return cfg.Problem.Starts(post, cfg.Chains, a.Seed) },
		Sampling: func(dir runs.Folder, post *infer.Posterior) draws.Sampling { return exprSampling(a, dir, cfg, post) }}
}

// exprDoc is the JSON document of sample expr.
type exprDoc struct {
	Engine string `json:"engine"`
	draws.SampleDoc
}

func exprSampling(a *frame.App, dir runs.Folder, cfg *exprConfig, post *infer.Posterior) draws.Sampling {
	return draws.Sampling{Dir: dir, Chain: &cfg.ChainConfig, Config: cfg, Model: "expr", Units: cfg.Problem.Units, Post: post,
		Document: func(d draws.SampleDoc) any { return exprDoc{"expr", d} },
		Report: func(fit *infer.Fit, v check.Verdict) error {
			return exit.With(exit.CannotWrite, report.Formula(cfg.File, cfg.Problem, fit, v, draws.PageOf(a, &cfg.ChainConfig)).Save(string(dir)))
		},
		Check: cfg.Problem.CheckSample}
}
