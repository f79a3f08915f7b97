// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// sines is a task whose items are numbers of its sources; some fail.
type sines struct {
	poisoned func(item int64) bool // fail, always
	shaky    func(item int64) bool // fail once
	panics   func(item int64) bool
	slow     time.Duration
	seen     *atomic.Int64
	tries    *[1 << 16]atomic.Int32
}

func (s sines) Columns() []Column {
	return []Column{{Name: "row", Kind: Integer}, {Name: "value", Unit: "s"}, {Name: "source", Kind: Text}}
}

func (s sines) Do(ctx context.Context, items Range, put func(Record)) error {
	for i := range items.Count {
		item, row := items.Item+i, items.Row+i
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.slow > 0 {
			time.Sleep(s.slow)
		}
		if s.seen != nil {
			s.seen.Add(1)
		}
		if s.panics != nil && s.panics(item) {
			panic(fmt.Sprintf("item %d", item))
		}
		r := Record{Item: item, Numbers: []float64{float64(row), math.Sin(float64(Seed(7, item) >> 20))}, Texts: []string{items.Source}}
		if s.poisoned != nil && s.poisoned(item) {
			r = Record{Item: item, Err: "a bad item"}
		}
		if s.shaky != nil && s.shaky(item) && s.tries[item].Add(1) == 1 {
			r = Record{Item: item, Err: "try again"}
		}
		put(r)
	}
	return nil
}

