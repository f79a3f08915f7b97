// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/tensor"
)

// withoutMarginals returns the target of which normal parameters are integrated out, if that is wanted.
func (c *Settings) withoutMarginals(t Target) (Target, error) {
	var m *marginal
	var err error
	if s, err := readAny(c.Resume); c.Resume != "" && err == nil && !strings.Contains(s.settings, "\nIntegrated=") { // it keeps what it began with
		if c.Laplace {
			c.Laplace, c.kept = false, "Laplace's approximation did not serve when the run began"
		}
		return t, nil
	}
	switch {
	case c.Laplace && c.pools(t.Dim()) && !c.NoMarginals:
		if m, err = approximate(t); err != nil {
			return t, err
		}
	case c.Laplace:
		return t, fmt.Errorf("%w: it needs chains of NUTS that adapt together on a processor, with a warm-up of %d draws or more", ErrLaplace, shortestPool)
	case c.From != nil && len(c.From.chains) > 0 && marginalOf(c.From.chains[0].target) != nil:
		m = marginalOf(integrate(t, false))
	case !c.NoMarginals && c.Coordinates == ChosenCoordinates && c.pools(t.Dim()):
		m = marginalOf(integrate(t, false))
	}
	if m == nil {
		return t, nil
	}
	c.startIn(m)
	return m, nil
}

// startIn makes the starts those of the parameters that are left, and notes what is integrated out.
func (c *Settings) startIn(m *marginal) {
	starts := make([][]float64, len(c.Init))
	for i, q := range c.Init {
		if q != nil {
			starts[i] = m.project(q)
		}
	}
	if f := c.InitFunc; f != nil {
		c.InitFunc = func(chain int, random *tensor.Stream, q []float64) error {
			all := make([]float64, m.dim)
			err := f(chain, random, all)
			copy(q, m.project(all))
			return err
		}
	}
	c.Init, c.integrated = starts, []string{m.told()}
}

// follow returns the target in the coordinates of the fit that chains start from.
func (c *Settings) follow(t Target) (Target, error) {
	if c.From == nil || len(c.From.chains) == 0 {
		return t, nil
	}
	m := movedOf(c.From.chains[0].target)
	if m == nil {
		return t, nil
	}
	f, err := coordinatesOf(t)
	if f == nil {
		return t, err
	}
	same, err := f.in(m.of)
	if err != nil {
		return t, err
	}
	c.moves = f.told(m.of)
	return same.outward(), nil
}

