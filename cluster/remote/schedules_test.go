// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"gocloud.dev/blob/memblob"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/tier"
)

// flaky fails now and then, and is stopped after some items.
type flaky struct {
	rng  *rand.Rand
	stop func()
	left *int // items until it is stopped
}

func (flaky) Columns() []batch.Column { return task{}.Columns() }

func (f flaky) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	for i := range items.Count {
		if *f.left--; *f.left < 0 {
			f.stop()
			return ctx.Err()
		}
		r := batch.Record{Item: items.Item + i, Numbers: []float64{float64(items.Item + i)}}
		if f.rng.IntN(4) == 0 {
			r.Numbers, r.Err = nil, "the detector was off"
		}
		put(r)
	}
	return nil
}

// island is machines without a common folder, and the store in which they meet.
type island struct {
	t       *testing.T
	rng     *rand.Rand
	m       *batch.Manifest
	b       *Bucket
	stores  []batch.Store
	steps   int
	since   map[string]int    // step after which an object was in the store; listings show it two steps later
	first   map[string][]byte // content of each file of results in the store when it was seen first
	pushed  map[int64]bool    // items of which a push with a success has returned
	local   []map[int64]bool  // items with a success, by machine
	retried int64
	stale   atomic.Int64
}

// step does something on one machine.
func (w *island) step() {
	k := w.rng.IntN(len(w.stores))
	store := w.stores[k]
	var err error
	switch w.rng.IntN(6) {
	case 0, 1:
		err = w.run(store, w.rng.IntN(int(w.m.Items)))
	case 2:
		var n int64
		n, err = store.Forget(w.m, "test")
		w.retried += n
	case 3:
		w.dies(store)
	case 4:
		if _, err = w.b.Push(w.t.Context(), string(store)); err == nil {
			for item := range w.good(store) {
				w.pushed[item] = true
			}
		}
	default:
		_, err = w.b.Pull(w.t.Context(), string(store))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.look(k)
}

// run works on the list until some items are done.
func (w *island) run(store batch.Store, items int) error {
	ctx, stop := context.WithCancel(w.t.Context())
	defer stop()
	shard := batch.Shard{Index: w.rng.IntN(2), Count: 2}
	if w.rng.IntN(3) == 0 {
		shard = batch.Whole
	}
	_, err := batch.Run(ctx, w.m, flaky{w.rng, stop, &items}, batch.Settings{Store: store, Shard: shard, Workers: 1})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// dies leaves what a process leaves that ends without a word: the items at which it was.
func (w *island) dies(store batch.Store) {
	folders, err := filepath.Glob(filepath.Join(string(store), "shard-*.partial"))
	if err != nil || len(folders) == 0 {
		return
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(w.rng.Int64N(w.m.Items)))
	binary.LittleEndian.PutUint64(b[8:], 1)
	if err := os.WriteFile(filepath.Join(folders[w.rng.IntN(len(folders))], "working"), b[:], 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// nothing fails at every item.
type nothing struct{}

func (nothing) Columns() []batch.Column { return task{}.Columns() }

func (nothing) Do(_ context.Context, items batch.Range, put func(batch.Record)) error {
	for i := range items.Count {
		put(batch.Record{Item: items.Item + i, Err: "there was no result"})
	}
	return nil
}

// good returns the items of a store that have a result: those of a copy in which all missing items are failures.
func (w *island) good(store batch.Store) map[int64]bool {
	w.t.Helper()
	whole := batch.Store(filepath.Join(w.t.TempDir(), "copy"))
	err := os.CopyFS(string(whole), os.DirFS(string(store)))
	if err == nil {
		_, err = batch.Run(w.t.Context(), w.m, nothing{}, batch.Settings{Store: whole, Shard: batch.Whole, Workers: 1})
	}
	good := map[int64]bool{}
	if err == nil {
		_, err = whole.Merge(w.m, func(r batch.Record) error {
			if r.Err == "" {
				good[r.Item] = true
			}
			return nil
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	os.RemoveAll(string(whole))
	return good
}

// look compares the store and a machine with what they were.
func (w *island) look(k int) {
	w.t.Helper()
	all := w.b.b.List(nil)
	for {
		o, err := all.Next(w.t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if _, ok := w.since[o.Key]; !ok {
			w.since[o.Key] = w.steps
		}
		if strings.HasSuffix(o.Key, "working") || strings.HasSuffix(o.Key, "deaths.json") {
			w.t.Fatalf("%s of one machine is in the store", o.Key)
		}
		if !batch.IsResults(o.Key) {
			continue
		}
		text, err := w.b.b.ReadAll(w.t.Context(), o.Key)
		if err != nil {
			w.t.Fatal(err)
		}
		if was := w.first[o.Key]; was == nil {
			w.first[o.Key] = text
		} else if !bytes.Equal(was, text) {
			w.t.Fatalf("%s was replaced in the store", o.Key)
		}
	}
	for key := range w.first {
		if ok, err := w.b.b.Exists(w.t.Context(), key); err != nil || !ok {
			w.t.Fatalf("%s is gone from the store: %v", key, err)
		}
	}
	w.steps++
	good := w.good(w.stores[k])
	for item := range w.local[k] {
		if !good[item] {
			w.t.Fatalf("machine %d had a result of item %d, and has none any more", k, item)
		}
	}
	w.local[k] = good
}

// Machines run, fail, forget failures, stop, die, push and pull in any order, and see lists of the store that are older than what is in it:
// no file of results is ever replaced or gone, no machine loses a success, and whoever pulls in the end has every success that was pushed.
func TestStoresOfMachinesLoseNothing(t *testing.T) {
	var retried, stale atomic.Int64
	first, count := tier.Of(uint64(10), 0), tier.Of(uint64(3), 1000) // of the quick seeds one replaces a file if that is possible
	for seed := first; seed < first+count; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 4))
			m, err := batch.Create(filepath.Join(t.TempDir(), "m"), batch.Header{Command: "x", Block: 3}, func(add func(string, int64, int64) error) error { return add("s", 0, 24) })
			if err != nil {
				t.Fatal(err)
			}
			w := &island{t: t, rng: rng, m: m, b: &Bucket{b: memblob.OpenBucket(nil), name: "mem://x"}, first: map[string][]byte{}, since: map[string]int{}, pushed: map[int64]bool{}}
			defer w.b.Close()
			w.b.lag = func(key string) bool {
				late := w.since[key] > w.steps-3
				if late {
					w.stale.Add(1)
				}
				return late
			}
			for range 2 + rng.IntN(2) {
				w.stores, w.local = append(w.stores, batch.Store(t.TempDir())), append(w.local, map[int64]bool{})
			}
			for range 20 {
				w.step()
			}
			w.b.lag = nil
			last := batch.Store(t.TempDir())
			if _, err := w.b.Pull(t.Context(), string(last)); err != nil {
				t.Fatal(err)
			}
			good := w.good(last)
			for item := range w.pushed {
				if !good[item] {
					t.Errorf("item %d was pushed with a result, and has none in the store", item)
				}
			}
			retried.Add(w.retried)
			stale.Add(w.stale.Load())
		})
	}
	t.Cleanup(func() { // when all are done
		if retried.Load() == 0 || stale.Load() == 0 {
			t.Error("no failure was forgotten, or no list was old: the schedules do not try what they are for")
		}
	})
}
