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

// setsRun is the work of one SampleEach. Its chains wait in a queue, in the order of the
// data sets, from which goroutines take them.
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
	// next is the number of the next chain, counted over all sets.
	next atomic.Int64

	mu   sync.Mutex
	open map[int]*setRun
	done func(i int, fit *Fit, err error)
}

// setRun holds the chains of one data set.
type setRun struct {
	cfg    Settings
	post   *Posterior
	target Target // of the chains
	chains []*chain
	// left is the number of chains that have not ended.
	left  int
	start time.Time
}

// take returns the next chain and the number of its set, or nil when there is none. Sets
// that cannot be sampled are reported and passed over.
func (e *setsRun) take() (*chain, int) {
	for !e.stop.Load() {
		k := int(e.next.Add(1)) - 1
		set := k / e.cfg.Chains
		if set >= len(e.sets) {
			return nil, 0
		}
		r, err := e.begin(set)
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

// begin makes the chains of a set, once.
func (e *setsRun) begin(set int) (run *setRun, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer given.CaughtAs(&err, func(err error) error { return fmt.Errorf("infer: data set %d: %w", set, err) })
	if r := e.open[set]; r != nil {
		return r, nil
	}
	post, err := e.posterior(set)
	if err != nil {
		return nil, err
	}
	r := &setRun{cfg: e.cfg, post: post, left: e.cfg.Chains, start: time.Now()}
	r.cfg.Seed += uint64(set)
	r.cfg.Init = e.sets[set].Init
	if err := r.cfg.validate(post.dim); err != nil {
		return nil, err
	}
	if r.target = post; e.rest != nil {
		rest := e.rest.over(post)
		r.target = rest
		r.cfg.startIn(rest)
	}
	for c := range e.cfg.Chains {
		ch := newChain(&r.cfg, e.cfg.FirstChain+c, r.target.Clone(), &e.stop)
		if r.chains = append(r.chains, ch); c > 0 {
			ch.pool = r.chains[0].pool
		}
	}
	e.open[set] = r
	return r, nil
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

// finish notes that a chain of a set has ended. The last one reports the set.
func (e *setsRun) finish(set int) {
	e.mu.Lock()
	r := e.open[set]
	r.left--
	last := r.left == 0
	if last {
		delete(e.open, set)
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
		c.target = r.target
		c.outputs = nil
	}
	e.report(set, fit, errors.Join(errs...))
}

// report gives a fit, or what is wrong with the set, to the caller.
func (e *setsRun) report(set int, fit *Fit, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done(set, fit, err)
}
