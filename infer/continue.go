// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/internal/checkpoint"
)

// Continue makes more draws per chain with the adaptation and the random streams
// that the run ended with, and returns a Fit of all: the same, bit for bit, as one
// run of that length. After a run that was stopped, the draws count from those of the longest chain;
// shorter ones catch up. f itself stays as it is.
func (f *Fit) Continue(ctx context.Context, draws int) (*Fit, error) {
	return f.ContinueWith(ctx, draws, f.cfg.Progress)
}

// ContinueWith is Continue with another function that is told the progress; nil for none.
func (f *Fit) ContinueWith(ctx context.Context, draws int, progress func(Progress)) (*Fit, error) {
	if draws < 1 || len(f.chains) == 0 {
		return nil, fmt.Errorf("infer: continue: the number of draws is %d: want at least 1, and a fit with chains", draws)
	}
	cfg := f.cfg
	cfg.Draws, cfg.Progress = draws, progress
	for c := range f.chains {
		cfg.Draws = max(cfg.Draws, f.n[c]+draws)
	}
	cfg.Checkpoint, cfg.Resume, cfg.StopWhen = Checkpoint{}, "", StopRule{Every: cfg.StopWhen.Every}
	if cfg.Sink.Only {
		return nil, errors.New("infer: continue: the draws so far went only to Settings.Sink: sample again with From and another seed")
	}
	r, err := newRun(f.chains[0].target, cfg)
	if err != nil {
		return nil, err
	}
	r.addChains(f.chains[0].target)
	for i, c := range f.chains {
		if err := r.chains[i].load(c.save()); err != nil {
			return nil, fmt.Errorf("infer: continue: chain %d: %w", c.id, err)
		}
	}
	errs := r.sample(ctx)
	return newFit(r), errors.Join(errs...)
}

// dim returns the number of unconstrained parameters.
func (f *Fit) dim() int {
	if f == nil || len(f.chains) == 0 {
		return 0
	}
	return declaredOf(f.chains[0].target).Dim()
}

// adaptation tells metrics, steps and places of chains apart.
func (f *Fit) adaptation() string {
	if f == nil {
		return ""
	}
	h := sha256.New()
	for _, c := range f.chains {
		var w checkpoint.Encoder
		c.ad.Save(&w)
		w.Floats(c.p.Q)
		h.Write(w.Encoded())
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}
