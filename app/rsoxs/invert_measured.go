// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz/term"
)

// measurement is a run of invert rsoxs on measured patterns.
type measurement struct {
	*measured.Task
	cfg *invertConfig
	dir runs.Folder
}

func openMeasured(a *frame.App, cfg *invertConfig) (*measurement, error) {
	if len(cfg.Problem.Data) == 0 && cfg.choose == 0 {
		return nil, exit.With(exit.Data, errors.New("the problem names no data: energies can be chosen without (--choose-energies), but there is nothing to fit"))
	}
	task, err := measured.Open(cfg.Problem, cfg.Base)
	if err != nil {
		return nil, imagesError(err)
	}
	task.Backend = a.Backend(a.Threads)
	for _, line := range task.Read {
		a.Note("%s", line)
	}
	return &measurement{Task: task, cfg: cfg}, nil
}

func startMeasured(ctx context.Context, a *frame.App, cfg *invertConfig, out string) error {
	m, err := openMeasured(a, cfg)
	if err != nil {
		return err
	}
	if cfg.choose > 0 {
		return m.choose(a)
	}
	if !cfg.warmupGiven {
		cfg.Warmup = measured.UsualWarmup
	}
	if !cfg.drawsGiven {
		cfg.Draws = measured.UsualDraws
	}
	if !cfg.acceptGiven {
		cfg.TargetAccept = measured.UsualAccept
	}
	if !cfg.restartsGiven {
		cfg.Restarts = 0 // as many as are needed
	} else if cfg.Restarts == 0 {
		cfg.Restarts = -1
	}
	if m.dir, err = a.MakeRundir(out); err != nil {
		return err
	}
	if err := a.Begin(m.dir, invertCommand, *cfg, cfg.Problem.Files(cfg.Base)...); err != nil {
		return err
	}
	return m.solve(ctx, a, "")
}

// resumeMeasured goes on with a posterior at its checkpoint. A fit, which takes seconds to minutes, begins at its start again, so that it ends
// with the numbers of one that was not interrupted: from the best point so far it would end within its tolerance of them.
func resumeMeasured(ctx context.Context, a *frame.App, cfg *invertConfig, dir runs.Folder) error {
	m, err := openMeasured(a, cfg)
	if err != nil {
		return err
	}
	m.dir = dir
	checkpoint := dir.Path("checkpoint")
	if !foreign.Exists(checkpoint) {
		checkpoint = ""
	}
	return m.solve(ctx, a, checkpoint)
}

// solve fits and, with the method nuts, samples from starts around the fit.
func (m *measurement) solve(ctx context.Context, a *frame.App, checkpoint string) error {
	s, err := m.fit(ctx, a)
	if dark := (*measured.DarkError)(nil); errors.As(err, &dark) {
		return exit.With(exit.Data, err)
	}
	if s == nil || err != nil {
		return exit.With(exit.Failed, err)
	}
	doc := m.document(s)
	if ctx.Err() != nil {
		return m.interrupted(a, doc)
	}
	if m.cfg.Problem.Method == "nuts" {
		return m.sample(ctx, a, s, checkpoint)
	}
	var v check.Verdict
	err = a.WhileWaitingIn(ctx, "the verdict", func() (err error) { v, err = m.Check(s); return err })
	if ctx.Err() != nil {
		return m.interrupted(a, doc)
	}
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	doc.Check = frame.CheckDocument(v)
	if err := m.answers(a, s, &doc); err != nil {
		return err
	}
	if err := (frame.Outputs{Folder: m.dir}).SaveParameters(a, doc); err != nil {
		return err
	}
	if err := m.datasets(s.X, s.SD); err != nil {
		return err
	}
	if !m.cfg.NoReport {
		if err := m.page(a, s, s.X, m.table(s), nil, v); err != nil {
			return err
		}
	}
	if a.JSON {
		if err := a.Document(doc); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
	} else {
		fmt.Fprintf(a.Stdout, "%s%s\n%s", m.lines(s), draws.WithLimit(s.Status, s.Status.Message()), doc.remarks(m.shared(s)))
		if err := a.PrintVerdict(doc.Check, doc.Warnings, cautions(a, v)); err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "results in %s\n", m.dir)
	}
	switch {
	case a.Strict && !s.Status.Converged():
		return exit.With(exit.Failed, fmt.Errorf("the fit did not converge: %s", draws.WithLimit(s.Status, s.Status.Message())))
	case a.Strict:
		return frame.Strictly(v)
	}
	return nil
}

