// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/viz"
)

// Inversion holds scattering patterns and the parameters of a morphology to be recovered from them. It
// displays itself as the parameters and the patterns.
type Inversion struct {
	Name string
	Task *morph.Task
}

// OpenInversion reads a problem file (JSON), in the form that `euryale invert rsoxs` takes, and the
// files that it names: patterns, optical constants and, if there is one, the mask.
func OpenInversion(file string) *Inversion {
	return &Inversion{file, value("OpenInversion "+file, func() (*morph.Task, error) { return morph.OpenTask(file, 0) })}
}

// DemoInversion returns the inversion of the demonstration: a particle with a core of radius
// 9.3 nm and a shell of 6.4 nm with an order parameter of 0.55, simulated at three energies with
// 10 % noise on every pixel.
func DemoInversion() *Inversion {
	dir := value("DemoInversion", func() (string, error) { return os.MkdirTemp("", "euryale-demo-") })
	defer os.RemoveAll(dir)
	ctx, end := interruptible()
	defer end()
	must("DemoInversion", demo.WriteParticle(ctx, dir, "notebook"))
	task := value("DemoInversion", func() (*morph.Task, error) { return morph.OpenTask(dir+"/problem.json", 0) })
	return &Inversion{"particle", task}
}

// NewInversion makes an inversion for a user-defined morphology. The function Build of v builds it
// once, as a graph over the parameters:
//
//	inv := nb.NewInversion("film", &morph.Inversion{Sim: sim, Optics: optics, Data: data, Sigma: 0.1,
//		Params: []morph.Param{{Name: "radius", Start: []float64{8}, Bounds: []float64{2, 20}}},
//		Build:  func(p []*ad.Node) morph.Scene { ... }})
func NewInversion(name string, v *morph.Inversion) *Inversion {
	step := "NewInversion " + name
	if v == nil {
		must(step, errors.New("the inversion is nil: pass a *morph.Inversion"))
	}
	var task *morph.Task
	building(step, func() { task = value(step, func() (*morph.Task, error) { return v.Task(name) }) })
	return &Inversion{name, task}
}

// Fit finds the parameters by least squares with exact derivatives, or by L-BFGS where the problem says
// so. It starts from the starting values and, if the result disagrees with the data, from other points.
// An interrupt keeps the best result so far. Of the options, only the seed is used.
func (v *Inversion) Fit(options ...Settings) *InversionFit {
	step := "Fit of " + v.Name
	o := one(step, options)
	must(step, o.only("Fit of an inversion", "Seed"))
	ctx, end := interruptible()
	defer end()
	show, done := steps("evaluations", 0)
	before, last := 0, 0
	s := morph.FitSettings{Seed: o.Seed, Restarting: func(k, of int) { before, last = before+last, 0 },
		Progress: func(p optim.Progress) {
			last = p.NFev
			show(before+last, fmt.Sprintf("cost %.6g", p.Cost))
		}}
	f, err := v.Task.Fit(ctx, s)
	done()
	must(step, err)
	out := &InversionFit{Inversion: v, Solution: f, Interrupted: ctx.Err() != nil}
	out.Morphology, out.Pattern = v.predict(step, f.X)
	return out
}

// Sample draws from the posterior of the parameters by NUTS. Chains start around a least-squares fit.
// Parameters without a prior get one that is uniform between their bounds or, without bounds, flat.
func (v *Inversion) Sample(options ...Settings) *Posterior {
	step := "Sample " + v.Name
	o := one(step, options)
	must(step, o.takes("the posterior of an inversion", "", &setting.Sampler{}))
	chains := value(step, func() (setting.Sampler, error) { return o.sampling(setting.Sampler{}) })
	task := *v.Task
	inversion := *task.Inversion
	all := runtime.GOMAXPROCS(0)
	inversion.Sim = inversion.Sim.WithWorkers(max(1, all/min(chains.Chains, all)))
	task.Inversion = &inversion
	post := value(step, task.Posterior)
	ctx, end := interruptible()
	defer end()
	remark("finding where the chains start, by least squares")
	starts, err := task.Starts(ctx, post, chains.Chains, o.Seed, 6)
	if ctx.Err() != nil {
		err = errors.New("the run was interrupted before the chains began: run the cell again")
	}
	must(step, err)
	p := &Posterior{Name: v.Name, judge: task.CheckDraws}
	p.page = func(p *Posterior) *report.Page {
		m, pattern := v.predict("Report", task.Means(p.Fit))
		return v.page(m, pattern, p.Summary().HTML(), p.Verdict, p.Fit, o.Seed)
	}
	return p.sample(ctx, post, chains, o.Seed, starts)
}

