// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// sampling describes one posterior to be sampled into a run folder, with the parts that
// depend on the command.
type sampling struct {
	dir      runs.Folder
	cfg      *chainConfig // chain settings, a pointer into config
	config   any          // content of config.json
	model    string       // name of the model in the files of draws
	post     *infer.Posterior
	document func(sampleDoc) any                         // adds the command's own entries to the document
	report   func(fit *infer.Fit, v check.Verdict) error // writes the pictures and the report
	// Judges the model; nil uses the model's own check against its data.
	check func(fit *infer.Fit) (check.Verdict, error)
	// Writes the command's own files beside the draws; may be nil.
	extra func(fit *infer.Fit) error
	// Returns the printed table; nil prints that of all draws.
	summary func(fit *infer.Fit) string
}

// sampleDoc is the JSON document of a sample command.
type sampleDoc struct {
	Summary     map[string]rowDoc `json:"summary"`
	Diagnostics diagnosticsDoc    `json:"diagnostics"`
	Check       *checkDoc         `json:"model_check"`
	Timing      timingDoc         `json:"timing"`
	Device      string            `json:"device"`   // where the log density was computed
	Attempts    int               `json:"attempts"` // number of attempts; more than 1 after a bad verdict
	Run         string            `json:"run"`
}

type timingDoc struct {
	Warmup    number `json:"warmup_s"`
	Sample    number `json:"sample_s"`
	Gradients int    `json:"gradients"`
}

// sampleInto runs the chains and writes their results to the folder.
func (a *app) sampleInto(ctx context.Context, s sampling, resume string) error {
	cfg := s.cfg
	every, err := time.ParseDuration(cfg.Every)
	if err != nil {
		return as(exitConfig, err)
	}
	if on := s.post.Device(); cfg.Device != on { // the folder says where to go on
		cfg.Device = on
		if err := writeJSON(s.dir.Path(runs.ConfigFile), s.config); err != nil {
			return err
		}
	}
	meter := a.meter()
	fit, err := infer.Sample(ctx, s.post, infer.Config{Chains: cfg.Chains, Warmup: cfg.Warmup, Draws: cfg.Draws, Seed: cfg.Seed,
		TargetAccept: cfg.Target, MaxTreeDepth: cfg.Depth, Init: cfg.Starts, Parallel: a.threads, Resume: resume,
		Checkpoint: infer.Checkpoint{Path: s.dir.Path("checkpoint"), Every: every, Patience: patience, Failing: a.notSaved}, Progress: meter.Update})
	meter.Close()
	if errors.Is(err, infer.ErrNotSaved) {
		return a.unsampled(s, err)
	}
	if ctx.Err() != nil {
		return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted; the draws so far are kept in %s", s.dir), hint: "euryale " + cfg.Command + " --resume " + foreign.Typed(string(s.dir))}
	}
	if err != nil {
		return a.unsampled(s, err)
	}
	if rep := fit.Diagnose(); !rep.OK() && cfg.Retries > 0 {
		a.note("%s\nsampling again, more carefully (--retries 0 keeps the first attempt)", rep)
		cfg.Disagreed = append(cfg.Disagreed, heldOn(fit, cfg.Attempt+1)...)
		if err := s.retry(); err != nil {
			return err
		}
		return a.sampleInto(ctx, s, "")
	}
	return a.finish(s, fit)
}

// retry prepares a more careful attempt with a target acceptance rate of at least 0.99,
// three times the warm-up and four times the draws. Whether a run is retried depends on
// the draws alone, so a resumed run behaves in the same way.
func (s sampling) retry() error {
	cfg := s.cfg
	cfg.Retries--
	cfg.Attempt++
	cfg.Target, cfg.Warmup, cfg.Draws = max(cfg.Target, 0.99), 3*cfg.Warmup, 4*cfg.Draws
	if err := writeJSON(s.dir.Path("config.json"), s.config); err != nil {
		return err
	}
	return as(exitCannotWrite, os.Remove(s.dir.Path("checkpoint")))
}

// samplingCode returns the exit code for a failed device, a damaged checkpoint, a full disk or a failed
// run.
func samplingCode(err error) int {
	switch {
	case ad.IsDeviceFault(err):
		return exitNoDevice
	case errors.Is(err, infer.ErrNotSaved):
		return exitCannotWrite
	case errors.Is(err, infer.ErrCheckpoint):
		return exitData
	}
	var path *os.PathError
	if errors.As(err, &path) {
		return exitCannotWrite
	}
	return exitFailed
}

