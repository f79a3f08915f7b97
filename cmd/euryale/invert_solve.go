package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/viz/term"
)

// inversion is a run of invert rsoxs.
type inversion struct {
	cfg         *invertConfig
	dir         rundir
	method      string
	measurement morph.Measurement
	inv         *morph.Inversion
}

// openInversion reads the data of a problem and sets the inversion up.
func (a *app) openInversion(cfg *invertConfig) (*inversion, error) {
	v := &inversion{cfg: cfg, method: cfg.Problem.Method}
	var err error
	if v.measurement, err = openMeasurement(cfg.Problem, cfg.Base); err != nil {
		return nil, err
	}
	v.measurement.Config.Workers = a.threads
	if v.inv, err = cfg.Problem.Inversion(v.measurement); err != nil {
		return nil, as(exitData, err)
	}
	if o := cfg.Problem.Options; v.method == "" {
		v.method = "lm"
		if o.Variation > 0 || o.Roughness > 0 || len(v.names()) > mostJacobian {
			v.method = "lbfgs"
		}
	}
	if _, err := v.inv.Function(); err != nil { // the graph, and pixels to compare
		return nil, as(exitData, err)
	}
	return v, nil
}

// mostJacobian is how many parameters least squares and standard deviations are
// for: each costs a simulation.
const mostJacobian = 100

// names are those of the elements of all parameters.
func (v *inversion) names() (list []string) {
	for _, p := range v.inv.Params {
		for i := range p.Start {
			if len(p.Start) == 1 {
				list = append(list, p.Name)
			} else {
				list = append(list, fmt.Sprintf("%s[%d]", p.Name, i))
			}
		}
	}
	return list
}

// startAt moves the start; nil leaves it.
func (v *inversion) startAt(x []float64) {
	for i := range v.inv.Params {
		if x == nil {
			return
		}
		n := len(v.inv.Params[i].Start)
		v.inv.Params[i].Start, x = x[:n:n], x[n:]
	}
}

// found is the end of a fit.
type found struct {
	x, sd           []float64
	cost            float64
	reduced         float64 // mean square of the residuals over degrees of freedom, in units of sigma
	points, nfev    int
	status, message string
	converged       bool
	ended           optim.Status
	warnings        []string
	check           check.Verdict
}

// fitInversion runs a minimisation and judges what it found. Where model and data
// disagree it starts again elsewhere, --restarts times, and keeps the lowest minimum. On
// cancellation it returns the best so far, not judged.
func (a *app) fitInversion(ctx context.Context, v *inversion) (*found, error) {
	first, err := a.minimum(ctx, v)
	if err != nil || ctx.Err() != nil {
		return first, err
	}
	if first.check, err = v.judge(first); err != nil {
		return nil, as(exitFailed, err)
	}
	if !first.check.Disagrees() || v.cfg.Restarts == 0 {
		return first, nil
	}
	return a.elsewhere(ctx, v, first)
}

// minimum runs a minimisation from the start of the problem.
func (a *app) minimum(ctx context.Context, v *inversion) (*found, error) {
	set := term.BarSettings{Name: "evaluations"}
	if a.quiet {
		set.Mode = term.Quiet
	}
	bar := term.NewBar(a.screen, set)
	defer bar.Close()
	last := 0
	progress := func(p optim.Progress) {
		bar.Add(p.NFev-last, 0)
		last = p.NFev
	}
	if v.method == "lm" {
		r, err := v.inv.Fit(ctx, optim.Settings{RelativeSigma: v.cfg.Problem.Sigma == 0 && v.cfg.Problem.Loss != "poisson", Progress: progress})
		if r == nil {
			return nil, as(exitFailed, err)
		}
		return &found{x: r.X, sd: r.SD(), cost: r.Cost, reduced: r.ReducedChiSquared(), points: r.M, nfev: r.NFev, status: r.Status.String(), message: r.Status.Message(),
			converged: r.Status.Converged(), ended: r.Status, warnings: r.Warnings}, nil
	}
	r, err := v.minimize(ctx, optim.MinimizeSettings{Progress: progress})
	if r == nil {
		return nil, as(exitFailed, err)
	}
	f := &found{x: r.X, cost: r.Value, reduced: math.NaN(), nfev: r.State.NFev, status: r.Status.String(), message: r.Status.Message(), converged: r.Status.Converged(), ended: r.Status}
	f.sd = make([]float64, len(f.x))
	for i := range f.sd {
		f.sd[i] = math.NaN()
	}
	if ctx.Err() == nil {
		v.spread(f)
	}
	return f, nil
}

