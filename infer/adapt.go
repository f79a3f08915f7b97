package infer

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/checkpoint"
)

// adapter is the warm-up of one chain: it owns the metric and the step size.
type adapter struct {
	cfg    *Config
	chain  int       // its number among the chains of the run
	scale  []float64 // of the first metric, if known from a climb
	metric Metric
	eps    float64
	dual   dualAverage

	current, next estimator // metric comes from current; next replaces it at a switch
	window        float64   // usable draws that next needs to take over
	refreshed     int       // draw of the last estimate
	changed       bool      // a metric has been estimated
	rough         int       // trajectories with a large energy error, see caution

	first int   // Stan: first draw that counts
	ends  []int // Stan: draws that end windows
	plan  fisherPlan
}

func newAdapter(cfg *Config, dim int) *adapter {
	a := &adapter{cfg: cfg, dual: dualAverage{delta: cfg.TargetAccept, maxLog: math.Inf(1)}}
	if cfg.Statistic == Symmetric {
		a.dual.maxLog = math.Log(math.Pi)
	}
	a.current, a.next = cfg.estimator(dim), cfg.estimator(dim)
	a.first, a.ends = stanWindows(cfg.warmup())
	a.plan = planFisher(cfg.warmup(), dim, cfg.Metric)
	return a
}

// begin chooses the first metric and step size at the chain's start p.
func (a *adapter) begin(t *trajectory, p *point) error {
	if from := a.cfg.From; from != nil {
		last := from.chains[a.chain%len(from.chains)].ad
		a.metric, a.eps = last.metric, last.eps
		a.dual.delta = last.dual.delta
		a.dual.restart(a.eps)
		return nil
	}
	a.metric = a.startMetric(p)
	if a.cfg.NoWarmup && a.cfg.StepSize > 0 {
		a.eps = a.cfg.StepSize
		return nil
	}
	a.eps = a.cfg.StepSize
	if a.eps == 0 {
		a.eps = 0.1
	}
	return a.search(t, p)
}

func (a *adapter) startMetric(p *point) Metric {
	switch {
	case a.cfg.StartMetric != nil:
		return *a.cfg.StartMetric
	case a.cfg.Schedule == StanSchedule || a.cfg.NoWarmup || a.cfg.Metric == FixedMetric:
		return Metric{}
	}
	if a.scale != nil {
		return Metric{scale: a.scale}
	}
	m := Metric{scale: make([]float64, len(p.g))}
	for i, g := range p.g {
		s := 1 / math.Sqrt(math.Abs(g))
		if g == 0 {
			s = 1
		}
		m.scale[i] = math.Min(math.Max(s, 1e-10), 1e10)
	}
	return m
}

// search restarts the step size from a new search.
func (a *adapter) search(t *trajectory, p *point) (err error) {
	if len(p.q) == 0 {
		a.eps = 1
		return nil
	}
	if a.eps, err = t.findStep(p, a.eps); err != nil {
		return err
	}
	a.eps = math.Min(a.eps, math.Exp(a.dual.maxLog))
	a.dual.restart(a.eps)
	return nil
}

// update learns from warm-up draw i, which left the chain at p.
func (a *adapter) update(t *trajectory, p *point, i int, out *transition) (err error) {
	if a.cfg.Schedule == StanSchedule {
		err = a.updateStan(t, p, i, out)
	} else {
		err = a.updateFisher(t, p, i, out)
	}
	if i == a.cfg.warmup()-1 {
		a.eps = a.dual.final()
		a.current.reset()
		a.next.reset()
	}
	return err
}

func (a *adapter) updateStan(t *trajectory, p *point, i int, out *transition) error {
	a.eps = a.dual.update(out.rate(a.cfg.Statistic))
	if len(a.ends) == 0 || i < a.first || i > a.ends[len(a.ends)-1] {
		return nil
	}
	a.current.add(a.lasting(p))
	for _, end := range a.ends {
		if i == end {
			m, ok := a.current.metric()
			a.current.reset()
			if ok {
				a.metric = m
				return a.search(t, p)
			}
		}
	}
	return nil
}

// lasting returns the draw at p and its gradient for the estimators, one copy for
// both if they keep it.
func (a *adapter) lasting(p *point) (q, g []float64) {
	if _, keeps := a.current.(*lowRankEstimator); keeps {
		return slices.Clone(p.q), slices.Clone(p.g)
	}
	return p.q, p.g
}

func (a *adapter) updateFisher(t *trajectory, p *point, i int, out *transition) error {
	if i < a.plan.freeze {
		if out.usable() {
			q, g := a.lasting(p)
			a.current.add(q, g)
			a.next.add(q, g)
		}
		need := a.need(i)
		fits := float64(i)+need <= float64(a.plan.freeze) // another window
		switched := float64(a.next.count()) >= need && fits
		if switched {
			a.current, a.next = a.next, a.current
			a.next.reset()
			a.window *= windowGrows
		}
		due := switched || i-a.refreshed >= a.plan.pause(a.current.count()) || a.plan.costly && i == a.plan.freeze-1
		if due && a.refresh(i) && !a.changed {
			a.changed = true
			return a.search(t, p)
		}
	}
	a.eps = a.dual.update(out.rate(a.statistic(i)))
	a.caution(i, out)
	return nil
}