// unsampled describes why the chains ended early.
func (a *app) unsampled(s sampling, err error) error {
	e := &exitError{code: samplingCode(err), err: err}
	switch e.code {
	case exitNoDevice:
		e.hint = deviceHint(err)
		if a.again != "" {
			e.hint = a.again + ", with --device cpu to leave the GPU"
		}
	case exitData:
		return a.unreadable(s.dir, err)
	}
	switch there := foreign.Exists(s.dir.Path("checkpoint")); {
	case !errors.Is(err, infer.ErrNotSaved):
	case !there:
		e.err = fmt.Errorf("the draws are lost, because no checkpoint could be written: %w", err)
	default:
		e.err = fmt.Errorf("the draws since the last checkpoint are lost: %w", err)
	}
	return e
}

// finish writes all results of a finished run and prints them.
func (a *app) finish(s sampling, fit *infer.Fit) error {
	fit.AddMissedModes(unexplained(s.cfg.Disagreed, fit)...)
	judge := s.check
	if judge == nil {
		judge = func(fit *infer.Fit) (check.Verdict, error) { return fit.CheckModel(infer.CheckSettings{}) }
	}
	v, err := judge(fit)
	if err != nil {
		v = check.Unjudged(errorText(err, nil), "look at the draws and the predictions yourself") // the draws are as good as without it
	}
	rep := fit.Diagnose()
	doc := s.document(s.sampleDoc(fit, rep, v))
	if err := s.save(doc, fit, rep, v); err != nil {
		return err
	}
	if a.json {
		err = a.document(doc)
	} else if _, err = fmt.Fprintln(a.stdout, s.table(fit)); err == nil {
		if err = a.printVerdict(v); err == nil {
			_, err = fmt.Fprintf(a.stdout, "results in %s\n", s.dir)
		}
	}
	switch {
	case err != nil:
		return as(exitCannotWrite, err)
	case a.strict && !rep.OK():
		return as(exitFailed, fmt.Errorf("diagnostics: %s", lowered(rep.Verdict())))
	case a.strict:
		return strictly(v)
	}
	return nil
}

// table returns the table that is printed.
func (s sampling) table(fit *infer.Fit) string {
	if s.summary != nil {
		return s.summary(fit)
	}
	return fit.Summary().String()
}

func (s sampling) sampleDoc(fit *infer.Fit, rep diag.Report, v check.Verdict) sampleDoc {
	doc := sampleDoc{Summary: summaryDoc(fit.Summary()), Device: s.post.Device(), Attempts: s.cfg.Attempt + 1, Run: string(s.dir), Check: checkDocument(v)}
	doc.Diagnostics = diagnosticsDoc{Divergences: fit.Divergent(), DepthHits: fit.DepthHits(), EBFMI: numbers(fit.EBFMI()), OK: rep.OK(), Advice: advice(rep)}
	for _, t := range fit.Timing() {
		doc.Timing.Warmup = max(doc.Timing.Warmup, number(t.Warmup.Seconds()))
		doc.Timing.Sample = max(doc.Timing.Sample, number(t.Sampling.Seconds()))
	}
	w, k := fit.Gradients()
	doc.Timing.Gradients = w + k
	return doc
}

func (s sampling) save(doc any, fit *infer.Fit, rep diag.Report, v check.Verdict) error {
	cfg := s.cfg
	aim := cfg.Target
	if aim == 0 {
		aim = fit.Aim(0)
	}
	settings := map[string]string{"model": s.model, "euryale_version": cfg.Version, "seed": strconv.FormatUint(cfg.Seed, 10), "num_warmup": strconv.Itoa(cfg.Warmup),
		"num_samples": strconv.Itoa(cfg.Draws), "save_warmup": "0", "thin": "1", "delta": strconv.FormatFloat(aim, 'g', -1, 64), "max_depth": strconv.Itoa(cfg.Depth), "device": s.post.Device()}
	if err := writing(s.dir.SaveDraws(fit, settings), exitBug); err != nil {
		return err
	}
	if err := writeJSON(s.dir.Path("summary.json"), doc); err != nil {
		return err
	}
	if err := writeFile(s.dir.Path("diagnose.txt"), []byte(foreign.Text(fit.Summary().String()+"\n"+rep.String()+"\n"+v.String()+"\n"))); err != nil {
		return err
	}
	if s.extra != nil {
		if err := s.extra(fit); err != nil {
			return err
		}
	}
	if cfg.NoReport {
		return nil
	}
	return s.report(fit, v)
}
