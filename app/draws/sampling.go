// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/internal/tune"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// Sampling describes one posterior to be sampled into a run folder, with the parts that
// depend on the command.
type Sampling struct {
	Dir      runs.Folder
	Chain    *ChainConfig // chain settings, a pointer into config
	Config   any          // content of config.json
	Model    string       // name of the model in the files of draws
	Post     Density
	Document func(SampleDoc) any                         // adds the command's own entries to the document
	Report   func(fit *infer.Fit, v check.Verdict) error // writes the pictures and the report
	// Judges the model; nil uses the model's own check against its data.
	Check func(fit *infer.Fit) (check.Verdict, error)
	// Writes the command's own files beside the draws; may be nil.
	Extra func(fit *infer.Fit) error
	// Metric is that of the posterior where it is known, so that the warm-up finds the step size only; nil to learn it.
	Metric *infer.Metric
	// Units are the units of parameters that have one, by name.
	Units map[string]string
	// Returns the printed table; nil prints that of all draws.
	Summary func(fit *infer.Fit) string
	// Returns what to remark beside the verdict; may be nil.
	Notes func() []string
}

// Density is what is sampled, and says where it is computed.
type Density interface {
	infer.Target
	Device() string
}

// SampleDoc is the JSON document of a sample command.
type SampleDoc struct {
	Summary     map[string]RowDoc `json:"summary"`
	Units       map[string]string `json:"units"` // units of the parameters that have one
	Diagnostics diagnosticsDoc    `json:"diagnostics"`
	Evidence    *evidenceDoc      `json:"log_evidence,omitempty"`
	// Sensitivity says how much quantities depend on priors and likelihood; see infer.Fit.Sensitivities.
	Sensitivity map[string]sensitivityDoc `json:"sensitivity,omitempty"`
	Check       *frame.CheckDoc           `json:"model_check"`
	Timing      TimingDoc                 `json:"timing"`
	Device      string                    `json:"device"`             // device that computed the log density
	Attempts    int                       `json:"attempts"`           // number of attempts; more than 1 after a bad verdict
	Repeated    []string                  `json:"repeated,omitempty"` // faults of the draws of each attempt before the last
	Run         string                    `json:"run"`
}

// TimingDoc says how long a run took.
type TimingDoc struct {
	Warmup    frame.Number `json:"warmup_s"`
	Sample    frame.Number `json:"sample_s"`
	Gradients int          `json:"gradients"`
}

// sensitivityDoc is the change of a quantity for each doubling of the power of a part of the density; above about 0.05 it depends on it.
type sensitivityDoc struct {
	Prior      frame.Number `json:"prior"`
	Likelihood frame.Number `json:"likelihood"`
}

