// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/viz"
)

// Posterior holds the draws of a sampler with the verdict about the model. It displays itself as the
// verdict, the checks of the sampler and a summary of the parameters.
type Posterior struct {
	Name    string
	Fit     *infer.Fit
	Verdict check.Verdict
	Units   map[string]string // units of parameters, by name
	// Interrupted reports whether the run was stopped early. Its draws are as good as those of a
	// shorter run, but there is no verdict.
	Interrupted bool
	// Evidence is the log of the probability of the data under the model, where it was asked for or the sampler found it; else nil.
	Evidence *infer.Evidence

	evidence bool // whether it was asked for
	judge    func(*infer.Fit) (check.Verdict, error)
	page     func(*Posterior) *report.Page
	aside    func(name string) bool // which columns the summary leaves out; nil: none
	seed     uint64
	view     *view // what was computed of the draws
}

// view is what is computed once of the draws, which may be many.
type view struct {
	summary diag.Summary
	report  diag.Report
}

// seen returns the view, which the first call computes.
func (p *Posterior) seen() *view {
	if p.view == nil {
		p.view = &view{p.Fit.Summary(), p.Fit.Diagnose()}
		if p.aside != nil {
			p.view.summary.Rows = slices.DeleteFunc(p.view.summary.Rows, func(r diag.Row) bool { return p.aside(r.Name) })
		}
	}
	return p.view
}

// Sample draws from the posterior of a model that build declares; build is called once. Chains start at
// random unless the options say otherwise.
func Sample(name string, build func(m *infer.Model), options ...Settings) *Posterior {
	if build == nil {
		must("Sample "+name, errors.New("the function that builds the model is nil: pass a func(*infer.Model)"))
	}
	o := one("Sample", options)
	must("Sample "+name, o.takes("a model of its own, which declares its priors and fixed values,", "", &setting.Sampler{}))
	ctx, end := interruptible()
	defer end()
	m := infer.NewModel(name)
	building("the model of Sample "+name, func() { build(m) })
	post, err := m.Compile()
	must("Sample "+name, err)
	p := &Posterior{Name: name, page: plainPage}
	p.judge = func(f *infer.Fit) (check.Verdict, error) { return f.CheckModel(infer.CheckSettings{}) }
	return p.sample(ctx, post, value("Sample "+name, func() (setting.Sampler, error) { return o.sampling(setting.Sampler{}) }), o.Seed, nil)
}

// plainPage is the report of a posterior of which nothing more is known.
func plainPage(p *Posterior) *report.Page {
	return report.Posterior(p.Name, p.Fit, p.Verdict, report.Settings{Program: "notebook", Seed: p.seed})
}

// mostWalked is the largest number of parameters of SampleDensity.
const mostWalked = 200

// SampleDensity draws from a log density that is a Go function of n parameters, with an ensemble of
// walkers, which needs no gradient. It is slow if the function is interpreted, as in a cell, because
// each of some 60000 calls takes microseconds. Use Sample whenever the density can be written as a
// graph. Walkers are not independent: judge them by effective sample size, not by R-hat.
func SampleDensity(name string, n int, logDensity func(q []float64) float64, options ...Settings) *Posterior {
	o := one("SampleDensity", options)
	must("SampleDensity "+name, o.only("SampleDensity", "Warmup", "Draws", "Seed"))
	if n > mostWalked {
		must("SampleDensity "+name, fmt.Errorf("the density has %s, but an ensemble of walkers suits about twenty and takes at most %d: write the density as a graph and use Sample", errtext.Count(n, "parameter"), mostWalked))
	}
	ctx, end := interruptible()
	defer end()
	fit, err := infer.Ensemble(ctx, n, logDensity, infer.EnsembleSettings{Warmup: o.Warmup, Draws: o.Draws, Seed: o.Seed, Parallel: 1})
	p := &Posterior{Name: name, page: plainPage, seed: o.Seed}
	return p.take("SampleDensity "+name, ctx, fit, err)
}

// sample runs the sampler, from some places of its chains unless they are nil, and judges the model.
func (p *Posterior) sample(ctx context.Context, target infer.Target, s setting.Sampler, seed uint64, starts [][]float64) *Posterior {
	show, done := progress()
	cfg := s.Config(seed)
	cfg.Init, cfg.Progress, p.seed, p.evidence = starts, show, seed, s.Evidence
	fit, err := infer.Sample(ctx, target, cfg)
	done()
	return p.take("Sample "+p.Name, ctx, fit, err)
}

// take makes a fit that of the posterior. A run that was interrupted keeps its draws.
func (p *Posterior) take(step string, ctx context.Context, fit *infer.Fit, err error) *Posterior {
	p.Interrupted = ctx.Err() != nil
	if fit == nil || !p.Interrupted {
		must(step, err)
	}
	p.Fit, p.Verdict, p.view = fit, check.Verdict{}, nil
	if p.Evidence = fit.Evidence(); p.Evidence == nil && p.evidence && !p.Interrupted {
		if p.Evidence, err = fit.BridgeEvidence(); err != nil {
			p.Evidence = nil
			remark("there is no evidence: " + err.Error())
		}
	}
	if p.judge != nil && p.shortest() >= fewest {
		p.Verdict, err = p.judge(fit)
		must("verdict of "+p.Name, err)
	}
	return p
}

// fewest is the number of draws of each chain from which on a run that was interrupted is judged.
const fewest = 100

