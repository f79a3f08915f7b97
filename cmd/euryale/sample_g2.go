package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/models/g2"
)

// sampleConfig is config.json of a run of sample g2: all that is needed to
// continue it on another day without the data file.
type sampleConfig struct {
	Command  string      `json:"command"`
	Version  string      `json:"version"`
	File     string      `json:"file"`
	G2       g2flags     `json:"g2"`
	Bin      int         `json:"bin"`
	Chains   int         `json:"chains"`
	Warmup   int         `json:"warmup"`
	Draws    int         `json:"draws"`
	Target   float64     `json:"target_accept"`
	Depth    int         `json:"max_tree_depth"`
	Seed     uint64      `json:"seed"`
	Every    string      `json:"checkpoint_every"`
	Q        number      `json:"q"`
	Phi      number      `json:"phi"`
	X        []float64   `json:"x"`
	Y        []float64   `json:"y"`
	Err      []float64   `json:"err,omitempty"`
	Starts   [][]float64 `json:"starts"`
	NoReport bool        `json:"no_report,omitempty"`
	Retries  int         `json:"retries"`
	Attempt  int         `json:"attempt"` // finished attempts before this one
}

// defaultSample holds the defaults. Posteriors of g2 cost microseconds a
// gradient, so the step size aims high: 0.9 leaves few divergences.
var defaultSample = sampleConfig{Chains: 4, Warmup: 1000, Draws: 1000, Target: 0.9, Depth: 10, Every: "10s", Retries: 1}

func (a *app) sample() *cobra.Command {
	return thing("sample", "Sample from a posterior", a.sampleG2())
}

