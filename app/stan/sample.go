// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/stan"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// stanConfig is the content of config.json for sample stan: the program and its data, so that the run goes on without their files.
type stanConfig struct {
	draws.ChainConfig
	program
}

func sampleStan(a *frame.App) *cobra.Command {
	var cfg stanConfig
	var f files
	var explain bool
	c := &cobra.Command{
		Use:   "stan MODEL.stan --data FILE.json",
		Short: "Sample the posterior of a program of the Stan language",
		Long: `Sample the posterior of a program of the Stan language with NUTS, without a C++
compiler.

` + dataHelp + `
Settings default to Stan's: four chains of 1000 warm-up draws and 1000 draws
that are kept. Programs in the array syntax from before Stan 2.33 are read, with
a note.

The table shows the parameters; --verbose shows all quantities. Results go to a
run folder: draws (chain-1.csv and so on, as CmdStan writes them), summary,
verdict, plots and a report. Ctrl-C saves the draws so far, and --resume
continues with exactly the draws that an uninterrupted run would have made.

"euryale info MODEL.stan" tells what a program needs without running it, and
--explain which of its loops run at once.

  euryale sample stan eight_schools.stan --data schools.json
  euryale sample stan line.stan --data points.csv --init start.json
  euryale sample stan --resume run-eight_schools
  euryale sample stan --resume run-eight_schools --draws 4000
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case a.Resume != "" && (len(args) > 0 || len(f.data) > 0 || f.init+f.library != ""):
				return exit.Usage("--resume %s has the program, its data and its starts: leave out the file, --data and --init", a.Resume)
			case a.Resume != "":
				return resume(a, c, &cfg)
			}
			file, err := f.model("sample stan", args)
			if err != nil {
				return err
			}
			if explain {
				return explained(a, &cfg, file, f)
			}
			return start(c.Context(), a, &cfg, file, f)
		},
	}
	f.add(c.Flags())
	c.Flags().BoolVar(&explain, "explain", false, "say how the program is computed, line by line, and sample nothing")
	cfg.Add(c, draws.DefaultChains(setting.Sampler{}))
	return c
}

// explained says how a program is computed.
func explained(a *frame.App, cfg *stanConfig, file string, f files) error {
	if err := cfg.load(a, file, f); err != nil {
		return err
	}
	post, err := cfg.compile(a, frame.Absolute(file), f.named(), stan.CompileSettings{Seed: a.Seed})
	if err != nil {
		return err
	}
	own, ok := post.(*stan.Posterior)
	if !ok {
		return exit.Usage("--explain is for programs: leave it out with --library")
	}
	lines := own.Staging()
	if a.JSON {
		return a.Document(map[string]any{"engine": "stan", "explain": append([]string{}, lines...), "parameters": own.Dim()})
	}
	lines = append(lines, fmt.Sprintf("%d unconstrained parameters", own.Dim()))
	_, err = fmt.Fprintln(a.Stdout, strings.Join(lines, "\n"))
	return exit.With(exit.CannotWrite, err)
}

func start(ctx context.Context, a *frame.App, cfg *stanConfig, file string, f files) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	if err := cfg.load(a, file, f); err != nil {
		return err
	}
	cfg.File, cfg.Seed = frame.Absolute(file), a.Seed
	post, err := cfg.compile(a, cfg.File, f.named(), stan.CompileSettings{Seed: cfg.Seed})
	if err != nil {
		return err
	}
	if cfg.Starts, err = f.starts(post, cfg.Chains, cfg.Seed); err != nil {
		return err
	}
	dir, err := a.MakeRundir(cmp.Or(a.Out, "run-"+strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))))
	if err != nil {
		return err
	}
	cfg.Command, cfg.Version, cfg.Device = "sample stan", frame.Version(), post.Device()
	if err := a.Begin(dir, cfg.Command, cfg); err != nil {
		return err
	}
	return draws.SampleInto(ctx, a, cfg.sampling(a, dir, post), "")
}

func resume(a *frame.App, c *cobra.Command, cfg *stanConfig) error {
	cfg.program = program{}
	dir, err := cfg.Reopen(a, c, "sample stan", nil, cfg)
	if err != nil {
		return err
	}
	if cfg.Program+cfg.Library == "" {
		return exit.With(exit.Config, fmt.Errorf("%s records no program: run the command again with the file", dir.Path(runs.ConfigFile)))
	}
	if err := a.GoOnWhere(cfg.Device); err != nil {
		return err
	}
	post, err := cfg.compile(a, cfg.File, dir.Path(runs.ConfigFile), stan.CompileSettings{Seed: cfg.Seed})
	if err != nil {
		return err
	}
	return draws.SampleInto(c.Context(), a, cfg.sampling(a, dir, post), a.CheckpointOf(dir))
}

// sampleDoc is the JSON document of sample stan.
type sampleDoc struct {
	Engine string `json:"engine"`
	draws.SampleDoc
}

func (cfg *stanConfig) sampling(a *frame.App, dir runs.Folder, post density) draws.Sampling {
	return draws.Sampling{Dir: dir, Chain: &cfg.ChainConfig, Config: cfg, Model: strings.TrimSuffix(filepath.Base(cfg.File), filepath.Ext(cfg.File)), Post: post,
		Document: func(d draws.SampleDoc) any { return sampleDoc{"stan", d} },
		Report: func(fit *infer.Fit, v check.Verdict) error {
			return exit.With(exit.CannotWrite, report.Stan(cfg.File, fit, v, draws.PageOf(a, &cfg.ChainConfig)).Save(string(dir)))
		},
		Check: func(fit *infer.Fit) (check.Verdict, error) {
			if post.Observations() == nil {
				return unobserved(post)
			}
			return fit.CheckModel(infer.CheckSettings{})
		},
		Summary: func(fit *infer.Fit) string { return table(fit, post, a.Verbose) },
		Notes: func() []string {
			n, err := post.Failures()
			if n == 0 {
				return nil
			}
			return []string{fmt.Sprintf("generated quantities are NaN at %d draws, where they failed; the first time: %v", n, err)}
		}}
}

// unobserved is the verdict on a program that does not say what was observed.
func unobserved(post density) (check.Verdict, error) {
	text := "no distribution statement that can be judged has data on its left side, so that nothing was compared with the model"
	remedy := "write y ~ normal(...) for what was measured, or compare draws of generated quantities with the data yourself"
	if _, ok := post.(*stan.Posterior); !ok {
		text, remedy = "a compiled program does not say what was observed", "compare draws of its generated quantities with the data yourself"
	}
	v, err := check.Judge(check.Data{}, check.Settings{})
	for i, f := range v.Flags {
		if f.Kind == check.KindUnjudged {
			v.Flags[i].Text, v.Flags[i].Remedy = text, remedy
		}
	}
	return v, err
}

// mostRows is how many rows of parameters the table shows.
const mostRows = 50

// table is the summary of the parameters, or of all quantities.
func table(fit *infer.Fit, post density, all bool) string {
	s := fit.Summary()
	s.Note = fit.String() // the verdicts follow
	if all {
		return s.String()
	}
	keep := map[string]bool{}
	for _, n := range post.ParameterNames() {
		keep[n] = true
	}
	var rows []diag.Row
	parameters := 0
	for _, r := range s.Rows {
		if !keep[r.Name] {
			continue
		}
		if parameters++; len(rows) < mostRows {
			rows = append(rows, r)
		}
	}
	rest := len(s.Rows) - len(rows)
	s.Rows = rows
	if rest > 0 {
		s.Note = strings.TrimSpace(fmt.Sprintf("%s\n%d more quantities are in summary.json; --verbose shows them.", s.Note, rest))
	}
	return s.String()
}