// Draws returns the draws of a parameter, chain after chain.
func (p *Posterior) Draws(parameter string) []float64 {
	chains := p.Fit.Draws(parameter)
	if chains == nil {
		must("Draws", fmt.Errorf("there is no parameter %q: the parameters are %v", parameter, p.Fit.Names()))
	}
	var all []float64
	for _, c := range chains {
		all = append(all, c...)
	}
	return all
}

// Summary returns means, quantiles, R-hat and effective sample sizes of all parameters.
func (p *Posterior) Summary() diag.Summary { return p.seen().summary }

// Diagnose returns the checks of the sampler as text.
func (p *Posterior) Diagnose() diag.Report { return p.seen().report }

func (p *Posterior) draws() viz.Draws {
	d := viz.FromFit(p.Fit)
	d.Units = p.Units
	return d
}

// Trace draws the chains of the named parameters, or of all of them.
func (p *Posterior) Trace(names ...string) *viz.Figure { return p.figure("Trace", viz.Trace, names) }

// Pair draws parameters against each other.
func (p *Posterior) Pair(names ...string) *viz.Figure { return p.figure("Pair", viz.Pair, names) }

// Density draws the densities of parameters.
func (p *Posterior) Density(names ...string) *viz.Figure {
	return p.figure("Density", viz.Density, names)
}

// Forest draws the intervals of parameters.
func (p *Posterior) Forest(names ...string) *viz.Figure { return p.figure("Forest", viz.Forest, names) }

// Rank draws the ranks of the chains, which are evenly distributed if the chains agree.
func (p *Posterior) Rank(names ...string) *viz.Figure { return p.figure("Rank", viz.Rank, names) }

func (p *Posterior) figure(step string, draw func(viz.Draws, ...string) (*viz.Figure, error), names []string) *viz.Figure {
	f, err := draw(p.draws(), names...)
	must(step+" of "+p.Name, err)
	return f
}

// Report writes an HTML page about the posterior, with all of its plots.
func (p *Posterior) Report(file string) { writePage("Report", file, p.page(p)) }

// writePage writes a page to a file, which takes its name when it is whole.
func writePage(step, file string, page *report.Page) {
	must(step+" "+file, atomicfile.Write(file, true, func(w io.Writer) error {
		_, err := io.WriteString(w, page.HTML())
		return err
	}))
}

// String returns the verdict and the summary as text.
func (p *Posterior) String() string {
	if p.most() == 0 {
		return p.stopped()
	}
	return p.stopped() + p.Verdict.String() + "\n" + p.told() + p.Diagnose().String() + "\n" + p.Summary().String()
}

// HTML returns the verdict, the checks and the summary as tables.
func (p *Posterior) HTML() string {
	head := ""
	if s := p.stopped(); s != "" {
		head = "<p><b>" + html.EscapeString(s) + "</b></p>"
	}
	if p.most() == 0 {
		return head
	}
	if told := p.told(); told != "" {
		head += "<p>" + html.EscapeString(told) + "</p>"
	}
	return head + p.Verdict.HTML() + p.Diagnose().HTML() + p.Summary().HTML()
}

// SimpleRender returns text and HTML for the kernel.
func (p *Posterior) SimpleRender() map[string]interface{} { return rendered(p) }

// rendered returns what a cell shows of a value.
func rendered(v interface {
	String() string
	HTML() string
}) map[string]interface{} {
	return map[string]interface{}{"text/plain": v.String(), "text/html": v.HTML()}
}

// told is the evidence as a line, "" if there is none.
func (p *Posterior) told() string {
	if p.Evidence == nil {
		return ""
	}
	return p.Evidence.String() + "\n"
}

// stopped says that a run ended early, and with which draws.
func (p *Posterior) stopped() string {
	if !p.Interrupted {
		return ""
	}
	next := "Continue(n) goes on until every chain has n more than the longest."
	if p.judge == nil {
		next = "Sample again with more draws: an ensemble cannot go on."
	}
	if p.most() == 0 {
		return fmt.Sprintf("%s: interrupted during the warm-up: there are no draws yet. %s\n", p.Name, next)
	}
	return fmt.Sprintf("%s: interrupted with %d to %d draws of each of %s. %s\n", p.Name, p.shortest(), p.most(), errtext.Count(p.Fit.Chains(), "chain"), next)
}

// most returns the number of draws of the longest chain.
func (p *Posterior) most() (n int) {
	for c := range p.Fit.Chains() {
		n = max(n, p.Fit.Len(c))
	}
	return n
}

// shortest returns the number of draws of the shortest chain.
func (p *Posterior) shortest() int {
	least := p.Fit.Len(0)
	for c := range p.Fit.Chains() {
		least = min(least, p.Fit.Len(c))
	}
	return least
}

// Continue draws more from where the chains stopped, with the same sampler. It adds the given number of
// draws to the longest chain and extends the others to the same length, for example after an interrupt.
func (p *Posterior) Continue(draws int) *Posterior {
	ctx, end := interruptible()
	defer end()
	next := *p
	if next.judge == nil {
		must("Continue", fmt.Errorf("%s was drawn by an ensemble, which cannot be continued: sample again with more draws", p.Name))
	}
	show, done := progress()
	fit, err := p.Fit.ContinueWith(ctx, draws, show)
	done()
	return next.take("Continue", ctx, fit, err)
}