// Predict returns the morphology and the detected pattern at parameters given by name. Parameters that
// are not given keep their starting values.
func (v *Inversion) Predict(values map[string]float64) *InversionFit {
	x, names := v.Task.Inversion.Start(), v.Task.Names()
	left := len(values)
	for i, n := range names {
		if value, given := values[n]; given {
			x[i] = value
			left--
		}
	}
	if left > 0 {
		must("Predict", fmt.Errorf("the values %v name parameters that do not exist: the parameters are %s", values, strings.Join(names, ", ")))
	}
	sd := make([]float64, len(x))
	for i := range sd {
		sd[i] = math.NaN()
	}
	out := &InversionFit{Inversion: v, Solution: &morph.Solution{X: x, SD: sd, Cost: math.NaN(), Reduced: math.NaN()}, predicted: true}
	out.Morphology, out.Pattern = v.predict("Predict", x)
	return out
}

func (v *Inversion) predict(step string, x []float64) (*rsoxs.Morphology, *rsoxs.Pattern) {
	m, p, err := v.Task.Predict(context.Background(), x)
	must(step, err)
	return m, p
}

// page is the report of a fit or, with a sample, of a posterior.
func (v *Inversion) page(m *rsoxs.Morphology, p *rsoxs.Pattern, table string, verdict check.Verdict, fit *infer.Fit, seed uint64) *report.Page {
	volume := value("morphology of "+v.Name, func() (*cyrsoxs.Morphology, error) { return morph.VolumeOf(m) })
	return report.Morphology(report.Inversion{File: v.Name, Task: v.Task, Table: table, Verdict: verdict, Morphology: volume, Pattern: p, Fit: fit},
		report.Settings{Program: "notebook", Seed: seed})
}

// String returns the table of the parameters.
func (v *Inversion) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, energies %v eV\n%-12s %10s %18s  %s\n", v.Name, v.Task.Problem.Model, v.Task.Inversion.Sim.Energies(), "parameter", "start", "bounds", "prior")
	v.parameters(func(name, start, bounds, prior string) {
		fmt.Fprintf(&b, "%-12s %10s %18s  %s\n", name, start, bounds, prior)
	})
	return b.String()
}

// HTML returns the table of the parameters and the picture of the patterns.
func (v *Inversion) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<p>%s: %s</p><table><tr><th>parameter</th><th>start</th><th>bounds</th><th>prior</th></tr>", html.EscapeString(v.Name), html.EscapeString(v.Task.Problem.Model))
	v.parameters(func(name, start, bounds, prior string) {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>", html.EscapeString(name), start, bounds, html.EscapeString(prior))
	})
	b.WriteString("</table>")
	b.WriteString(v.Patterns().HTML())
	return b.String()
}

// mostParameters is the largest number of parameters in a table.
const mostParameters = 40

func (v *Inversion) parameters(row func(name, start, bounds, prior string)) {
	for i, p := range v.Task.Inversion.Params {
		if i == mostParameters {
			row(fmt.Sprintf("and %d more", len(v.Task.Inversion.Params)-i), "", "", "")
			return
		}
		start, bounds, prior := fmt.Sprintf("%d numbers", len(p.Start)), "none", "flat"
		if len(p.Start) == 1 {
			start = fmt.Sprintf("%.4g", p.Start[0])
		}
		if p.Bounds != nil {
			bounds, prior = fmt.Sprintf("%.4g to %.4g", p.Bounds[0], p.Bounds[1]), "uniform"
		}
		if p.Prior != nil {
			prior = p.Prior.String()
		}
		row(p.Name, start, bounds, prior)
	}
}

