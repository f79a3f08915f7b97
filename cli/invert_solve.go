// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz/term"
)

// inversion is a run of invert rsoxs.
type inversion struct {
	*morph.Task
	cfg *invertConfig
	dir runs.Folder
}

// openInversion reads the data of a problem and sets up its inversion.
func (a *app) openInversion(cfg *invertConfig) (*inversion, error) {
	task, err := cfg.Problem.TaskOn(cfg.Base, a.threads, a.backend(a.threads))
	if err == nil {
		cfg.Device = task.Inversion.Sim.Device()
	}
	return &inversion{Task: task, cfg: cfg}, imagesError(err)
}

// fitInversion runs a minimisation with a progress bar that counts evaluations, and
// reports every restart.
func (a *app) fitInversion(ctx context.Context, v *inversion) (*morph.Solution, error) {
	set := term.BarSettings{Name: "evaluations"}
	if a.quiet {
		set.Mode = term.Quiet
	}
	bar, last := term.NewBar(a.screen, set), 0
	defer func() { bar.Close() }()
	f, err := v.Fit(ctx, morph.FitSettings{Restarts: cmp.Or(v.cfg.Restarts, -1), Seed: v.cfg.Seed,
		Progress: func(p optim.Progress) {
			bar.Add(p.NFev-last, 0)
			last = p.NFev
		},
		Restarting: func(k, of int) {
			bar.Close()
			a.note("the model disagrees with the data: trying another starting point, %d of %d (--restarts 0 keeps the first minimum)", k, of)
			bar, last = term.NewBar(a.screen, set), 0
		}})
	if f != nil {
		withLimitIn(&f.Check, f.Status)
	}
	return f, as(exitFailed, err)
}

// invertDoc is the JSON document of invert rsoxs for fits; it is also written to
// fit.json.
type invertDoc struct {
	Engine   string            `json:"engine"`
	Model    string            `json:"model"`
	Method   string            `json:"method"`
	X        map[string]number `json:"x"`
	SD       map[string]number `json:"sd"`
	Cost     number            `json:"cost"`
	Reduced  number            `json:"chi2_reduced"`
	Points   int               `json:"points"`
	Status   string            `json:"status"`
	Message  string            `json:"message"`
	NFev     int               `json:"nfev"`
	Warnings []string          `json:"warnings"`
	Check    *checkDoc         `json:"model_check"`
	Device   string            `json:"device"` // where patterns and gradients were computed
	Run      string            `json:"run"`
}

func (v *inversion) document(f *morph.Solution) invertDoc {
	n := v.Names()
	return invertDoc{Engine: "rsoxs", Model: v.Problem.Model, Method: v.Method, X: named(n, f.X), SD: named(n, f.SD), Cost: number(f.Cost), Reduced: number(f.Reduced),
		Points: f.Points, Status: f.Status.String(), Message: withLimit(f.Status, f.Status.Message()), NFev: f.NFev, Warnings: append([]string{}, f.Warnings...), Check: checkDocument(f.Check), Device: v.cfg.Device, Run: string(v.dir)}
}

// mostLines is the largest number of parameters printed.
const mostLines = 40

// lines formats the fit as text.
func (v *inversion) lines(f *morph.Solution) string {
	var b strings.Builder
	for i, n := range v.Names() {
		if i == mostLines {
			fmt.Fprintf(&b, "%d more in %s\n", len(f.X)-i, v.dir.Path("fit.json"))
			break
		}
		fmt.Fprintf(&b, "%-14s %s\n", n, report.PlusMinus(f.X[i], f.SD[i]))
	}
	fmt.Fprintf(&b, "%s, %s, cost %.6g, chi2/dof %.4g; ", f.Status, errtext.Count(f.NFev, "evaluation"), f.Cost, f.Reduced)
	return b.String()
}

// startChains finds the starting points of the chains.
func (a *app) startChains(ctx context.Context, v *inversion) error {
	post, err := v.Posterior()
	if err != nil {
		return as(exitData, err)
	}
	v.cfg.Starts, err = v.Starts(ctx, post, v.cfg.Chains, v.cfg.Seed, v.cfg.Restarts)
	if ctx.Err() != nil {
		return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted before the chains began"), hint: "run the same command again with --overwrite"}
	}
	return as(exitFailed, err)
}

// sampleInversion draws from the posterior. The chains share the processors.
func (a *app) sampleInversion(ctx context.Context, v *inversion, checkpoint string) error {
	all := cmp.Or(a.threads, runtime.GOMAXPROCS(0))
	v.Inversion.Sim = v.Inversion.Sim.WithWorkers(max(1, all/min(v.cfg.Chains, all)))
	post, err := v.Posterior()
	if err != nil {
		return as(exitData, err)
	}
	return a.sampleInto(ctx, sampling{dir: v.dir, cfg: &v.cfg.chainConfig, config: v.cfg, model: v.Problem.Model, post: post,
		document: func(d sampleDoc) any {
			return struct {
				Engine string `json:"engine"`
				Model  string `json:"model"`
				Method string `json:"method"`
				sampleDoc
			}{"rsoxs", v.Problem.Model, "nuts", d}
		},
		check: v.CheckDraws,
		report: func(fit *infer.Fit, verdict check.Verdict) error {
			return a.saveInversion(ctx, v, v.Means(fit), fit.Summary().HTML(), fit, verdict)
		}}, checkpoint)
}
