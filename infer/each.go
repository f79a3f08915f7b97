package infer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// DataSet is one of many data sets for the same model.
type DataSet struct {
	Data map[string][]float64 // replaces what Data and Observe declared, by name; every set names the same
	Init [][]float64          // unconstrained start per chain; nil for random ones
}

// A program runs on vectors of as many numbers as chains advance together; more
// than mostLanes would not make it faster.
const leastLanes, mostLanes = 16, 128

// SampleEach draws from the posterior of every data set as Sample does, with
// chains of many sets in lock step: one run of the compiled program serves a
// gradient to each of them. Set i has the seed cfg.Seed + i. Its draws depend on
// its data and seed only, not on the other sets or the number of threads.
//
// done is called once per set, from one goroutine at a time and in no order,
// with the draws or with what is wrong with the set; the others go on.
// Checkpoint, Resume, StopWhen and Progress do not apply. It returns ctx.Err()
// when ctx ended it; sets not yet complete get no call.
func (p *Posterior) SampleEach(ctx context.Context, sets []DataSet, cfg Config, done func(i int, fit *Fit, err error)) error {
	if cfg.Checkpoint.Path != "" || cfg.Resume != "" || cfg.StopWhen.active() || cfg.Progress != nil || cfg.Init != nil {
		return errors.New("infer: SampleEach takes no Checkpoint, Resume, StopWhen, Progress or Init: starts belong to the DataSets")
	}
	cfg, err := cfg.withDefaults(p.dim)
	if err != nil || len(sets) == 0 {
		return err
	}
	if err := cfg.findBlocks(p); err != nil {
		return err
	}
	e := &each{post: p, cfg: cfg, sets: sets, done: done}
	for name := range sets[0].Data {
		e.names = append(e.names, name)
	}
	slices.Sort(e.names)
	for e.lanes = leastLanes; e.lanes < mostLanes && 2*e.lanes*cfg.Parallel <= len(sets)*cfg.Chains; e.lanes *= 2 {
	}
	if err := e.compile(); err != nil {
		return err
	}
	release := context.AfterFunc(ctx, func() { e.stop.Store(true) })
	defer release()
	var wg sync.WaitGroup
	for range min(cfg.Parallel, (len(sets)*cfg.Chains+e.lanes-1)/e.lanes) {
		wg.Go(func() { newConvoy(e).run() })
	}
	wg.Wait()
	if e.next.Load() < int64(len(sets)*cfg.Chains) || e.unfinished.Load() {
		return ctx.Err()
	}
	return nil
}

// each is the work of one SampleEach.
type each struct {
	post       *Posterior
	cfg        Config
	sets       []DataSet
	names      []string // of the data that differ between sets
	prog       *ad.Program
	lanes      int // of a convoy
	stop       atomic.Bool
	unfinished atomic.Bool
	next       atomic.Int64 // chain to start, of all sets

	mu    sync.Mutex
	runs  map[int]*eachRun
	done  func(i int, fit *Fit, err error)
	begin time.Time
}

// eachRun gathers the chains of one set.
type eachRun struct {
	cfg    Config
	post   *Posterior
	chains []*chain
	left   int
	start  time.Time
}

// compile adds the axis of lanes to the density.
func (e *each) compile() error {
	p := e.post
	batched := slices.Clone(p.inputs[:len(p.model.params)])
	for _, name := range e.names {
		i := slices.IndexFunc(p.model.data, func(d *datum) bool { return d.name == name })
		if i < 0 {
			return fmt.Errorf("infer: no data %q in model %s", name, p.model.name)
		}
		batched = append(batched, p.model.data[i].node)
		for _, place := range p.following(p.model.data[i].node) {
			if !slices.Contains(batched, place) {
				batched = append(batched, place)
			}
		}
	}
	var err error
	e.prog, err = ad.Compile(p.graph, ad.Settings{Inputs: append(slices.Clone(p.inputs), p.places()...), Threads: 1, Batch: e.lanes, Batched: batched})
	e.runs, e.begin = map[int]*eachRun{}, time.Now()
	if err != nil {
		return fmt.Errorf("infer: model %s over many data sets: %w", p.model.name, err)
	}
	return nil
}

// take returns the next chain, or nil when there is none. Sets that cannot be
// sampled are reported and passed over.
func (e *each) take() (*chain, int) {
	for !e.stop.Load() {
		k := int(e.next.Add(1)) - 1
		set := k / e.cfg.Chains
		if set >= len(e.sets) {
			return nil, 0
		}
		r, err := e.open(set)
		if err != nil {
			if k%e.cfg.Chains == 0 {
				e.report(set, nil, err)
			}
			continue
		}
		return r.chains[k%e.cfg.Chains], set
	}
	return nil, 0
}

