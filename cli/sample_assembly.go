// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/connectome"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// formationConfig is the content of config.json for sample assembly.
type formationConfig struct {
	chainConfig
	Problem *connectome.Measured `json:"problem"`
}

const sampleAssembly = "sample assembly"

func (a *app) sampleAssembly() *cobra.Command {
	var cfg formationConfig
	c := &cobra.Command{
		Use:   "assembly --problem FILE.json",
		Short: "Sample what measured assemblies say about plasticity and connections",
		Long: `Sample parameters of neural assemblies from measurements of them, with NUTS. The
problem is a JSON file of one of these kinds:

  {"fit": "p", "count": [2, 3, ...], "k": 50}
    synapses of each neuron from k that fire: connection probability p
  {"fit": "beta", "weight": [14.6, ...], "count": [8, ...], "times": [8, ...]}
    summed weights of count synapses, strengthened times: plasticity beta
  {"fit": "completion", "alpha": [0.1, ...], "recovered": [10, ...], "k": 100}
    neurons that come back from a part alpha of an assembly: c, s, a50; takes 3000
    draws and an acceptance of 0.98 unless told otherwise
  {"fit": "association", "rounds": [10, ...], "overlap": [28, ...], "k": 100}
    common neurons of two assemblies after joint rounds: a, b
  {"fit": "formation", "overlap": [21, 33, ...], "simulator": {"N": 1000, "K": 30}}
    common neurons of successive steps while an assembly forms: beta and k p,
    by the simulator itself. "dynamics": "emulated" (default; a surface through
    hard simulations), "corrected" or "soft"; "graphs" for each place of the
    surface

Results go to a run folder: draws, summary, verdict, plots and a report. Ctrl-C
saves what there is; --resume continues with the same draws as if nothing had
happened.

  euryale sample assembly --problem curve.json --out curve
  euryale sample assembly --resume curve
`,
		Args: cobra.NoArgs,
	}
	cfg.addProblem(a, c, &problemRun{command: sampleAssembly, folder: "run-assembly", cfg: &cfg.chainConfig, config: &cfg,
		read: func(b []byte) (err error) {
			if cfg.Problem, err = connectome.ParseMeasured(b); err == nil {
				cfg.leaveTo(c.Flags().Changed, cfg.Problem.Settings(infer.Config{}))
			}
			return err
		},
		has: func() bool { return cfg.Problem != nil },
		model: func(ctx context.Context) (*infer.Model, error) {
			return cfg.Problem.Model(ctx, func(text string) { a.note("%s", text) })
		},
		sampling: func(dir runs.Folder, post *infer.Posterior) sampling { return a.assemblySampling(dir, &cfg, post) }})
	return c
}

func (a *app) assemblySampling(dir runs.Folder, cfg *formationConfig, post *infer.Posterior) sampling {
	return sampling{dir: dir, cfg: &cfg.chainConfig, config: cfg, model: cfg.Problem.Fit, post: post,
		document: func(d sampleDoc) any {
			return struct {
				Engine string `json:"engine"`
				Model  string `json:"model"`
				sampleDoc
			}{"assembly", cfg.Problem.Fit, d}
		},
		report: func(fit *infer.Fit, v check.Verdict) error { return a.saveAssemblyReport(dir, cfg, fit, v) }}
}

// saveAssemblyReport writes the pictures and the report of sample assembly.
func (a *app) saveAssemblyReport(dir runs.Folder, cfg *formationConfig, fit *infer.Fit, v check.Verdict) error {
	page := report.Posterior("assemblies: "+cfg.Problem.Fit, fit, v, a.pageOf(&cfg.chainConfig))
	page.Facts = append([]viz.Fact{{Name: "file", Value: cfg.File}, {Name: "fit", Value: cfg.Problem.Fit}}, page.Facts...)
	return as(exitCannotWrite, page.Save(string(dir)))
}