// SampleInto runs the chains and writes their results to the folder.
func SampleInto(ctx context.Context, a *frame.App, s Sampling, resume string) error {
	cfg := s.Chain
	every, err := time.ParseDuration(cfg.Every)
	if err != nil {
		return exit.With(exit.Config, err)
	}
	if on := s.Post.Device(); cfg.Device != on || cfg.asked { // the folder says where to go on, and for how long
		cfg.Device, cfg.asked = on, false
		if err := frame.WriteJSON(s.Dir.Path(runs.ConfigFile), s.Config); err != nil {
			return err
		}
	}
	meter := a.Meter()
	kind := infer.LowRank
	if s.Metric != nil {
		kind = infer.FixedMetric
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var unwritten error
	failing := func(err error) {
		if a.NotSaved(err); atomicfile.Lasts(err) {
			unwritten = err
			stop() // there is nothing to wait for
		}
	}
	seen := liveIn(s.Dir)
	go seen.run()
	in := cfg.Config(cfg.Seed)
	in.Sink, in.StartMetric, in.Metric, in.Init, in.Parallel, in.Resume = seen.sink(), s.Metric, kind, cfg.starts(), a.Threads, resume
	in.Checkpoint = infer.Checkpoint{Path: s.Dir.Path("checkpoint"), Every: every, Patience: tune.Patience, Failing: failing}
	in.Progress = func(p infer.Progress) { meter.Update(p); seen.update(p) }
	fit, err := infer.Sample(ctx, s.Post, in)
	meter.Close()
	seen.close()
	if unwritten != nil {
		err = unwritten
	}
	if errors.Is(err, infer.ErrNotSaved) {
		return unsampled(a, s, err)
	}
	if ctx.Err() != nil {
		return interrupted(s)
	}
	if err != nil {
		return unsampled(a, s, err)
	}
	cfg.Recall(fit)
	if moves := fit.Coordinates(); len(moves) > 0 {
		a.Note("coordinates of the chains: %s", strings.Join(moves, "; "))
	}
	if fit.SoftSteps() {
		a.Note("steps of the chains: those with large energy errors are refined, since scales of the posterior vary")
	}
	rep := fit.Diagnose()
	if at := slices.IndexFunc(rep, func(c diag.Advice) bool { return c.Check == infer.CheckLaplace }); at >= 0 && rep[at].OK {
		a.Note("%s", rep[at])
	}
	if mendable(rep) && cfg.Retries > 0 {
		cfg.Remember(fit)
		cfg.Repeated = append(cfg.Repeated, wrong(rep))
		how, err := s.Retry(rep)
		if err != nil {
			return err
		}
		a.Note("%s\nsampling again, %s (--retries 0 keeps the first attempt)", rep, how)
		os.RemoveAll(s.Dir.Path(runs.LiveFolder))
		return SampleInto(ctx, a, s, "")
	}
	return finish(ctx, a, s, fit)
}

// interrupted is the error of a run that was stopped.
func interrupted(s Sampling) error {
	return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted; the draws so far are kept in %s", s.Dir), Hint: "euryale " + s.Chain.Command + " --resume " + foreign.Typed(string(s.Dir))}
}

// mendable reports whether another attempt may mend what is wrong about draws: it makes no lighter tails, and no bounded density.
func mendable(rep diag.Report) bool {
	unbounded := slices.ContainsFunc(rep.Problems(), func(a diag.Advice) bool { return a.Check == diag.CheckBounded })
	return !unbounded && slices.ContainsFunc(rep.Problems(), func(a diag.Advice) bool { return a.Check != diag.CheckTails })
}

// wrong says in one line what is wrong about draws.
func wrong(rep diag.Report) string {
	var lines []string
	for _, c := range rep.Problems() {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "; ")
}

// tempered is the largest number of parameters for which chains at different places are followed by tempered Monte Carlo.
const tempered = 30

// usualWarmup is the number of draws of which a more careful attempt takes three times as many, where none was given.
const usualWarmup = 500

// Retry prepares another attempt: by tempered Monte Carlo where chains were at different places or a mode was missed, with all parameters where Laplace's approximation was used, else more carefully, with a
// target acceptance rate of at least 0.99, three times the warm-up and four times the draws; or with twice the draws alone, where the metric is
// that of the posterior and the draws were only too few. Whether and how a run is retried depends on
// the draws alone, so a resumed run behaves in the same way.
func (s Sampling) Retry(rep diag.Report) (how string, err error) {
	cfg := s.Chain
	cfg.Retries--
	cfg.Attempt++
	if len(cfg.Disagreed)+len(cfg.Missed) > 0 && cfg.MethodKind() == infer.NUTS && s.temperable() {
		cfg.Method, how = "smc", "by tempered Monte Carlo, which weighs separate regions"
	} else if slices.ContainsFunc(rep, func(a diag.Advice) bool { return a.Check == infer.CheckLaplace }) {
		cfg.Coordinates, how = "chosen", "with all parameters, without Laplace's approximation"
	} else if s.Metric != nil && tooFew(rep) && len(cfg.Disagreed)+len(cfg.Missed) == 0 {
		cfg.Draws, how = 2*cfg.Draws, "with twice the draws"
	} else {
		cfg.TargetAccept, cfg.Warmup, cfg.Draws, how = max(cfg.TargetAccept, 0.99), 3*cmp.Or(cfg.Warmup, usualWarmup), 4*cfg.Draws, "more carefully"
	}
	if err := frame.WriteJSON(s.Dir.Path("config.json"), s.Config); err != nil {
		return how, err
	}
	return how, exit.With(exit.CannotWrite, os.Remove(s.Dir.Path("checkpoint")))
}

// tooFew reports whether nothing but the number of draws is wrong: that of effective ones, or an R-hat that follows from it.
func tooFew(rep diag.Report) bool {
	return !slices.ContainsFunc(rep.Problems(), func(a diag.Advice) bool { return a.Check != diag.CheckESS && a.Check != diag.CheckRHat })
}

// temperable reports whether the posterior is small and has priors for all parameters, from which tempered Monte Carlo can begin.
func (s Sampling) temperable() bool {
	post, ok := s.Post.(*infer.Posterior)
	return ok && post.Dim() <= tempered && len(post.Flat()) == 0
}

// samplingCode returns the exit code for a failed device, a damaged checkpoint, a full disk or a failed
// run.
func samplingCode(err error) int {
	switch {
	case ad.IsDeviceFault(err):
		return exit.NoDevice
	case errors.Is(err, infer.ErrNotSaved):
		return exit.CannotWrite
	case errors.Is(err, infer.ErrCheckpoint):
		return exit.Data
	case errors.Is(err, infer.ErrLaplace):
		return exit.WrongUsage
	}
	var path *os.PathError
	if errors.As(err, &path) {
		return exit.CannotWrite
	}
	return exit.Failed
}

// unsampled describes why the chains ended early.
func unsampled(a *frame.App, s Sampling, err error) error {
	e := &exit.Error{Code: samplingCode(err), Err: err}
	switch e.Code {
	case exit.NoDevice:
		e.Hint = exit.DeviceHint(err)
		if a.Again != "" {
			e.Hint = a.Again + ", with --device cpu to leave the GPU"
		}
	case exit.Data:
		return a.Unreadable(s.Dir, err)
	case exit.WrongUsage:
		e.Hint = "--coordinates chosen samples all parameters, or integrates out exactly what is normal"
	}
	switch there := foreign.Exists(s.Dir.Path("checkpoint")); {
	case !errors.Is(err, infer.ErrNotSaved):
	case !there:
		e.Err = fmt.Errorf("the draws are lost, because no checkpoint could be written: %w", err)
	default:
		e.Err = fmt.Errorf("the draws since the last checkpoint are lost: %w", err)
	}
	return e
}

// finish writes all results of a finished run and prints them.
func finish(ctx context.Context, a *frame.App, s Sampling, fit *infer.Fit) error {
	evidence, lacking := s.evidenceOf(fit)
	judge := s.Check
	if judge == nil {
		judge = func(fit *infer.Fit) (check.Verdict, error) { return fit.CheckModel(infer.CheckSettings{}) }
	}
	var v check.Verdict
	err := a.WhileWaitingIn(ctx, "judging the model", func() (err error) { v, err = judge(fit); return err })
	if ctx.Err() != nil {
		return interrupted(s)
	}
	if err != nil {
		v = check.Unjudged(exit.Text(err, nil), "look at the draws and the predictions yourself") // the draws are as good as without it
	}
	rep := fit.Diagnose()
	doc := s.Document(s.sampleDoc(fit, rep, v, evidence))
	if err := a.WhileWaiting("writing the draws and drawing the report", func() error { return s.save(doc, fit, rep, v) }); err != nil {
		return err
	}
	os.RemoveAll(s.Dir.Path(runs.LiveFolder)) // the draws are written
	if s.Chain.Extends > 0 {
		s.Chain.Extends = 0
		if err := frame.WriteJSON(s.Dir.Path(runs.ConfigFile), s.Config); err != nil {
			return err
		}
	}
	if a.JSON {
		err = a.Document(doc)
	} else if _, err = fmt.Fprintln(a.Stdout, s.table(fit)); err == nil {
		if err = printVerdicts(a, rep, frame.CheckDocument(v), append(s.repeated(a), s.notes(fit, evidence, lacking)...)); err == nil {
			_, err = fmt.Fprintf(a.Stdout, "results in %s\n", s.Dir)
		}
	}
	switch {
	case err != nil:
		return exit.With(exit.CannotWrite, err)
	case a.Strict && !rep.OK():
		return exit.With(exit.Failed, fmt.Errorf("diagnostics: %s", exit.Lowered(rep.Verdict())))
	case a.Strict:
		return frame.Strictly(v)
	}
	return nil
}

// printVerdicts prints the verdict on the draws, with a line for each check that failed, or for each check with --verbose; and, unless it
// is nil, the verdict on the model.
func printVerdicts(a *frame.App, rep diag.Report, model *frame.CheckDoc, notes []string) error {
	checks := rep.Problems()
	if a.Verbose {
		checks = rep
	}
	lines := []string{rep.Verdict()}
	for _, c := range checks {
		lines = append(lines, "- "+c.String())
	}
	if _, err := fmt.Fprintln(a.Stdout, strings.Join(lines, "\n")); err != nil || model == nil {
		return exit.With(exit.CannotWrite, err)
	}
	return a.PrintVerdict(model, nil, notes)
}

// repeated tells why earlier attempts were repeated, if --quiet has kept that back.
func (s Sampling) repeated(a *frame.App) (list []string) {
	if !a.Quiet {
		return nil
	}
	for i, text := range s.Chain.Repeated {
		list = append(list, fmt.Sprintf("attempt %d was repeated: %s", i+1, text))
	}
	return list
}

// notes are what the command remarks beside the verdict.
func (s Sampling) notes(fit *infer.Fit, e *infer.Evidence, lacking error) (list []string) {
	if lacking != nil {
		list = append(list, "there is no evidence: "+exit.Text(lacking, nil))
	}
	if e != nil {
		list = append(list, e.String())
		list = append(list, e.Places(fit.Names())...)
	}
	if s.Notes != nil {
		list = append(list, s.Notes()...)
	}
	return list
}

// table returns the table that is printed, without verdicts.
func (s Sampling) table(fit *infer.Fit) string {
	if s.Summary != nil {
		return s.Summary(fit)
	}
	summary := fit.Summary()
	summary.Note = fit.String()
	return withUnits(summary, s.Units).String()
}

// withUnits adds units to the names of the rows that have one.
func withUnits(s diag.Summary, units map[string]string) diag.Summary {
	s.Rows = slices.Clone(s.Rows)
	for i := range s.Rows {
		if unit := units[s.Rows[i].Name]; unit != "" {
			s.Rows[i].Name += " (" + unit + ")"
		}
	}
	return s
}

func (s Sampling) sampleDoc(fit *infer.Fit, rep diag.Report, v check.Verdict, evidence *infer.Evidence) SampleDoc {
	doc := SampleDoc{Summary: SummaryDoc(fit.Summary()), Device: s.Post.Device(), Attempts: s.Chain.Attempt + 1, Repeated: s.Chain.Repeated, Run: string(s.Dir), Check: frame.CheckDocument(v)}
	doc.Diagnostics = diagnosticsDoc{Divergences: fit.Divergent(), DepthHits: fit.DepthHits(), EBFMI: frame.Numbers(fit.EBFMI()), OK: rep.OK(), Advice: advice(rep)}
	for _, t := range fit.Timing() {
		doc.Timing.Warmup = max(doc.Timing.Warmup, frame.Number(t.Warmup.Seconds()))
		doc.Timing.Sample = max(doc.Timing.Sample, frame.Number(t.Sampling.Seconds()))
	}
	w, k := fit.Gradients()
	doc.Timing.Gradients = w + k
	doc.Evidence = documented(evidence, fit.Names())
	if all, err := fit.Sensitivities(); err == nil { // of models with priors and data
		doc.Sensitivity = map[string]sensitivityDoc{}
		for _, v := range all {
			doc.Sensitivity[v.Name] = sensitivityDoc{frame.Number(v.Prior), frame.Number(v.Likelihood)}
		}
	}
	doc.Units = map[string]string{}
	for name, unit := range s.Units {
		if _, sampled := doc.Summary[name]; sampled && unit != "" {
			doc.Units[name] = unit
		}
	}
	return doc
}

func (s Sampling) save(doc any, fit *infer.Fit, rep diag.Report, v check.Verdict) error {
	cfg := s.Chain
	aim := cfg.TargetAccept
	if aim == 0 {
		aim = fit.Aim(0)
	}
	settings := map[string]string{"model": s.Model, "euryale_version": cfg.Version, "seed": strconv.FormatUint(cfg.Seed, 10), "num_warmup": strconv.Itoa(fit.WarmupDraws()),
		"num_samples": strconv.Itoa(cfg.Draws), "save_warmup": "0", "thin": "1", "delta": strconv.FormatFloat(aim, 'g', -1, 64), "max_depth": strconv.Itoa(cfg.MaxTreeDepth), "device": s.Post.Device()}
	if err := frame.Writing(s.Dir.SaveDraws(fit, settings), exit.Bug); err != nil {
		return err
	}
	if err := frame.WriteJSON(s.Dir.Path("summary.json"), doc); err != nil {
		return err
	}
	if err := frame.WriteFile(s.Dir.Path("diagnose.txt"), []byte(foreign.Text(fit.Summary().String()+"\n"+rep.String()+"\n"+v.String()+"\n"))); err != nil {
		return err
	}
	if s.Extra != nil {
		if err := s.Extra(fit); err != nil {
			return err
		}
	}
	if cfg.NoReport {
		return nil
	}
	return s.Report(fit, v)
}
