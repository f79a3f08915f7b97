// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/given"
)

// Gather returns the fit of chains that were sampled apart, in several programs or on several machines:
// files are checkpoints of Sample, and hold the chains from cfg.FirstChain on between them, each run with
// its own FirstChain and otherwise with the same settings, Independent among them. The fit has the same bits as that of one run
// of all chains. With Settings.StopWhen it is cut where the rule is first met, and Stopped says so; chains
// may have different numbers of draws until then.
//
//	cfg := infer.Settings{Chains: 1, Seed: 1, Draws: 500, Independent: true}
//	for k := range 4 { // anywhere
//		cfg.FirstChain, cfg.Checkpoint.Path = k, fmt.Sprintf("chain-%d", k)
//		_, err := infer.Sample(ctx, post, cfg)
//	}
//	fit, err := infer.Gather(post, infer.Settings{Chains: 4, Seed: 1, Draws: 500}, files)
func Gather(t Target, cfg Settings, files []string) (*Fit, error) {
	if err := given.Args("infer.Gather", "t", t); err != nil {
		return nil, err
	}
	cfg.Independent = true
	cfg, err := cfg.withDefaults(t.Dim())
	if err != nil {
		return nil, err
	}
	cfg.Checkpoint, cfg.Resume = Checkpoint{}, ""
	r, err := newRun(t, cfg)
	if err != nil {
		return nil, err
	}
	r.addChains(t)
	found := map[int]string{}
	for _, file := range files {
		if err := r.gather(t, file, found); err != nil {
			return nil, err
		}
	}
	var lacking []error
	for _, c := range r.chains {
		if found[c.id] == "" {
			lacking = append(lacking, fmt.Errorf("infer: gather: chain %d is in none of the %d files: add the file that holds it", c.id, len(files)))
		}
		c.publish()
		r.elapsed = max(r.elapsed, c.times[0]+c.times[1])
	}
	if err := errors.Join(lacking...); err != nil {
		return nil, err
	}
	r.cutAt(len(r.finishedRows()))
	return newFit(r), nil
}

// gather loads the chains of a file.
func (r *run) gather(t Target, file string, found map[int]string) error {
	s, err := readAny(file)
	if err != nil {
		return err
	}
	for k, id := range s.ids {
		i := id - r.cfg.FirstChain
		if i < 0 || i >= len(r.chains) {
			return fmt.Errorf("%w %s has chain %d: want chains %d to %d", ErrCheckpoint, file, id, r.cfg.FirstChain, r.cfg.FirstChain+len(r.chains)-1)
		}
		if other := found[id]; other != "" {
			return fmt.Errorf("%w: chain %d is both in %s and in %s: pass each chain once", ErrCheckpoint, id, other, file)
		}
		alone := r.cfg
		alone.FirstChain = s.ids[0]
		want, err := alone.fingerprint(t, r.names)
		if err != nil {
			return err
		}
		if s.settings != want {
			return fmt.Errorf("%w %s belongs to another run: %s: gather chains of one run", ErrCheckpoint, file, differences(s.settings, want))
		}
		if err := r.chains[i].load(s.states[k]); err != nil {
			return fmt.Errorf("%w %s: chain %d: %w", ErrCheckpoint, file, id, err)
		}
		if err := r.chains[i].verify(); err != nil {
			return fmt.Errorf("%w %s: %w", ErrCheckpoint, file, err)
		}
		found[id] = file
	}
	return nil
}

// Advance continues the chain with the number cfg.FirstChain until its checkpoint file holds the given
// number of draws, and returns the number that the file then holds. It creates the file if there is none.
// A program that is ended meanwhile loses only what it did since the last write, and the draws have the
// same bits however often they were interrupted. Advance is for chains that are sampled in separate
// programs; see Gather.
func Advance(ctx context.Context, t Target, cfg Settings, file string, draws int) (have int, err error) {
	cfg.Chains, cfg.Draws, cfg.Parallel, cfg.StopWhen, cfg.Independent = 1, draws, 1, StopRule{}, true
	if have, err = Advanced(file); err != nil || have >= draws {
		return have, err
	}
	if cfg.Checkpoint.Path = file; have >= 0 {
		cfg.Resume = file
	}
	fit, err := Sample(ctx, t, cfg)
	if fit == nil {
		return max(have, 0), err
	}
	return fit.Len(0), err
}

// Advanced returns the number of draws that a file of Advance has, -1 if there is no such file. Draws of
// the warm-up do not count.
func Advanced(file string) (int, error) {
	s, err := readAny(file)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	if len(s.ids) != 1 {
		return 0, fmt.Errorf("%w %s has %d chains: want one, as Advance writes them", ErrCheckpoint, file, len(s.ids))
	}
	return s.longest(file)
}

// CheckpointDraws returns the number of draws that the longest chain in a checkpoint has, without those of the warm-up. A run is
// resumed for at least as many. The error is an ErrCheckpoint, also for SMC, which has no chains that grow.
func CheckpointDraws(file string) (int, error) {
	s, err := readAny(file)
	if err != nil {
		return 0, err
	}
	return s.longest(file)
}

// longest returns the number of draws of the longest chain in the checkpoint of that name.
func (s *snapshot) longest(file string) (n int, err error) {
	warmup := 0
	for line := range strings.SplitSeq(s.settings, "\n") {
		switch name, value, _ := strings.Cut(line, "="); {
		case name == "Method" && value == strconv.Itoa(int(SMC)):
			return 0, fmt.Errorf("%w %s is of SMC, whose draws are made together: sample again for more", ErrCheckpoint, file)
		case name == "Warmup" && value != untilSettled:
			warmup, err = strconv.Atoi(value)
		case name == "Rounds": // chains count from the last one
			warmup = lastRound
		}
	}
	for _, state := range s.states {
		if len(state) > 0 {
			d := checkpoint.Decode(state)
			n = max(n, d.Int()-warmup)
			err = errors.Join(err, d.Err())
		}
	}
	if err != nil {
		return 0, fmt.Errorf("%w %s: %w", ErrCheckpoint, file, err)
	}
	return n, nil
}