// spread adds the standard deviations of a minimum by the Fisher information, if the
// parameters are few and the data determine them.
func (v *inversion) spread(f *found) {
	n := len(f.x)
	problem, err := v.inv.Problem()
	if err != nil || n > mostJacobian {
		return
	}
	r := make([]float64, problem.M)
	if problem.Residual(r, f.x) != nil {
		return
	}
	f.points = problem.M
	sum := 0.0
	for _, x := range r {
		sum += x * x
	}
	f.reduced = sum / float64(max(1, problem.M-n))
	per, err := v.inv.Information(f.x)
	if err != nil {
		return
	}
	total := mat.NewSymDense(n, nil)
	for _, e := range per {
		for i := range n {
			for j := i; j < n; j++ {
				total.SetSym(i, j, total.At(i, j)+e[i*n+j])
			}
		}
	}
	var chol mat.Cholesky
	var cov mat.SymDense
	if !chol.Factorize(total) || chol.InverseTo(&cov) != nil {
		f.warnings = append(f.warnings, "the data do not determine all parameters: there are no standard deviations")
		return
	}
	scale := 1.0
	if v.cfg.Problem.Sigma == 0 && v.cfg.Problem.Loss != "poisson" {
		scale = f.reduced
	}
	for i := range n {
		f.sd[i] = math.Sqrt(scale * cov.At(i, i))
	}
}

// invertDoc is the JSON document of a fit of invert rsoxs, and fit.json.
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
	Run      string            `json:"run"`
}

func (v *inversion) document(f *found) invertDoc {
	n := v.names()
	return invertDoc{Engine: "rsoxs", Model: v.cfg.Problem.Model, Method: v.method, X: named(n, f.x), SD: named(n, f.sd), Cost: number(f.cost), Reduced: number(f.reduced),
		Points: f.points, Status: f.status, Message: f.message, NFev: f.nfev, Warnings: append([]string{}, f.warnings...), Check: checkDocument(f.check), Run: string(v.dir)}
}

// mostLines bounds the parameters that are printed.
const mostLines = 40

// lines is the fit as text.
func (v *inversion) lines(f *found) string {
	var b strings.Builder
	for i, n := range v.names() {
		if i == mostLines {
			fmt.Fprintf(&b, "%d more in %s\n", len(f.x)-i, v.dir.path("fit.json"))
			break
		}
		fmt.Fprintf(&b, "%-14s %s\n", n, plusMinus(f.x[i], f.sd[i]))
	}
	fmt.Fprintf(&b, "%s, %d evaluations, cost %.6g, chi2/dof %.4g; ", f.status, f.nfev, f.cost, f.reduced)
	return b.String()
}

// startChains finds where chains begin: around a least-squares fit where there can
// be one, else anywhere.
func (a *app) startChains(ctx context.Context, v *inversion) error {
	for _, p := range v.inv.Params {
		if len(p.Start) > 1 || p.Name == "noise" {
			return nil
		}
	}
	r, err := v.inv.BestFit(ctx, v.cfg.Seed, v.cfg.Restarts)
	if ctx.Err() != nil {
		return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted before the chains began"), hint: "the same once more with --overwrite"}
	}
	if err != nil {
		return as(exitFailed, err)
	}
	post, err := v.posterior()
	if err != nil {
		return err
	}
	v.cfg.Starts, err = post.WarmStart(r.Names, r.X, r.Cov, v.cfg.Chains, v.cfg.Seed)
	return as(exitFailed, err)
}

func (v *inversion) posterior() (*infer.Posterior, error) {
	m, err := v.inv.Model()
	if err != nil {
		return nil, as(exitData, err)
	}
	post, err := m.Compile()
	return post, as(exitData, err)
}

// sampleInversion draws from the posterior; chains share the processors.
func (a *app) sampleInversion(ctx context.Context, v *inversion, checkpoint string) error {
	all := cmp.Or(a.threads, runtime.GOMAXPROCS(0))
	v.inv.Sim = v.inv.Sim.WithWorkers(max(1, all/min(v.cfg.Chains, all)))
	post, err := v.posterior()
	if err != nil {
		return err
	}
	return a.sampleInto(ctx, sampling{dir: v.dir, cfg: &v.cfg.chainConfig, config: v.cfg, model: v.cfg.Problem.Model, post: post,
		document: func(d sampleDoc) any {
			return struct {
				Engine string `json:"engine"`
				Model  string `json:"model"`
				Method string `json:"method"`
				sampleDoc
			}{"rsoxs", v.cfg.Problem.Model, "nuts", d}
		},
		check: v.judgeDraw,
		report: func(fit *infer.Fit, verdict check.Verdict) error {
			return a.saveInversion(ctx, v, v.means(fit), fit.Summary().HTML(), fit, verdict)
		}}, checkpoint)
}

// means are the posterior means of the parameters.
func (v *inversion) means(fit *infer.Fit) []float64 {
	var x []float64
	for _, n := range v.names() {
		sum, count := 0.0, 0
		for _, chain := range fit.Draws(n) {
			for _, d := range chain {
				sum += d
				count++
			}
		}
		x = append(x, sum/float64(count))
	}
	return x
}
