// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/optim"
)

// Settings are the settings of fits and posteriors. The zero value is the default.
type Settings struct {
	Fixed map[string]float64 // values of parameters held fixed, by name
	// Bounds replace those of the model, [lower, upper] by parameter name, in point fits and in priors that follow
	// bounds. They truncate other priors.
	Bounds map[string][2]float64
	// Start holds start values that replace those of the model and the guessed ones, by parameter name.
	Start map[string]float64
	// Priors replace the model's, by name of the sampled parameter, or "sigma". Point fits, which have no priors
	// otherwise, take them as penalties and bounds, for curves with errors: normal, lognormal, halfnormal,
	// truncatednormal and uniform ones.
	Priors map[string]dist.Dist
	Loss   optim.Loss // loss of point fits. Default: least squares
	// LossScale is the residual, in standard deviations, above which Loss reduces the weight of a
	// point. Default 1.
	LossScale float64
	Threads   int // number of bins fitted at once. Default GOMAXPROCS
	// MaxEvaluations is the largest number of evaluations in each point fit. Default that of
	// package optim.
	MaxEvaluations int
	// DropInvalid leaves out the points that no fit can use: a delay, value or error that is not a
	// finite number or is above 1e100, a delay below 1e-100, or an error below 0. Without it, such a
	// point makes the fit of its bin fail.
	DropInvalid bool
	// Backend chooses where fits are computed, such as ad.CUDA{}. On GPUs, 16 or more consecutive
	// curves with the same delays and bounds are fitted from all starts as lanes of one program;
	// the CPU confirms the minima and judges them. Other curves have their residuals and
	// derivatives computed there, one curve at a time. Default: one thread of the CPU for each bin.
	Backend ad.Backend

	penalties []optim.Prior         // those of Priors
	support   map[string][2]float64 // where Priors are not 0, by parameter
	relative  bool                  // whether the errors of the curve are unknown, so that its scatter gives them
	alone     bool                  // whether the fit only serves a comparison, and needs neither a verdict nor further starts
}

// Fit is the point fit of one bin.
type Fit struct {
	Model   Model
	Curve   Curve
	Status  string // outcome of the fit: "converged", "max_evaluations", "stuck" or "failed"
	Message string // reason for which the fit ended, or for which it failed
	// X and SD hold the parameters in the order of Model.Params. SD is the customary error of the model:
	// absolute if errors are given, except for the aps models, which scale it by the reduced
	// chi-square; Absolute and Scaled hold both. A failed bin has the start in X and -1 for every
	// error.
	X, SD, Absolute, Scaled []float64
	Cov                     []float64     // absolute covariance of the parameters, row-major
	Cost                    float64       // half the sum of squares of the residuals over their errors, reduced by Loss; NaN for a failed bin
	ReducedChiSquared       float64       // chi-square over degrees of freedom; NaN for a failed bin
	NFev                    int           // number of evaluations of the model
	Active                  []int         // -1 or 1 for each parameter on its lower or upper bound, otherwise 0
	Warnings                []string      // things to know about the result, one sentence each
	Check                   check.Verdict // verdict about the model; the zero value if there is no fit
	Device                  string        // device on which the fit was computed: "cpu", or a GPU such as "cuda:0"

	fault error // error of a device, which is not of this bin
}

// OK reports whether the fit converged.
func (f Fit) OK() bool { return f.Status == "converged" }

// compiled is a model compiled for curves of one length.
type compiled struct {
	model   Model
	size    size
	problem *optim.Problem
	idle    sync.Pool // workers that no goroutine uses now

	once     sync.Once // compiles the following
	lockStep *optim.Batch
	err      error
}

// worker is what a goroutine needs to fit and judge one curve after another.
type worker struct {
	problem  *optim.Problem
	verdicts check.Workspace
	columns  []float64 // memory of departures
}

// worker returns a worker for one goroutine, which gives it back with release.
func (c *compiled) worker() *worker {
	if w, ok := c.idle.Get().(*worker); ok {
		return w
	}
	return &worker{problem: c.problem.Clone()}
}

func (c *compiled) release(w *worker) { c.idle.Put(w) }

// home is what a problem is compiled for, and whether for the processor whatever the settings say.
type home struct {
	size
	processor bool
}

// size is what a problem is compiled for.
type size struct {
	points     int
	correlated bool // whether the weights are a matrix
}

func (c Curve) size() size { return size{len(c.X), c.Cov != nil} }

