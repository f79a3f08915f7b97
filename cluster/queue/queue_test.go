// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// list makes a run of n items.
func list(t testing.TB, n int64, b behaviour) (folder, *batch.Manifest) {
	t.Helper()
	settings, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	f := folder(t.TempDir())
	m, err := batch.Create(f.manifest(), batch.Header{Command: "sines", Settings: settings, Block: 16, Retries: 1}, func(add func(string, int64, int64) error) error {
		for at, k := int64(0), 0; at < n; k++ {
			count := min(n-at, int64(1+k*37%100))
			if err := add(fmt.Sprint("file ", k), int64(k%3), count); err != nil {
				return err
			}
			at += count
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}

// merged are the results of a run, and how many files of the queue they were in.
func merged(t testing.TB, s batch.Store, m *batch.Manifest) (out []batch.Record, files int) {
	t.Helper()
	st, err := s.Merge(m, func(r batch.Record) error { out = append(out, r); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if st.Queue != nil {
		files = st.Queue.Files
	}
	return out, files
}

// local does the same without a queue.
func local(t testing.TB, m *batch.Manifest) []batch.Record {
	t.Helper()
	var b behaviour
	if err := json.Unmarshal(m.Settings, &b); err != nil {
		t.Fatal(err)
	}
	b.Sleep, b.Deadly, b.Spin = 0, nil, 0
	store := batch.Store(t.TempDir())
	if _, err := batch.Run(context.Background(), m, &sines{b}, batch.Settings{Store: store, Shard: batch.Whole}); err != nil {
		t.Fatal(err)
	}
	out, _ := merged(t, store, m)
	return out
}

// same compares bits.
func same(t testing.TB, what string, got, want []batch.Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Item != w.Item || g.Err != w.Err || !slices.Equal(g.Texts, w.Texts) || !slices.EqualFunc(g.Numbers, w.Numbers, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Fatalf("%s: item %d is %+v, want %+v", what, i, g, w)
		}
	}
}

// leading is a leader of this process.
type leading struct {
	ended  chan struct{}
	status *batch.Status
	err    error
	cancel context.CancelFunc
	ready  chan Access
	mu     sync.Mutex
	notes  []string
	last   Progress
}

func lead(t testing.TB, f folder, s LeadSettings) *leading {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	l := &leading{ended: make(chan struct{}), ready: make(chan Access, 1), cancel: cancel}
	s.Ready = func(a Access) { l.ready <- a }
	s.Note = func(text string) { l.mu.Lock(); l.notes = append(l.notes, text); l.mu.Unlock() }
	s.Progress = func(p Progress) { l.last = p }
	go func() {
		l.status, l.err = Lead(ctx, f.manifest(), s)
		close(l.ended)
	}()
	t.Cleanup(func() { cancel(); <-l.ended })
	return l
}

// access waits until the leader's server is there.
func (l *leading) access(t testing.TB) Access {
	t.Helper()
	select {
	case a := <-l.ready:
		return a
	case <-l.ended:
		t.Fatal(l.err)
	}
	panic("unreachable")
}

func (l *leading) wait(t testing.TB) {
	t.Helper()
	if <-l.ended; l.err != nil {
		t.Fatal(l.err)
	}
}

// kept keeps workers running in processes of their own until stop is called.
type kept struct {
	t     *testing.T
	f     folder
	mu    sync.Mutex
	list  []*exec.Cmd
	over  bool
	ended sync.WaitGroup
	died  int
}

func keep(t *testing.T, f folder, workers int) *kept {
	k := &kept{t: t, f: f, list: make([]*exec.Cmd, workers)}
	for i := range workers {
		k.ended.Go(func() {
			for {
				k.mu.Lock()
				if k.over {
					k.mu.Unlock()
					return
				}
				cmd, said := f.process(t, "work")
				k.list[i] = cmd
				k.mu.Unlock()
				err := cmd.Wait()
				k.mu.Lock()
				if over := k.over; err == nil || over {
					k.mu.Unlock()
					return
				}
				k.died++
				k.mu.Unlock()
				if e := (*exec.ExitError)(nil); !errors.As(err, &e) || !e.Sys().(syscall.WaitStatus).Signaled() {
					t.Errorf("a worker failed: %v: %s", err, said)
					return
				}
			}
		})
	}
	t.Cleanup(k.stop)
	return k
}

// kill ends a worker in the middle of whatever it does.
func (k *kept) kill(i int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if cmd := k.list[i]; cmd != nil {
		cmd.Process.Kill()
	}
}

func (k *kept) stop() {
	k.mu.Lock()
	k.over = true
	for _, cmd := range k.list {
		if cmd != nil {
			cmd.Process.Kill()
		}
	}
	k.mu.Unlock()
	k.ended.Wait()
}

// Workers that are killed at random moments, fifty times, lose and double nothing, and the results have
// the bits of a run on one machine; items that fail are listed.
func TestKilledWorkersLoseNothing(t *testing.T) {
	f, m := list(t, 6000, behaviour{Sleep: 500 * time.Microsecond, Poisoned: 100})
	l := lead(t, f, f.leading())
	l.access(t)
	workers := keep(t, f, 3)
	rng := rand.New(rand.NewPCG(1, 2))
	for done := false; !done; {
		select {
		case <-l.ended:
			done = true
		case <-time.After(time.Duration(20+rng.IntN(100)) * time.Millisecond):
			workers.mu.Lock()
			done = workers.died >= 50
			workers.mu.Unlock()
			workers.kill(rng.IntN(3))
		}
	}
	l.wait(t)
	workers.stop()
	if workers.died < 50 {
		t.Errorf("%d workers were killed, want 50", workers.died)
	}
	got, files := merged(t, f.store(), m)
	same(t, fmt.Sprint(workers.died, " kills"), got, local(t, m))
	if l.status.Failed != 60 || l.status.Queue.Done != 6000 {
		t.Errorf("%+v", l.status)
	}
	t.Logf("%d kills, %d files, %v", workers.died, files, l.last.Elapsed)
	// Leading once more finds nothing to do, and starts nothing.
	if st, err := Lead(t.Context(), f.manifest(), LeadSettings{Store: f.store(), Listen: "no address"}); err != nil || st.Done != 6000 {
		t.Error(st, err)
	}
}

// Leader and server that are killed at any time lose nothing, while workers go on and connect again.
func TestKilledLeaderLosesNothing(t *testing.T) {
	f, m := list(t, 4000, behaviour{Sleep: 500 * time.Microsecond})
	rng := rand.New(rand.NewPCG(1, 3))
	ended := make(chan error, 2)
	var worked [2]Worked
	for kills := 0; ; kills++ {
		cmd, said := f.process(t, "lead")
		if kills == 0 {
			for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(filepath.Join(string(f.store()), "leader", addressFile)); err == nil {
					break
				}
				if time.Now().After(deadline) {
					cmd.Process.Kill()
					cmd.Wait()
					t.Fatal(said)
				}
			}
			for i := range worked {
				go func() {
					a := f.access()
					a.Wait = 10 * time.Second
					var err error
					worked[i], err = Work(t.Context(), a, f.working())
					ended <- err
				}()
			}
		}
		if kills < 6 {
			time.Sleep(time.Duration(100+rng.IntN(300)) * time.Millisecond)
			cmd.Process.Kill()
			cmd.Wait()
			continue
		}
		for range worked {
			if err := <-ended; err != nil {
				cmd.Process.Kill()
				t.Error(err)
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err, said)
		}
		break
	}
	got, _ := merged(t, f.store(), m)
	same(t, "6 kills of the leader", got, local(t, m))
	if n := worked[0].Items + worked[1].Items; n < 4000 || n > 4800 || !worked[0].Ended || !worked[1].Ended {
		t.Errorf("%+v for 4000 items", worked)
	}
	t.Logf("%+v", worked)
}

// A worker that comes late gets its share, and one that ends by SIGTERM hands back what it has.
func TestLateAndEarly(t *testing.T) {
	f, m := list(t, 3000, behaviour{Sleep: time.Millisecond})
	l := lead(t, f, f.leading())
	a := l.access(t)
	early, cancel := context.WithCancel(t.Context())
	results := make([]Worked, 3)
	var wg sync.WaitGroup
	start := func(i int, ctx context.Context, s WorkSettings) {
		wg.Go(func() {
			var err error
			if results[i], err = Work(ctx, a, s); err != nil {
				t.Error(err)
			}
		})
	}
	s := f.working()
	start(0, t.Context(), s)
	s.Grace = time.Nanosecond
	start(1, early, s)
	time.Sleep(700 * time.Millisecond)
	cancel()
	start(2, t.Context(), f.working())
	l.wait(t)
	wg.Wait()
	got, _ := merged(t, f.store(), m)
	same(t, "three workers", got, local(t, m))
	total := results[0].Items + results[1].Items + results[2].Items
	if total != 3000 {
		t.Errorf("%d items were done, want 3000: what was handed back must not be done twice", total)
	}
	if late := results[2].Items; late < 600 || results[1].Items < 100 || results[1].Ended {
		t.Errorf("%+v: want a third for the late one", results)
	}
	t.Logf("%+v", results)
}

// Items that end every process are given up, and only they.
func TestDeadlyItemsAreGivenUp(t *testing.T) {
	f, m := list(t, 600, behaviour{Deadly: []int64{7, 300}, Poisoned: 100})
	s := f.leading()
	s.Patience = 500 * time.Millisecond
	l := lead(t, f, s)
	l.access(t)
	workers := keep(t, f, 2)
	l.wait(t)
	workers.stop()
	got, _ := merged(t, f.store(), m)
	want := local(t, m)
	for i := range got {
		if i == 7 || i == 300 {
			if !strings.Contains(got[i].Err, "signal: killed") && !strings.Contains(got[i].Err, "given up") {
				t.Errorf("item %d: %+v", i, got[i])
			}
			got[i], want[i] = batch.Record{}, batch.Record{}
		}
	}
	same(t, "others", got, want)
	if workers.died < 1 || workers.died > 6 {
		t.Errorf("%d workers died of two items: want few", workers.died)
	}
	if l.status.Failed != 8 {
		t.Errorf("%d failed, want 8", l.status.Failed)
	}
	t.Logf("%d workers died", workers.died)
}

// What does not fit together is refused with its reason.
func TestRefusals(t *testing.T) {
	f, _ := list(t, 100, behaviour{})
	other, _ := list(t, 101, behaviour{})
	set := f.leading()
	set.Patience = 300 * time.Millisecond
	l := lead(t, f, set)
	a := l.access(t)
	ctx := t.Context()

	var refused *AccessError
	mine, err := ticketOf(a.Token)
	if err != nil {
		t.Fatal(err)
	}
	strangers := written(tokenPrefix, append(slices.Clone(mine.leader), fresh().Seed()...)) // of the leader's former workers
	if _, err := Work(ctx, Access{URL: a.URL, Token: strangers}, f.working()); !errors.As(err, &refused) || !strings.Contains(err.Error(), "leader/token") {
		t.Error(err)
	}
	var none *NoServerError
	if _, err := Work(ctx, Access{URL: "127.0.0.1:1", Token: a.Token}, f.working()); !errors.As(err, &none) || !strings.Contains(err.Error(), "no server answers at nats://127.0.0.1:1") {
		t.Error(err)
	}
	if _, err := Work(ctx, Access{URL: "nats://"}, f.working()); err == nil || !strings.Contains(err.Error(), "not the address of a server") {
		t.Error(err)
	}
	s := f.working()
	s.Manifest = other.manifest()
	var foreign *OtherManifestError
	if _, err := Work(ctx, a, s); !errors.As(err, &foreign) {
		t.Error(err)
	}
	s = f.working()
	s.Store = other.store()
	var apart *NotSharedError
	if _, err := Work(ctx, a, s); !errors.As(err, &apart) {
		t.Error(err)
	}
	var held *runlock.Held
	if _, err := Lead(ctx, f.manifest(), f.leading()); !errors.As(err, &held) {
		t.Error(err)
	}
	elsewhere := f.leading()
	elsewhere.Folder = t.TempDir()
	if _, err := Lead(ctx, f.manifest(), elsewhere); !errors.As(err, &held) {
		t.Error(err)
	}
	if m, err := batch.Open(f.manifest()); err != nil {
		t.Error(err)
	} else if _, err := f.store().Forget(m, "retry"); err != nil { // nothing has failed
		t.Error(err)
	}
	if st, err := os.Stat(filepath.Join(string(f.store()), "leader", tokenFile)); err != nil || st.Mode().Perm() != 0o600 {
		t.Error(st, err)
	}
	if !strings.HasPrefix(a.URL, "tls://127.0.0.1:") {
		t.Errorf("listens at %s", a.URL)
	}
	// Messages of somebody else are discarded, or refused, and what a worker says of a file that is
	// not in the leader's folder ends the run.
	nc, err := a.dial(ctx, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	m, err := batch.Open(f.manifest())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"?", `{"manifest":"` + m.Hash + `","spans":[{"first":99,"count":2}]}`} {
		if _, err := nc.Request(namesOf(m.Hash).items(), []byte(text), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	q, err := other.store().Queue(m)
	if err != nil {
		t.Fatal(err)
	}
	task := &sines{}
	records, err := q.Do(ctx, task, []batch.Span{{First: 3, Count: 5}})
	if err != nil {
		t.Fatal(err)
	}
	file, spans, err := q.Write(task.Columns(), records)
	if err != nil {
		t.Fatal(err)
	}
	// What somebody says of a file that cannot be is no reason to end.
	no, _ := json.Marshal(report{Kind: wrote, Worker: "node6:1", File: "../part", Spans: spans})
	if err := nc.Publish(namesOf(m.Hash).reports(), no); err != nil {
		t.Fatal(err)
	}
	r, _ := json.Marshal(report{Kind: wrote, Worker: "node7:12", File: file, Folder: q.Folder(), Spans: spans})
	if err := nc.Publish(namesOf(m.Hash).reports(), r); err != nil {
		t.Fatal(err)
	}
	if <-l.ended; !errors.As(l.err, &apart) || !strings.Contains(l.err.Error(), "node7:12") || !strings.Contains(strings.Join(l.notes, "\n"), "node6:1") {
		t.Error(l.err, l.notes)
	}
	// The next leader finds the messages, and a worker throws away what makes no sense.
	l = lead(t, f, set)
	a = l.access(t)
	if _, err := Work(ctx, a, f.working()); err != nil {
		t.Error(err)
	}
	l.wait(t)
	if notes := strings.Join(l.notes, "\n"); strings.Count(notes, "was discarded") != 2 {
		t.Error(notes)
	}
}

// A worker refuses a message of another manifest, and says why.
func TestMessagesOfOtherManifests(t *testing.T) {
	f, m := list(t, 10, behaviour{Sleep: 100 * time.Millisecond})
	l := lead(t, f, f.leading())
	a := l.access(t)
	nc, err := a.dial(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Request(namesOf(m.Hash).items(), []byte(`{"manifest":"0123456789abcdef","spans":[{"first":0,"count":1}]}`), time.Second); err != nil {
		t.Fatal(err)
	}
	var other *OtherManifestError
	if _, err := Work(t.Context(), a, f.working()); !errors.As(err, &other) || other.Have != m.Hash {
		t.Error(err)
	}
}

// A server that is there takes several runs, and keeps nothing of them.
func TestExternalServer(t *testing.T) {
	ns, a, err := serve(t.TempDir(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Shutdown()
	var runs []folder
	var leaders []*leading
	for i := range int64(2) {
		f, _ := list(t, 300+i, behaviour{})
		s := f.leading()
		s.Server = &a
		runs, leaders = append(runs, f), append(leaders, lead(t, f, s))
		leaders[i].access(t)
	}
	if _, err := Work(t.Context(), a, runs[0].working()); err == nil || !strings.Contains(err.Error(), "2 runs") {
		t.Error(err)
	}
	// A copy of a list whose results are elsewhere is another run of the same name.
	twin := runs[0].leading()
	twin.Server, twin.Store = &a, batch.Store(t.TempDir())
	if _, err := Lead(t.Context(), runs[0].manifest(), twin); err == nil || !strings.Contains(err.Error(), "has a run of the same list, with its results in "+string(runs[0].store())) {
		t.Error(err)
	}
	for i, l := range leaders {
		w := runs[i].working()
		w.Manifest = runs[i].manifest()
		if did, err := Work(t.Context(), a, w); err != nil || did.Items != int64(300+i) {
			t.Error(did, err)
		}
		l.wait(t)
	}
	if _, err := Work(t.Context(), a, runs[0].working()); err == nil || !strings.Contains(err.Error(), "has no run") {
		t.Error(err)
	}
}

// Spans are cut without loss.
func TestCutAndSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for range 200 {
		var spans []batch.Span
		at := int64(0)
		for range 1 + rng.IntN(20) {
			at += rng.Int64N(5)
			n := 1 + rng.Int64N(30)
			spans = append(spans, batch.Span{First: at, Count: n})
			at += n
		}
		items := func(list []batch.Span) (out []int64) {
			for _, s := range list {
				for i := range s.Count {
					out = append(out, s.First+i)
				}
			}
			return out
		}
		want := items(spans)
		k := rng.Int64N(int64(len(want)) + 3)
		front, rest := cut(spans, k)
		if int64(len(items(front))) != min(k, int64(len(want))) || !slices.Equal(append(items(front), items(rest)...), want) {
			t.Fatalf("%v cut at %d: %v, %v", spans, k, front, rest)
		}
		var all []int64
		lists := split(spans, parts)
		for _, l := range lists {
			if n := len(items(l)); n == 0 || n > (len(want)+parts-1)/parts {
				t.Fatalf("%d of %d items in one of %d lists", n, len(want), len(lists))
			}
			all = append(all, items(l)...)
		}
		if !slices.Equal(all, want) {
			t.Fatalf("%v became %v", spans, lists)
		}
		var records []batch.Record
		var left []int64
		for _, i := range want {
			if rng.IntN(2) == 0 {
				records = append(records, batch.Record{Item: i})
			} else {
				left = append(left, i)
			}
		}
		if got := items(without(spans, records)); !slices.Equal(got, left) {
			t.Fatalf("%v, want %v", got, left)
		}
	}
}

// Messages grow from one item to what takes the time of a block, and shrink at the end.
func TestPace(t *testing.T) {
	const each = 20e-6 // s
	p := pace{}
	left, messages := int64(10_000_000), 0
	for left > 0 {
		n := p.size(500*time.Millisecond, left, 4)
		if n > 25_001 || n > 4*max(1, p.largest) {
			t.Fatalf("%d items", n)
		}
		n = min(n, left)
		p.took(n, float64(n)*each+100e-6)
		left -= n
		messages++
		if messages == 12 && n < 20_000 {
			t.Errorf("%d items after %d messages", n, messages)
		}
	}
	if messages > 10_000_000/25_000+60 {
		t.Errorf("%d messages", messages)
	}
	slow := pace{}
	slow.took(1, 60)
	if n := slow.size(500*time.Millisecond, 1000, 4); n != 1 {
		t.Errorf("%d items of a minute", n)
	}
	slow.took(-1, 1)
	slow.took(1, math.NaN())
	if slow.items != 1 {
		t.Error(slow)
	}
}

// Workers that cannot write end with the reason. What they had is done by another one, and is not taken
// for what ends processes, however often that happens.
func TestWorkersThatCannotWrite(t *testing.T) {
	f, m := list(t, 40, behaviour{})
	l := lead(t, f, f.leading())
	a := l.access(t)
	store := t.TempDir()
	way := filepath.Join(store, "queue")
	for range 6 {
		if err := os.Symlink(filepath.Join(string(f.store()), "queue"), way); err != nil {
			t.Fatal(err)
		}
		s := f.working()
		s.Store = batch.Store(store)
		s.Open = func(m *batch.Manifest) (batch.Task, error) {
			if err := os.Remove(way); err != nil {
				t.Error(err)
			}
			return open(m)
		}
		if did, err := Work(t.Context(), a, s); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%+v, %v", did, err)
		}
	}
	s := f.working()
	s.Alone = func(context.Context, string, batch.Store, []batch.Span) *exec.Cmd {
		t.Error("items were done by a process of their own")
		return exec.Command("false")
	}
	if did, err := Work(t.Context(), a, s); err != nil || did.Items != 40 || did.Failed != 0 {
		t.Fatal(did, err)
	}
	l.wait(t)
	got, _ := merged(t, f.store(), m)
	same(t, "after failures", got, local(t, m))
}
