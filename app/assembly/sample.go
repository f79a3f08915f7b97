// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/connectome"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// formationConfig is the content of config.json for sample assembly.
type formationConfig struct {
	draws.ChainConfig
	Problem *connectome.Measured `json:"problem"`
}

const sampleAssemblyCommand = "sample assembly"

func sampleAssembly(a *frame.App) *cobra.Command {
	var cfg formationConfig
	c := &cobra.Command{
		Use:   "assembly --problem FILE.json",
		Short: "Sample parameters of neural assemblies from measurements of them",
		Long: `Sample parameters of neural assemblies from measurements of them with NUTS. The
problem is a JSON file of one of these kinds:

  {"fit": "p", "count": [2, 3, ...], "k": 50}
    connection probability p, from how many of k firing neurons reach each
    neuron
  {"fit": "beta", "weight": [14.6, ...], "count": [8, ...], "times": [8, ...]}
    plasticity beta, from the summed weights of "count" synapses that were
    strengthened "times" times
  {"fit": "completion", "alpha": [0.1, ...], "recovered": [10, ...], "k": 100}
    pattern completion: a fraction c / (1 + exp(-s (alpha - a50))) of an
    assembly returns when a fraction alpha of it fires (default 3000 draws at
    an acceptance rate of 0.98)
  {"fit": "association", "rounds": [10, ...], "overlap": [28, ...], "k": 100}
    association: two assemblies share a fraction 1 / (1 + exp(-u)) of their
    neurons, with u = a + b (rounds - 15) / 5, after rounds of firing together
  {"fit": "formation", "overlap": [21, ...], "simulator": {"N": 1000, "K": 30}}
    plasticity beta and k p, the mean number of synapses from an assembly to a
    neuron, from how many neurons successive steps share while an assembly
    forms, with the simulator in the loop. "dynamics" is "emulated" (default, a
    surface fitted to hard simulations), "corrected" or "soft"; "graphs" is the
    number of simulated graphs per point of the surface

Results go to a run folder: draws, summary, verdict, plots and a report. Ctrl-C
saves the draws so far, and --resume continues with exactly the draws that an
uninterrupted run would have made.

  euryale sample assembly --problem curve.json --out curve
  euryale sample assembly --resume curve
  euryale sample assembly --resume curve --draws 4000
`,
		Args: cobra.NoArgs,
	}
	cfg.AddProblem(a, c, &draws.ProblemRun{Command: sampleAssemblyCommand, Folder: "run-assembly", Chain: &cfg.ChainConfig, Config: &cfg,
		Read: func(b []byte) (err error) {
			if cfg.Problem, err = connectome.ParseMeasured(b); err == nil {
				own := cfg.Problem.Settings(infer.Settings{})
				cfg.LeaveTo(c.Flags().Changed, setting.Sampler{Draws: own.Draws, TargetAccept: own.TargetAccept})
			}
			return err
		},
		Has: func() bool { return cfg.Problem != nil },
		Model: func(ctx context.Context) (*infer.Model, error) {
			return cfg.Problem.Model(ctx, func(text string) { a.Note("%s", text) })
		},
		Sampling: func(dir runs.Folder, post *infer.Posterior) draws.Sampling {
			return assemblySampling(a, dir, &cfg, post)
		}})
	return c
}

func assemblySampling(a *frame.App, dir runs.Folder, cfg *formationConfig, post *infer.Posterior) draws.Sampling {
	return draws.Sampling{Dir: dir, Chain: &cfg.ChainConfig, Config: cfg, Model: cfg.Problem.Fit, Post: post,
		Document: func(d draws.SampleDoc) any {
			return struct {
				Engine string `json:"engine"`
				Model  string `json:"model"`
				draws.SampleDoc
			}{"assembly", cfg.Problem.Fit, d}
		},
		Report: func(fit *infer.Fit, v check.Verdict) error { return saveAssemblyReport(a, dir, cfg, fit, v) }}
}

// saveAssemblyReport writes the pictures and the report of sample assembly.
func saveAssemblyReport(a *frame.App, dir runs.Folder, cfg *formationConfig, fit *infer.Fit, v check.Verdict) error {
	page := report.AssemblyPosterior(cfg.File, cfg.Problem, fit, v, draws.PageOf(a, &cfg.ChainConfig))
	return exit.With(exit.CannotWrite, page.Save(string(dir)))
}