// compile builds the problem of a model for curves of a size.
func compile(model Model, of size, b ad.Backend) (*compiled, error) {
	residual, p, nodes, err := model.residual(of)
	if err != nil {
		return nil, err
	}
	var data []optim.Data
	for _, x := range nodes {
		data = append(data, optim.Data{Node: x, Values: make([]float64, x.Size())})
	}
	prob, err := optim.FromGraphOn(b, residual, p, data...)
	if err != nil {
		return nil, err
	}
	return &compiled{model: model, size: of, problem: prob}, nil
}

// FitAll fits every curve, in parallel; the results are the same for any number of threads.
// Consecutive curves with the same delays are first fitted in lock step, so that a curve fitted
// alone may give a result that differs by rounding. A bin that cannot be fitted has the Status
// "failed" and does not affect the others. FitAll returns an error if the settings are wrong, if a
// device fails or if the context ends.
func FitAll(ctx context.Context, model Model, curves []Curve, s Settings) ([]Fit, error) {
	return NewFitter(model, s).FitAll(ctx, curves)
}

// Fitter fits curves of one model with the same settings, in several calls that share the compiled
// model. Its methods may be called by several goroutines.
type Fitter struct {
	model Model
	s     Settings
	wrong error // why the priors can be no penalties

	mu     sync.Mutex
	ready  map[home]*compiled
	others map[string]*Fitter // of models that compare fits, by name
}

// other returns the Fitter of a model that is compared with the Fitter's.
func (f *Fitter) other(m Model) *Fitter {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.others[m.Name] == nil {
		if f.others == nil {
			f.others = map[string]*Fitter{}
		}
		f.others[m.Name] = NewFitter(m, Settings{Loss: f.s.Loss, LossScale: f.s.LossScale, Backend: f.s.Backend, alone: true})
	}
	return f.others[m.Name]
}

// mostReady bounds the number of compiled models that a Fitter keeps.
const mostReady = 256

// NewFitter returns a Fitter of a model with settings, which the first call of FitAll checks.
func NewFitter(model Model, s Settings) *Fitter {
	f := &Fitter{model: model}
	f.s, f.wrong = s.penalised(model)
	return f
}

// compiled returns the model compiled for curves of a size.
func (f *Fitter) compiled(n home) (*compiled, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.ready[n]; c != nil {
		return c, nil
	}
	b := f.s.Backend
	if n.processor {
		b = nil
	}
	c, err := compile(f.model, n.size, b)
	if err != nil {
		return nil, err
	}
	if f.ready == nil || len(f.ready) >= mostReady {
		f.ready = map[home]*compiled{}
	}
	f.ready[n] = c
	return c, nil
}

// FitAll calls the function FitAll with the Fitter's model and settings.
func (f *Fitter) FitAll(ctx context.Context, curves []Curve) ([]Fit, error) {
	if err := given.Args("g2.FitAll", "ctx", ctx); err != nil {
		return nil, err
	}
	if err := f.s.check(f.model, curves); err != nil {
		return nil, err
	}
	if f.wrong != nil {
		return nil, f.wrong
	}
	threads := f.s.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	curves, dropped := f.s.usable(curves)
	out, err := f.fitAll(ctx, curves, dropped, threads)
	if err != nil {
		return out, err
	}
	f.compare(ctx, out, threads)
	return out, ctx.Err()
}

// fitAll fits every curve by the Fitter's model alone. The error is of a device, or of the model.
func (f *Fitter) fitAll(ctx context.Context, curves []Curve, dropped [][]check.Alteration, threads int) ([]Fit, error) {
	tasks := make([]task, len(curves))
	parallel.Do(threads, len(curves), func(_, i int) { tasks[i] = f.task(curves[i], dropped[i]...) })
	ready := map[home]*compiled{}
	shares := f.shares(tasks, threads)
	for _, s := range shares {
		if n := f.home(s); ready[n] == nil && n.points > 0 {
			var err error
			if ready[n], err = f.compiled(n); err != nil {
				return nil, err
			}
		}
	}
	if f.s.Backend != nil {
		for _, s := range f.runs(tasks) {
			if err := f.scout(ctx, s.tasks, ready[f.home(s)], threads); err != nil {
				return nil, err
			}
		}
	}
	out := make([]Fit, len(curves))
	parallel.Do(threads, len(shares), func(_, k int) {
		s := shares[k]
		of := ready[f.home(s)]
		if s.scouted && f.s.Backend == nil {
			f.scout(ctx, s.tasks, of, 1)
		}
		for i, t := range s.tasks {
			out[s.from+i] = f.fit(ctx, t, of)
		}
	})
	for _, f := range out {
		if f.fault != nil {
			return out, f.fault
		}
	}
	return out, nil
}

