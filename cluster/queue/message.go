// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/foreign"
)

const (
	consumerName = "workers"
	// parts is how many messages are made of one whose items are looked into.
	parts = 16
	// mostSpans bounds the size of a message.
	mostSpans = 2000
)

// message is a message of the stream: items to be done.
type message struct {
	Manifest string       `json:"manifest"` // hash
	Spans    []batch.Span `json:"spans"`
	// Suspect items may have ended a process, and are done by processes of their own.
	Suspect bool `json:"suspect,omitempty"`
}

// report is what a worker tells the leader. It may be lost.
type report struct {
	Kind    string `json:"kind"`
	Worker  string `json:"worker"`
	Threads int    `json:"threads,omitempty"`
	// Items of a message, and the time that a thread took for them.
	Items   int64   `json:"items,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	// File of the queue folder, what is in it, and where it is.
	File   string       `json:"file,omitempty"`
	Folder string       `json:"folder,omitempty"`
	Spans  []batch.Span `json:"spans,omitempty"`
	Failed int64        `json:"failed,omitempty"`
	Text   string       `json:"text,omitempty"`
}

// Kinds of reports.
const (
	hello = "hello" // every so often
	took  = "took"
	wrote = "wrote"
	note  = "note"
	bye   = "bye"
)

// names of a run on a server.
type names string // first digits of the manifest's hash

func namesOf(hash string) names { return names(hash[:min(16, len(hash))]) }
func (n names) stream() string  { return "EURYALE-" + string(n) }
func (n names) items() string   { return "euryale." + string(n) + ".items" }
func (n names) reports() string { return "euryale." + string(n) + ".report" }
func (n names) end() string     { return "euryale." + string(n) + ".end" }

// Keys of a stream's metadata, by which workers learn about the run.
const (
	keyManifest = "euryale-manifest" // path
	keyHash     = "euryale-hash"
	keyStore    = "euryale-store"
	keyLeader   = "euryale-leader" // contents of the file leaderFile in the queue folder
)

const leaderFile = "leader"

// publish adds messages to the stream and waits until it has them.
func publish(ctx context.Context, js jetstream.JetStream, n names, list []message) error {
	var waiting []jetstream.PubAckFuture
	for _, m := range list {
		b, err := json.Marshal(m)
		if err != nil {
			return err
		}
		f, err := js.PublishMsgAsync(&nats.Msg{Subject: n.items(), Data: b})
		if err != nil {
			return err
		}
		waiting = append(waiting, f)
	}
	for _, f := range waiting {
		select {
		case <-f.Ok():
		case err := <-f.Err():
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// split cuts spans into as many lists, of about as many items each.
func split(spans []batch.Span, lists int64) (out [][]batch.Span) {
	n := batch.Count(spans)
	lists = min(lists, n)
	rest := spans
	for k := range lists {
		var one []batch.Span
		one, rest = cut(rest, n*(k+1)/lists-n*k/lists)
		out = append(out, one)
	}
	return out
}

// cut takes some items off the front of spans. Spans that follow each other are joined.
func cut(spans []batch.Span, items int64) (front, rest []batch.Span) {
	for items > 0 && len(spans) > 0 && len(front) < mostSpans {
		s := spans[0]
		k := min(items, s.Count)
		front = append(front, batch.Span{First: s.First, Count: k})
		items -= k
		if k < s.Count {
			return front, append([]batch.Span{{First: s.First + k, Count: s.Count - k}}, spans[1:]...)
		}
		spans = spans[1:]
	}
	return front, spans
}

// without returns the items of spans that are not those of records.
func without(spans []batch.Span, records []batch.Record) (list []batch.Span) {
	have := map[int64]bool{}
	for _, r := range records {
		have[r.Item] = true
	}
	for _, s := range spans {
		for i := s.First; i < s.First+s.Count; i++ {
			if have[i] {
				continue
			}
			if n := len(list); n > 0 && list[n-1].First+list[n-1].Count == i {
				list[n-1].Count++
			} else {
				list = append(list, batch.Span{First: i, Count: 1})
			}
		}
	}
	return list
}

// read reads a message and compares it with the manifest. An *OtherManifestError is as it
// says; another error means that the message makes no sense.
func read(data []byte, m *batch.Manifest) (message, error) {
	var msg message
	if err := foreign.Decode(data, &msg, false); err != nil {
		return msg, fmt.Errorf("the message is not a list of items: %w", err)
	}
	if msg.Manifest != m.Hash {
		return msg, &OtherManifestError{Have: m.Hash, Want: msg.Manifest}
	}
	var items int64
	for _, s := range msg.Spans {
		if s.First < 0 || s.Count <= 0 || s.First > m.Items-s.Count {
			return msg, fmt.Errorf("the message asks for %d items from item %d on, but the manifest has %d items", s.Count, s.First, m.Items)
		}
		items += s.Count
	}
	if items == 0 || items > m.Items {
		return msg, fmt.Errorf("the message lists %d items of the %d in the manifest: it is empty or repeats items", items, m.Items)
	}
	return msg, nil
}
