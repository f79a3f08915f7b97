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
	"github.com/euryale-dev/euryale/internal/atomicfile"
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
	want, err := infer.Sample(context.Background(), post, infer.Settings{Chains: 5, Warmup: 150, Draws: 520, Seed: 9, StopWhen: infer.StopRule{ESS: 250, RHat: 1.03, Every: 40}, Independent: true})
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
	if _, err := Merge(m, batch.Store(filepath.Join(dir, "out1", "results")), m.Folder(), Env{}); err == nil || !strings.Contains(err.Error(), "chain-00002: byte") || !strings.Contains(err.Error(), "remove the file, and the same draws are made again") {
		t.Error(err)
	}
	// A process that was taken for dead wrote an older state last, or the file was removed: the same draws are made again.
	for _, have := range []int{0, 40} {
		os.Remove(chain)
		task, err := Open(m, Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := task.(*chainsTask).bring(t.Context(), 2, have); err != nil {
			t.Fatal(err)
		}
		var said []string
		g, err := Merge(m, batch.Store(filepath.Join(dir, "out1", "results")), m.Folder(), Env{Note: func(text string) { said = append(said, text) }})
		if err != nil || len(said) != 1 || !strings.Contains(said[0], fmt.Sprintf("chain-00002 has %d of ", have)) {
			t.Fatalf("%v, %q", err, said)
		}
		for c := range 5 {
			if !slices.Equal(g.Fit.Draws("b")[c], want.Draws("b")[c]) {
				t.Errorf("%d draws were left: chain %d has other draws", have, c)
			}
		}
	}
	write(t, filepath.Join(dir, "line.json"), line+" ")
	if _, err := Open(m, Env{}); err == nil {
		t.Error("another problem is taken for the one of the manifest")
	}
}

// Where a process that was taken for dead writes an older state of a chain between any two rounds, every round is judged all the same,
// and the chains end where they would have ended.
func TestChainsThatGoBack(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "line.json"), line)
	write(t, filepath.Join(dir, "chains.yaml"), "work: chains\nproblem: line.json\nchains: 4\nwarmup: 100\nevery: 40\ndraws: 400\ness: 100\nrhat: 1.1\nseed: 9\n")
	l, err := Read(filepath.Join(dir, "chains.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ends, made := map[bool]*infer.Fit{}, map[bool]int{}
	for _, back := range []bool{false, true} {
		out := filepath.Join(dir, fmt.Sprint(back))
		m, err := l.Create(filepath.Join(out, "manifest.txt"))
		if err != nil {
			t.Fatal(err)
		}
		chain, wrote := filepath.Join(out, "chains", "chain-00000"), map[int]bool{}
		var old []byte
		restore := atomicfile.Suspend(func(path string) {
			if !back || path != filepath.Dir(chain) {
				return
			}
			n, err := infer.Advanced(chain)
			if err != nil {
				t.Error(err)
			}
			if old == nil {
				old, err = os.ReadFile(chain)
			} else if !wrote[n] {
				err = os.WriteFile(chain, old, 0o644)
			}
			if wrote[n] = true; err != nil {
				t.Error(err)
			}
		})
		task, err := Open(m, Env{})
		if err == nil {
			_, err = batch.Run(t.Context(), m, task, batch.Settings{Store: batch.Store(filepath.Join(out, "results")), Shard: batch.Whole, Workers: 1})
		}
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if made[back], err = infer.Advanced(filepath.Join(filepath.Dir(chain), "chain-00003")); err != nil {
			t.Fatal(err)
		}
		g, err := Merge(m, batch.Store(filepath.Join(out, "results")), out, Env{})
		if err != nil {
			t.Fatal(err)
		}
		if ends[back] = g.Fit; g.Fit.Stopped == "" || g.Fit.Len(0) < 80 || back && len(wrote) < 2 {
			t.Fatalf("the chains ended after %d draws, %q, and went back %d times: the test does not try what it is for", g.Fit.Len(0), g.Fit.Stopped, len(wrote))
		}
	}
	if a, b := ends[false].Draws("b"), ends[true].Draws("b"); !slices.EqualFunc(a, b, slices.Equal[[]float64]) {
		t.Errorf("%d draws, want %d", len(b[0]), len(a[0]))
	}
	if made[true] != made[false] {
		t.Errorf("%d draws were made, want %d", made[true], made[false])
	}
}
