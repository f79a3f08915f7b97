// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/tensor"
)

// The chains of a run adapt together. They make rounds of draws, each chain by itself, and meet after each. The first meetings choose coordinates; all of
// them estimate one metric from the draws and gradients of all chains. The warm-up ends when the draws of a round ask for no other metric than the one that
// made them. Each chain then adapts its step size to the metric, and from there on shares nothing with others.
//
// What a meeting decides depends on draws and counts alone, so that it is the same for any number of threads and on any machine.
const (
	firstRound     = 60 // draws of the first two rounds each, and of more parameters
	firstRoundWide = 75
	openingRound   = 25  // draws of the first round where it looks for a sparse metric; the one after has those that are left of the first
	shortRound     = 50  // draws of the third round; each one after is longer by half
	lastRound      = 50  // draws in which each chain adapts its step size
	shortestPool   = 150 // draws of a warm-up with rounds
	longestPool    = 1000
	fewParameters  = 50   // up to which first rounds are short
	poolDepth      = 5    // of trees in the first rounds, whose draws need not be independent
	settledDrift   = 0.1  // of a metric that is good enough
	mostLooks      = 5    // rounds that may choose coordinates
	softShare      = 0.05 // of trajectories with large energy errors, above which steps are soft
	softError      = 1.5  // energy error at which half of the soft steps are refined
	mostDivergent  = 0.05 // part of the trajectories of a round after which the warm-up may end
)

// roundRules is the number of the rules by which meetings decide, part of the fingerprint of a run.
const roundRules = 6

// pool is the warm-up that the chains of a run share.
type pool struct {
	cfg    Settings
	target Target
	f      *family // nil where there are no coordinates to choose
	watch  *observer
	judge  *judge

	h       choice
	at      Target // in the coordinates of h
	modes   *modeSearch
	members []member
	// round is the number of finished rounds, and draws that of draws of each chain in them.
	round, draws int
	metric       hamiltonian.Metric
	known        bool // whether there is a metric
	chosen       bool // whether coordinates stay as they are
	settled      bool
	opens        bool // whether the first round has a diagonal metric, and a sparse one is looked for after it
	// pattern is that of the precision in the present coordinates where few parameters interact, and looked whether it was looked for.
	pattern  *warmup.Pattern
	looked   bool
	before   [][]drawn // of each chain, in the round before the last
	elapsed  time.Duration
	progress []atomic.Int64 // draws of each chain so far
	stop     *atomic.Bool   // of the run
}

// member is a chain of a pool.
type member struct {
	q    []float64 // unconstrained parameters where it stands
	step float64
	// grads is the number of gradients, and rough that of the trajectories with large energy errors among those counted.
	grads, rough, counted int
	diverged              int // in the last round
}

// drawn is a draw in the coordinates of a pool, with the gradient along them.
type drawn struct{ z, g []float64 }

// pools reports whether chains adapt together.
func (c *Settings) pools(dim int) bool {
	return !c.Independent && c.Method == NUTS && c.From == nil && !c.NoWarmup && c.Schedule == FisherSchedule && c.Statistic == Symmetric && c.StartMetric == nil &&
		c.Metric <= DiagVariance && !c.KeepWarmup && c.StepSize == 0 && c.Warmup >= shortestPool && dim > 0
}

// newPool prepares the warm-up of the chains of a target.
func newPool(t Target, cfg Settings, stop *atomic.Bool) (*pool, error) {
	p := &pool{cfg: cfg, stop: stop, target: t, at: t, chosen: true, members: make([]member, cfg.Chains), progress: make([]atomic.Int64, cfg.Chains)}
	p.opens = cfg.Metric == LowRank && t.Dim() > fewParameters
	if cfg.Coordinates == DeclaredCoordinates {
		return p, nil
	}
	f, err := coordinatesOf(t)
	if f == nil {
		return p, err
	}
	p.f, p.h, p.chosen, p.opens = f, f.asDeclared(), false, false
	if p.watch, err = f.newObserver(); err != nil {
		return p, err
	}
	if p.judge, err = f.newJudge(); err != nil {
		return p, err
	}
	return p, p.moveTo(p.h)
}

// moveTo makes a choice the coordinates of the chains.
func (p *pool) moveTo(h choice) error {
	m, err := p.f.in(h)
	if err != nil {
		return err
	}
	p.h, p.at = h, m
	return nil
}

// run makes rounds until the warm-up is over but for the last one, and reports whether it is; save is called at every meeting.
func (p *pool) run(ctx context.Context, save func()) (bool, error) {
	for !p.settled {
		start := time.Now()
		draws := p.length()
		seen, now, err := p.sample(ctx, draws)
		if err != nil || now == nil {
			return false, err
		}
		if err := p.meet(seen, now, draws); err != nil {
			return false, err
		}
		p.elapsed += time.Since(start)
		save()
	}
	return true, nil
}

