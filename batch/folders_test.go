// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// half does one of two shards, then all, and returns what it takes to do all.
func half(t *testing.T, m *Manifest, task Task) (Store, func() error) {
	t.Helper()
	store := Store(t.TempDir())
	all := func() error {
		_, err := Run(context.Background(), m, task, Settings{Store: store, Shard: Whole})
		return err
	}
	if _, err := Run(context.Background(), m, task, Settings{Store: store, Shard: Shard{Index: 0, Count: 2}}); err != nil {
		t.Fatal(err)
	}
	if err := all(); err != nil {
		t.Fatal(err)
	}
	return store, all
}

// A shard that left items to another folder does them when that has lost their results.
func TestCompleteShardsLookAtWhatTheyLeftOut(t *testing.T) {
	m := list(t, 40, Header{Block: 1})
	poisoned := true
	task := sines{poisoned: func(i int64) bool { return poisoned && i == 6 }}
	store, all := half(t, m, task)
	poisoned = false
	if n, err := store.Forget(m, "test"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := all(); err != nil {
		t.Fatal(err)
	}
	if merged(t, store, m)[6].Err != "" {
		t.Error("the item that failed was not tried again")
	}
	store, all = half(t, m, task)
	if err := os.RemoveAll(filepath.Join(string(store), "shard-00000-of-00002")); err != nil {
		t.Fatal(err)
	}
	if err := all(); err != nil {
		t.Fatal(err)
	}
	merged(t, store, m)
	if err := all(); err != nil {
		t.Fatal(err)
	}
}

// Files of a queue have the names of what is in them, also when failures are forgotten, so that a leader
// hears of their items once more.
func TestQueueForgetsFailures(t *testing.T) {
	m := list(t, 10, Header{})
	store := Store(t.TempDir())
	q, err := store.Queue(m)
	if err != nil {
		t.Fatal(err)
	}
	bad := sines{poisoned: func(i int64) bool { return i >= 7 }}
	put := func(task Task, spans ...Span) (string, []Span) {
		records, err := q.Do(context.Background(), task, spans)
		if err != nil {
			t.Fatal(err)
		}
		name, items, err := q.Write(task.Columns(), records)
		if err != nil {
			t.Fatal(err)
		}
		return name, items
	}
	put(bad, Span{0, 8})
	put(bad, Span{8, 2})
	if n, err := store.Forget(m, "test"); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	l, err := store.Ledger(q)
	if err != nil || l.Done() != 7 {
		t.Fatalf("%d items are done, want 7: %v", l.Done(), err)
	}
	for _, s := range []Span{{8, 2}, {7, 1}} {
		name, items := put(sines{}, s)
		if ok, err := l.Note(name, items); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if l.Done() != 10 {
		t.Errorf("%d items are done, want 10", l.Done())
	}
	merged(t, store, m)
}

// Folders may get their names while others read them, and two processes may do the same shard when one
// takes the other for dead: nothing is lost.
func TestFoldersGetTheirNamesMeanwhile(t *testing.T) {
	m := list(t, 300, Header{Block: 1})
	store := Store(t.TempDir())
	var beside sync.WaitGroup
	over := make(chan struct{})
	beside.Go(func() {
		for {
			if _, err := store.Status(m); err != nil {
				t.Error(err)
			}
			select {
			case <-over:
				return
			default:
			}
		}
	})
	for i := range 60 {
		for _, shard := range []Shard{{Index: i, Count: 60}, {Index: i % 7, Count: 7}} {
			if _, err := Run(context.Background(), m, sines{}, Settings{Store: store, Shard: shard, Workers: 1}); err != nil {
				t.Error(err)
			}
		}
	}
	close(over)
	beside.Wait()
	merged(t, store, m)
}

// A process that was taken for dead and goes on overwrites nothing of the one that took over.
func TestProcessesTakenForDead(t *testing.T) {
	m := list(t, 200, Header{Block: 1})
	store := Store(t.TempDir())
	ctx := context.Background()
	var both [2]*results
	for k := range both {
		r, _, err := store.begin(ctx, m, Whole, "test")
		if err != nil {
			t.Fatal(err)
		}
		both[k] = r
		os.Remove(filepath.Join(r.path, ".lock")) // as another machine does after a minute
	}
	task := sines{}
	for k, r := range both {
		for part := range 2 {
			var records []Record
			task.Do(ctx, Range{Item: int64(100*k + 50*part), Count: 50}, func(r Record) { records = append(records, r) })
			if err := r.write(task.Columns(), [][]Record{records}); err != nil {
				t.Fatal(err)
			}
		}
	}
	merged(t, store, m)
	for _, r := range both {
		if err := r.complete(); err != nil {
			t.Error(err)
		}
	}
	merged(t, store, m)
	if err := both[1].write(task.Columns(), [][]Record{{{Item: 1, Err: "late"}}}); err == nil {
		t.Error("a folder that is away was written to")
	}
}

// Of what a process had in its hands when it ended only its own items without results are suspicious.
func TestSuspectsAreOfTheShard(t *testing.T) {
	m := list(t, 1<<20, Header{Block: 1})
	store := Store(t.TempDir())
	r, done, err := store.begin(context.Background(), m, Shard{Index: 3, Count: 1 << 10}, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer r.release()
	f, err := r.newFlight(1)
	if err != nil {
		t.Fatal(err)
	}
	f.set(0, 3, 1<<20-3)
	done.add(3)
	deaths, err := r.suspects(done)
	if err != nil || len(deaths) != 1<<10-1 || deaths[3+1<<10] != 1 {
		t.Errorf("%d items, %v, want %d", len(deaths), err, 1<<10-1)
	}
	if err := os.WriteFile(filepath.Join(r.path, deathsName), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.suspects(done); err == nil || fmt.Sprint(err) == "unexpected end of JSON input" {
		t.Error(err)
	}
}

// Numbers that no machine could work with are refused when a list is made and when it is read.
func TestListsThatAreTooLong(t *testing.T) {
	dir := t.TempDir()
	make := func(name string, h Header, counts ...int64) error {
		_, err := Create(filepath.Join(dir, name), h, func(add func(string, int64, int64) error) error {
			for _, n := range counts {
				if err := add("a", 0, n); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	}
	for name, err := range map[string]error{
		"long": make("long", Header{}, 1e18), "sum": make("sum", Header{}, 1e10, 1), "overflow": make("overflow", Header{}, 1, 1<<63-1),
		"block": make("block", Header{Block: 5e18}, 3), "shard": Shard{Index: 3, Count: 1e6}.check(),
	} {
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(int64(mostListed))) && !strings.Contains(err.Error(), fmt.Sprint(mostShards)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := make("longest", Header{Block: mostListed}, mostListed); err != nil {
		t.Error(err)
	}
	// A list that says something else than its sources, with the hash of that.
	text := `{"format":"euryale batch 1","command":"x","seed":0,"retries":0,"block":1}` + "\n\"a\" 0 3\n4 items\n"
	name := filepath.Join(dir, "lies")
	if err := os.WriteFile(name, fmt.Appendf(nil, "%ssha256 %x\n", text, sha256.Sum256([]byte(text))), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(name); err == nil || !strings.Contains(err.Error(), "its sources have 3 items") {
		t.Error(err)
	}
}

// A damaged file of results, such as one that was copied in part, is told once and left out, and its items are done again, in the folder of a
// shard and in that of a queue.
func TestDamagedFilesAreLeftOut(t *testing.T) {
	m := list(t, 40, Header{Block: 1})
	store, all := half(t, m, sines{})
	want := merged(t, store, m)
	q, err := store.Queue(m)
	if err != nil {
		t.Fatal(err)
	}
	records, err := q.Do(context.Background(), sines{}, []Span{{3, 2}})
	if err != nil {
		t.Fatal(err)
	}
	name, items, err := q.Write(sines{}.Columns(), records)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob(filepath.Join(string(store), "*", partName+"*"))
	if err != nil || len(parts) < 3 {
		t.Fatal(parts, err)
	}
	for _, p := range parts {
		b, err := os.ReadFile(p)
		if err == nil {
			err = os.WriteFile(p, b[:len(b)/2], 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := all(); err == nil || !strings.Contains(err.Error(), "remove the file and run again") {
		t.Fatal(err)
	}
	told := map[string]int{}
	m.Damaged = func(file string, err error) { told[file]++ }
	if _, err := store.Merge(m, func(Record) error { return nil }); err == nil {
		t.Error("a damaged file counts as results")
	}
	l, err := store.Ledger(q)
	if err != nil || l.Done() != 0 {
		t.Fatal(l.Done(), err)
	}
	if again, _, err := q.Write(sines{}.Columns(), records); err != nil || again != name {
		t.Fatal(again, err)
	}
	if there, err := l.Note(name, items); !there || err != nil || l.Done() != 2 {
		t.Errorf("the leader counts %d items of a file that took the place of a damaged one (%v, %v)", l.Done(), there, err)
	}
	if err := all(); err != nil {
		t.Fatal(err)
	}
	same(t, "done again", merged(t, store, m), want)
	for _, p := range parts {
		if told[p] > 1 {
			t.Errorf("%s is told %d times", p, told[p])
		}
	}
	if len(told) < len(parts) {
		t.Errorf("told: %v of %v", told, parts)
	}
}
