// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/checkpoint"
)

// Settings say how a chain adapts.
type Settings struct {
	// Draws is the number of draws of the warm-up.
	Draws        int
	TargetAccept float64
	// MayRaise lets TargetAccept rise where energy errors are large.
	MayRaise bool
	// StepSize is the first step size, 0 for a search.
	StepSize  float64
	Kind      MetricKind
	Schedule  Schedule
	Statistic Statistic
	// StartMetric is the first metric. nil: from the gradient at the start.
	StartMetric *hamiltonian.Metric
	// Estimator makes what learns the metric of dim parameters.
	Estimator func(dim int) Estimator
	// Depths of trees: the largest, and that of the warm-up unless 0.
	MaxDepth, WarmupDepth int
	// Settled says that StartMetric and StepSize have been learned already, so that only the step size still moves.
	Settled bool
}

// Adapter is the warm-up of one chain: it owns the metric and the step size.
type Adapter struct {
	cfg Settings
	// Scale are the scales of the first metric, where a mode search has found them.
	Scale    []float64
	Metric   hamiltonian.Metric
	StepSize float64
	dual     DualAverage

	// Current gives the metric, and Next replaces it at a switch.
	Current, Next Estimator
	// window is the number of usable draws that Next needs to take over.
	window float64
	// refreshed is the draw of the last estimate.
	refreshed int
	// changed is true once a metric has been estimated.
	changed bool
	// rough counts the trajectories with a large energy error.
	roughTrajectories int

	// first is the first draw that counts under StanSchedule.
	first int
	// Ends are the draws that end windows under StanSchedule.
	Ends []int
	Plan fisherPlan
}

// NewAdapter makes the warm-up of a chain of dim parameters.
func NewAdapter(cfg Settings, dim int) *Adapter {
	a := &Adapter{cfg: cfg, dual: DualAverage{Delta: cfg.TargetAccept, MaxLog: math.Inf(1), settled: cfg.Settled}}
	if cfg.Statistic == Symmetric {
		a.dual.MaxLog = math.Log(math.Pi)
	}
	a.Current, a.Next = cfg.Estimator(dim), cfg.Estimator(dim)
	a.first, a.Ends = StanWindows(cfg.Draws)
	a.Plan = PlanFisher(cfg.Draws, dim, cfg.Kind)
	if cfg.Settled {
		a.Plan.Early, a.Plan.Freeze = 0, 0
	}
	return a
}

// Begin chooses the first metric and step size at the chain's start p.
func (a *Adapter) Begin(t *hamiltonian.Trajectory, p *hamiltonian.Point) error {
	a.Metric = a.startMetric(p)
	if a.cfg.Settled && a.cfg.StepSize > 0 {
		a.StepSize = min(a.cfg.StepSize, math.Exp(a.dual.MaxLog))
		a.dual.Restart(a.StepSize)
		return nil
	}
	if a.cfg.Draws == 0 && a.cfg.StepSize > 0 {
		a.StepSize = a.cfg.StepSize
		return nil
	}
	a.StepSize = a.cfg.StepSize
	if a.StepSize == 0 {
		a.StepSize = 0.1
	}
	return a.search(t, p)
}

// Resume takes over what another has learned.
func (a *Adapter) Resume(o *Adapter) {
	a.Metric, a.StepSize = o.Metric, o.StepSize
	a.dual.Delta = o.dual.Delta
	a.dual.Restart(a.StepSize)
}

// TakeOver makes an adapter whose settings are Settled go on from a metric and a step size, to a target of its own.
func (a *Adapter) TakeOver(m hamiltonian.Metric, step, target float64) {
	a.cfg.StartMetric, a.cfg.StepSize, a.dual.Delta = &m, step, target
}

func (a *Adapter) startMetric(p *hamiltonian.Point) hamiltonian.Metric {
	switch {
	case a.cfg.StartMetric != nil:
		return *a.cfg.StartMetric
	case a.cfg.Schedule == StanSchedule || a.cfg.Draws == 0 || a.cfg.Kind == FixedMetric:
		return hamiltonian.Metric{}
	}
	if a.Scale != nil {
		return hamiltonian.Metric{Scale: a.Scale}
	}
	m := hamiltonian.Metric{Scale: make([]float64, len(p.G))}
	for i, g := range p.G {
		s := 1 / math.Sqrt(math.Abs(g))
		if g == 0 {
			s = 1
		}
		m.Scale[i] = math.Min(math.Max(s, 1e-10), 1e10)
	}
	return m
}

// search restarts the step size from a new search.
func (a *Adapter) search(t *hamiltonian.Trajectory, p *hamiltonian.Point) (err error) {
	if len(p.Q) == 0 {
		a.StepSize = 1
		return nil
	}
	if a.StepSize, err = t.FindStep(p, a.StepSize); err != nil {
		return err
	}
	a.StepSize = math.Min(a.StepSize, math.Exp(a.dual.MaxLog))
	a.dual.Restart(a.StepSize)
	return nil
}

// Update learns from warm-up draw i, which left the chain at p.
func (a *Adapter) Update(t *hamiltonian.Trajectory, p *hamiltonian.Point, i int, out *hamiltonian.Transition) (err error) {
	if a.cfg.Schedule == StanSchedule {
		err = a.updateStan(t, p, i, out)
	} else {
		err = a.updateFisher(t, p, i, out)
	}
	if i == a.cfg.Draws-1 {
		a.StepSize = a.dual.Final()
		a.Current.Reset()
		a.Next.Reset()
	}
	return err
}

