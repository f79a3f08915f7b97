// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/runlock"
	"github.com/euryale-dev/euryale/internal/tier"
)

// machines is a number of machines that share a folder, each of which sees it under a name of its own, so that a step says by its path
// whose it is. The clock is that of a bubble of synctest: it goes on when all machines wait.
type machines struct {
	t     *testing.T
	rng   *rand.Rand
	root  string
	m     *Manifest
	state []*machine

	calm      atomic.Bool // nobody is suspended for good any more
	mu        sync.Mutex
	files     map[string][]byte // of results, when they were seen first
	forgets   bool              // a machine forgets failures
	forgotten int64             // failures that were forgotten
	late      int               // machines that came back when another one had completed their shard
}

// machine is a machine that may be suspended with all of its goroutines.
type machine struct {
	*machines
	name   string
	mu     sync.Mutex
	awake  time.Time     // it does nothing before
	wake   chan struct{} // closed when a machine that was suspended for good goes on
	frozen bool          // suspended for good
}

func newMachines(t *testing.T, root string, m *Manifest, rng *rand.Rand, n int) *machines {
	all := &machines{t: t, rng: rng, root: root, m: m, files: map[string][]byte{}}
	for k := range n {
		one := &machine{machines: all, name: fmt.Sprintf("machine%d", k), wake: make(chan struct{}), awake: time.Now()}
		if err := errors.Join(os.MkdirAll(filepath.Join(root, "shared"), 0o755), os.Symlink("shared", filepath.Join(root, one.name))); err != nil {
			t.Fatal(err)
		}
		all.state = append(all.state, one)
	}
	return all
}

// intN is a random number for any goroutine. Times are multiples of a nanosecond, so that two machines hardly ever go on at once.
func (all *machines) intN(n int64) int64 {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.rng.Int64N(n)
}

// step is where a machine may be suspended.
func (all *machines) step(path string) {
	for _, one := range all.state {
		if strings.HasPrefix(path, filepath.Join(all.root, one.name)) {
			one.elsewhere(filepath.Dir(path))
			one.elsewhere(path)
			one.rest()
		}
	}
}

// rest lets a machine take its time, and suspends it now and then: for longer than it takes to be taken for dead, or for good.
func (one *machine) rest() {
	now := time.Now()
	one.mu.Lock()
	switch k := one.intN(1000); {
	case now.Before(one.awake):
	case k < 25:
		one.awake = now.Add(time.Duration(one.intN(int64(3 * deadAfter))))
	case k < 28 && !one.calm.Load():
		one.frozen = true
	default:
		one.awake = now.Add(time.Duration(one.intN(int64(time.Second))))
	}
	wait, frozen, wake := one.awake.Sub(now), one.frozen, one.wake
	one.mu.Unlock()
	if time.Sleep(wait); frozen {
		<-wake
	}
}

// elsewhere lets the lock that this machine took in a folder be that of another machine for all others.
func (one *machine) elsewhere(folder string) {
	path := filepath.Join(folder, runlock.Name)
	b, err := os.ReadFile(path)
	var o runlock.Owner
	if err != nil || json.Unmarshal(b, &o) != nil || o.Command != one.name || o.Host == one.name {
		return
	}
	o.Host = one.name
	if b, err = json.Marshal(o); err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		one.t.Error(err)
	}
}

// look compares the files of results with what they were when they were seen first: none is gone, and none is another one. Where
// failures are forgotten their files are others, which all machines then do without.
func (all *machines) look() {
	all.mu.Lock()
	defer all.mu.Unlock()
	now := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(all.root, "shared", "*", partName+"*"))
	if err != nil {
		all.t.Fatal(err)
	}
	for _, path := range paths {
		now[filepath.Base(path)] = path
	}
	for name := range all.files {
		if now[name] == "" && !all.forgets {
			all.t.Fatalf("%s is gone", name)
		}
	}
	for name, path := range now {
		b, err := os.ReadFile(path)
		if err != nil {
			all.t.Fatal(err)
		}
		if was := all.files[name]; was == nil {
			all.files[name] = b
		} else if all.forgets {
			all.files[name+fmt.Sprint(len(all.files))] = b
		} else if !bytes.Equal(was, b) {
			all.t.Fatalf("%s was replaced", name)
		}
	}
}

// good returns which items have had a result in any file that was seen.
func (all *machines) good() map[int64]bool {
	good := map[int64]bool{}
	for name, b := range all.files {
		p, _, err := decodePart(bytes.NewReader(b), true)
		if err != nil {
			all.t.Fatal(name, err)
		}
		for _, r := range p.records {
			good[r.Item] = good[r.Item] || r.Err == ""
		}
	}
	return good
}

// twice returns how many results there are beside the first one of their item.
func (all *machines) twice() (n int) {
	for _, b := range all.files {
		_, marks, err := decodePart(bytes.NewReader(b), false)
		if err != nil {
			all.t.Fatal(err)
		}
		n += len(marks)
	}
	if all.forgets {
		return 0 // files are counted again
	}
	return n - int(all.m.Items)
}

