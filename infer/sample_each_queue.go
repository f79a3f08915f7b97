// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/euryale-dev/euryale/internal/given"
)

// setsRun is the work of one SampleEach. Chains wait in a queue, in the order of the data sets, from which goroutines take them.
type setsRun struct {
	post *Posterior
	// rest is the posterior with what is integrated out, nil where nothing is.
	rest *marginal
	cfg  Settings
	sets []DataSet
	// names are the names of the data that differ between sets.
	names []string
	// lanes is the number of chains that advance together.
	lanes int
	// stop ends all chains, and unfinished is set where one has not made all its draws.
	stop, unfinished atomic.Bool

	mu sync.Mutex
	// next is the number of the next set, open the number of sets that have begun and have not ended, and waiting the chains of these that can go on.
	next, open int
	waiting    []waitingChain
	done       func(i int, fit *Fit, err error)
}

// waitingChain is a chain of a set that waits for a lane, in a round of the warm-up or in the run itself.
type waitingChain struct {
	*chain
	round *roundChain // nil in the run itself
	set   *setRun
}

// setRun holds the chains of one data set.
type setRun struct {
	number int
	cfg    Settings
	post   *Posterior
	target Target // of the chains
	// pool is the warm-up that the chains share, nil where each adapts by itself, and rounds are its chains in the present round.
	pool   *pool
	rounds []*roundChain
	chains []*chain
	// left is the number of chains of the round, or of the run, that have not ended; failed is set where one cannot go on in a round.
	left   int
	failed bool
	start  time.Time
}

// take returns the next chain, or nil where there is none. Sets that cannot be sampled are reported and passed over.
func (e *setsRun) take() *waitingChain {
	for !e.stop.Load() {
		e.mu.Lock()
		if len(e.waiting) > 0 {
			c := e.waiting[0]
			e.waiting = e.waiting[1:]
			e.mu.Unlock()
			return &c
		}
		set := e.next
		if set == len(e.sets) {
			e.mu.Unlock()
			return nil
		}
		e.next, e.open = e.next+1, e.open+1
		e.mu.Unlock()
		if err := e.begin(set); err != nil {
			e.end(set, nil, err)
		}
	}
	return nil
}

// begin makes the chains of a set.
func (e *setsRun) begin(set int) (err error) {
	defer given.CaughtAs(&err, func(err error) error { return fmt.Errorf("infer: data set %d: %w", set, err) })
	post, err := e.posterior(set)
	if err != nil {
		return err
	}
	r := &setRun{number: set, cfg: e.cfg, post: post, target: post, start: time.Now()}
	r.cfg.Seed += uint64(set)
	r.cfg.Init = e.sets[set].Init
	if err := r.cfg.validate(post.dim); err != nil {
		return err
	}
	if e.rest != nil {
		rest := e.rest.over(post)
		r.target = rest
		r.cfg.startIn(rest)
	}
	if e.lanes > 1 && r.cfg.pools(r.target.Dim()) {
		c := r.cfg
		c.Coordinates, c.PlainSteps = DeclaredCoordinates, true
		if r.pool, err = newPool(r.target, c, &e.stop); err != nil {
			return err
		}
	}
	return e.goOn(r)
}

// goOn puts the chains of the next round of a set, or of its run, into the queue.
func (e *setsRun) goOn(r *setRun) error {
	var list []waitingChain
	if r.pool != nil && !r.pool.settled {
		r.rounds = nil
		cfg := r.pool.settingsOf(r.pool.length())
		for i := range r.pool.members {
			c, err := r.pool.chainOf(i, &cfg)
			if err != nil {
				return err
			}
			r.rounds = append(r.rounds, c)
			list = append(list, waitingChain{c.chain, c, r})
		}
	} else {
		if r.pool != nil {
			r.cfg.Warmup, r.cfg.rounds, r.cfg.settled = lastRound, r.pool.draws, true
		}
		for i := range r.cfg.Chains {
			c := newChain(&r.cfg, r.cfg.FirstChain+i, r.target.Clone(), &e.stop)
			if r.chains = append(r.chains, c); i > 0 {
				c.pool = r.chains[0].pool
			}
			list = append(list, waitingChain{c, nil, r})
		}
		if r.pool != nil {
			r.pool.elapsed = time.Since(r.start)
			if err := r.pool.handOver(r.chains); err != nil {
				return err
			}
		}
	}
	e.mu.Lock()
	r.left = len(list)
	e.waiting = append(e.waiting, list...)
	e.mu.Unlock()
	return nil
}

// meet ends a round of a set.
func (e *setsRun) meet(r *setRun) (err error) {
	defer given.CaughtAs(&err, func(err error) error { return fmt.Errorf("infer: data set %d: %w", r.number, err) })
	for _, c := range r.rounds {
		r.failed = r.failed || len(c.now) == 0
	}
	if !r.failed {
		_, now := r.pool.take(r.rounds)
		r.failed = r.pool.meet(nil, now, r.rounds[0].cfg.Warmup) != nil || r.pool.settled && !r.pool.known
	}
	if r.failed { // what is wrong shows when chains start
		r.cfg.Independent, r.pool = true, nil
	}
	r.rounds = nil
	return e.goOn(r)
}

// posterior returns the posterior of the data of a set.
func (e *setsRun) posterior(set int) (*Posterior, error) {
	data := e.sets[set].Data
	if len(data) != len(e.names) {
		return nil, fmt.Errorf("infer: data set %d names %d arrays: want %v, as in the first set", set, len(data), e.names)
	}
	post := e.post.Clone().(*Posterior)
	for _, name := range e.names {
		v, ok := data[name]
		if !ok {
			return nil, fmt.Errorf("infer: data set %d lacks %s: give every set the same arrays", set, name)
		}
		if err := post.SetData(name, v); err != nil {
			return nil, fmt.Errorf("data set %d: %w", set, err)
		}
	}
	return post, nil
}

// finish notes that a chain has ended. The last one of a round makes the chains meet, and that of a run reports the set.
func (e *setsRun) finish(c *waitingChain) {
	r := c.set
	e.mu.Lock()
	r.left--
	last := r.left == 0
	if c.round != nil && c.err != nil {
		r.failed = true
	}
	e.mu.Unlock()
	switch {
	case !last:
		return
	case c.round != nil:
		if e.stop.Load() {
			e.unfinished.Store(true)
		} else if err := e.meet(r); err != nil {
			e.end(r.number, nil, err)
		}
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
		c.target = r.target
		c.outputs = nil
	}
	e.end(r.number, fit, errors.Join(errs...))
}

// end gives a fit, or what is wrong with the set, to the caller.
func (e *setsRun) end(set int, fit *Fit, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open--
	e.done(set, fit, err)
}
