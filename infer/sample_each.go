package infer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/given"
)

// DataSet is one of many data sets for the same model.
type DataSet struct {
	Data map[string][]float64 // replaces what Data and Observe declared, by name; every set names the same
	Init [][]float64          // unconstrained start per chain; nil for random ones
}

// A program runs on vectors of as many numbers as chains advance together.
const leastLanes, mostLanes = 32, 128

// SampleEach draws from the posterior of every data set as Sample does, with
// chains of many sets in lock step: one run of the compiled program serves a
// gradient to each of them. Set i has the seed cfg.Seed + i. Its draws depend on
// its data and seed only, not on the other sets or the number of threads.
//
// done is called once per set, from one goroutine at a time and in no order,
// with the draws or with what is wrong with the set; the others go on.
// Checkpoint, Resume, StopWhen, Progress and Sink do not apply. It returns
// ctx.Err() when ctx ended it; sets not yet complete get no call.
func (p *Posterior) SampleEach(ctx context.Context, sets []DataSet, cfg Config, done func(i int, fit *Fit, err error)) error {
	if err := given.Args("infer.Posterior.SampleEach", "p", p, "ctx", ctx, "done", done); err != nil {
		return err
	}
	if cfg.Checkpoint.Path != "" || cfg.Resume != "" || cfg.StopWhen.active() || cfg.Progress != nil || cfg.Init != nil || cfg.Sink.Write != nil {
		return errors.New("infer: SampleEach takes no Checkpoint, Resume, StopWhen, Progress, Sink or Init: starts belong to the DataSets, draws go to done")
	}
	cfg, err := cfg.withDefaults(p.dim)
	if err != nil || len(sets) == 0 {
		return err
	}
	if err := cfg.findBlocks(p); err != nil {
		return err
	}
	e := &eachRunner{post: p, cfg: cfg, sets: sets, done: done, runs: map[int]*eachRun{}}
	for name := range sets[0].Data {
		e.names = append(e.names, name)
	}
	slices.Sort(e.names)
	work, err := e.worker()
	if err != nil {
		return err
	}
	if done == nil {
		return errors.New("infer: SampleEach has no function to give the fits to: pass done")
	}
	release := context.AfterFunc(ctx, func() { e.stop.Store(true) })
	defer release()
	var wg sync.WaitGroup
	for range min(cfg.Parallel, (len(sets)*cfg.Chains+e.lanes-1)/e.lanes) {
		wg.Go(work)
	}
	wg.Wait()
	if e.next.Load() < int64(len(sets)*cfg.Chains) || e.unfinished.Load() {
		return ctx.Err()
	}
	return nil
}

// eachRunner is the work of one SampleEach.
type eachRunner struct {
	post       *Posterior
	cfg        Config
	sets       []DataSet
	names      []string // of the data that differ between sets
	lanes      int      // of a lock-step runner
	stop       atomic.Bool
	unfinished atomic.Bool
	next       atomic.Int64 // chain to start, of all sets

	mu   sync.Mutex
	runs map[int]*eachRun
	done func(i int, fit *Fit, err error)
}

// eachRun gathers the chains of one set.
type eachRun struct {
	cfg    Config
	post   *Posterior
	chains []*chain
	left   int
	start  time.Time
}

// worker returns what each goroutine runs: a lock-step runner of as many lanes as there are
// chains for, or one chain after the other where trees do not grow in lock step.
func (e *eachRunner) worker() (func(), error) {
	if e.lanes = 1; e.cfg.Method != NUTS || e.post.dim == 0 {
		_, err := e.batched()
		return e.alone, err
	}
	for e.lanes = leastLanes; e.lanes < mostLanes && 2*e.lanes*e.cfg.Parallel <= len(e.sets)*e.cfg.Chains; e.lanes *= 2 {
	}
	batched, err := e.batched()
	if err != nil {
		return nil, err
	}
	columns, err := e.post.columnProgram()
	if err != nil {
		return nil, err
	}
	var march func() integrator
	if e.post.dim <= warmup.SmallDim {
		march, err = newLeapfrogProgram(e.post, batched, e.lanes)
	} else {
		march, err = newDensities(e.post, batched, e.lanes)
	}
	if err != nil {
		return nil, fmt.Errorf("infer: model %s over many data sets: %w", e.post.model.name, err)
	}
	return func() { newLockstep(e, march(), newColumnWriter(columns, e.post)).run() }, nil
}

// alone samples one chain after the other.
func (e *eachRunner) alone() {
	for ch, set := e.take(); ch != nil; ch, set = e.take() {
		ch.run(func() {})
		e.finish(set)
	}
}

// batched lists the inputs of the density that differ between sets.
func (e *eachRunner) batched() (batched []*ad.Node, err error) {
	p := e.post
	for _, name := range e.names {
		i := slices.IndexFunc(p.model.data, func(d *datum) bool { return d.name == name })
		if i < 0 {
			return nil, fmt.Errorf("infer: no data %q in model %s", name, p.model.name)
		}
		batched = append(batched, p.model.data[i].node)
		for _, place := range p.following(p.model.data[i].node) {
			if !slices.Contains(batched, place) {
				batched = append(batched, place)
			}
		}
	}
	return batched, nil
}

// take returns the next chain, or nil when there is none. Sets that cannot be
// sampled are reported and passed over.
func (e *eachRunner) take() (*chain, int) {
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
func (e *eachRunner) open(set int) (run *eachRun, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("infer: data set %d: %w", set, &PanicError{Value: v, Stack: string(debug.Stack())})
		}
	}()
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
		ch := newChain(&r.cfg, e.cfg.FirstChain+c, post.Clone(), &e.stop)
		if r.chains = append(r.chains, ch); c > 0 {
			ch.pool = r.chains[0].pool
		}
	}
	e.runs[set] = r
	return r, nil
}

// posterior returns the one with the data of a set.
func (e *eachRunner) posterior(set int) (*Posterior, error) {
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
func (e *eachRunner) finish(set int) {
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

func (e *eachRunner) report(set int, fit *Fit, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done(set, fit, err)
}