// Patterns draws the measured patterns of at most a dozen energies.
func (v *Inversion) Patterns() *viz.Figure {
	sim, data := v.Task.Inversion.Sim, v.Task.Measurement.Masked()
	shape := sim.Shape()
	p := &rsoxs.Pattern{Energies: sim.Energies(), QY: rsoxs.Frequencies(shape[1], sim.PhysSize()), QX: rsoxs.Frequencies(shape[2], sim.PhysSize()), Intensity: data}
	const columns = 3
	var rows [][]viz.Image
	for i, e := range report.Rows(p) {
		if i%columns == 0 {
			rows = append(rows, nil)
		}
		last := len(rows) - 1
		rows[last] = append(rows[last], viz.Pattern(fmt.Sprintf("%g eV", p.Energies[e]), p.QY, p.QX, p.Image(e, 0)))
	}
	return value("Patterns of "+v.Name, func() (*viz.Figure, error) { return viz.Images("Measured patterns", rows) })
}

// SimpleRender returns text and HTML for the kernel.
func (v *Inversion) SimpleRender() map[string]interface{} { return rendered(v) }

// InversionFit is a morphology that was fitted or predicted, and its pattern. It displays itself as the
// parameters with their errors, the verdict about the model, and pictures of data, model and
// morphology.
type InversionFit struct {
	Inversion  *Inversion
	Solution   *morph.Solution
	Morphology *rsoxs.Morphology
	Pattern    *rsoxs.Pattern
	// Interrupted reports whether the fit was stopped early. The result is then the best so far.
	Interrupted bool

	predicted bool
}

// Value returns the value of a parameter.
func (f *InversionFit) Value(name string) float64 {
	names := f.Inversion.Task.Names()
	for i, n := range names {
		if n == name {
			return f.Solution.X[i]
		}
	}
	must("Value", fmt.Errorf("there is no parameter %q: the parameters are %s", name, strings.Join(names, ", ")))
	return 0
}

func (f *InversionFit) page() *report.Page {
	return f.Inversion.page(f.Morphology, f.Pattern, report.Parameters(f.Inversion.Task.Names(), f.Solution), f.Solution.Check, nil, 0)
}

// Report writes the fit as an HTML page.
func (f *InversionFit) Report(file string) { writePage("Report", file, f.page()) }

// String returns the parameters with their errors, and the verdict.
func (f *InversionFit) String() string {
	var b strings.Builder
	for i, n := range f.Inversion.Task.Names() {
		if i == mostParameters {
			fmt.Fprintf(&b, "and %d more\n", len(f.Solution.X)-i)
			break
		}
		fmt.Fprintf(&b, "%-14s %s\n", n, report.PlusMinus(f.Solution.X[i], f.Solution.SD[i]))
	}
	if !f.predicted {
		fmt.Fprintf(&b, "%s\n%s\n", f.ended(), f.Solution.Check)
	}
	return b.String()
}

// ended says how the fit ended.
func (f *InversionFit) ended() string {
	s := f.Solution
	if f.Interrupted {
		return fmt.Sprintf("interrupted after %d evaluations: this is the best so far, and was not judged", s.NFev)
	}
	return fmt.Sprintf("%s: %s; %d evaluations, chi2/dof %.4g", s.Status, s.Status.Message(), s.NFev, s.Reduced)
}

// HTML returns the parameters, the verdict and the pictures.
func (f *InversionFit) HTML() string {
	if f.predicted {
		page := f.page()
		page.Sections[1].Tables = nil
		return fragment(page.Report)
	}
	return "<p>" + html.EscapeString(f.ended()) + "</p>" + fragment(f.page().Report)
}

// SimpleRender returns text and HTML for the kernel.
func (f *InversionFit) SimpleRender() map[string]interface{} { return rendered(f) }