// open makes the chains of a set, once.
func (e *each) open(set int) (*eachRun, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.runs[set]; r != nil {
		return r, nil
	}
	post, err := e.posterior(set)
	if err != nil {
		return nil, err
	}
	r := &eachRun{cfg: e.cfg, post: post, left: e.cfg.Chains, start: time.Now()}
	r.cfg.Seed += uint64(set)
	r.cfg.Init = e.sets[set].Init
	if err := r.cfg.validate(post.dim); err != nil {
		return nil, err
	}
	for c := range e.cfg.Chains {
		r.chains = append(r.chains, newChain(&r.cfg, e.cfg.FirstChain+c, &laneTarget{Posterior: post.Clone().(*Posterior)}, &e.stop))
	}
	e.runs[set] = r
	return r, nil
}

// posterior returns the one with the data of a set.
func (e *each) posterior(set int) (*Posterior, error) {
	data := e.sets[set].Data
	if len(data) != len(e.names) {
		return nil, fmt.Errorf("infer: data set %d names %d arrays: want %v as the first", set, len(data), e.names)
	}
	post := e.post.Clone().(*Posterior)
	for _, name := range e.names {
		v, ok := data[name]
		if !ok {
			return nil, fmt.Errorf("infer: data set %d lacks %s", set, name)
		}
		if err := post.SetData(name, v); err != nil {
			return nil, fmt.Errorf("data set %d: %w", set, err)
		}
	}
	return post, nil
}

// finish notes that a chain of a set has ended; the last one reports the set.
func (e *each) finish(set int) {
	e.mu.Lock()
	r := e.runs[set]
	r.left--
	last := r.left == 0
	if last {
		delete(e.runs, set)
	}
	e.mu.Unlock()
	if !last {
		return
	}
	fit := &Fit{cfg: r.cfg, names: r.post.Names(), chains: r.chains, Elapsed: time.Since(r.start)}
	var errs []error
	for _, c := range r.chains {
		fit.n = append(fit.n, len(c.kept.rows))
		if c.err != nil {
			errs = append(errs, c.err)
		} else if c.done < c.total() {
			e.unfinished.Store(true)
			return
		}
		c.target = r.post
		c.outputs = nil
	}
	e.report(set, fit, errors.Join(errs...))
}

func (e *each) report(set int, fit *Fit, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done(set, fit, err)
}

// convoy runs chains in lock step on one core.
type convoy struct {
	each  *each
	state *ad.State
	in    []float64 // unconstrained parameters, element by element, each of all lanes
	out   []float64 // gradients likewise
	lp    []float64
	live  []func() bool // resumes a lane up to its next gradient; false at its end

	failed bool // the program failed in one lane, and there is no telling in which
}

func newConvoy(e *each) *convoy {
	c := &convoy{each: e, state: e.prog.NewState()}
	k := len(e.post.model.params)
	for i, v := range e.post.given() {
		if to := c.state.Input(k + i); len(to) == len(v) {
			copy(to, v)
		} else {
			for lane := range e.lanes {
				scatter(to, v, lane, e.lanes)
			}
		}
	}
	c.lp = c.state.Output(0)
	if k > 0 {
		c.in, c.out = c.state.InputSpan(0, k), c.state.OutputSpan(1, 1+k)
	}
	return c
}

// run advances all lanes until there is no work left.
func (c *convoy) run() {
	for lane := range c.each.lanes {
		next, _ := iter.Pull(c.lane(lane))
		if resume := func() bool { _, more := next(); return more }; resume() {
			c.live = append(c.live, resume)
		}
	}
	for len(c.live) > 0 {
		c.failed = c.state.Run() != nil
		c.live = slices.DeleteFunc(c.live, func(resume func() bool) bool { return !resume() })
	}
}

// lane is a coroutine that samples one chain after another and yields for each
// gradient.
func (c *convoy) lane(lane int) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		for {
			ch, set := c.each.take()
			if ch == nil {
				return
			}
			t := ch.target.(*laneTarget)
			t.convoy, t.lane, t.yield = c, lane, yield
			c.load(t.Posterior, lane)
			ch.run(func() {})
			c.each.finish(set)
		}
	}
}

// load puts the data of a posterior into a lane.
func (c *convoy) load(p *Posterior, lane int) {
	for i, v := range p.given() {
		if to := c.state.Input(len(p.model.params) + i); len(to) != len(v) {
			scatter(to, v, lane, c.each.lanes)
		}
	}
}

func scatter(to, v []float64, lane, lanes int) {
	for i, x := range v {
		to[i*lanes+lane] = x
	}
}

// laneTarget is a Posterior whose density a convoy computes.
type laneTarget struct {
	*Posterior
	convoy *convoy
	lane   int
	yield  func(struct{}) bool
}

// LogProbGrad leaves q in its lane and waits for the convoy.
func (t *laneTarget) LogProbGrad(q, g []float64) (float64, error) {
	c := t.convoy
	lanes := c.each.lanes
	scatter(c.in, q, t.lane, lanes)
	t.yield(struct{}{})
	if c.failed { // each lane by itself
		return t.Posterior.LogProbGrad(q, g)
	}
	for i := range g {
		g[i] = c.out[i*lanes+t.lane]
	}
	return c.lp[t.lane], nil
}

// Clone is not called: chains get targets of their own.
func (t *laneTarget) Clone() Target { return &laneTarget{Posterior: t.Posterior.Clone().(*Posterior)} }
