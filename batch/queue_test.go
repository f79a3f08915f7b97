// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// spansAt cuts a list of items at random places into spans in random order.
func spansAt(n int64, rng *rand.Rand) (list []Span) {
	for at := int64(0); at < n; {
		count := min(n-at, 1+rng.Int64N(300))
		list = append(list, Span{at, count})
		at += count
	}
	rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

// Spans of any items lie where the segments of the manifest say, within blocks.
func TestRangesOfSpans(t *testing.T) {
	const n = 60_000 // some 1200 segments, and five places
	m := list(t, n, Header{Block: 10})
	sources, rows := make([]string, n), make([]int64, n)
	for s, err := range m.Segments() {
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Count {
			sources[s.Item+i], rows[s.Item+i] = s.Source, s.Row+i
		}
	}
	places, err := m.places()
	if err != nil || len(places) < 4 {
		t.Fatalf("%d places, %v", len(places), err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, spans := range [][]Span{{{0, n}}, {{n - 1, 1}, {0, 1}}, spansAt(n, rng), spansAt(n, rng)} {
		got, err := m.ranges(places, spans)
		if err != nil {
			t.Fatal(err)
		}
		var items, want []int64
		for _, r := range got {
			if r.Item/10 != (r.Item+r.Count-1)/10 {
				t.Fatalf("%+v is of two blocks", r)
			}
			for i := range r.Count {
				if k := r.Item + i; sources[k] != r.Source || rows[k] != r.Row+i {
					t.Fatalf("item %d is row %d of %q, want row %d of %q", k, r.Row+i, r.Source, rows[k], sources[k])
				}
				items = append(items, r.Item+i)
			}
		}
		for _, s := range spans {
			for i := range s.Count {
				want = append(want, s.First+i)
			}
		}
		if !slices.Equal(items, want) {
			t.Fatal("other items")
		}
	}
	for _, bad := range []Span{{-1, 2}, {0, 0}, {n, 1}, {1, 1<<63 - 1}, {n - 3, 4}} {
		if r, err := m.ranges(places, []Span{bad}); err == nil {
			t.Errorf("%+v: %v", bad, r)
		}
	}
}

// What a queue's workers and shards find is one list; what is done twice has one file, and is no
// result more; a run of a shard leaves out what the queue has.
func TestQueueAndShardsShareAStore(t *testing.T) {
	const n = 5000
	ctx := context.Background()
	m := list(t, n, Header{Retries: 1})
	task := sines{poisoned: func(i int64) bool { return i%100 == 13 }}
	whole := Store(t.TempDir())
	if _, err := Run(ctx, m, task, Settings{Store: whole, Shard: Whole}); err != nil {
		t.Fatal(err)
	}
	want := merged(t, whole, m)

	store := Store(t.TempDir())
	if _, err := Run(ctx, m, task, Settings{Store: store, Shard: Shard{Index: 1, Count: 5}}); err != nil {
		t.Fatal(err)
	}
	q, err := store.Queue(m)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := store.Ledger(q)
	if err != nil || ledger.Done() != 1024 {
		t.Fatalf("%d done, %v", ledger.Done(), err)
	}
	before := ledger.Done()
	missing := ledger.Missing([]Span{{0, 10}})
	if Count(missing) != n-before-10 {
		t.Fatalf("%d missing", Count(missing))
	}
	var files []string
	for k := 0; k+1 < len(missing); k += 2 {
		some := missing[k : k+2]
		var names [2]string
		for i := range names { // once more, the other way round
			records, err := q.Do(ctx, task, some)
			if err != nil || int64(len(records)) != Count(some) {
				t.Fatalf("%d results of %v, %v", len(records), some, err)
			}
			if i == 1 {
				slices.Reverse(records)
			}
			var items []Span
			if names[i], items, err = q.Write(task.Columns(), append(records, records[0])); err != nil || Count(items) != Count(some) {
				t.Fatal(items, err)
			}
			if i == 0 {
				files = append(files, names[0])
			} else if ok, err := ledger.Note(names[1], items); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if names[0] != names[1] {
			t.Fatal(names)
		}
		if ok, err := ledger.Note(names[0], []Span{{0, 1}}); ok || err == nil {
			t.Fatal("a file with other items was taken")
		}
	}
	if ok, err := ledger.Note(fileOf([]Span{{0, 1}})+"-"+strings.Repeat("0", 24), []Span{{0, 1}}); ok || err != nil {
		t.Fatal("a file that is not there was taken", err)
	}
	for _, name := range []string{fileOf([]Span{{0, 1}}), fileOf([]Span{{0, 1}}) + "-../../x", fileOf([]Span{{0, 1}}) + "-00"} {
		if ok, err := ledger.Note(name, []Span{{0, 1}}); ok || err == nil {
			t.Fatal(name, "was taken")
		}
	}
	// A file of one item that is in another one too.
	records, _ := q.Do(ctx, task, missing[:1])
	if _, _, err := q.Write(task.Columns(), records[:1]); err != nil {
		t.Fatal(err)
	}
	done := ledger.Done()
	if err := ledger.Look(); err != nil || ledger.Done() != done {
		t.Fatal(ledger.Done(), done, err)
	}
	st, err := store.Status(m)
	if err != nil || st.Done != done || st.Queue == nil || st.Queue.Done != done-before || st.Queue.Files != len(files)+1 || len(st.Shards) != 1 {
		t.Fatalf("%+v, %+v, %v", st, st.Queue, err)
	}
	seen := &atomic.Int64{}
	task.seen = seen
	if _, err := Run(ctx, m, task, Settings{Store: store, Shard: Whole}); err != nil {
		t.Fatal(err)
	}
	if st, err = store.Status(m); err != nil || st.Failed != 50 {
		t.Fatalf("%+v, %v", st, err)
	}
	if again := seen.Load(); again < n-done || again > n-done+60 { // those that fail are tried twice
		t.Errorf("%d items were done, %d were missing", again, n-done)
	}
	same(t, "with a queue", merged(t, store, m), want)
	other := list(t, n+1, Header{})
	var foreign *OtherManifestError
	if _, err := store.Status(other); !errors.As(err, &foreign) {
		t.Error(err)
	}
}

// A failure gives way to a result of the same item, whichever is read first.
func TestResultsCountMoreThanFailures(t *testing.T) {
	m := list(t, 2, Header{})
	good := Record{Numbers: []float64{1, 2}, Texts: []string{"x"}}
	bad := Record{Err: "was memory short?"}
	for _, first := range []string{"part-1", "part-3"} {
		store := Store(t.TempDir())
		q, err := store.Queue(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&part{hash: m.Hash, columns: sines{}.Columns(), records: []Record{bad}}).write(filepath.Join(q.Folder(), first)); err != nil {
			t.Fatal(err)
		}
		one := good
		one.Item = 1
		if err := (&part{hash: m.Hash, columns: sines{}.Columns(), records: []Record{good, one}}).write(filepath.Join(q.Folder(), "part-2")); err != nil {
			t.Fatal(err)
		}
		if got := merged(t, store, m); got[0].Err != "" {
			t.Error(got[0])
		}
		if st, err := store.Status(m); err != nil || st.Failed != 0 || st.Queue.Failed != 0 || st.Queue.Done != 2 {
			t.Errorf("%+v, %v", st, err)
		}
		if err := os.Remove(filepath.Join(q.Folder(), "part-2")); err != nil {
			t.Fatal(err)
		}
		if st, err := store.Status(m); err != nil || st.Failed != 1 || st.Queue.Failed != 1 {
			t.Errorf("%+v, %v", st, err)
		}
	}
}

// However workers are stopped, come back and write what they found, in any order and over each other's items, a result is never
// replaced by a failure, nor is the file that holds it.
func TestNoResultIsEverReplaced(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	m := list(t, 6, Header{})
	for range tier.Of(60, 1000) {
		store := Store(t.TempDir())
		q, err := store.Queue(m)
		if err != nil {
			t.Fatal(err)
		}
		good, files := map[int64]bool{}, map[string][]byte{}
		for range 1 + rng.IntN(6) {
			first := rng.Int64N(6)
			var records []Record
			for i := first; i <= first+rng.Int64N(6-first); i++ {
				r := Record{Item: i, Numbers: []float64{float64(i), 2}, Texts: []string{"x"}, Attempts: 1 + rng.IntN(2)}
				if rng.IntN(2) == 0 {
					r = Record{Item: i, Err: "the machine was suspended"}
				}
				good[i] = good[i] || r.Err == ""
				records = append(records, r)
			}
			name, _, err := q.Write(sines{}.Columns(), records)
			if err != nil {
				t.Fatal(err)
			}
			for old, b := range files {
				if now, err := os.ReadFile(filepath.Join(q.Folder(), old)); err != nil || !bytes.Equal(now, b) {
					t.Fatalf("%s was replaced: %v", old, err)
				}
			}
			if files[name], err = os.ReadFile(filepath.Join(q.Folder(), name)); err != nil {
				t.Fatal(err)
			}
		}
		rest := []Record{}
		for i := range int64(6) {
			rest = append(rest, Record{Item: i, Err: "later"})
		}
		if _, _, err := q.Write(sines{}.Columns(), rest); err != nil {
			t.Fatal(err)
		}
		for _, r := range merged(t, store, m) {
			if (r.Err == "") != good[r.Item] {
				t.Fatalf("item %d: %q, but a result was written: %v", r.Item, r.Err, good[r.Item])
			}
		}
	}
}