// interrupted keeps a fit without its verdict. That from which a posterior would have begun is no result.
func (m *measurement) interrupted(a *frame.App, doc MeasuredDoc) error {
	kept := "the best point so far"
	if m.cfg.Problem.Method == "nuts" {
		kept = "the run"
	} else if err := (frame.Outputs{Folder: m.dir}).SaveParameters(a, doc); err != nil {
		return err
	}
	return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted; %s is kept in %s", kept, m.dir), Hint: "euryale " + invertCommand + " --resume " + foreign.Typed(string(m.dir))}
}

// fit runs the least-squares fit behind a bar that counts evaluations.
func (m *measurement) fit(ctx context.Context, a *frame.App) (*measured.Solution, error) {
	set := term.BarSettings{Name: "evaluations"}
	if a.Quiet {
		set.Mode = term.Quiet
	}
	bar, last := term.NewBar(a.Screen, set), 0
	defer func() { bar.Close() }()
	return m.FitBest(ctx, measured.FitSettings{Restarts: m.cfg.Restarts, Seed: m.cfg.Seed, Settings: optim.Settings{MaxEvaluations: m.cfg.Problem.MaxNFev, Progress: func(p optim.Progress) {
		bar.Add(p.NFev-last, 0)
		last = p.NFev
	}}, Restarting: func(k, of int) {
		bar.Close()
		a.Note("there may be a better minimum: trying another starting point, %d of %d (--restarts 0 keeps the first minimum)", k, of)
		bar, last = term.NewBar(a.Screen, set), 0
	}})
}

// sample draws from the posterior.
func (m *measurement) sample(ctx context.Context, a *frame.App, s *measured.Solution, checkpoint string) error {
	post, err := m.PosteriorAbout(s)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	if checkpoint == "" {
		if m.cfg.Starts, err = post.WarmStart(s.Names, s.X, s.Cov, m.cfg.Chains, m.cfg.Seed); err != nil {
			return exit.With(exit.Failed, err)
		}
	}
	metric, err := m.Metric(s)
	if err != nil {
		metric = nil // the warm-up learns it
	}
	compared := m.newComparison(s)
	return draws.SampleInto(ctx, a, draws.Sampling{Metric: metric, Dir: m.dir, Chain: &m.cfg.ChainConfig, Config: m.cfg, Model: m.cfg.Problem.Model, Units: m.units(), Post: post,
		Document: func(d draws.SampleDoc) any {
			return struct {
				Engine string `json:"engine"`
				Model  string `json:"model"`
				Method string `json:"method"`
				draws.SampleDoc
				comparisonDoc
			}{"rsoxs", m.cfg.Problem.Model, "nuts", d, compared.doc}
		},
		Check: func(fit *infer.Fit) (check.Verdict, error) {
			compared.fill(fit)
			v, err := m.CheckDraws(fit)
			compared.notes = append(compared.notes, cautions(a, v)...)
			return v, err
		},
		Notes: func() []string { return compared.notes },
		Report: func(fit *infer.Fit, verdict check.Verdict) error {
			x, sd := m.Moments(fit)
			if err := m.datasets(x, sd); err != nil {
				return err
			}
			return m.page(a, s, x, fit.Summary().HTML(), fit, verdict)
		}}, checkpoint)
}

// cautions are the notes of a verdict that limit what an agreement means, which are printed without --verbose too.
func cautions(a *frame.App, v check.Verdict) (list []string) {
	for _, n := range v.Notes {
		if n.Kind == measured.KindHeld && !a.Verbose {
			list = append(list, n.Text)
		}
	}
	return list
}

// MeasuredDoc is the JSON document of invert rsoxs for fits of measured patterns; it is also written to fit.json.
type MeasuredDoc struct {
	FittedDoc
	Cov      [][]frame.Number `json:"covariance"` // covariance of the parameters in the order of names
	Deviance frame.Number     `json:"deviance"`   // twice the log of the likelihood ratio of data and model
	Pearson  frame.Number     `json:"pearson"`    // sum of squared residuals over expected counts
	LeftOut  map[string]int   `json:"left_out"`   // pixels that were left out, by reason
	Data     []string         `json:"data"`       // lines that say what was understood of the files
	Minima   []MinimumDoc     `json:"minima"`     // other minima that the fit found, the lowest first
	AnswersDoc
}

