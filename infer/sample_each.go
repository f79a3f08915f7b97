// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"slices"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
)

// DataSet is one of many data sets for the same model.
type DataSet struct {
	// Data replaces, by name, what Data and Observe declared. Every set has the same names.
	Data map[string][]float64
	// Init holds an unconstrained start per chain. nil: random starts.
	Init [][]float64
}

// SampleEach draws from the posterior of every data set as Sample does, with
// chains of many sets in lock step: one run of the compiled program serves a
// gradient to each of them, on GPUs of the model's backend too, where data stay. Set i has the seed cfg.Seed + i. Its draws depend on
// its data and seed only, not on the other sets or the number of threads.
//
// done is called once per set, from one goroutine at a time and in no order,
// with the draws or with what is wrong with the set; the others go on.
// Parameters that are normal given the others are integrated out as in Sample, from the structure of the model, and the chains of a set adapt together as there, in the
// parameters that are left as they are declared.
// Checkpoint, Resume, StopWhen, Progress and Sink do not apply. It returns
// ctx.Err() when ctx ended it; sets not yet complete get no call.
func (p *Posterior) SampleEach(ctx context.Context, sets []DataSet, cfg Settings, done func(i int, fit *Fit, err error)) error {
	if err := given.Args("infer.Posterior.SampleEach", "p", p, "ctx", ctx, "done", done); err != nil {
		return err
	}
	if cfg.Checkpoint.Path != "" || cfg.Resume != "" || cfg.StopWhen.active() || cfg.Progress != nil || cfg.Init != nil || cfg.Sink.Write != nil {
		return errors.New("infer: SampleEach does not support Checkpoint, Resume, StopWhen, Progress, Sink and Init: put starts into the DataSets, and take the draws from done")
	}
	if cfg.Laplace {
		return errors.New("infer: SampleEach does not support Laplace: sample the sets one by one, or leave it out")
	}
	cfg, err := cfg.withDefaults(p.dim)
	if err != nil || len(sets) == 0 {
		return err
	}
	if err := cfg.findBlocks(p); err != nil {
		return err
	}
	e := &setsRun{post: p, cfg: cfg, sets: sets, done: done}
	if cfg.pools(p.dim) && cfg.Coordinates == ChosenCoordinates && !cfg.NoMarginals && p.onProcessor() {
		e.rest = marginalOf(integrate(p, true))
	}
	for name := range sets[0].Data {
		e.names = append(e.names, name)
	}
	slices.Sort(e.names)
	work, err := e.worker()
	if err != nil {
		return err
	}
	if done == nil {
		return errors.New("infer: SampleEach was given no function to receive the fits: pass done")
	}
	release := context.AfterFunc(ctx, func() { e.stop.Store(true) })
	defer release()
	var wg sync.WaitGroup
	for range min(max(cfg.Parallel, len(ad.Spread(p.model.backend))), (len(sets)*cfg.Chains+e.lanes-1)/e.lanes) {
		wg.Go(work)
	}
	wg.Wait()
	if e.open > 0 || e.next < len(sets) || e.unfinished.Load() {
		return ctx.Err()
	}
	return nil
}
