package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/models/connectome"
	"github.com/euryale-dev/euryale/viz"
)

// formationConfig is config.json of a run of sample assembly.
type formationConfig struct {
	chainConfig
	Problem *assemblyProblem `json:"problem"`
}

// assemblyProblem is what was measured of assemblies; which fields, depends on Fit.
type assemblyProblem struct {
	Fit       string                `json:"fit"`
	Count     []int                 `json:"count,omitempty"`
	Times     []int                 `json:"times,omitempty"`
	Weight    []float64             `json:"weight,omitempty"`
	Alpha     []float64             `json:"alpha,omitempty"`
	Recovered []int                 `json:"recovered,omitempty"`
	Rounds    []float64             `json:"rounds,omitempty"`
	Overlap   []int                 `json:"overlap,omitempty"`
	K         int                   `json:"k,omitempty"`
	Simulator *connectome.Simulator `json:"simulator,omitempty"`
	Dynamics  string                `json:"dynamics,omitempty"`
	Graphs    int                   `json:"graphs,omitempty"`
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
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case a.resume != "":
				return a.resumeSampleAssembly(c)
			case cfg.File == "":
				return usage("sample assembly wants --problem FILE.json, or --resume RUN")
			}
			return a.startSampleAssembly(c.Context(), cfg, c.Flags().Changed)
		},
	}
	c.Flags().StringVar(&cfg.File, "problem", "", "JSON file with the problem, - for standard input")
	cfg.add(c, defaultChains(0))
	return c
}

func (a *app) startSampleAssembly(ctx context.Context, cfg formationConfig, chosen func(flag string) bool) error {
	if err := cfg.check(); err != nil {
		return err
	}
	b, err := readInput(cfg.File)
	if err != nil {
		return err
	}
	if cfg.Problem, err = parseAssemblyProblem(b); err != nil {
		return as(exitData, fmt.Errorf("%s: %w", cfg.File, err))
	}
	if cfg.Problem.Fit == "completion" {
		cfg.leaveTo(chosen, connectome.Completion{}.Settings(infer.Config{}))
	}
	post, err := a.assemblyPosterior(ctx, cfg.File, cfg.Problem)
	if err != nil {
		return err
	}
	dir, err := a.makeRundir(cmp.Or(a.out, problemFolder(cfg.File, "run-assembly")))
	if err != nil {
		return err
	}
	cfg.Command, cfg.Version, cfg.Seed, cfg.File = sampleAssembly, version(), a.seed, absolute(cfg.File)
	if err := a.begin(dir, sampleAssembly, cfg); err != nil {
		return err
	}
	return a.sampleInto(ctx, a.assemblySampling(dir, &cfg, post), "")
}

var assemblyFits = []string{"p", "beta", "completion", "association", "formation"}

func parseAssemblyProblem(b []byte) (*assemblyProblem, error) {
	b, err := foreign.JSON(b)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var p assemblyProblem
	if err := d.Decode(&p); err != nil {
		line, column := foreign.Position(b, d.InputOffset())
		return nil, fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	return &p, nil
}

// assemblyPosterior compiles the model of a problem. A simulator may take seconds to
// be fitted first.
func (a *app) assemblyPosterior(ctx context.Context, file string, p *assemblyProblem) (*infer.Posterior, error) {
	m, err := a.assemblyModel(ctx, p)
	if ctx.Err() != nil {
		return nil, &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted before the chains began"), hint: "the same once more"}
	}
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", file, err))
	}
	post, err := m.Compile()
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", file, err))
	}
	return post, nil
}

func (a *app) assemblyModel(ctx context.Context, p *assemblyProblem) (*infer.Model, error) {
	switch p.Fit {
	case "p":
		return connectome.Degrees{Count: p.Count, K: p.K}.Model()
	case "beta":
		return connectome.Strengths{Weight: p.Weight, Count: p.Count, Times: p.Times}.Model()
	case "completion":
		return connectome.Completion{Alpha: p.Alpha, Recovered: p.Recovered, K: p.K}.Model()
	case "association":
		return connectome.Association{Rounds: p.Rounds, Overlap: p.Overlap, K: p.K}.Model()
	case "formation":
		return a.formationModel(ctx, p)
	}
	near := spelling.Meant(p.Fit, assemblyFits)
	if near != "" {
		near = ": did you mean " + near + "?"
	}
	return nil, fmt.Errorf("fit %q: want one of %s%s", p.Fit, strings.Join(assemblyFits, ", "), near)
}

func (a *app) formationModel(ctx context.Context, p *assemblyProblem) (m *infer.Model, err error) {
	s := connectome.Simulator{}
	if p.Simulator != nil {
		s = *p.Simulator
	}
	if s.Steps == 0 {
		s.Steps = len(p.Overlap) + 1
	}
	if err := s.Check(p.Overlap); err != nil {
		return nil, err
	}
	switch cmp.Or(p.Dynamics, "emulated") {
	case "emulated":
		a.note("fitting a surface through hard simulations")
		s, err = s.Emulated(ctx, p.Graphs)
	case "corrected":
		a.note("correcting the soft simulator to hard ones")
		s, err = s.Corrected(ctx, p.Graphs)
	case "soft":
	default:
		err = fmt.Errorf("dynamics %q: want emulated, corrected or soft", p.Dynamics)
	}
	if err != nil {
		return nil, err
	}
	return s.Model(p.Overlap)
}

func (a *app) resumeSampleAssembly(c *cobra.Command) error {
	ctx := c.Context()
	var cfg formationConfig
	dir, err := a.reopen(c, sampleAssembly, nil, &cfg, "threads")
	if err != nil {
		return err
	}
	if cfg.Problem == nil {
		return as(exitConfig, fmt.Errorf("%s has no problem", dir.path("config.json")))
	}
	post, err := a.assemblyPosterior(ctx, dir.path("config.json"), cfg.Problem)
	if err != nil {
		return err
	}
	return a.sampleInto(ctx, a.assemblySampling(dir, &cfg, post), a.checkpointOf(dir))
}

func (a *app) assemblySampling(dir rundir, cfg *formationConfig, post *infer.Posterior) sampling {
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

// saveAssemblyReport writes the pictures and the report of a run of sample assembly.
func (a *app) saveAssemblyReport(dir rundir, cfg *formationConfig, fit *infer.Fit, v check.Verdict) error {
	rep := fit.Diagnose()
	album := a.posteriorAlbum(viz.FromFit(fit))
	r := viz.Report{Title: "assemblies: " + cfg.Problem.Fit, Facts: []viz.Fact{{Name: "file", Value: cfg.File}, {Name: "fit", Value: cfg.Problem.Fit},
		{Name: "seed", Value: fmt.Sprint(cfg.Seed)}, {Name: "version", Value: cfg.Version}, verdictFact(rep, v)},
		Sections: []viz.Section{{Title: "Summary", Tables: []string{fit.Summary().HTML(), rep.HTML()}}, {Title: "Posterior", Figures: album.figures()}}}
	if err := album.save(dir); err != nil {
		return err
	}
	return writeFile(dir.path("report.html"), []byte(r.HTML()))
}
