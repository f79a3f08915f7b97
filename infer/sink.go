// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Sink takes draws as they are made, for files that grow during a run and for
// runs whose draws do not fit memory. Its functions are called from one goroutine
// at a time; draws of a chain come in order, chains mix. After a resume the draws
// since the last checkpoint come again, under the same numbers.
//
//	var total float64
//	cfg.Sink = infer.Sink{Names: []string{"tau"}, Write: func(d infer.SinkDraw) error {
//		total += d.Values[0]
//		return nil
//	}}
type Sink struct {
	// Names are the columns to give. Default: all.
	Names []string
	// Every is the stride: one draw in Every of a chain is given. Default 1.
	Every int
	// Only keeps no draws in memory, so that the Fit has none.
	Only bool
	// Open is called first. It may be nil. Where parameters turn out not to be normal that were integrated out, Close and Open
	// are called again and all draws come anew; without Open such a run ends with an error.
	Open func(names []string, chains int) error
	// Write takes a draw. An error stops the run, whose draws so far stay in the Fit.
	Write func(d SinkDraw) error
	// Close is called last, also after an error. It may be nil.
	Close func() error
}

// SinkDraw is one draw. Write must not keep its slices.
type SinkDraw struct {
	Chain int
	// Draw counts from 0 within its phase.
	Draw int
	// Warmup is true in the warm-up, of which draws are given if Settings.KeepWarmup is set.
	Warmup        bool
	Values        []float64
	Unconstrained []float64
	Stat          DrawStat
}

// sinkWriter is a Sink at work.
type sinkWriter struct {
	Sink
	// from are the numbers of the columns.
	from   []int
	values []float64
	failed error
}

// open starts the sink of a run, if it has one.
func (r *run) open() error {
	s := r.cfg.Sink
	if s.Write == nil {
		return nil
	}
	f := &sinkWriter{Sink: s}
	if f.Names == nil {
		f.Names = r.names
	}
	for _, name := range f.Names {
		i := slices.Index(r.names, name)
		if i < 0 {
			hint := ""
			if near := spelling.Meant(name, r.names); near != "" {
				hint = " did you mean " + near + "?"
			}
			return fmt.Errorf("infer: Settings.Sink asks for %q, which is not a column:%s the columns are %v", name, hint, r.names)
		}
		f.from = append(f.from, i)
	}
	f.values = make([]float64, len(f.from))
	if f.Open != nil {
		if err := guarded(func() error { return f.Open(f.Names, len(r.chains)) }); err != nil {
			return fmt.Errorf("infer: sink: %w", err)
		}
	}
	for _, c := range r.chains {
		c.toSink = r.give
	}
	r.sink = f
	return nil
}

// give hands a draw over; the first failure stops all chains.
func (r *run) give(d SinkDraw) error {
	f := r.sink
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.failed != nil || d.Draw%f.Every != 0 {
		return nil
	}
	for i, k := range f.from {
		f.values[i] = d.Values[k]
	}
	d.Values = f.values
	if err := f.Write(d); err != nil {
		f.failed = fmt.Errorf("infer: sink, draw %d of chain %d: %w", d.Draw+1, d.Chain+1, err)
		r.stop.Store(true)
	}
	return nil
}

// close ends the sink and returns what went wrong with it.
func (r *run) close() (errs []error) {
	if r.sink == nil {
		return nil
	}
	if r.sink.failed != nil {
		errs = append(errs, r.sink.failed)
	}
	if r.sink.Close != nil {
		if err := guarded(r.sink.Close); err != nil {
			errs = append(errs, fmt.Errorf("infer: sink: %w", err))
		}
	}
	return errs
}

// guarded makes a panic of a user's function an error.
func guarded(f func() error) (err error) {
	defer given.Caught(&err)
	return f()
}
