// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// WorkSettings control a worker.
type WorkSettings struct {
	// Manifest and Store are the paths of the manifest and the store on this machine. Default: the
	// paths that the leader gives, if it has proved that it is the leader ([Access].Proven). Of another
	// server a worker takes no paths: Manifest is then required, and Store is results beside it by default.
	Manifest string
	Store    batch.Store
	// Open returns the task that processes the items of a manifest.
	Open func(*batch.Manifest) (batch.Task, error)
	// Alone returns a process that opens the manifest and processes items with [batch.Queue.DoApart],
	// writing to its standard output. It is used for items that may have crashed a process.
	Alone func(ctx context.Context, manifest string, store batch.Store, items []batch.Span) *exec.Cmd
	// Threads is the number of messages processed at a time. Default: GOMAXPROCS.
	Threads int
	// Every is the longest time between two writes of results. Default: 2 s.
	Every time.Duration
	// Grace is how long work on a message may continue after ctx has ended. Messages that are not
	// finished by then are returned to the queue. Default: 10 s.
	Grace time.Duration
	// Lost is how long a worker waits for a lost server to come back. Default: 10 min.
	Lost time.Duration
	// Note is called with messages that the user should see, unless it is nil.
	Note func(string)
}

// Worked summarises what a worker did.
type Worked struct {
	Items, Failed int64
	Messages      int64
	// Ended reports whether the leader said that nothing is left to do.
	Ended bool
}

// worker does items of one run.
type worker struct {
	WorkSettings
	name     string
	access   Access
	telling  sync.Once // about another program that answers
	patience time.Duration
	m        *batch.Manifest
	q        *batch.Queue
	task     batch.Task
	nc       *nats.Conn
	js       jetstream.JetStream
	names    names
	items    jetstream.Consumer
	stop     context.CancelCauseFunc // of fetching

	mu     sync.Mutex
	held   map[jetstream.Msg]bool // that are not acknowledged yet
	found  [][]batch.Record
	count  int             // of the records in found
	ready  []jetstream.Msg // whose items are in found, or need no more work
	since  time.Time       // of the first of these
	worked Worked

	writing sync.Mutex
}

var errEnded = errors.New("nothing is left to do")

// Work fetches items from the leader's server and processes them until the leader or ctx ends; neither
// is an error.
func Work(ctx context.Context, a Access, s WorkSettings) (Worked, error) {
	if s.Open == nil || s.Alone == nil {
		return Worked{}, errors.New("queue: WorkSettings lacks Open or Alone: set both")
	}
	if s.Threads <= 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	if s.Every <= 0 {
		s.Every = 2 * time.Second
	}
	if s.Grace <= 0 {
		s.Grace = 10 * time.Second
	}
	if s.Lost <= 0 {
		s.Lost = 10 * time.Minute
	}
	if _, _, err := a.target(); err != nil {
		return Worked{}, err
	}
	if !a.Proven() && s.Manifest == "" {
		return Worked{}, &UnprovenError{a.String()}
	}
	if !a.Proven() && s.Store == "" {
		s.Store = batch.Store(filepath.Join(filepath.Dir(s.Manifest), "results"))
	}
	host, _ := os.Hostname()
	w := &worker{WorkSettings: s, access: a, name: fmt.Sprintf("%s:%d", host, os.Getpid()), held: map[jetstream.Msg]bool{}}
	err := w.connect(ctx, a)
	if w.nc != nil {
		defer w.nc.Close()
	}
	switch {
	case ctx.Err() != nil:
		return Worked{}, nil
	case err != nil:
		return Worked{}, err
	}
	return w.all(ctx)
}

// connect finds the server and the run. What goes wrong because the leader ends meanwhile is tried again
// as long as a server is waited for.
func (w *worker) connect(ctx context.Context, a Access) error {
	for until := time.Now().Add(a.Wait); ; {
		err := w.once(ctx, a)
		if err == nil || ctx.Err() != nil || !passing(err) || time.Now().After(until) {
			return err
		}
		if w.nc != nil {
			w.nc.Close()
		}
		select {
		case <-ctx.Done():
		case <-time.After(250 * time.Millisecond):
		}
	}
}

func (w *worker) once(ctx context.Context, a Access) (err error) {
	if w.nc, err = a.dial(ctx, "euryale worker "+w.name); err != nil {
		return err
	}
	if w.js, err = stream(ctx, w.nc); err != nil {
		return err
	}
	return w.join(ctx, a)
}