// length is the number of draws of the next round.
func (p *pool) length() int {
	n, round := firstRound, p.round
	if p.target.Dim() > fewParameters {
		n = firstRoundWide
	}
	if p.opens {
		n, round = openingRound, round-1 // the first two are one otherwise
		if p.round == 1 {
			n = firstRoundWide - openingRound
		}
	}
	if round > 1 || round == 1 && p.chosen {
		n = shortRound
		for range round - 2 {
			n += n / 2
		}
	}
	left := p.cfg.Warmup - lastRound - p.draws
	if left < 2*n { // what is left makes no two rounds
		if !p.cfg.untilSettled || left <= n {
			return left
		}
	}
	return n
}

// settingsOf returns the settings of a round of so many draws.
func (p *pool) settingsOf(draws int) Settings {
	cfg := p.cfg
	cfg.Warmup, cfg.Draws, cfg.Sink, cfg.Checkpoint, cfg.Resume = draws, 1, Sink{Every: 1}, Checkpoint{}, ""
	if p.round < 2 {
		cfg.MaxTreeDepth = min(cfg.MaxTreeDepth, poolDepth)
	}
	switch {
	case p.known:
		cfg.Metric, cfg.StartMetric = FixedMetric, &Metric{p.metric}
	case p.opens && p.round == 0:
		cfg.Metric = DiagFisher
	}
	if p.modes == nil {
		p.modes = &modeSearch{}
	}
	cfg.settled = p.known
	return cfg
}

// sample makes a round of all chains: their draws in the coordinates of the pool, and what they have seen while coordinates are chosen. Nothing is returned
// where ctx ends first, or where a chain cannot move, which the run itself then tells.
func (p *pool) sample(ctx context.Context, draws int) (seen [][]seenDraw, now [][]drawn, err error) {
	cfg := p.settingsOf(draws)
	defer context.AfterFunc(ctx, func() { p.stop.Store(true) })()
	chains := make([]*roundChain, len(p.members))
	errs := make([]error, len(p.members))
	places := make(chan struct{}, cfg.Parallel)
	var wg sync.WaitGroup
	for i := range p.members {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			chains[i], errs[i] = p.advance(i, &cfg)
		})
	}
	wg.Wait()
	for i := range errs {
		if errs[i] != nil {
			return nil, nil, errs[i]
		}
		if len(chains[i].now) == 0 || p.stop.Load() {
			return nil, nil, ctx.Err()
		}
	}
	seen, now = p.take(chains)
	return seen, now, nil
}

// take ends a round: the members of the pool stand where its chains do.
func (p *pool) take(chains []*roundChain) (seen [][]seenDraw, now [][]drawn) {
	for _, c := range chains {
		seen, now = append(seen, c.seen), append(now, c.now)
		m := c.member()
		m.q, m.step, m.grads = c.q, c.ad.StepSize, m.grads+c.tr.Count
		m.rough, m.counted, m.diverged = m.rough+c.rough, m.counted+c.counted, c.diverged
	}
	p.draws += chains[0].cfg.Warmup
	p.round++
	return seen, now
}

// roundChain is a chain of a pool in a round.
type roundChain struct {
	*chain
	of    *pool
	index int
	watch *watcher // nil where coordinates stay as they are
	q     []float64
	seen  []seenDraw
	now   []drawn
	// rough and counted are those of member, and diverged that of the trajectories so far.
	rough, counted, diverged int
}

func (c *roundChain) member() *member { return &c.of.members[c.index] }

// chainOf returns chain i at the start of a round.
func (p *pool) chainOf(i int, round *Settings) (*roundChain, error) {
	cfg := *round
	cfg.StepSize = p.members[i].step
	c := &roundChain{chain: newChain(&cfg, cfg.FirstChain+i, p.at.Clone(), p.stop), of: p, index: i}
	c.outputs, c.pool = nil, p.modes
	if m := marginalOf(c.target); m != nil {
		m.tried = true
	}
	c.momentum = tensor.NewStream(cfg.Seed, purposeRounds+2*uint32(p.round), uint32(c.id))
	c.choice = tensor.NewStream(cfg.Seed, purposeRounds+2*uint32(p.round)+1, uint32(c.id))
	if q := p.members[i].q; q != nil {
		var err error
		if c.given, err = c.coordinatesOf(q); err != nil {
			return nil, err
		}
	}
	if !p.chosen {
		c.watch = p.watch.watcher()
	}
	c.q = make([]float64, len(c.p.Q))
	return c, nil
}