// MinimumDoc is where a fit from a further start ended.
type MinimumDoc struct {
	X       map[string]frame.Number `json:"x"`
	Above   frame.Number            `json:"above"`   // sum of squares of the residuals and the priors above that of the fit
	Differs string                  `json:"differs"` // parameter of the sample that differs most
}

// document is that of a fit without what a verdict and the worth of the energies add.
func (m *measurement) document(s *measured.Solution) MeasuredDoc {
	n := len(s.Names)
	d := MeasuredDoc{Deviance: frame.Number(s.Deviance), Pearson: frame.Number(s.Pearson), LeftOut: m.LeftOut(), Data: m.Read, FittedDoc: FittedDoc{Engine: "rsoxs", File: m.cfg.File, Model: m.cfg.Problem.Model, Method: "lm", Names: s.Names, Units: m.units(), Active: m.Active(s.X), X: frame.Named(s.Names, s.X), SD: frame.Named(s.Names, s.SD),
		Points: s.Pixels, Status: s.Status.String(), Message: draws.WithLimit(s.Status, s.Status.Message()), NFev: s.NFev,
		Warnings: append([]string{}, s.Warnings...), Check: frame.CheckDocument(check.Verdict{}), Device: m.cfg.Device, Run: string(m.dir)}}
	d.Minima = []MinimumDoc{}
	for _, e := range s.Elsewhere {
		d.Minima = append(d.Minima, MinimumDoc{frame.Named(s.Names, e.X), frame.Number(e.Above), e.Differs})
	}
	for i := range n {
		d.Cov = append(d.Cov, frame.Numbers(s.Cov[i*n:(i+1)*n]))
	}
	return d
}

// units returns the units of the parameters that have one.
func (m *measurement) units() map[string]string {
	all := m.Units()
	for name, u := range m.cfg.Problem.Units() {
		if u != "" {
			all[name] = u
		}
	}
	found := map[string]bool{}
	for _, n := range m.Names() {
		found[n] = true
	}
	maps.DeleteFunc(all, func(name, _ string) bool { return !found[name] })
	return all
}

// lines formats the fit as text.
func (m *measurement) lines(s *measured.Solution) string {
	var b strings.Builder
	units := m.units()
	for i, n := range s.Names {
		fmt.Fprintf(&b, "%-16s %s\n", n, frame.WithUnit(report.PlusMinus(s.X[i], s.SD[i]), units[n]))
	}
	fmt.Fprintf(&b, "%s, %s, deviance %.6g and Pearson %.6g over %s; ", s.Status, errtext.Count(s.NFev, "evaluation"), s.Deviance, s.Pearson, errtext.Count(s.Pixels, "pixel"))
	return b.String()
}

// table is the table of the parameters as HTML.
func (m *measurement) table(s *measured.Solution) string {
	units, rows := m.units(), make([][2]string, len(s.Names))
	for i, n := range s.Names {
		rows[i] = [2]string{n, frame.WithUnit(report.PlusMinus(s.X[i], s.SD[i]), units[n])}
	}
	return report.ParameterRows(rows)
}

// dropEmpty replaces expectations of intensities that are not above 0, which have no logarithm, by NaN. A(q) keeps its sign.
func dropEmpty(images []measured.Image) {
	for i := range images {
		if b := images[i].Frame.Bins; b != nil && b.Less != nil {
			continue
		}
		for _, row := range images[i].Mean {
			for k, mean := range row {
				if !(mean > 0) {
					row[k] = math.NaN()
				}
			}
		}
	}
}

// page writes the pictures and the report of a fit, or of a posterior about it with the means x.
func (m *measurement) page(a *frame.App, s *measured.Solution, x []float64, table string, fit *infer.Fit, v check.Verdict) error {
	images, err := m.Images(x)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	profiles, err := m.Profiles(x, images)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	dropEmpty(images)
	energies, err := m.ByEnergy(s)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	of := report.MeasuredFit{File: m.cfg.File, Model: m.cfg.Problem.Model, Data: m.Read, Images: images, Profiles: profiles, Table: table, Verdict: v, Fit: fit, Names: s.Names, SD: map[string]float64{}, Units: m.units(),
		Energies: energies, Correlations: m.Identify(s).Correlations}
	for i, n := range s.Names {
		of.SD[n] = s.SD[i]
		if slices.Contains(m.Model.Morphology, n) {
			of.Morphology = append(of.Morphology, n)
		}
	}
	page := report.Measured(of, draws.PageOf(a, &m.cfg.ChainConfig))
	return exit.With(exit.CannotWrite, page.Save(string(m.dir)))
}