func (a *Adapter) updateStan(t *hamiltonian.Trajectory, p *hamiltonian.Point, i int, out *hamiltonian.Transition) error {
	a.StepSize = a.dual.Update(out.Rate(a.cfg.Statistic == Symmetric))
	if len(a.Ends) == 0 || i < a.first || i > a.Ends[len(a.Ends)-1] {
		return nil
	}
	a.Current.Add(a.lasting(p))
	for _, end := range a.Ends {
		if i == end {
			m, ok := a.Current.Metric()
			a.Current.Reset()
			if ok {
				a.Metric = m
				return a.search(t, p)
			}
		}
	}
	return nil
}

// lasting returns the draw at p and its gradient for the estimators, one copy for
// both if they keep it.
func (a *Adapter) lasting(p *hamiltonian.Point) (q, g []float64) {
	if _, keeps := a.Current.(*lowRankEstimator); keeps {
		return slices.Clone(p.Q), slices.Clone(p.G)
	}
	return p.Q, p.G
}

func (a *Adapter) updateFisher(t *hamiltonian.Trajectory, p *hamiltonian.Point, i int, out *hamiltonian.Transition) error {
	if i < a.Plan.Freeze {
		if out.Usable() {
			q, g := a.lasting(p)
			a.Current.Add(q, g)
			a.Next.Add(q, g)
		}
		need := a.need(i)
		fits := float64(i)+need <= float64(a.Plan.Freeze) // another window
		switched := float64(a.Next.Count()) >= need && fits
		if switched {
			a.Current, a.Next = a.Next, a.Current
			a.Next.Reset()
			a.window *= windowGrows
		}
		due := switched || i-a.refreshed >= a.Plan.pause(a.Current.Count()) || a.Plan.costly && i == a.Plan.Freeze-1
		if due && a.refresh(i) && !a.changed {
			a.changed = true
			return a.search(t, p)
		}
	}
	a.StepSize = a.dual.Update(out.Rate(a.statistic(i) == Symmetric))
	a.raiseTarget(i, out)
	return nil
}

// Of trajectories near a normal distribution one in 10,000 has an energy error above
// RoughError, near the stability limit of the step one in ten.
const (
	RoughError   = 5.0
	RoughShare   = 0.02
	RaisedTarget = 0.88
	cautiousEnd  = 0.5 // part of the main phase over which trajectories are judged
)

// raiseTarget raises the target of the step size when energy errors in the first half
// of the main phase are such that trajectories will diverge.
func (a *Adapter) raiseTarget(i int, out *hamiltonian.Transition) {
	end := a.Plan.Early + int(cautiousEnd*float64(a.Plan.Freeze-a.Plan.Early))
	if !a.cfg.MayRaise || i < a.Plan.Early || i >= end {
		return
	}
	if out.MaxError > RoughError {
		a.roughTrajectories++
	}
	if i == end-1 && float64(a.roughTrajectories) > RoughShare*float64(end-a.Plan.Early) {
		a.dual.Delta = max(a.dual.Delta, RaisedTarget)
	}
}

// statistic returns what the step size follows at draw i. On the way from the
// start to the bulk of the posterior energies change by so much that Symmetric
// would let the step size collapse; Metropolis welcomes the gain.
func (a *Adapter) statistic(i int) Statistic {
	if i < a.Plan.Early {
		return Metropolis
	}
	return a.cfg.Statistic
}

// Depth returns the largest tree depth of draw i.
func (a *Adapter) Depth(i int) int {
	limit := a.cfg.MaxDepth
	if a.cfg.WarmupDepth > 0 && i < a.cfg.Draws {
		limit = a.cfg.WarmupDepth
	}
	if a.cfg.Schedule == FisherSchedule && i < min(shallowDraws, a.Plan.Early) {
		limit = min(limit, shallowDepth)
	}
	return limit
}

// need returns how many usable draws the next window must hold.
func (a *Adapter) need(i int) float64 {
	if i < a.Plan.Early {
		a.window = math.Min(math.Max(a.window, earlyWindow), a.Plan.window)
		return a.window
	}
	a.window = math.Max(math.Max(a.window, a.Plan.window), float64(a.Next.Count()))
	return a.window
}

func (a *Adapter) refresh(i int) bool {
	a.refreshed = i
	m, ok := a.Current.Metric()
	if ok {
		a.Metric = m
	}
	return ok
}

// Save writes a into a checkpoint.
func (a *Adapter) Save(w *checkpoint.Encoder) {
	w.Float(a.StepSize)
	for _, v := range []float64{a.dual.Delta, a.dual.mu, a.dual.count, a.dual.sbar, a.dual.xbar, a.window} {
		w.Float(v)
	}
	w.Int(a.refreshed)
	w.Int(a.roughTrajectories)
	w.Bool(a.changed)
	a.Metric.Save(w)
	a.Current.Save(w)
	a.Next.Save(w)
}

// Load reads what Save wrote.
func (a *Adapter) Load(r *checkpoint.Decoder, dim int) {
	a.StepSize = r.Float()
	for _, v := range []*float64{&a.dual.Delta, &a.dual.mu, &a.dual.count, &a.dual.sbar, &a.dual.xbar, &a.window} {
		*v = r.Float()
	}
	a.refreshed = r.Int()
	a.roughTrajectories = r.Int()
	a.changed = r.Bool()
	a.Metric.Load(r, dim)
	a.Current.Load(r)
	a.Next.Load(r)
}

// Aim is what the step size was adapted to.
func (a *Adapter) Aim() float64 { return a.dual.Delta }