// FitOne fits one curve, as FitAll does. A curve that cannot be fitted has the Status "failed" and the reason in Message, and
// is not an error.
func FitOne(ctx context.Context, model Model, c Curve, s Settings) (Fit, error) {
	f, err := FitAll(ctx, model, []Curve{c}, s)
	if err != nil {
		return Fit{}, err
	}
	return f[0], nil
}

// limits returns the start and the bounds for a curve, after applying the settings.
func (m Model) limits(c Curve, s Settings) (start, lower, upper []float64) {
	n := len(m.Params)
	start, lower, upper = make([]float64, n), make([]float64, n), make([]float64, n)
	for i, p := range m.Params {
		x, lo, hi := p.limits(c)
		if b, ok := s.Bounds[p.Name]; ok {
			lo, hi = b[0], b[1]
			if !(x > lo && x < hi) {
				x = lo + (hi-lo)/2
				if lo > 0 && !math.IsInf(hi, 1) {
					x = geometric(lo, hi)
				}
			}
		}
		if b, ok := s.support[p.Name]; ok {
			if _, own := s.Bounds[p.Name]; !own && !math.IsInf(b[0]-b[1], 0) {
				lo, hi = b[0], b[1]
			}
			lo, hi = max(lo, b[0]), min(hi, b[1])
			if !(x > lo && x < hi) && !math.IsInf(hi, 1) {
				x = lo + (hi-lo)/2
			}
		}
		if v, ok := s.Start[p.Name]; ok {
			x = v
		}
		if v, ok := s.Fixed[p.Name]; ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
			x = v
		}
		start[i], lower[i], upper[i] = x, lo, hi
	}
	return start, lower, upper
}

// fit fits a task.
func (of *Fitter) fit(ctx context.Context, t task, ready *compiled) Fit {
	model, s, c := of.model, of.s, t.curve
	f := Fit{Model: model, Curve: c, Status: "failed", Device: "cpu"}
	if t.err != nil {
		return f.failed(t.start, t.err)
	}
	w := ready.worker()
	defer ready.release(w)
	p := w.problem
	if f.Device = p.Device(); t.device != "" {
		f.Device = t.device
	}
	if err := p.SetData(c.X, c.target(), c.weights()); err != nil {
		return f.failed(t.start, err)
	}
	p.Lower, p.Upper = t.lower, t.upper
	s.relative = c.unknown() && len(c.X)+len(s.Fixed) > len(model.Params)
	var res *optim.Result
	if s.alone {
		t.promising(ctx, p, s)
	} else {
		res = t.confirmed(ctx, p, s)
	}
	if res == nil {
		var err error
		if res, err = best(ctx, p, t.starts, s); err != nil {
			return f.failed(t.start, fmt.Errorf("g2: bin %d: %w", c.Bin, err))
		}
	}
	names := f.take(res, s)
	if err := f.usable(); err != nil {
		return f.failed(t.start, err)
	}
	if s.alone {
		return f
	}
	f.judge(ctx, w, res, s, names, t.dropped)
	f.tellPriors(s)
	if !f.Check.Misfit() {
		return f
	}
	if other := elsewhere(ctx, p, s); other != nil && other.Cost < res.Cost*(1-1e-6)-c.rounding() {
		lower := Fit{Model: model, Curve: c, Device: f.Device}
		names = lower.take(other, s)
		lower.Warnings = append(lower.Warnings, fmt.Sprintf("the first minimum, with cost %.6g, did not describe the data; further starts found this one, with cost %.6g", res.Cost, other.Cost))
		if lower.usable() == nil {
			lower.judge(ctx, w, other, s, names, t.dropped)
			lower.tellPriors(s)
			f = lower
		}
	}
	return f
}

// usable returns an error if the fit ended at numbers that mean nothing.
func (f *Fit) usable() error {
	if math.IsNaN(f.Cost) || math.IsInf(f.Cost, 0) {
		return fmt.Errorf("g2: bin %d: the fit ended with the cost %g: check the units of the data, and give another start or narrower bounds", f.Curve.Bin, f.Cost)
	}
	for i, x := range f.X {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("g2: bin %d: the fit ended at %s = %g: check the units of the data, and give another start or narrower bounds", f.Curve.Bin, f.Model.Params[i].Name, x)
		}
	}
	return nil
}