// work runs shards on a machine until all of them are complete, whatever happens to it.
func (one *machine) work(ctx context.Context, shards []Shard) {
	task := sines{poisoned: func(int64) bool { one.rest(); return one.intN(5) == 0 }}
	for _, shard := range shards {
		for {
			limit, cancel := context.WithTimeout(ctx, time.Duration(one.intN(int64(time.Hour))))
			_, err := Run(limit, one.m, task, Settings{Store: Store(filepath.Join(one.root, one.name)), Shard: shard, Workers: 1, Command: one.name, Every: time.Duration(1 + one.intN(int64(10*time.Second)))})
			cancel()
			one.look()
			if errors.Is(err, os.ErrNotExist) {
				one.machines.mu.Lock()
				one.late++
				one.machines.mu.Unlock()
			}
			var held *runlock.Held
			switch {
			case err == nil:
			case errors.As(err, &held), errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrNotExist):
				time.Sleep(time.Duration(one.intN(int64(time.Minute))))
				continue
			default:
				one.t.Errorf("%s: %v", one.name, err)
			}
			break
		}
	}
}

// retry forgets failures, if no machine is at work, or is taken to be.
func (one *machine) retry() {
	one.look()
	n, err := Store(filepath.Join(one.root, one.name)).Forget(one.m, one.name)
	if held := (*runlock.Held)(nil); err != nil && !errors.As(err, &held) && !errors.Is(err, os.ErrNotExist) {
		one.t.Errorf("%s: %v", one.name, err)
	}
	one.machines.mu.Lock()
	one.forgotten += n
	one.machines.mu.Unlock()
}

// check compares what a store gives with all that was written to it.
func (all *machines) check(when string) {
	all.t.Helper()
	store := Store(filepath.Join(all.root, "shared"))
	st, err := store.Status(all.m)
	if err != nil {
		all.t.Fatal(when, err)
	}
	for _, s := range st.Shards {
		if s.Done > s.Items || s.Failed > s.Done {
			all.t.Errorf("%s: %s has %d of %d items, %d of which failed", when, s.Folder, s.Done, s.Items, s.Failed)
		}
	}
	good, failed := all.good(), int64(0)
	for _, r := range merged(all.t, store, all.m) {
		if (r.Err == "") != good[r.Item] {
			all.t.Errorf("%s: item %d: %q, but a result was written: %v", when, r.Item, r.Err, good[r.Item])
		}
		if r.Err != "" {
			failed++
		}
	}
	if st.Done != all.m.Items || st.Failed != failed {
		all.t.Errorf("%s: %d items are done and %d failed, want %d and %d", when, st.Done, st.Failed, all.m.Items, failed)
	}
}

// However machines are suspended, come back after another one took their shard over, run the same task of an array twice or share the
// list otherwise: no file of results is ever gone or replaced, and no item is lost or counts twice.
func TestSharesOfMachinesLoseNothing(t *testing.T) {
	m := list(t, 24, Header{Block: 3})
	root := t.TempDir()
	late, twice, forgotten := 0, 0, int64(0)
	seeds := tier.Of(uint64(12), 1000)
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 14))
			all := newMachines(t, filepath.Join(root, fmt.Sprint(seed)), m, rng, 3)
			awake := atomicfile.Suspend(all.step)
			restore := atomicfile.Inject(func(op, name string) error {
				all.step(name)
				return nil
			})
			defer func() { awake(); restore() }()
			all.forgets = seed%4 == 3
			var work sync.WaitGroup
			for k, one := range all.state {
				shards := []Shard{{Index: 0, Count: 2}, {Index: 1, Count: 2}}
				switch rng.IntN(4) {
				case 0:
					shards = []Shard{Whole}
				case 1:
					slices.Reverse(shards)
				}
				if k == len(all.state)-1 { // which is awake
					shards = append(shards, Whole)
				}
				work.Go(func() {
					one.work(t.Context(), shards)
					if all.forgets && k == len(all.state)-1 {
						one.retry()
						one.work(t.Context(), []Shard{Whole})
					}
				})
			}
			// The machines that were suspended for good go on when all the others have done everything.
			for {
				time.Sleep(time.Hour)
				if st, err := Store(filepath.Join(all.root, "shared")).Status(m); err != nil {
					t.Fatal(err)
				} else if st.Done == m.Items {
					break
				}
				all.thaw(len(all.state) - 1)
			}
			all.look()
			all.check("while some sleep")
			all.calm.Store(true)
			all.thaw(0)
			work.Wait()
			time.Sleep(time.Hour) // for who touches the lock of what is complete
			all.look()
			all.check("in the end")
			late += all.late
			twice += all.twice()
			forgotten += all.forgotten
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d machines came too late, %d items were done twice, %d failures were forgotten", late, twice, forgotten)
	if late == 0 || twice == 0 || forgotten == 0 {
		t.Error("no machine was taken for dead and came back, or no failure was forgotten: the schedules do not try what they are for")
	}
}

// thaw wakes the machines from one on for good: they are not suspended again.
func (all *machines) thaw(from int) {
	for _, one := range all.state[from:] {
		one.mu.Lock()
		if one.frozen {
			one.frozen = false
			close(one.wake)
			one.wake = make(chan struct{})
		}
		one.mu.Unlock()
	}
}
