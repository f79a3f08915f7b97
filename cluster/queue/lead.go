// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// LeadSettings control how a leader distributes a run.
type LeadSettings struct {
	// Store is where the results are kept.
	Store batch.Store
	// Folder belongs to the leader: it holds its lock and the token, address and data of the server.
	// Default: leader in the store.
	Folder string
	// Listen is the address of the embedded server. Default: 127.0.0.1:0, a free port of this machine
	// that cannot be reached from other machines.
	Listen string
	// Server is used in place of an embedded server, unless it is nil.
	Server *Access
	// Block is the amount of work in a message, as time. Default: 0.5 s.
	Block time.Duration
	// Patience is how long a message may go without a sign of life before another worker gets it, and
	// how long a worker's file may take to appear in the leader's folder. Default: 30 s.
	Patience time.Duration
	// Ready is called with the way in which workers reach the server, unless it is nil.
	Ready func(Access)
	// Progress is called with the progress of the run about once a second and at the end, unless it is
	// nil.
	Progress func(Progress)
	// Note is called with messages from workers that the user should see, unless it is nil.
	Note func(string)
}

// hearing is the time without a word after which a worker is not counted.
const hearing = 10 * time.Second

// leader deals a run.
type leader struct {
	LeadSettings
	m       *batch.Manifest
	q       *batch.Queue
	ledger  *batch.Ledger
	nc      *nats.Conn
	js      jetstream.JetStream
	names   names
	items   jetstream.Consumer
	reports chan *nats.Msg

	todo    []batch.Span // that are in no message
	left    int64        // their number
	waiting int          // messages that nobody has fetched
	busy    int          // messages that somebody is at
	asked   time.Time    // when the server said so
	pace    pace
	workers map[string]*peer
	unseen  map[string]report // of files that are not in the folder yet
	since   map[string]time.Time

	start    time.Time
	progress Progress
	told     time.Time
	noted    time.Time // that the server does not answer
	empty    int       // how often in succession the server had nothing, and items were missing
	before   int64     // items that were done when it had nothing last
}

// peer is a worker.
type peer struct {
	threads int
	heard   time.Time
}

// Lead distributes the items of a manifest that have no result yet, and returns when every item has
// one. It needs workers; see Work. If ctx ends, it returns the progress so far and the cause; a later
// call of Lead continues from there.
func Lead(ctx context.Context, manifest string, s LeadSettings) (*batch.Status, error) {
	own := s.Folder != ""
	if !own {
		s.Folder = filepath.Join(string(s.Store), "leader")
	}
	if s.Listen == "" {
		s.Listen = "127.0.0.1:0"
	}
	if s.Block <= 0 {
		s.Block = 500 * time.Millisecond
	}
	if s.Patience <= 0 {
		s.Patience = 30 * time.Second
	}
	m, err := batch.Open(manifest)
	if err != nil {
		return nil, err
	}
	if s.Note != nil {
		m.Damaged = func(_ string, err error) {
			s.Note(fmt.Sprintf("%v: the file is left out, and its items are done again; remove it", err))
		}
	}
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return nil, err
	}
	l := &leader{LeadSettings: s, m: m, names: namesOf(m.Hash), reports: make(chan *nats.Msg, 1<<16), workers: map[string]*peer{}, unseen: map[string]report{}, since: map[string]time.Time{}, start: time.Now()}
	if l.q, err = s.Store.Queue(m); err != nil {
		return nil, err
	}
	// The lock is in the folder of results: one leader deals a run, wherever its own folder is, and no
	// failures are forgotten meanwhile.
	locked := []string{l.q.Folder()}
	if own {
		locked = append(locked, s.Folder)
	}
	for _, folder := range locked {
		lock, _, err := runlock.Acquire(folder, "euryale-cluster lead "+manifest)
		if err != nil {
			return nil, err
		}
		defer lock.Release()
	}
	if l.ledger, err = s.Store.Ledger(l.q); err != nil {
		return nil, err
	}
	l.progress.Items, l.progress.Done, l.before = m.Items, l.ledger.Done(), -1
	if l.ledger.Done() < m.Items {
		err = l.all(ctx, manifest)
	}
	l.tell(true)
	status, e := s.Store.Status(m)
	if err == nil {
		err = e
	}
	return status, err
}

// all starts a server, or connects to one, and deals until nothing is missing.
func (l *leader) all(ctx context.Context, manifest string) error {
	var inside *server.Server
	var more []nats.Option
	access, own := Access{}, Access{}
	if l.Server != nil {
		access, own = *l.Server, *l.Server
	} else {
		var err error
		if inside, access, err = serve(l.Folder, l.Listen); err != nil {
			return err
		}
		defer func() { inside.Shutdown(); inside.WaitForShutdown() }()
		more = append(more, nats.InProcessServer(inside))
		own.URL = "nats://this-process" // within it nothing is proved, and nothing encrypted
	}
	var err error
	if l.nc, err = own.dial(ctx, "euryale leader", more...); err != nil {
		return err
	}
	defer l.nc.Close()
	if l.js, err = stream(ctx, l.nc); err != nil {
		return err
	}
	if _, err := l.nc.ChanSubscribe(l.names.reports(), l.reports); err != nil {
		return err
	}
	if err := l.prepare(ctx, manifest); err != nil {
		return err
	}
	if l.Ready != nil {
		l.Ready(access)
	}
	if err := l.deal(ctx); err != nil {
		return err
	}
	return l.finish(inside == nil)
}