// stranger tells, once, that another program answers in place of a lost server, or that the server is back with other keys. It is
// tried again for as long as the server is waited for.
func (w *worker) stranger() {
	last := w.nc.LastError()
	if last == nil || w.Note == nil {
		return
	}
	err := w.access.failure(w.access.URL, last)
	if errors.As(err, new(*ImpostorError)) || errors.As(err, new(*AccessError)) {
		w.telling.Do(func() { w.Note(err.Error()) })
	}
}

// passing reports whether an error is that of a server which ends or begins.
func passing(err error) bool {
	for _, e := range []error{nats.ErrTimeout, nats.ErrNoResponders, nats.ErrConnectionClosed, nats.ErrDisconnected, nats.ErrNoServers, context.DeadlineExceeded,
		jetstream.ErrStreamNotFound, jetstream.ErrConsumerNotFound, jetstream.ErrNoStreamResponse, jetstream.ErrJetStreamNotEnabled} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// join finds the run on the server, and its files.
func (w *worker) join(ctx context.Context, a Access) error {
	info, err := w.run(ctx, a)
	if err != nil {
		return err
	}
	said := info.Config.Metadata
	if w.m == nil {
		w.Manifest = said[keyManifest]
		if w.m, err = batch.Open(w.Manifest); err != nil {
			return fmt.Errorf("the leader's manifest cannot be opened: %w: if its path on this machine is different, give that path", err)
		}
	}
	if w.m.Hash != said[keyHash] {
		return &OtherManifestError{Have: w.m.Hash, Want: said[keyHash]}
	}
	if w.Store == "" {
		w.Store = batch.Store(said[keyStore])
	}
	w.names = namesOf(w.m.Hash)
	if w.items, err = w.js.Consumer(ctx, w.names.stream(), consumerName); err != nil {
		return err
	}
	w.patience = w.items.CachedInfo().Config.AckWait
	if err := w.shared(ctx, said[keyLeader]); err != nil {
		return err
	}
	if w.q, err = w.Store.Queue(w.m); err != nil {
		return err
	}
	w.task, err = w.Open(w.m)
	return err
}

// run finds the stream of the manifest, or the only one. If there is none it is waited for as long as
// for the server.
func (w *worker) run(ctx context.Context, a Access) (*jetstream.StreamInfo, error) {
	var err error
	if w.Manifest != "" {
		if w.m, err = batch.Open(w.Manifest); err != nil {
			return nil, err
		}
	}
	for until := time.Now().Add(a.Wait); ; {
		var list []*jetstream.StreamInfo
		streams := w.js.ListStreams(ctx, jetstream.WithStreamListSubject("euryale.*.items"))
		for info := range streams.Info() {
			list = append(list, info)
		}
		if err := streams.Err(); err != nil {
			return nil, fmt.Errorf("the server at %s: %w", a, err)
		}
		for _, info := range list {
			if w.m == nil && len(list) == 1 || w.m != nil && info.Config.Metadata[keyHash] == w.m.Hash {
				return info, nil
			}
		}
		switch {
		case len(list) == 1:
			return nil, &OtherManifestError{Have: w.m.Hash, Want: list[0].Config.Metadata[keyHash]}
		case len(list) > 1 && w.m == nil:
			return nil, fmt.Errorf("the server at %s has %d runs: give the manifest of one of them", a, len(list))
		case len(list) > 1:
			return nil, fmt.Errorf("the server at %s has %d runs, but none of the manifest %.12s... of this worker: give it the leader's file", a, len(list), w.m.Hash)
		case time.Now().After(until):
			return nil, fmt.Errorf("the server at %s has no run: the leader may have ended; start it again", a)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// shared makes sure that the store is the leader's, by a file that the leader wrote. Folders of a network
// may show it late.
func (w *worker) shared(ctx context.Context, want string) error {
	folder := filepath.Join(string(w.Store), "queue")
	name := filepath.Join(folder, leaderFile)
	for until := time.Now().Add(w.patience / 3); ; {
		b, err := foreign.ReadFile(name)
		if err == nil && string(b) == want {
			return nil
		}
		if time.Now().After(until) {
			return &NotSharedError{w.name, folder, "in which it put the file " + leaderFile}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// all works until the end.
func (w *worker) all(ctx context.Context) (Worked, error) {
	fetching, stop := context.WithCancelCause(ctx)
	w.stop = stop
	defer stop(nil)
	working, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	context.AfterFunc(fetching, func() {
		grace := w.Grace
		if errors.Is(context.Cause(fetching), errEnded) {
			grace = 0 // it is done already, by somebody else
		}
		time.AfterFunc(grace, func() { cancel(context.Cause(fetching)) })
	})
	over, err := w.nc.Subscribe(w.names.end(), func(*nats.Msg) { stop(errEnded) })
	if err != nil {
		return Worked{}, err
	}
	defer over.Unsubscribe()

	quiet := make(chan struct{})
	var beside, threads sync.WaitGroup
	beside.Go(func() { w.beat(quiet) })
	for range w.Threads {
		threads.Go(func() {
			for fetching.Err() == nil {
				if err := w.next(fetching, working); err != nil {
					stop(err)
				}
			}
		})
	}
	threads.Wait()
	err = context.Cause(fetching)
	if e := w.flush(); e != nil {
		err = e
	}
	close(quiet)
	beside.Wait()
	w.tell(report{Kind: bye})
	w.nc.FlushTimeout(2 * time.Second)
	w.worked.Ended = errors.Is(err, errEnded)
	if w.worked.Ended || err == context.Cause(ctx) {
		err = nil
	}
	return w.worked, err
}

// tell sends a report, which may be lost.
func (w *worker) tell(r report) {
	r.Worker = w.name
	if b, err := json.Marshal(r); err == nil {
		w.nc.Publish(w.names.reports(), b)
	}
}

// beat tells the server that the messages are being worked on, the leader that this worker is there,
// and writes results that have waited for long enough.
func (w *worker) beat(quiet chan struct{}) {
	every := time.NewTicker(min(w.Every/2, w.patience/4, time.Second))
	defer every.Stop()
	var beat, said time.Time
	var away time.Time
	for {
		if time.Since(said) > hearing/5 {
			w.tell(report{Kind: hello, Threads: w.Threads})
			said = time.Now()
		}
		select {
		case <-quiet:
			return
		case <-every.C:
		}
		if time.Since(beat) > w.patience/4 {
			beat = time.Now()
			w.mu.Lock()
			var list []jetstream.Msg
			for msg := range w.held {
				list = append(list, msg)
			}
			w.mu.Unlock()
			for _, msg := range list {
				msg.InProgress() // if it is lost, another worker does the same
			}
		}
		w.mu.Lock()
		due := len(w.ready) > 0 && time.Since(w.since) > w.Every
		w.mu.Unlock()
		if due {
			if err := w.flush(); err != nil {
				w.stop(err)
			}
		}
		switch {
		case w.nc.IsConnected():
			away = time.Time{}
		case w.nc.IsClosed():
			w.stop(&AccessError{plain(w.nc.Opts.Url), w.nc.LastError()})
		case away.IsZero():
			away = time.Now()
		case time.Since(away) < w.Lost:
			w.stranger()
		default:
			w.stop(fmt.Errorf("the server did not come back within %v: check the leader and start the worker again: %w", w.Lost, nats.ErrNoServers))
		}
	}
}

// next fetches a message and works on it. Where none comes soon it writes what was found, and
// waits for longer.
func (w *worker) next(fetching, working context.Context) error {
	msgs, err := w.items.Fetch(1, jetstream.FetchMaxWait(100*time.Millisecond))
	msg := first(msgs, err)
	if msg == nil {
		if err := w.flush(); err != nil {
			return err
		}
		msgs, err = w.items.Fetch(1, jetstream.FetchMaxWait(time.Second))
		if msg = first(msgs, err); msg == nil {
			if err == nil {
				err = msgs.Error()
			}
			return w.nothing(fetching, err)
		}
	}
	w.mu.Lock()
	w.held[msg] = true
	w.mu.Unlock()
	return w.one(working, msg)
}

func first(msgs jetstream.MessageBatch, err error) jetstream.Msg {
	if err != nil {
		return nil
	}
	return <-msgs.Messages()
}

// nothing finds out why no message came: there was none, the server is away for a while, or the run has
// ended.
func (w *worker) nothing(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, nats.ErrTimeout) && w.nc.IsConnected() || ctx.Err() != nil {
		return nil
	}
	for range 3 { // a server that just started may not know its streams yet
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(300 * time.Millisecond):
		}
		_, err := w.js.Consumer(ctx, w.names.stream(), consumerName)
		if !errors.Is(err, jetstream.ErrStreamNotFound) && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil // it is there, or nobody answers: try again
		}
	}
	return errEnded
}
