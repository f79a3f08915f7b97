// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/lockstep"
	"github.com/euryale-dev/euryale/internal/given"
)

// fewestLanes and mostLanes bound the number of chains that advance together: the program
// runs on vectors of as many numbers.
const fewestLanes, mostLanes = 32, 128

// worker returns what each goroutine runs: chains in lock step, in as many lanes as there
// are chains for, or one chain after the other for methods other than NUTS.
func (e *setsRun) worker() (func(), error) {
	if e.lanes = 1; e.cfg.Method != NUTS || e.post.dim == 0 {
		_, err := e.batched()
		return e.alone, err
	}
	for e.lanes = fewestLanes; e.lanes < mostLanes && 2*e.lanes*e.cfg.Parallel <= len(e.sets)*e.cfg.Chains; e.lanes *= 2 {
	}
	batched, err := e.batched()
	if err != nil {
		return nil, err
	}
	p, k := e.post, len(e.post.model.params)
	var columns *ad.Program
	if p.latent == nil { // discrete parameters are drawn one draw after the other
		if columns, err = lockstep.CompileColumns(p.derived, p.inputs[:k], p.inputs[k:]); err != nil {
			return nil, err
		}
	}
	density := &lockstep.Density{Outputs: p.graph, Parameters: p.inputs[:k], Given: slices.Concat(p.inputs[k:], p.places()), Batched: batched, Values: p.givenValues(), Backend: p.model.backend}
	var progs []*lockstep.Program // of each GPU
	if e.rest != nil {
		rest := *density
		rest.Outputs, rest.Parameters = e.rest.graph()
		if prog, err := lockstep.Compile(&rest, e.lanes); err == nil {
			progs = append(progs, prog)
		} else { // an operation has no form for lanes
			e.rest = nil
		}
	}
	for _, b := range ad.Spread(p.model.backend) {
		if e.rest != nil {
			break
		}
		density.Backend = b
		prog, err := lockstep.Compile(density, e.lanes)
		if err != nil {
			return nil, fmt.Errorf("infer: model %s over many data sets: %w", p.model.name, err)
		}
		progs = append(progs, prog)
	}
	var started atomic.Int64
	return func() {
		prog := progs[int(started.Add(1)-1)%len(progs)]
		queue := &laneQueue{run: e}
		if columns != nil {
			queue.columns = lockstep.NewColumns(columns, k)
		}
		if !prog.NewRunner(queue).Run() {
			e.unfinished.Store(true)
		}
	}, nil
}

// alone samples one chain after the other.
func (e *setsRun) alone() {
	for c := e.take(); c != nil; c = e.take() {
		c.run(func() {})
		e.finish(c)
	}
}

// batched lists the inputs of the density that differ between sets.
func (e *setsRun) batched() (batched []*ad.Node, err error) {
	p := e.post
	for _, name := range e.names {
		i := slices.IndexFunc(p.model.data, func(d *datum) bool { return d.name == name })
		if i < 0 {
			return nil, fmt.Errorf("infer: there are no data %q in model %s: use a name declared with Data or Observe", name, p.model.name)
		}
		batched = append(batched, p.model.data[i].node)
		for _, place := range p.dependents(p.model.data[i].node) {
			if !slices.Contains(batched, place) {
				batched = append(batched, place)
			}
		}
	}
	return batched, nil
}

// laneQueue is the queue of one lock-step runner.
type laneQueue struct {
	run     *setsRun
	columns *lockstep.Columns // nil where each draw has its own run
}

var _ lockstep.Queue = (*laneQueue)(nil)

func (q *laneQueue) Stopped() bool { return q.run.stop.Load() }

func (q *laneQueue) Next() lockstep.Chain {
	c := q.run.take()
	if c == nil {
		return nil
	}
	return &laneChain{waitingChain: c, queue: q}
}

// laneChain is a chain in a lane of a lock-step runner.
type laneChain struct {
	*waitingChain
	queue *laneQueue
	// since is when the phase of the chain began.
	since time.Time
}

var _ lockstep.Chain = (*laneChain)(nil)

func (c *laneChain) Begin() error {
	c.since = time.Now()
	c.outputs = nil // the columns are computed at the end, many at once
	return c.begin()
}

func (c *laneChain) Tree() *hamiltonian.Tree   { return c.tree }
func (c *laneChain) Point() *hamiltonian.Point { return &c.p }
func (c *laneChain) Data() [][]float64         { return c.posterior().givenValues() }
func (c *laneChain) Step() float64             { return c.nextStep() }
func (c *laneChain) Fault(err error) error     { return c.fault(err) }

// posterior is that of the set, as declared.
func (c *laneChain) posterior() *Posterior { return declaredOf(c.target).(*Posterior) }

func (c *laneChain) Keep(out *hamiltonian.Transition) (complete bool, err error) {
	if err := c.keep(out); err != nil {
		return false, err
	}
	if c.round != nil {
		return c.done == c.cfg.Warmup, c.round.look()
	}
	complete = c.done == c.total()
	if c.done == c.cfg.warmup() || complete {
		now := time.Now()
		c.times[c.phaseOf(c.done-1)] = now.Sub(c.since)
		c.since = now
	}
	return complete, nil
}

// End computes the columns of the draws, but for those of rounds, and counts the chain as ended.
func (c *laneChain) End(err error) {
	c.err = err
	if c.started && c.round == nil {
		if err := c.complete(); c.err == nil {
			c.err = err
		}
	}
	c.queue.run.finish(c.waitingChain)
}

// complete computes the columns of all draws.
func (c *laneChain) complete() (err error) {
	defer given.CaughtAs(&err, c.fault)
	post := c.posterior()
	one := func(q, out []float64) error { return writeOrNaN(post, q, out) }
	for _, r := range []*record{&c.warm, &c.kept} {
		if c.queue.columns == nil {
			for _, q := range r.rows {
				row := r.row(post.Len())
				if err := one(q, row); err != nil {
					return c.fault(err)
				}
				r.outputs = append(r.outputs, row)
			}
			continue
		}
		if r.outputs, err = c.queue.columns.Of(r.rows, post.data, post.Len(), one); err != nil {
			return c.fault(err)
		}
	}
	return nil
}