// adapt makes the chains of the run, after the rounds of a warm-up that they share if there is one. It returns what ends the run before its chains begin.
func (r *run) adapt(ctx context.Context, t Target) error {
	var settled *pool
	if r.cfg.pools(t.Dim()) {
		if r.cfg.Checkpoint.Path != "" && r.saved == nil && ctx.Err() == nil { // a folder that cannot be written to shows now
			if err := r.write(); err != nil {
				return err
			}
		}
		begin := time.Now()
		var err error
		settled, err = r.rounds(ctx, t)
		if r.adapted = time.Since(begin); errors.Is(err, errApart) {
			return err
		}
		if settled == nil && r.cfg.Laplace && ctx.Err() == nil && r.stopped == "" {
			return unfitFor(err)
		}
	}
	if settled != nil {
		r.cfg.Warmup, r.cfg.rounds, r.cfg.settled, r.cfg.moves, r.cfg.soft = lastRound, settled.draws, true, settled.told(), settled.soft()
		t = settled.outward()
	} else if r.cfg.pools(t.Dim()) { // what is wrong shows when chains start
		r.cfg.Independent = true
	}
	r.addChains(t)
	var err error
	if settled != nil {
		err = settled.handOver(r.chains)
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	return r.resume()
}

// rounds makes the rounds of a warm-up that the chains share, and returns nil where it cannot be finished, and why.
func (r *run) rounds(ctx context.Context, t Target) (*pool, error) {
	p, err := newPool(t, r.cfg, &r.stop)
	if err != nil {
		return nil, err
	}
	if r.saved != nil && len(r.saved.pool) > 0 {
		r.pool = r.saved.pool
		if p.load(r.pool) != nil || !p.settled && len(p.members) != r.cfg.Chains { // begin again
			if p, err = newPool(t, r.cfg, &r.stop); err != nil {
				return nil, err
			}
		}
	}
	if limit := r.cfg.StopWhen.MaxTime; limit > 0 {
		var release func()
		ctx, release = context.WithTimeoutCause(ctx, limit, errTimeUp)
		defer release()
	}
	defer r.tell(p)()
	done, err := p.run(ctx, func() {
		if r.pool = p.save(); r.cfg.Checkpoint.Path != "" {
			r.write() // a failure is told, and the next write tries again
		}
	})
	if errors.Is(context.Cause(ctx), errTimeUp) {
		r.stopped = errTimeUp.Error()
	}
	if !done || err != nil || !p.known {
		return nil, err
	}
	return p, nil
}

var errTimeUp = errors.New("the time was up")

// tell reports the progress of rounds until the function that it returns is called.
func (r *run) tell(p *pool) (end func()) {
	if r.cfg.Progress == nil {
		return func() {}
	}
	begin, over, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(r.cfg.ProgressEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				now := Progress{Elapsed: time.Since(begin)}
				for i := range p.members {
					draw := int(p.progress[i].Load())
					now.Chains = append(now.Chains, ChainProgress{Chain: r.cfg.FirstChain + i, Draw: draw, Total: draw + lastRound + r.cfg.Draws, Warmup: true, Running: true})
				}
				r.cfg.Progress(now)
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// outward returns the target in the coordinates of the pool, with the outputs that it has.
func (p *pool) outward() Target {
	if m := movedOf(p.at); m != nil && !p.h.declared() {
		return m.outward()
	}
	return p.target
}

// told says in words in which coordinates the pool moves.
func (p *pool) told() []string {
	if p.f == nil {
		return nil
	}
	return p.f.told(p.h)
}

// save writes what later rounds depend on.
func (p *pool) save() []byte {
	var w checkpoint.Encoder
	w.Int(len(p.members))
	w.Int(p.round)
	w.Int(p.draws)
	w.Int(int(p.elapsed))
	for _, b := range []bool{p.known, p.chosen, p.settled, p.looked, p.before != nil} {
		w.Bool(b)
	}
	for _, i := range p.h.of {
		w.Bool(i.weight != nil)
		w.Floats(i.weight)
		w.Floats(i.pull)
	}
	w.Floats(p.h.k)
	for _, t := range p.h.tail {
		w.Float(t.center)
		w.Float(t.width)
	}
	p.metric.Save(&w)
	p.pattern.Save(&w)
	for _, m := range p.members {
		w.Floats(m.q)
		w.Float(m.step)
		for _, n := range []int{m.grads, m.rough, m.counted, m.diverged} {
			w.Int(n)
		}
	}
	if p.settled { // draws of rounds serve no later one
		return w.Encoded()
	}
	for _, chain := range p.before {
		w.Int(len(chain))
		for _, d := range chain {
			w.Floats(d.z)
			w.Floats(d.g)
		}
	}
	return w.Encoded()
}

// load restores what save wrote.
func (p *pool) load(b []byte) error {
	r, dim := checkpoint.Decode(b), p.target.Dim()
	n := r.Count(8)
	p.round, p.draws, p.elapsed = r.Int(), r.Int(), time.Duration(r.Int())
	var before bool
	for _, b := range []*bool{&p.known, &p.chosen, &p.settled, &p.looked, &before} {
		*b = r.Bool()
	}
	for i := range p.h.of {
		has, weight, pull := r.Bool(), r.Floats(), r.Floats()
		if size := p.f.located[i].informed(p.f.Inputs[p.f.located[i].Input].Size()); has && len(weight) == size && len(pull) == size {
			p.h.of[i] = information{weight, pull}
		} else if has {
			r.Fail("holds information of %d numbers, not %d", len(weight), size)
		}
	}
	r.FloatsInto(p.h.k)
	for i := range p.h.tail {
		p.h.tail[i] = stretch{r.Float(), r.Float()}
	}
	p.metric.Load(r, dim)
	p.pattern = warmup.LoadPattern(r, dim)
	p.members = make([]member, n)
	for i := range p.members {
		m := &p.members[i]
		m.q, m.step = r.Floats(), r.Float()
		for _, n := range []*int{&m.grads, &m.rough, &m.counted, &m.diverged} {
			*n = r.Int()
		}
		if len(m.q) != dim {
			r.Fail("holds a chain of %d parameters, not %d", len(m.q), dim)
		}
	}
	for before && !p.settled && r.Err() == nil && len(p.before) < n {
		chain := make([]drawn, r.Count(16*dim+16))
		for k := range chain {
			chain[k] = drawn{r.Floats(), r.Floats()}
		}
		p.before = append(p.before, chain)
	}
	r.End()
	if p.f == nil || r.Err() != nil {
		return r.Err()
	}
	return p.moveTo(p.h)
}