// failed turns f into the fit of a bin that could not be fitted from a start. It keeps nothing of an attempt.
func (f Fit) failed(start []float64, err error) Fit {
	if ad.IsDeviceFault(err) {
		f.fault = err
	}
	f.Status, f.X, f.Message = "failed", start, err.Error()
	f.Cov, f.Active, f.Warnings, f.Check = nil, nil, nil, check.Verdict{}
	f.SD = slices.Repeat([]float64{-1}, len(start))
	f.Absolute, f.Scaled = f.SD, f.SD
	f.Cost, f.ReducedChiSquared = math.NaN(), math.NaN()
	return f
}

// take copies a result, puts the components in order, and returns the names of the result's
// parameters in that order.
func (f *Fit) take(r *optim.Result, s Settings) (names []string) {
	names = slices.Clone(r.Names)
	f.X, f.Cov, f.Cost, f.NFev = r.X, slices.Clone(r.Cov), r.Cost, r.NFev
	known, spread := 1.0, math.Sqrt(r.LossFactor()) // factors of the errors if those of the points are right, and if their size is unknown
	switch {
	case r.Robust():
		known = math.Sqrt(r.Scale) // what the loss costs at least
	case !r.Absolute && r.Scale > 0:
		for i := range f.Cov {
			f.Cov[i] /= r.Scale
		}
	}
	f.Status, f.Message, f.Warnings = r.Status.String(), r.Status.Message(), r.Warnings
	f.ReducedChiSquared = r.ReducedChiSquared()
	f.Active = r.Active
	if f.Curve.unknown() && f.Curve.constant() {
		spread = math.Inf(1)
		f.Warnings = append(f.Warnings, fmt.Sprintf("the size of the errors cannot be estimated from %d values that are all equal", len(f.Curve.Y)))
	} else if math.IsNaN(spread) {
		spread = math.Inf(1)
		f.Warnings = append(f.Warnings, fmt.Sprintf("the size of the errors cannot be estimated from %s and %s", errtext.Count(r.M, "point"), errtext.Count(r.NFree, "parameter")))
	}
	if len(s.Fixed)+len(s.Bounds)+len(s.Priors) == 0 && f.order() { // names in settings mean what they say
		var exchange []string
		for _, p := range f.Model.Pairs {
			exchange = append(exchange, names[p[0]], names[p[1]], names[p[1]], names[p[0]])
			names[p[0]], names[p[1]] = names[p[1]], names[p[0]]
		}
		exchanged(f.Warnings, exchange)
	}
	f.Absolute = make([]float64, len(f.X))
	f.Scaled = make([]float64, len(f.X))
	for i := range f.X {
		f.Absolute[i] = math.Sqrt(f.Cov[i*len(f.X)+i])
		f.Scaled[i] = f.Absolute[i] * spread / known
		if _, fixed := s.Fixed[f.Model.Params[i].Name]; math.IsInf(spread, 1) && !fixed {
			f.Scaled[i] = spread
		}
	}
	if f.SD = f.Absolute; f.Model.scaledErrors || f.Curve.unknown() {
		f.SD = f.Scaled
	}
	return names
}

// exchanged replaces names in texts: each of a pair by the next. It changes the texts.
func exchanged(texts, pairs []string) {
	for i, s := range texts {
		texts[i] = strings.NewReplacer(pairs...).Replace(s)
	}
}

// order swaps the components so that the faster one comes first, and reports whether it did.
func (f *Fit) order() bool {
	if len(f.Model.Pairs) == 0 || f.X[f.Model.Pairs[0][0]] <= f.X[f.Model.Pairs[0][1]] {
		return false
	}
	n := len(f.X)
	perm, sign := make([]int, n), slices.Repeat([]float64{1}, n)
	for i := range perm {
		perm[i] = i
	}
	for _, p := range f.Model.Pairs {
		perm[p[0]], perm[p[1]] = p[1], p[0]
	}
	x, cov, active := make([]float64, n), make([]float64, n*n), make([]int, n)
	if k := f.Model.index(f.Model.Complement); k >= 0 {
		sign[k] = -1
	}
	for i := range n {
		x[i], active[i] = f.X[perm[i]], f.Active[perm[i]]*int(sign[i])
		for j := range n {
			cov[i*n+j] = sign[i] * sign[j] * f.Cov[perm[i]*n+perm[j]]
		}
	}
	if k := f.Model.index(f.Model.Complement); k >= 0 {
		x[k] = 1 - x[k]
	}
	f.X, f.Cov, f.Active = x, cov, active
	return true
}