func (a *app) sampleG2() *cobra.Command {
	var cfg sampleConfig
	c := &cobra.Command{
		Use:   "g2 FILE --bin N",
		Short: "Sample the parameters of one correlation function",
		Long: `Fit one bin by least squares, then sample its posterior from there with NUTS.

Results go to a run folder: draws, summary, verdict, plots and a report. Ctrl-C
saves what there is; --resume continues with the same draws as if nothing had
happened.

  euryale sample g2 A003_results.hdf --bin 4
  euryale sample g2 A003_results.hdf --bin 4 --model stretched --out run4 --json
  euryale sample g2 --resume run4
  euryale sample g2 curve.csv --prior "tau=lognormal(-7,2)"
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if a.resume != "" {
				return a.resumeSampleG2(c.Context(), args)
			}
			if len(args) != 1 {
				return usage("sample g2 wants a FILE, or --resume RUN")
			}
			cfg.File = args[0]
			return a.startSampleG2(c.Context(), cfg)
		},
	}
	cfg.G2.add(c)
	f, d := c.Flags(), defaultSample
	f.StringArrayVar(&cfg.G2.Prior, "prior", nil, "prior of a parameter: name=law(numbers); repeatable")
	f.IntVar(&cfg.Bin, "bin", 0, "bin to sample (default the only one)")
	f.IntVar(&cfg.Chains, "chains", d.Chains, "independent chains")
	f.IntVar(&cfg.Warmup, "warmup", d.Warmup, "draws per chain that adapt and are dropped")
	f.IntVar(&cfg.Draws, "draws", d.Draws, "draws per chain that are kept")
	f.Float64Var(&cfg.Target, "target-accept", d.Target, "aim of the step size, in (0, 1)")
	f.IntVar(&cfg.Depth, "max-tree-depth", d.Depth, "longest trajectory is 2^depth - 1 steps")
	f.IntVar(&cfg.Retries, "retries", d.Retries, "more careful attempts after a bad verdict")
	f.BoolVar(&cfg.NoReport, "no-report", false, "draw no pictures and write no report")
	f.StringVar(&cfg.Every, "checkpoint", d.Every, "time between checkpoints")
	return c
}

func (a *app) startSampleG2(ctx context.Context, cfg sampleConfig) error {
	law, s, err := cfg.G2.settings()
	if err != nil {
		return err
	}
	if err := cfg.check(); err != nil {
		return err
	}
	curves, err := loadCurves(cfg.File)
	if err != nil {
		return err
	}
	if law.Of == "q" {
		if curves, err = a.againstQ(ctx, law, curves, s); err != nil {
			return err
		}
	}
	if cfg.Bin == 0 && len(curves) == 1 {
		cfg.Bin = curves[0].Bin
	} else if cfg.Bin == 0 {
		return usage("--bin: %s has bins %d to %d, say which", cfg.File, curves[0].Bin, curves[len(curves)-1].Bin)
	}
	if curves, err = pickBins(cfg.File, curves, strconv.Itoa(cfg.Bin)); err != nil {
		return err
	}
	c := curves[0]
	point, err := g2.FitOne(ctx, law, c, pointSettings(law, s))
	if err != nil {
		return err
	}
	if point.Status == "failed" {
		return as(exitData, errors.New(point.Message))
	}
	if !point.OK() {
		a.note("the point fit did not converge (%s); sampling starts from it all the same", point.Message)
	}
	post, err := compileG2(law, c, s)
	if err != nil {
		return err
	}
	if cfg.Starts, err = g2.Starts(post, point, s, cfg.Chains, a.seed); err != nil {
		return as(exitFailed, err)
	}
	out := a.out
	if out == "" {
		out = fmt.Sprintf("run-g2-%s-bin%d", law.Name, cfg.Bin)
	}
	dir, err := a.makeRundir(out)
	if err != nil {
		return err
	}
	cfg.Command, cfg.Version, cfg.Seed = "sample g2", version(), a.seed
	cfg.Q, cfg.Phi, cfg.X, cfg.Y, cfg.Err = number(c.Q), number(c.Phi), c.X, c.Y, c.Err
	if abs, err := filepath.Abs(cfg.File); err == nil {
		cfg.File = abs
	}
	if err := writeJSON(dir.path("config.json"), cfg); err != nil {
		return err
	}
	if err := writeJSON(dir.path("fit.json"), documentOf(law, cfg.File, []g2.Fit{point})); err != nil {
		return err
	}
	return a.sampleInto(ctx, dir, cfg, law, s, c, post, point, "")
}

// check lists all flags that are out of range at once.
func (cfg *sampleConfig) check() error {
	var bad []string
	whole := func(flag string, v, low, high int) {
		if v < low || v > high {
			bad = append(bad, fmt.Sprintf("--%s %d: want %d to %d", flag, v, low, high))
		}
	}
	whole("bin", cfg.Bin, 0, math.MaxInt32)
	whole("chains", cfg.Chains, 1, 1<<16)
	whole("warmup", cfg.Warmup, 1, math.MaxInt32)
	whole("draws", cfg.Draws, 1, math.MaxInt32)
	whole("max-tree-depth", cfg.Depth, 1, 20)
	whole("retries", cfg.Retries, 0, 100)
	if !(cfg.Target > 0 && cfg.Target < 1) {
		bad = append(bad, fmt.Sprintf("--target-accept %g: want a number between 0 and 1, such as 0.9", cfg.Target))
	}
	if d, err := time.ParseDuration(cfg.Every); err != nil || d <= 0 {
		bad = append(bad, fmt.Sprintf("--checkpoint %q: want a time such as 10s", cfg.Every))
	}
	if len(bad) > 0 {
		return usage("%s", strings.Join(bad, "; "))
	}
	return nil
}

// pointSettings leaves out what only the Bayesian model takes.
func pointSettings(law g2.Law, s g2.Settings) g2.Settings {
	s.Priors = nil
	return s
}

func compileG2(law g2.Law, c g2.Curve, s g2.Settings) (*infer.Posterior, error) {
	m, err := g2.Model(law, c, s)
	if err != nil {
		return nil, as(exitUsage, err)
	}
	post, err := m.Compile()
	return post, as(exitBug, err)
}

func (a *app) resumeSampleG2(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return usage("--resume takes its file and settings from the run folder: leave out %s", args[0])
	}
	dir := rundir(a.resume)
	var cfg sampleConfig
	if err := dir.readConfig(&cfg); err != nil {
		return err
	}
	if cfg.Command != "sample g2" {
		return as(exitConfig, fmt.Errorf("%s is a run of %q: want sample g2", dir, cfg.Command))
	}
	law, s, err := cfg.G2.settings()
	if err != nil {
		return as(exitConfig, err)
	}
	c := g2.Curve{Bin: cfg.Bin, Q: float64(cfg.Q), Phi: float64(cfg.Phi), X: cfg.X, Y: cfg.Y, Err: cfg.Err}
	post, err := compileG2(law, c, s)
	if err != nil {
		return as(exitConfig, err)
	}
	point, err := g2.FitOne(ctx, law, c, pointSettings(law, s))
	if err != nil {
		return err
	}
	checkpoint := dir.path("checkpoint")
	if _, err := os.Stat(checkpoint); err != nil {
		a.note("%s has no checkpoint yet: starting over", dir)
		checkpoint = ""
	}
	return a.sampleInto(ctx, dir, cfg, law, s, c, post, point, checkpoint)
}

// sampleInto runs the chains and fills the folder.
func (a *app) sampleInto(ctx context.Context, dir rundir, cfg sampleConfig, law g2.Law, s g2.Settings, c g2.Curve, post *infer.Posterior, point g2.Fit, resume string) error {
	every, err := time.ParseDuration(cfg.Every)
	if err != nil {
		return as(exitConfig, err)
	}
	meter := a.meter()
	fit, err := infer.Sample(ctx, post, infer.Config{Chains: cfg.Chains, Warmup: cfg.Warmup, Draws: cfg.Draws, Seed: cfg.Seed,
		TargetAccept: cfg.Target, MaxTreeDepth: cfg.Depth, Init: cfg.Starts, Parallel: a.threads, Resume: resume,
		Checkpoint: infer.Checkpoint{Path: dir.path("checkpoint"), Every: every}, Progress: meter.Update})
	meter.Close()
	if ctx.Err() != nil {
		return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted; what was drawn is kept in %s", dir), hint: "euryale sample g2 --resume " + string(dir)}
	}
	if err != nil {
		return as(samplingCode(err), err)
	}
	if rep := fit.Diagnose(); !rep.OK() && cfg.Retries > 0 {
		a.note("%s\nsampling again, more carefully (--retries 0 keeps the first attempt)", rep)
		if cfg, err = dir.retry(cfg); err != nil {
			return err
		}
		return a.sampleInto(ctx, dir, cfg, law, s, c, post, point, "")
	}
	doc, rep, err := a.saveSample(dir, cfg, law, s, c, post, point, fit)
	if err != nil {
		return err
	}
	if a.json {
		err = a.document(doc)
	} else {
		_, err = fmt.Fprintf(a.stdout, "%s\nresults in %s\n", fit.Summary(), dir)
	}
	if err != nil {
		return as(exitCannotWrite, err)
	}
	if a.strict && !rep.OK() {
		return as(exitFailed, fmt.Errorf("diagnostics: %s", rep.Verdict()))
	}
	return nil
}

// retry turns the run into a more careful one: smaller steps, three times the
// warm-up, four times the draws. Whether it happens depends on the draws alone,
// so a resumed run takes the same way.
func (r rundir) retry(cfg sampleConfig) (sampleConfig, error) {
	cfg.Retries--
	cfg.Attempt++
	cfg.Target, cfg.Warmup, cfg.Draws = max(cfg.Target, 0.99), 3*cfg.Warmup, 4*cfg.Draws
	if err := writeJSON(r.path("config.json"), cfg); err != nil {
		return cfg, err
	}
	return cfg, as(exitCannotWrite, os.Remove(r.path("checkpoint")))
}

// samplingCode tells a damaged checkpoint and a full disk from a failed run.
func samplingCode(err error) int {
	if errors.Is(err, infer.ErrCheckpoint) {
		return exitData
	}
	var path *os.PathError
	if errors.As(err, &path) {
		return exitCannotWrite
	}
	return exitFailed
}

// sampleDoc is the JSON document of sample g2.
type sampleDoc struct {
	Engine      string            `json:"engine"`
	Model       string            `json:"model"`
	Bin         int               `json:"bin"`
	Q           number            `json:"q"`
	Summary     map[string]rowDoc `json:"summary"`
	Diagnostics diagnosticsDoc    `json:"diagnostics"`
	Timing      timingDoc         `json:"timing"`
	Attempts    int               `json:"attempts"` // 1, or more after bad verdicts
	Run         string            `json:"run"`
}

type timingDoc struct {
	Warmup    number `json:"warmup_s"`
	Sample    number `json:"sample_s"`
	Gradients int    `json:"gradients"`
}

// saveSample writes everything that a finished run leaves.
func (a *app) saveSample(dir rundir, cfg sampleConfig, law g2.Law, s g2.Settings, c g2.Curve, post *infer.Posterior, point g2.Fit, fit *infer.Fit) (sampleDoc, diag.Report, error) {
	rep := fit.Diagnose()
	doc := sampleDoc{Engine: "g2", Model: law.Name, Bin: cfg.Bin, Q: number(c.Q), Summary: summaryDoc(fit.Summary()), Attempts: cfg.Attempt + 1, Run: string(dir)}
	doc.Diagnostics = diagnosticsDoc{Divergences: fit.Divergent(), DepthHits: fit.DepthHits(), EBFMI: numbers(fit.EBFMI()), OK: rep.OK(), Advice: []string{}}
	for _, p := range rep.Problems() {
		doc.Diagnostics.Advice = append(doc.Diagnostics.Advice, p.String())
	}
	for _, t := range fit.Timing() {
		doc.Timing.Warmup = max(doc.Timing.Warmup, number(t.Warmup.Seconds()))
		doc.Timing.Sample = max(doc.Timing.Sample, number(t.Sampling.Seconds()))
	}
	w, k := fit.Gradients()
	doc.Timing.Gradients = w + k
	settings := map[string]string{"model": "g2 " + law.Name, "euryale_version": cfg.Version, "seed": strconv.FormatUint(cfg.Seed, 10), "num_warmup": strconv.Itoa(cfg.Warmup),
		"num_samples": strconv.Itoa(cfg.Draws), "save_warmup": "0", "thin": "1", "delta": strconv.FormatFloat(cfg.Target, 'g', -1, 64), "max_depth": strconv.Itoa(cfg.Depth)}
	if err := dir.saveDraws(fit, settings); err != nil {
		return doc, rep, err
	}
	if err := writeJSON(dir.path("summary.json"), doc); err != nil {
		return doc, rep, err
	}
	if err := writeFile(dir.path("diagnose.txt"), []byte(fit.Summary().String()+"\n"+rep.String())); err != nil {
		return doc, rep, err
	}
	if cfg.NoReport {
		return doc, rep, nil
	}
	return doc, rep, a.saveReport(dir, cfg, law, s, c, post, point, fit)
}
