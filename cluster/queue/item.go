// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/euryale-dev/euryale/batch"
)

const (
	// freely is how often a message comes before it is taken for one that ends processes.
	freely = 2
	// giveUp is how often an item comes that is alone in a message before nobody tries it again.
	giveUp = 4
	// mostFound is the number of results after which they are written.
	mostFound = 1 << 16
)

// one works on a message.
func (w *worker) one(ctx context.Context, msg jetstream.Msg) error {
	m, err := read(msg.Data(), w.m)
	var other *OtherManifestError
	if errors.As(err, &other) {
		w.back(msg)
		w.tell(report{Kind: note, Text: err.Error()})
		return err
	}
	meta, e := msg.Metadata()
	if err == nil {
		err = e
	}
	if err != nil {
		w.release(msg)
		w.tell(report{Kind: note, Text: "a message was discarded: " + err.Error()})
		return msg.TermWithReason(err.Error())
	}
	n := batch.Count(m.Spans)
	again := meta.NumDelivered
	suspect := m.Suspect || again > freely
	switch {
	case suspect && n == 1 && again > giveUp:
		text := fmt.Sprintf("given up: %d processes ended or fell silent while they worked on this item", again-1)
		return w.keep(msg, m, []batch.Record{{Item: m.Spans[0].First, Err: text, Attempts: int(again) - 1}})
	case suspect && n > 1 && (again > freely || m.Suspect && again > 1):
		return w.looked(ctx, msg, m) // not even the process that runs the other one outlived it
	}
	start := time.Now()
	var records []batch.Record
	if suspect {
		records, err = w.q.InChild(w.Alone(ctx, w.Manifest, w.Store, m.Spans), m.Spans)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			records = nil // handed back
		case n > 1:
			return w.looked(ctx, msg, m)
		default:
			records = []batch.Record{{Item: m.Spans[0].First, Err: err.Error(), Attempts: 1}}
		}
	} else if records, err = w.q.Do(ctx, w.task, m.Spans); err != nil {
		w.back(msg)
		return err
	}
	w.tell(report{Kind: took, Items: int64(len(records)), Seconds: time.Since(start).Seconds()})
	return w.keep(msg, m, records)
}

// looked puts the items of a message into smaller ones that are looked into.
func (w *worker) looked(ctx context.Context, msg jetstream.Msg, m message) error {
	var list []message
	for _, spans := range split(m.Spans, parts) {
		list = append(list, message{Manifest: m.Manifest, Spans: spans, Suspect: true})
	}
	w.tell(report{Kind: note, Text: fmt.Sprintf("processes may have ended while they worked on item %d or others, %d in all: separate processes now work on these items", m.Spans[0].First, batch.Count(m.Spans))})
	if !w.publish(ctx, list) {
		w.release(msg)
		return nil // it comes again
	}
	w.release(msg)
	return msg.Ack()
}

// publish reports whether the server has the messages.
func (w *worker) publish(ctx context.Context, list []message) bool {
	send, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return publish(send, w.js, w.names, list) == nil
}

// back hands a message back as it came, but as a new one: for how often a message comes counts, and this
// worker did not die of it. A nak is for where the server does not take it.
func (w *worker) back(msg jetstream.Msg) {
	w.release(msg)
	send, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := w.js.Publish(send, w.names.items(), msg.Data()); err != nil {
		msg.Nak()
		return
	}
	msg.Ack()
}

// release forgets a message, of which the server hears no more.
func (w *worker) release(msg jetstream.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.held, msg)
}

// keep takes the results of a message. Items without one are handed back as a new message.
func (w *worker) keep(msg jetstream.Msg, m message, records []batch.Record) error {
	if rest := without(m.Spans, records); len(rest) > 0 && !w.publish(context.Background(), []message{{Manifest: m.Manifest, Spans: rest, Suspect: m.Suspect}}) {
		w.release(msg) // it comes again, and then all of it
		msg.Nak()
		msg = nil
	}
	w.mu.Lock()
	if len(w.ready) == 0 {
		w.since = time.Now()
	}
	w.found = append(w.found, records)
	w.count += len(records)
	if msg != nil {
		w.ready = append(w.ready, msg)
	}
	w.worked.Messages++
	w.worked.Items += int64(len(records))
	for _, r := range records {
		if r.Err != "" {
			w.worked.Failed++
		}
	}
	full := w.count >= mostFound || time.Since(w.since) > w.Every
	w.mu.Unlock()
	if full {
		return w.flush()
	}
	return nil
}

// flush writes what was found, and acknowledges its messages when that is on the disk.
func (w *worker) flush() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	records, msgs := slices.Concat(w.found...), w.ready
	w.found, w.count, w.ready = nil, 0, nil
	w.mu.Unlock()
	if len(records) > 0 {
		file, spans, err := w.q.Write(w.task.Columns(), records)
		if err != nil {
			for _, msg := range msgs {
				w.back(msg)
			}
			return err
		}
		r := report{Kind: wrote, File: file, Folder: w.q.Folder(), Spans: spans}
		for _, rec := range records {
			if rec.Err != "" {
				r.Failed++
			}
		}
		w.tell(r)
	}
	for _, msg := range msgs {
		w.release(msg)
		msg.Ack() // if it is lost, the items are done again
	}
	return nil
}
