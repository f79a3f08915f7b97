// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
)

// Chains that were sampled apart, with pauses, are those of one run, and the stopping rule cuts both at
// the same draw.
func TestGather(t *testing.T) {
	post, ctx := schoolsPosterior(t), context.Background()
	rule := infer.StopRule{ESS: 300, RHat: 1.05, Every: 50}
	whole, err := infer.Sample(ctx, post, infer.Settings{Chains: 4, Warmup: 200, Draws: 1000, Seed: 3, StopWhen: rule, Independent: true})
	if err != nil || whole.Stopped == "" {
		t.Fatal(err, whole.Stopped)
	}
	dir := t.TempDir()
	var files []string
	cfg := infer.Settings{Warmup: 200, Seed: 3}
	for k := range 4 {
		file := filepath.Join(dir, fmt.Sprint("chain-", k))
		files = append(files, file)
		if n, err := infer.Advanced(file); n != -1 || err != nil {
			t.Error(n, err)
		}
		cfg.FirstChain = k
		for _, draws := range []int{50, 400 + 50*k, 100, whole.Len(0) + 70*k} {
			if n, err := infer.Advance(ctx, post.Clone(), cfg, file, draws); err != nil || n < draws {
				t.Fatal(n, err)
			}
		}
	}
	slices.Reverse(files)
	cfg = infer.Settings{Chains: 4, Warmup: 200, Draws: 1000, Seed: 3, StopWhen: rule}
	fit, err := infer.Gather(post, cfg, files)
	if err != nil {
		t.Fatal(err)
	}
	if fit.Stopped != whole.Stopped || fit.Len(0) != whole.Len(0) {
		t.Errorf("%d draws (%q), want %d (%q)", fit.Len(0), fit.Stopped, whole.Len(0), whole.Stopped)
	}
	for i, name := range whole.Names() {
		for c := range 4 {
			if !slices.Equal(fit.Column(i)[c], whole.Column(i)[c]) {
				t.Errorf("chain %d has other draws of %s", c, name)
			}
		}
	}
	for after, want := range map[int]int{50: whole.Len(0), whole.Len(0) - 1: whole.Len(0), whole.Len(0): whole.Len(0) + 50} {
		later := cfg
		later.StopWhen.After = after
		fit, err := infer.Gather(post, later, files)
		if err != nil || fit.Len(0) != want || fit.Stopped != whole.Stopped {
			t.Errorf("after %d: %d draws (%q), %v: want %d", after, fit.Len(0), fit.Stopped, err, want)
		}
	}
	for want, try := range map[string]func() error{
		"chain 0 is in none of the 3 files": func() error { _, err := infer.Gather(post, cfg, files[:3]); return err },
		"chain 3 is both in ":               func() error { _, err := infer.Gather(post, cfg, append(files[:1:1], files...)); return err },
		"Seed was \"3\" and is \"4\"": func() error {
			other := cfg
			other.Seed = 4
			_, err := infer.Gather(post, other, files)
			return err
		},
		"has chain 3: want chains 0 to 2": func() error {
			other := cfg
			other.Chains = 3
			_, err := infer.Gather(post, other, files)
			return err
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	cfg = infer.Settings{Warmup: 200, Seed: 3}
	if n, err := infer.Advance(cancelled, post, cfg, filepath.Join(dir, "late"), 10); !errors.Is(err, context.Canceled) || n != 0 {
		t.Error(n, err)
	}
}