// advance makes a round of chain i, but for what is left of it when the run is stopped.
func (p *pool) advance(i int, round *Settings) (c *roundChain, err error) {
	if c, err = p.chainOf(i, round); err != nil {
		return nil, err
	}
	defer given.CaughtAs(&err, c.fault)
	for c.done < c.cfg.Warmup {
		if p.stop.Load() {
			c.now = nil
			return c, nil
		}
		if err := c.step(); errors.Is(err, errInterrupted) {
			c.now = nil
			return c, nil
		} else if err != nil {
			return nil, err
		}
		if err := c.look(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// look notes what the last transition tells.
func (c *roundChain) look() error {
	p, out := c.of, &c.tr.Out
	p.progress[c.index].Store(int64(p.draws + c.done))
	if out.Divergent {
		c.diverged++
	}
	if p.known {
		if c.counted++; out.MaxError > warmup.RoughError {
			c.rough++
		}
	}
	if _, err := c.declared(c.p.Q, c.q); err != nil {
		return err
	}
	onTheWay := p.round == 0 && c.done <= c.cfg.Warmup/3
	if onTheWay || !out.Usable() {
		return nil
	}
	if c.watch != nil {
		c.tr.Count++
		d, ok := c.watch.see(slices.Clone(c.q))
		if !ok {
			return nil
		}
		c.seen = append(c.seen, d)
	}
	c.now = append(c.now, drawn{slices.Clone(c.p.Q), slices.Clone(c.p.G)})
	return nil
}

// smooth reports whether few of the trajectories of a round of so many draws diverged.
func (p *pool) smooth(draws int) bool {
	diverged := 0
	for _, m := range p.members {
		diverged += m.diverged
	}
	return float64(diverged) <= mostDivergent*float64(draws*len(p.members))
}

// choose looks for better coordinates than those of a round, and takes its draws along. Later rounds look again where draws were still on their way.
func (p *pool) choose(seen [][]seenDraw, now [][]drawn) (changed bool, err error) {
	next := p.judge.choose(p.h, slices.Concat(seen...))
	if next.same(p.h) {
		return false, nil
	}
	for i := range now {
		at, ok := p.judge.mapped(next, seen[i])
		if !ok { // the choice would not have been made
			return false, errors.New("infer: coordinates of a draw cannot be computed")
		}
		now[i], p.members[i].step = at, 0
	}
	p.before, p.pattern, p.looked = nil, nil, false
	return true, p.moveTo(next)
}

// meet takes a round in: it chooses coordinates, estimates the metric, and says whether the warm-up is settled.
func (p *pool) meet(seen [][]seenDraw, now [][]drawn, draws int) error {
	drift := math.Inf(1)
	if p.known {
		drift = p.drift(now)
	}
	if !p.chosen && (p.round <= 2 || drift >= settledDrift) {
		changed, err := p.choose(seen, now)
		if err != nil {
			return err
		}
		if changed && drift >= settledDrift { // a change from coordinates that served needs no other round: draws go along
			drift = math.Inf(1)
		}
		p.chosen = p.round == mostLooks || p.round == 1 && !changed
	}
	window := now
	if p.before != nil {
		window = make([][]drawn, len(now))
		for i := range now {
			window[i] = slices.Concat(p.before[i], now[i])
		}
	}
	if m, ok := p.estimate(window); ok {
		p.metric, p.known = m, true
	}
	if p.before = now; p.opens && p.round == 1 { // chains were on their way
		p.before = nil
	}
	p.settled = p.draws+lastRound >= p.cfg.Warmup
	if p.cfg.untilSettled && drift < settledDrift && p.smooth(draws) {
		p.settled = true
	}
	return p.judgeLaplace(now)
}

// drift says how far the metric is from what the draws of all chains ask for.
func (p *pool) drift(now [][]drawn) float64 {
	var r rows
	for _, chain := range now {
		for _, d := range chain {
			r.z, r.g = append(r.z, d.z), append(r.g, d.g)
		}
	}
	white := r.whitened(&p.metric)
	if p.metric.Sparse != nil { // the misfit has what no metric mends beside the drift, so that it is enough where it is small
		if misfit := white.misfit(); misfit < settledDrift {
			return misfit
		}
	}
	return warmup.Drift(white.z, white.g)
}

// rough is the share of trajectories with large energy errors.
func (p *pool) rough() float64 {
	rough, counted := 0, 0
	for _, m := range p.members {
		rough, counted = rough+m.rough, counted+m.counted
	}
	return float64(rough) / float64(max(counted, 1))
}

// soft reports whether chains are to refine steps with large energy errors.
func (p *pool) soft() bool { return !p.cfg.PlainSteps && p.rough() > softShare }

// handOver gives the chains of a run what the warm-up has learned and spent.
func (p *pool) handOver(chains []*chain) error {
	aim := p.cfg.TargetAccept
	if p.cfg.mayRaise && p.rough() > warmup.RoughShare && !p.soft() {
		aim = max(aim, warmup.RaisedTarget)
	}
	for i, c := range chains {
		m := &p.members[i%len(p.members)]
		var err error
		if c.given, err = c.coordinatesOf(m.q); err != nil {
			return err
		}
		if c.tr.Count, c.times[0] = m.grads, p.elapsed; p.modes != nil {
			c.pool = p.modes
		}
		c.ad.TakeOver(p.metric, m.step, aim)
	}
	return nil
}