// list makes a manifest of n items in sources of various sizes.
func list(t testing.TB, n int64, h Header) *Manifest {
	t.Helper()
	if h.Command == "" {
		h.Command = "sines"
	}
	m, err := Create(filepath.Join(t.TempDir(), "manifest.txt"), h, func(add func(string, int64, int64) error) error {
		for at, k := int64(0), 0; at < n; k++ {
			count := min(n-at, int64(1+k*37%100))
			if err := add(fmt.Sprintf("file %d \"%c\"\n", k, 'ä'+rune(k%50)), int64(k%3), count); err != nil {
				return err
			}
			at += count
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.Items != n {
		t.Fatalf("%d items, want %d", m.Items, n)
	}
	return m
}

func merged(t testing.TB, s Store, m *Manifest) (out []Record) {
	t.Helper()
	if _, err := s.Merge(m, func(r Record) error { out = append(out, r); return nil }); err != nil {
		t.Fatal(err)
	}
	for i, r := range out {
		if r.Item != int64(i) {
			t.Fatalf("result %d is of item %d", i, r.Item)
		}
	}
	return out
}

func same(t testing.TB, what string, got, want []Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !got[i].equal(&want[i]) {
			t.Fatalf("%s: item %d is %+v, want %+v", what, i, got[i], want[i])
		}
	}
}

// Any number of shards and workers, with any blocks, gives the same results, also when runs are cut off
// at any time and go on.
func TestResultsDoNotDependOnShards(t *testing.T) {
	const n = 3000
	m := list(t, n, Header{Seed: 7})
	task := sines{poisoned: func(i int64) bool { return i%100 == 13 }, panics: func(i int64) bool { return i == 500 || i == 501 }}
	whole := Store(t.TempDir())
	p, err := Run(context.Background(), m, task, Settings{Store: whole, Shard: Whole, Workers: 1})
	if err != nil || p.Done != n || p.Failed != 32 {
		t.Fatalf("%+v, %v", p, err)
	}
	want := merged(t, whole, m)
	if want[13].Err != "a bad item" || !strings.HasPrefix(want[500].Err, "panicked: item 500 (in ") || want[502].Err != "" || want[14].Texts[0] != want[15].Texts[0] {
		t.Fatalf("%+v", want[500])
	}
	for i := range want {
		want[i].Err = strings.Split(want[i].Err, "\n")[0] // stacks differ
	}
	for _, shards := range []int{1, 2, 7, 200} {
		store := Store(t.TempDir())
		rng := rand.New(rand.NewPCG(1, uint64(shards)))
		for i := range shards {
			for cut := 0; ; cut++ {
				ctx, cancel := context.WithCancel(context.Background())
				slow := task
				if cut < 3 && rng.IntN(shards) < 4 {
					slow.seen = &atomic.Int64{}
					stop := rng.Int64N(50)
					poisoned := task.poisoned
					slow.poisoned = func(i int64) bool {
						if slow.seen.Load() > stop {
							cancel()
						}
						return poisoned(i)
					}
				}
				_, err := Run(ctx, m, slow, Settings{Store: store, Shard: Shard{Index: i, Count: shards}, Workers: 1 + rng.IntN(4), Every: time.Nanosecond})
				cancel()
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
		}
		got := merged(t, store, m)
		for i := range got {
			got[i].Err = strings.Split(got[i].Err, "\n")[0]
		}
		same(t, fmt.Sprint(shards, " shards"), got, want)
		// Once more does nothing.
		seen := &atomic.Int64{}
		if _, err := Run(context.Background(), m, sines{seen: seen}, Settings{Store: store, Shard: Shard{Index: 0, Count: shards}}); err != nil || seen.Load() != 0 {
			t.Errorf("%d items were done again, %v", seen.Load(), err)
		}
	}
}

// Items that fail are tried as often as the manifest says, and those that then succeed are as if they
// had not failed.
func TestFailuresAreTriedAgain(t *testing.T) {
	m := list(t, 500, Header{Retries: 2})
	task := sines{tries: new([1 << 16]atomic.Int32), shaky: func(i int64) bool { return i%7 == 0 }, poisoned: func(i int64) bool { return i == 3 }}
	store := Store(t.TempDir())
	p, err := Run(context.Background(), m, task, Settings{Store: store, Shard: Whole})
	if err != nil || p.Failed != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	got := merged(t, store, m)
	if got[3].Attempts != 3 || got[7].Attempts != 2 || got[7].Err != "" || got[8].Attempts != 1 {
		t.Errorf("%+v\n%+v\n%+v", got[3], got[7], got[8])
	}
	st, err := store.Status(m)
	if err != nil || st.Failed != 1 || st.Done != 500 || !st.Shards[0].Complete {
		t.Errorf("%+v, %v", st, err)
	}
}

// What is missing is named, and so is what does not belong together.
func TestMergeSaysWhatIsMissing(t *testing.T) {
	m := list(t, 1000, Header{Block: 10})
	store := Store(t.TempDir())
	for _, i := range []int{0, 2} {
		if _, err := Run(context.Background(), m, sines{}, Settings{Store: store, Shard: Shard{Index: i, Count: 4}}); err != nil {
			t.Fatal(err)
		}
	}
	never := func(Record) error { t.Error("a result of an incomplete list"); return nil }
	var missing *IncompleteError
	_, err := store.Merge(m, never)
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "500 of 1000 items have no result: 10-19, 30-39") || !strings.Contains(err.Error(), "no process has started shard-00001-of-00004 and 1 more") {
		t.Error(err)
	}
	other := list(t, 1001, Header{Block: 10})
	var foreign *OtherManifestError
	if _, err := store.Merge(other, never); !errors.As(err, &foreign) {
		t.Error(err)
	}
	if _, err := Run(context.Background(), other, sines{}, Settings{Store: store, Shard: Shard{Index: 0, Count: 3}}); !errors.As(err, &foreign) {
		t.Error(err)
	}
	// Half of the list as two shards, the rest as one: what the two did is not done again.
	seen := &atomic.Int64{}
	if _, err := Run(context.Background(), m, sines{seen: seen}, Settings{Store: store, Shard: Whole}); err != nil || seen.Load() != 500 {
		t.Errorf("%d items were done, want 500: %v", seen.Load(), err)
	}
	merged(t, store, m)
	// A different result of the same item.
	fake := &part{hash: m.Hash, columns: sines{}.Columns(), records: []Record{{Item: 5, Numbers: []float64{1, 2}, Texts: []string{"x"}}}}
	if err := fake.write(filepath.Join(string(store), "shard-00002-of-00004", "part-000009")); err != nil {
		t.Fatal(err)
	}
	var differs *DiffersError
	if _, err := store.Merge(m, func(Record) error { return nil }); !errors.As(err, &differs) || differs.Item != 5 || differs.File == differs.Other || !strings.Contains(differs.Other, "shard-") {
		t.Error(err)
	}
	// A file that is damaged: the way out is told, and is one.
	if err := os.WriteFile(differs.File, []byte("EURYALE-BATCH-RESULTS 1\nxxxx"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Status(m); err == nil || !strings.Contains(err.Error(), filepath.Base(differs.File)+": byte") || !strings.Contains(err.Error(), "remove the file and run again") {
		t.Error(err)
	}
	os.Remove(differs.File)
	merged(t, store, m)
}

// A manifest that was changed, cut off, or is none, is refused, wherever it was changed.
func TestManifestsAreWhole(t *testing.T) {
	m := list(t, 300, Header{Settings: []byte(`{"model":"single"}`), SIMD: "avx2"})
	if m.Command != "sines" || string(m.Settings) != `{"model":"single"}` || m.SIMD != "avx2" || m.Block != 64 {
		t.Errorf("%+v", m.Header)
	}
	good, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	items := int64(0)
	for s, err := range m.Segments() {
		if err != nil || s.Item != items || !strings.HasPrefix(s.Source, "file ") || !strings.HasSuffix(s.Source, "\n") {
			t.Fatalf("%+v, %v", s, err)
		}
		items += s.Count
	}
	if items != 300 {
		t.Errorf("%d items", items)
	}
	bad := filepath.Join(t.TempDir(), "bad.txt")
	for at := range good {
		for _, b := range [][]byte{good[:at], append(append(append([]byte(nil), good[:at]...), good[at]^1), good[at+1:]...)} {
			if err := os.WriteFile(bad, b, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(bad); err == nil {
				t.Fatalf("byte %d of %d: taken", at, len(good))
			}
		}
	}
	for name, f := range map[string]func(func(string, int64, int64) error) error{
		"row":   func(add func(string, int64, int64) error) error { return add("a", -1, 3) },
		"count": func(add func(string, int64, int64) error) error { return add("a", 0, -3) },
		"long":  func(add func(string, int64, int64) error) error { return add(strings.Repeat("x", 2<<20), 0, 3) },
	} {
		if _, err := Create(filepath.Join(t.TempDir(), "m"), Header{}, f); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// Launchers are asked in order, and what they say is checked.
func TestShardsOfLaunchers(t *testing.T) {
	for _, c := range []struct {
		env  string
		want Shard
		bad  string
	}{
		{"", Whole, ""},
		{"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=2", Shard{3, 4, "SLURM_ARRAY_TASK_ID"}, ""},
		{"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=4", Shard{}, "without gaps"},
		{"SLURM_PROCID=1 SLURM_NTASKS=2", Shard{1, 2, "SLURM_PROCID"}, ""},
		{"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=3 SLURM_PROCID=1 SLURM_NTASKS=2", Shard{3, 6, "SLURM_ARRAY_TASK_ID and SLURM_PROCID"}, ""},
		{"JOB_COMPLETION_INDEX=6 EURYALE_SHARDS=8", Shard{6, 8, "JOB_COMPLETION_INDEX"}, ""},
		{"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=3", Shard{0, 3, "OMPI_COMM_WORLD_RANK"}, ""},
		{"PMI_RANK=2 PMI_SIZE=3", Shard{2, 3, "PMI_RANK"}, ""},
		{"PMI_RANK=x PMI_SIZE=3", Shard{}, "whole number"},
		{"PMI_RANK=3 PMI_SIZE=3", Shard{}, "PMI_RANK=3, PMI_SIZE=3: there is no shard 3 of 3"},
		// mpirun in an allocation, whose processes on a node all have Slurm's number of the daemon there.
		{"OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 SLURM_PROCID=1 SLURM_NTASKS=8", Shard{5, 8, "OMPI_COMM_WORLD_RANK"}, ""},
		{"PMI_RANK=5 PMI_SIZE=8 SLURM_PROCID=0 SLURM_NTASKS=2", Shard{5, 8, "PMI_RANK"}, ""},
		{"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=3 SLURM_PROCID=0 SLURM_NTASKS=1", Shard{1, 3, "SLURM_ARRAY_TASK_ID"}, ""},
		{"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=3 SLURM_PROCID=0 SLURM_NTASKS=2 PMI_RANK=1 PMI_SIZE=2", Shard{3, 6, "SLURM_ARRAY_TASK_ID and PMI_RANK"}, ""},
		{"SLURM_PROCID=0", Shard{0, 1, ""}, ""}, // the script of a job
		{"SLURM_ARRAY_TASK_ID=4 SLURM_PROCID=0 SLURM_NTASKS=1", Shard{}, "SLURM_ARRAY_TASK_COUNT does not give the number of shards"},
		{"JOB_COMPLETION_INDEX=4", Shard{}, "EURYALE_SHARDS does not give the number of shards"},
		{"JOB_COMPLETION_INDEX=8 EURYALE_SHARDS=8", Shard{}, "shard 8 of 8"},
		{"JOB_COMPLETION_INDEX=8 EURYALE_SHARDS=3000000000", Shard{}, "want 1 to 99999"},
		{"SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=60000 SLURM_PROCID=0 SLURM_NTASKS=2", Shard{}, "want 1 to 99999"},
		{"SLURM_ARRAY_TASK_ID=9223372036854775807 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=-1", Shard{}, "want 1 to 99999"},
	} {
		for _, l := range slices.Concat(jobs, processes) {
			t.Setenv(l.index, "")
			t.Setenv(l.count, "")
			if l.first != "" {
				t.Setenv(l.first, "")
			}
		}
		for _, v := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(v, "=")
			t.Setenv(name, value)
		}
		got, err := FromEnv()
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%s: %v, want %q", c.env, err, c.bad)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.env, got, err, c.want)
		}
	}
}

// Failures that are forgotten are tried again, and nothing else is.
func TestForget(t *testing.T) {
	m := list(t, 900, Header{})
	store := Store(t.TempDir())
	bad := func(i int64) bool { return i%90 == 5 }
	for shard := range 2 {
		if _, err := Run(context.Background(), m, sines{poisoned: bad}, Settings{Store: store, Shard: Shard{Index: shard, Count: 2}, Every: time.Millisecond}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := store.Forget(m, "test"); n != 10 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := store.Forget(m, "test"); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	var incomplete *IncompleteError
	if _, err := store.Merge(m, nil); !errors.As(err, &incomplete) {
		t.Fatal(err)
	}
	var seen atomic.Int64
	for shard := range 2 {
		if _, err := Run(context.Background(), m, sines{seen: &seen}, Settings{Store: store, Shard: Shard{Index: shard, Count: 2}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range merged(t, store, m) {
		if r.Err != "" {
			t.Errorf("item %d: %s", r.Item, r.Err)
		}
	}
	if seen.Load() != 10 {
		t.Errorf("%d items were done again, want 10", seen.Load())
	}
}