// prepare makes the stream, or takes the one that an earlier leader left, with its messages.
func (l *leader) prepare(ctx context.Context, manifest string) error {
	manifest, err := filepath.Abs(manifest)
	if err != nil {
		return err
	}
	store, err := filepath.Abs(string(l.Store))
	if err != nil {
		return err
	}
	file := filepath.Join(l.q.Folder(), leaderFile)
	id, err := foreign.ReadFile(file)
	if err != nil || len(id) == 0 {
		id = []byte(rand.Text())
		if err := atomicfile.WriteBytes(file, id); err != nil {
			return err
		}
	}
	if l.Server != nil { // a copy of this run may be dealt there
		if s, err := l.js.Stream(ctx, l.names.stream()); err == nil {
			if said := s.CachedInfo().Config.Metadata; said[keyLeader] != string(id) {
				return fmt.Errorf("the server at %s already has a run of the same list, with its results in %s: wait for it to end, or remove its stream %s", *l.Server, foreign.Short(said[keyStore], 500), l.names.stream())
			}
		}
	}
	s, err := l.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: l.names.stream(), Subjects: []string{l.names.items()}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
		Metadata: map[string]string{keyManifest: manifest, keyHash: l.m.Hash, keyStore: store, keyLeader: string(id)},
	})
	if err == nil {
		// How often a message comes is bounded by the workers, who cut it up and at last give up.
		l.items, err = s.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: consumerName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: l.Patience, MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 1 << 16,
		})
	}
	if err != nil {
		return fmt.Errorf("the server could not create the stream of the run: %w", err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	var there []batch.Span
	const most = 1 << 16 // a leader leaves fewer
	if info.State.Msgs > 0 && info.State.LastSeq-info.State.FirstSeq > most {
		if err := s.Purge(ctx); err != nil {
			return err
		}
		info.State.Msgs = 0
	}
	for seq := info.State.FirstSeq; info.State.Msgs > 0 && seq <= info.State.LastSeq; seq++ {
		raw, err := s.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if msg, err := read(raw.Data, l.m); err == nil {
			there = append(there, msg.Spans...)
		}
	}
	l.again(l.ledger.Missing(there))
	return nil
}

// again sets the items that are in no message.
func (l *leader) again(todo []batch.Span) { l.todo, l.left = todo, batch.Count(todo) }

// deal publishes items and hears reports until the ledger is complete.
func (l *leader) deal(ctx context.Context) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for l.ledger.Done() < l.m.Items {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case r := <-l.reports:
			if err := l.hear(r.Data); err != nil {
				return err
			}
			for len(l.reports) > 0 {
				if err := l.hear((<-l.reports).Data); err != nil {
					return err
				}
			}
		case <-tick.C:
			if l.nc.IsClosed() {
				return &AccessError{plain(l.nc.Opts.Url), l.nc.LastError()}
			}
			if err := l.see(); err != nil {
				return err
			}
			if l.left == 0 || time.Since(l.asked) > 500*time.Millisecond { // reports may be lost
				l.asked = time.Time{}
			}
		}
		if err := l.fill(ctx); err != nil {
			return err
		}
		l.tell(false)
	}
	return nil
}

// hear takes a report.
func (l *leader) hear(data []byte) error {
	var r report
	if json.Unmarshal(data, &r) != nil || r.Worker == "" {
		return nil // not from one of us
	}
	p := l.workers[r.Worker]
	if p == nil {
		p = &peer{}
		l.workers[r.Worker] = p
	}
	p.heard = time.Now()
	switch r.Kind {
	case hello:
		p.threads = max(0, min(r.Threads, 1<<16))
	case took:
		l.pace.took(r.Items, r.Seconds)
		l.waiting--
	case wrote:
		return l.file(r)
	case note:
		if l.Note != nil {
			l.Note(foreign.Short(r.Worker+": "+r.Text, 3000))
		}
	case bye:
		delete(l.workers, r.Worker)
	}
	return nil
}

// file notes a file that a worker wrote.
func (l *leader) file(r report) error {
	before := l.ledger.Done()
	ok, err := l.ledger.Note(r.File, r.Spans)
	if err != nil { // what is in the folder is found without the worker's word
		if l.Note != nil {
			l.Note(foreign.Short(fmt.Sprintf("%s: %v", r.Worker, err), 3000))
		}
		return nil
	}
	if !ok {
		if _, have := l.since[r.File]; !have {
			l.unseen[r.File], l.since[r.File] = r, time.Now()
		}
		return nil
	}
	delete(l.unseen, r.File)
	delete(l.since, r.File)
	l.progress.Failed += min(r.Failed, l.ledger.Done()-before)
	l.progress.Now += l.ledger.Done() - before
	return nil
}

