// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/expr"
)

const line = `{"expr": "a + b*x", "data": {"x": [1,2,3,4,5,6,7,8], "y": [2.1,3.9,6.2,7.8,10.1,12.2,13.8,16.1]}, "sigma": "s",
 "priors": {"a": "normal(0, 5)", "b": "normal(0, 5)", "s": "halfnormal(1)"}}`

// Chains of one posterior that several processes make are those of one run with the same rule, cut at the
// same draw.
func TestChains(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "chains.yaml")
	write(t, filepath.Join(dir, "line.json"), line)
	write(t, config, "work: chains\nproblem: line.json\nchains: 5\nwarmup: 150\nevery: 40\ndraws: 500\ness: 250\nrhat: 1.03\nseed: 9\n")
	p, err := expr.Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	model, err := p.Model()
	if err != nil {
		t.Fatal(err)
	}
	post, err := model.Compile()
	if err != nil {
		t.Fatal(err)
	}
	want, err := infer.Sample(context.Background(), post, infer.Config{Chains: 5, Warmup: 150, Draws: 520, Seed: 9, TargetAccept: 0.9, StopWhen: infer.StopRule{ESS: 250, RHat: 1.03, Every: 40}})
	if err != nil || want.Stopped == "" {
		t.Fatal(err)
	}
	var first []batch.Record
	for _, shards := range []int{1, 3} {
		out := filepath.Join(dir, fmt.Sprint("out", shards))
		l, err := Read(config)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Create(filepath.Join(out, "manifest.txt"))
		if err != nil {
			t.Fatal(err)
		}
		store := batch.Store(filepath.Join(out, "results"))
		var wg sync.WaitGroup
		for i := range shards {
			if shards > 1 && i == 1 {
				continue // a shard that comes late: others do its chains
			}
			wg.Go(func() {
				task, err := Open(m, Env{})
				if err == nil {
					_, err = batch.Run(context.Background(), m, task, batch.Settings{Store: store, Shard: batch.Shard{Index: i, Count: shards}, Workers: 2})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if shards > 1 {
			task, err := Open(m, Env{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = batch.Run(context.Background(), m, task, batch.Settings{Store: store, Shard: batch.Shard{Index: 1, Count: shards}}); err != nil {
				t.Fatal(err)
			}
		}
		g, err := Merge(m, store, out, Env{})
		if err != nil {
			t.Fatal(err)
		}
		if g.Fit.Len(0) != want.Len(0) || g.Finding == "" {
			t.Errorf("%d shards: %d draws, want %d", shards, g.Fit.Len(0), want.Len(0))
		}
		for c := range 5 {
			if !slices.Equal(g.Fit.Draws("b")[c], want.Draws("b")[c]) {
				t.Errorf("%d shards: chain %d has other draws", shards, c)
			}
		}
		if first == nil {
			first = g.Sample
		}
		same(t, first, g.Sample)
		if _, err := os.Stat(filepath.Join(out, "posterior", "draws.zarr")); err != nil {
			t.Error(err)
		}
	}
	m, err := batch.Open(filepath.Join(dir, "out1", "manifest.txt"))
	if err != nil {
		t.Fatal(err)
	}
	chain := filepath.Join(dir, "out1", "chains", "chain-00002")
	whole, err := os.ReadFile(chain)
	if err != nil {
		t.Fatal(err)
	}
	whole[len(whole)/2] ^= 1
	write(t, chain, string(whole))
	if _, err := Merge(m, batch.Store(filepath.Join(dir, "out1", "results")), m.Folder(), Env{}); err == nil || !strings.Contains(err.Error(), "chain-00002: byte") || !strings.Contains(err.Error(), "remove the file, and euryale batch retry") {
		t.Error(err)
	}
	os.Remove(chain)
	if _, err := Merge(m, batch.Store(filepath.Join(dir, "out1", "results")), m.Folder(), Env{}); err == nil || !strings.Contains(err.Error(), "remove the results as well") {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "line.json"), line+" ")
	if _, err := Open(m, Env{}); err == nil {
		t.Error("another problem is taken for the one of the manifest")
	}
}