// Of trajectories near a normal law one in 10,000 has an energy error above
// roughError, near the stability limit of the step one in ten.
const (
	roughError  = 5.0
	roughShare  = 0.02
	raisedAim   = 0.88
	cautiousEnd = 0.5 // part of the main phase over which trajectories are judged
)

// caution raises the aim of the step size when energy errors in the first half
// of the main phase are such that trajectories will diverge.
func (a *adapter) caution(i int, out *transition) {
	end := a.plan.early + int(cautiousEnd*float64(a.plan.freeze-a.plan.early))
	if !a.cfg.mayRaise || i < a.plan.early || i >= end {
		return
	}
	if out.maxError > roughError {
		a.rough++
	}
	if i == end-1 && float64(a.rough) > roughShare*float64(end-a.plan.early) {
		a.dual.delta = max(a.dual.delta, raisedAim)
	}
}

// statistic returns what the step size follows at draw i. On the way from the
// start to the bulk of the posterior energies change by so much that Symmetric
// would let the step size collapse; Metropolis welcomes the gain.
func (a *adapter) statistic(i int) Statistic {
	if i < a.plan.early {
		return Metropolis
	}
	return a.cfg.Statistic
}

// depth returns the largest tree depth of draw i.
func (a *adapter) depth(i int) int {
	limit := a.cfg.MaxTreeDepth
	if a.cfg.WarmupTreeDepth > 0 && i < a.cfg.warmup() {
		limit = a.cfg.WarmupTreeDepth
	}
	if a.cfg.Schedule == FisherSchedule && i < min(shallowDraws, a.plan.early) {
		limit = min(limit, shallowDepth)
	}
	return limit
}

// need returns how many usable draws the next window must hold.
func (a *adapter) need(i int) float64 {
	if i < a.plan.early {
		a.window = math.Min(math.Max(a.window, earlyWindow), a.plan.window)
		return a.window
	}
	a.window = math.Max(math.Max(a.window, a.plan.window), float64(a.next.count()))
	return a.window
}

func (a *adapter) refresh(i int) bool {
	a.refreshed = i
	m, ok := a.current.metric()
	if ok {
		a.metric = m
	}
	return ok
}

func (a *adapter) save(w *checkpoint.Encoder) {
	w.Float(a.eps)
	for _, v := range []float64{a.dual.delta, a.dual.mu, a.dual.count, a.dual.sbar, a.dual.xbar, a.window} {
		w.Float(v)
	}
	w.Int(a.refreshed)
	w.Int(a.rough)
	w.Bool(a.changed)
	a.metric.save(w)
	a.current.save(w)
	a.next.save(w)
}

func (a *adapter) load(r *checkpoint.Decoder, dim int) {
	a.eps = r.Float()
	for _, v := range []*float64{&a.dual.delta, &a.dual.mu, &a.dual.count, &a.dual.sbar, &a.dual.xbar, &a.window} {
		*v = r.Float()
	}
	a.refreshed = r.Int()
	a.rough = r.Int()
	a.changed = r.Bool()
	a.metric.load(r, dim)
	a.current.load(r)
	a.next.load(r)
}

func (m *Metric) save(w *checkpoint.Encoder) {
	for _, v := range [][]float64{m.scale, m.vec, m.grow, m.chol} {
		w.Floats(v)
	}
	m.saveBlocks(w)
}

func (m *Metric) load(r *checkpoint.Decoder, dim int) {
	for _, v := range []*[]float64{&m.scale, &m.vec, &m.grow, &m.chol} {
		if *v = r.Floats(); len(*v) == 0 {
			*v = nil
		}
	}
	m.loadBlocks(r)
	if !m.fits(dim) {
		r.Fail("holds a metric that does not fit %d parameters", dim)
		*m = Metric{}
	}
}

// fits reports whether m can be the metric of dim parameters.
func (m *Metric) fits(dim int) bool {
	return (m.scale == nil || len(m.scale) == dim) &&
		len(m.vec) == len(m.grow)*dim && (m.grow == nil || m.scale != nil) &&
		(m.chol == nil || len(m.chol) == dim*dim && m.scale == nil) && m.blocksFit(dim)
}

// rate returns a statistic of the transition's leaves.
func (o *transition) rate(s Statistic) float64 {
	switch {
	case o.steps == 0:
		return 1
	case s == Metropolis:
		return o.accept / float64(o.steps)
	}
	return o.symmetric / float64(o.steps)
}

// usable reports whether the draw tells something about the posterior: it moved,
// and not just a few steps out of a divergent trajectory.
func (o *transition) usable() bool {
	if o.divergent {
		return o.index > 4 || o.index < -4
	}
	return o.index != 0
}