// see looks again for files that were not in the folder when a worker had written them.
func (l *leader) see() error {
	for name, r := range l.unseen {
		if err := l.file(r); err != nil {
			return err
		}
		if since, still := l.since[name]; still && time.Since(since) > l.Patience {
			return &NotSharedError{r.Worker, filepath.Join(r.Folder, r.File), l.q.Folder()}
		}
	}
	return nil
}

// threads counts those of the workers that were heard of lately.
func (l *leader) threads() (workers, threads int) {
	for name, p := range l.workers {
		if time.Since(p.heard) > hearing {
			delete(l.workers, name)
			continue
		}
		workers++
		threads += max(1, p.threads)
	}
	return workers, threads
}

// fill publishes as many messages as the threads need to have something at hand until it is called
// again.
func (l *leader) fill(ctx context.Context) error {
	_, threads := l.threads()
	want := 2*threads + 4
	if l.waiting >= want/2 && !l.asked.IsZero() || time.Since(l.asked) < 5*time.Millisecond {
		return nil
	}
	ask, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	info, err := l.items.Info(ask)
	if err != nil {
		return l.unreachable(ctx, err)
	}
	l.asked, l.waiting, l.busy = time.Now(), int(info.NumPending), info.NumAckPending
	var list []message
	var all []batch.Span
	for l.waiting < want && l.left > 0 {
		var spans []batch.Span
		spans, l.todo = cut(l.todo, l.pace.size(l.Block, l.left, threads))
		l.left -= batch.Count(spans)
		l.waiting++
		all = append(all, spans...)
		list = append(list, message{Manifest: l.m.Hash, Spans: spans})
	}
	if len(list) > 0 {
		send, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		if err := publish(send, l.js, l.names, list); err != nil {
			l.again(append(all, l.todo...)) // some may be done twice
			return l.unreachable(ctx, err)
		}
	}
	if l.waiting == 0 && l.busy == 0 && l.left == 0 {
		return l.missed()
	}
	l.empty = 0
	return nil
}

// unreachable says what to do about a server that does not answer: it is waited for unless it answers
// that there is no such stream.
func (l *leader) unreachable(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrConsumerNotFound), errors.Is(err, jetstream.ErrConsumerDoesNotExist), errors.Is(err, jetstream.ErrNoStreamResponse) && l.nc.IsConnected():
		return fmt.Errorf("the stream %s was removed from the server (%w): start the leader again, which continues with the missing items", l.names.stream(), err)
	case l.Note != nil && time.Since(l.noted) > hearing:
		l.noted = time.Now()
		l.Note(fmt.Sprintf("the server does not take the messages of the run (%v), and the leader tries again: check that the server is running, and that the disk with its data is not full (the leader's own server keeps them in %s)", err, l.Folder))
	}
	return nil
}

// missed is called when the server has no message. The items of reports that were lost are in files,
// and those of messages that were lost are published again.
func (l *leader) missed() error {
	if l.empty++; l.empty < 3 { // reports may be on the way
		return nil
	}
	l.empty = 0
	done := l.ledger.Done()
	if err := l.ledger.Look(); err != nil {
		return err
	}
	l.progress.Now += l.ledger.Done() - done
	if len(l.unseen) > 0 || l.ledger.Done() == l.m.Items {
		return nil
	}
	if l.before == l.ledger.Done() {
		return fmt.Errorf("all %d missing items were given to workers twice, but there are no results in %s: check that the workers write to this folder", l.m.Items-l.before, l.q.Folder())
	}
	l.before = l.ledger.Done()
	l.again(l.ledger.Missing(nil))
	return nil
}

// finish tells the workers that nothing is left, and removes the stream.
func (l *leader) finish(external bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := l.nc.Publish(l.names.end(), nil)
	if err == nil {
		err = l.js.DeleteStream(ctx, l.names.stream())
	}
	if err != nil && external {
		return fmt.Errorf("all items are finished, but the stream %s could not be removed from the server: %w", l.names.stream(), err)
	}
	for until := time.Now().Add(2 * time.Second); len(l.workers) > 0 && time.Now().Before(until); {
		select {
		case r := <-l.reports:
			l.hear(r.Data) // all files were seen
		case <-time.After(50 * time.Millisecond):
			l.threads()
		}
	}
	return nil
}

// tell says how far the run is.
func (l *leader) tell(now bool) {
	if l.Progress == nil || !now && time.Since(l.told) < time.Second {
		return
	}
	l.told = time.Now()
	l.progress.Done = l.ledger.Done()
	l.progress.Elapsed = time.Since(l.start)
	l.progress.Workers, l.progress.Threads = l.threads()
	l.Progress(l.progress)
}
