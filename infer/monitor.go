// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/given"
)

// monitor watches the chains until they are finished: it reports progress,
// writes checkpoints and applies the stopping rule. It returns errors of
// writing.
func (r *run) monitor(ctx context.Context, begin time.Time, finished <-chan struct{}) (errs []error) {
	tick := time.NewTicker(min(r.cfg.ProgressEvery, 100*time.Millisecond))
	defer tick.Stop()
	reported, saved := begin, begin
	var failed error // of Progress
	for running := true; running; {
		select {
		case <-finished:
			running = false
		case now := <-tick.C:
			if now.Sub(reported) >= r.cfg.ProgressEvery {
				reported = now
				failed = errors.Join(failed, r.report(begin, false))
			}
			if e := r.save(now, &saved); e != nil {
				errs = []error{e}
			}
			r.applyRule(r.adapted + now.Sub(begin))
		}
	}
	if r.cfg.Checkpoint.Path != "" {
		if e := r.writeLast(ctx); e != nil {
			return []error{e}
		}
		errs = nil // an earlier failure is mended
	}
	if failed = errors.Join(failed, r.report(begin, true)); failed != nil {
		errs = append(errs, failed)
	}
	return errs
}

// report calls Progress, whose panic ends the run.
func (r *run) report(begin time.Time, done bool) (err error) {
	if r.cfg.Progress == nil {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("infer: Settings.Progress: %w", err)
			r.cfg.Progress = nil
			r.stop.Store(true)
		}
	}()
	defer given.Caught(&err)
	p := Progress{Elapsed: time.Since(begin), Done: done}
	for _, c := range r.chains {
		p.Chains = append(p.Chains, c.progress())
	}
	r.cfg.Progress(p)
	return nil
}

// save asks the chains for their state when it is time, and writes the file
// once all that run have answered.
func (r *run) save(now time.Time, last *time.Time) error {
	if r.cfg.Checkpoint.Path == "" {
		return nil
	}
	due := now.Sub(*last) >= r.cfg.Checkpoint.Every
	want := r.want.Load()
	switch {
	case want > 0 && (due || r.answered(want)):
		r.want.Store(-want)
		*last = now
		return r.write()
	case want <= 0 && due:
		r.want.Store(1 - want)
	}
	return nil
}

func (r *run) answered(want int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range r.chains {
		if c.view.running.Load() && r.epochs[i] < want {
			return false
		}
	}
	return true
}

// longestPause is the time between attempts to write, but for little patience.
const longestPause = 5 * time.Second

// writeLast writes the checkpoint that holds all draws, if need be again and again.
func (r *run) writeLast(ctx context.Context) error {
	deadline := time.Now().Add(r.cfg.Checkpoint.Patience)
	for {
		err := r.write()
		wait := min(longestPause, r.cfg.Checkpoint.Patience/12, time.Until(deadline))
		if err == nil || wait <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

func (r *run) write() error {
	s := snapshot{settings: r.settings, machine: thisMachine(), pool: r.pool}
	r.mu.Lock()
	for i, c := range r.chains {
		s.ids = append(s.ids, c.id)
		s.states = append(s.states, r.states[i])
	}
	r.mu.Unlock()
	err := atomicfile.Write(r.cfg.Checkpoint.Path, true, s.write)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	if f := r.cfg.Checkpoint.Failing; f != nil && err != nil {
		f(err)
	}
	return err
}

// applyRule stops the chains when the rule is met.
func (r *run) applyRule(elapsed time.Duration) {
	rule := &r.cfg.StopWhen
	if rule.MaxTime > 0 && elapsed >= rule.MaxTime && !r.stop.Load() {
		r.stopped = "the time was up"
		r.stop.Store(true)
	}
	if !rule.active() || r.cut > 0 {
		return
	}
	common := -1
	for _, c := range r.chains {
		n := 0
		if rows := c.view.rows.Load(); rows != nil {
			n = len(*rows)
		}
		if common < 0 || n < common {
			common = n
		}
	}
	r.cutAt(common)
}

// cutAt judges the multiples of Every up to common that were not judged before
// and cuts the run at the first that meets the rule.
func (r *run) cutAt(common int) {
	rule := &r.cfg.StopWhen
	if !rule.active() || r.cut > 0 {
		return
	}
	r.judged = max(r.judged, rule.After/rule.Every*rule.Every)
	for ; r.judged+rule.Every <= common; r.judged += rule.Every {
		k := r.judged + rule.Every
		var rows [][][]float64
		for _, c := range r.chains {
			rows = append(rows, *c.view.rows.Load())
		}
		if rule.met(rows, k) {
			r.cut, r.stopped = k, "the stopping rule was met"
			r.stop.Store(true)
			return
		}
	}
}

// finishedRows returns the rows of the chain with the fewest.
func (r *run) finishedRows() [][]float64 {
	fewest := r.chains[0].kept.rows
	for _, c := range r.chains {
		if len(c.kept.rows) < len(fewest) {
			fewest = c.kept.rows
		}
	}
	return fewest
}
