// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
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
	cfg   *invertConfig
	dir   runs.Folder
	spent int // number of evaluations before the run was resumed
}

// openInversion reads the data of a problem and sets up its inversion.
func openInversion(a *frame.App, cfg *invertConfig) (*inversion, error) {
	task, err := cfg.Problem.TaskOn(cfg.Base, a.Threads, a.Backend(a.Threads))
	if err == nil {
		cfg.Device = task.Inversion.Sim.Device()
		for _, n := range task.Measurement.Notes {
			a.Note("note: %s", n)
		}
	}
	return &inversion{Task: task, cfg: cfg}, imagesError(err)
}

// fitInversion runs a minimisation with a progress bar that counts evaluations, and
// reports every restart.
func fitInversion(ctx context.Context, a *frame.App, v *inversion) (*morph.Solution, error) {
	set := term.BarSettings{Name: "evaluations"}
	if a.Quiet {
		set.Mode = term.Quiet
	}
	bar, last := term.NewBar(a.Screen, set), 0
	defer func() { bar.Close() }()
	f, err := v.Fit(ctx, morph.FitSettings{Restarts: cmp.Or(v.cfg.Restarts, -1), Seed: v.cfg.Seed,
		Progress: func(p optim.Progress) {
			bar.Add(p.NFev-last, 0)
			last = p.NFev
		},
		Restarting: func(k, of int) {
			bar.Close()
			a.Note("the model disagrees with the data: trying another starting point, %d of %d (--restarts 0 keeps the first minimum)", k, of)
			bar, last = term.NewBar(a.Screen, set), 0
		}})
	if f != nil {
		draws.WithLimitIn(&f.Check, f.Status)
	}
	return f, exit.With(exit.Failed, err)
}

// FittedDoc is what the JSON documents of all fits of patterns have.
type FittedDoc struct {
	Engine   string                  `json:"engine"`
	File     string                  `json:"file"`
	Model    string                  `json:"model"`
	Method   string                  `json:"method"`
	Names    []string                `json:"names"`
	Units    map[string]string       `json:"units"`  // units of the parameters that have one
	Active   map[string]int          `json:"active"` // -1 or 1 for each parameter on its lower or upper bound, otherwise 0
	X        map[string]frame.Number `json:"x"`
	SD       map[string]frame.Number `json:"sd"`
	Points   int                     `json:"points"` // number of residuals, of all pixels together
	Status   string                  `json:"status"`
	Message  string                  `json:"message"`
	NFev     int                     `json:"nfev"` // number of evaluations, including those before the run was resumed
	Warnings []string                `json:"warnings"`
	Check    *frame.CheckDoc         `json:"model_check"`
	Device   string                  `json:"device"` // device that computed patterns and gradients
	Run      string                  `json:"run"`
}

// InvertDoc is the JSON document of invert rsoxs for fits of simulated patterns; it is also written to
// fit.json.
type InvertDoc struct {
	FittedDoc
	Cost    frame.Number `json:"cost"`
	Reduced frame.Number `json:"chi2_reduced"`
}

func (v *inversion) document(f *morph.Solution) InvertDoc {
	n := v.Names()
	return InvertDoc{Cost: frame.Number(f.Cost), Reduced: frame.Number(f.Reduced), FittedDoc: FittedDoc{Engine: "rsoxs", File: v.cfg.File, Names: n, Units: v.units(n), Active: v.Active(f.X), Model: v.Problem.Model, Method: v.Method, X: frame.Named(n, f.X), SD: frame.Named(n, f.SD),
		Points: f.Points, Status: f.Status.String(), Message: draws.WithLimit(f.Status, f.Status.Message()), NFev: v.spent + f.NFev, Warnings: append([]string{}, f.Warnings...), Check: frame.CheckDocument(f.Check), Device: v.cfg.Device, Run: string(v.dir)}}
}

// units returns the units of parameters that have one; elements of arrays have that of the array.
func (v *inversion) units(names []string) map[string]string {
	units, of := map[string]string{}, v.Units()
	for _, n := range names {
		array, _, _ := strings.Cut(n, "[")
		if u := of[array]; u != "" {
			units[n] = u
		}
	}
	return units
}

// mostLines is the largest number of parameters printed.
const mostLines = 40

// lines formats the fit as text.
func (v *inversion) lines(f *morph.Solution) string {
	var b strings.Builder
	units := v.units(v.Names())
	for i, n := range v.Names() {
		if i == mostLines {
			fmt.Fprintf(&b, "%d more in %s\n", len(f.X)-i, v.dir.Path("fit.json"))
			break
		}
		fmt.Fprintf(&b, "%-14s %s\n", n, frame.WithUnit(report.PlusMinus(f.X[i], f.SD[i]), units[n]))
	}
	fmt.Fprintf(&b, "%s, %s, cost %.6g, chi2/dof %.4g; ", f.Status, errtext.Count(v.spent+f.NFev, "evaluation"), f.Cost, f.Reduced)
	return b.String()
}

// startChains finds the starting points of the chains.
func startChains(ctx context.Context, a *frame.App, v *inversion) error {
	post, err := v.Posterior()
	if err != nil {
		return exit.With(exit.Data, err)
	}
	v.cfg.Starts, err = v.Starts(ctx, post, v.cfg.Chains, v.cfg.Seed, v.cfg.Restarts)
	if ctx.Err() != nil {
		return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted before the chains began"), Hint: "run the same command again with --overwrite"}
	}
	return exit.With(exit.Failed, err)
}

// sampleInversion draws from the posterior. The chains share the processors.
func sampleInversion(ctx context.Context, a *frame.App, v *inversion, checkpoint string) error {
	all := cmp.Or(a.Threads, runtime.GOMAXPROCS(0))
	v.Inversion.Sim = v.Inversion.Sim.WithWorkers(max(1, all/min(v.cfg.Chains, all)))
	post, err := v.Posterior()
	if err != nil {
		return exit.With(exit.Data, err)
	}
	return draws.SampleInto(ctx, a, draws.Sampling{Dir: v.dir, Chain: &v.cfg.ChainConfig, Config: v.cfg, Model: v.Problem.Model, Units: v.units(v.Names()), Post: post,
		Document: func(d draws.SampleDoc) any {
			return struct {
				Engine string `json:"engine"`
				Model  string `json:"model"`
				Method string `json:"method"`
				draws.SampleDoc
			}{"rsoxs", v.Problem.Model, "nuts", d}
		},
		Check: v.CheckDraws,
		Report: func(fit *infer.Fit, verdict check.Verdict) error {
			return saveInversion(ctx, a, v, v.Means(fit), fit.Summary().HTML(), fit, verdict)
		}}, checkpoint)
}
