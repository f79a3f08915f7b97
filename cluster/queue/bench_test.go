// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package queue

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/euryale-dev/euryale/batch"
)

// BenchmarkItems20us does items of about 20 us: by one process with two threads, and by a leader and two
// workers. It reports the processor time of an item, that of all processes together, and the time
// that passes. The two take turns, and the smallest times count.
func BenchmarkItems20us(b *testing.B) {
	const items = 1_000_000
	spin := spinFor(20 * time.Microsecond)
	cpu := func(cmd *exec.Cmd) time.Duration { return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() }
	var bestLocal, bestQueue, bestLeader, wallLocal, wallQueue time.Duration = 1 << 62, 1 << 62, 1 << 62, 1 << 62, 1 << 62
	for range max(1, b.N) {
		f, _ := list(b, items, behaviour{Spin: spin})
		start := time.Now()
		cmd, said := f.process(b, "local")
		if err := cmd.Wait(); err != nil {
			b.Fatal(err, said)
		}
		wallLocal, bestLocal = min(wallLocal, time.Since(start)), min(bestLocal, cpu(cmd))

		f, m := list(b, items, behaviour{Spin: spin})
		start = time.Now()
		leader, said := f.process(b, "lead-plain")
		for f.access().Token == "" || len(f.access().URL) < 10 {
			time.Sleep(5 * time.Millisecond)
		}
		var workers []*exec.Cmd
		for range 2 {
			w, said := f.process(b, "plain")
			defer func() {
				if w.ProcessState == nil {
					w.Process.Kill()
					w.Wait()
					b.Log(said)
				}
			}()
			workers = append(workers, w)
		}
		if err := leader.Wait(); err != nil {
			b.Fatal(err, said)
		}
		wall, sum := time.Since(start), cpu(leader)
		bestLeader = min(bestLeader, sum)
		for _, w := range workers {
			if err := w.Wait(); err != nil {
				b.Fatal(err)
			}
			sum += cpu(w)
		}
		wallQueue, bestQueue = min(wallQueue, wall), min(bestQueue, sum)
		if st, err := f.store().Status(m); err != nil || st.Done != items {
			b.Fatal(st, err)
		}
	}
	us := func(d time.Duration) float64 { return d.Seconds() / items * 1e6 }
	b.ReportMetric(us(bestLocal), "local-cpu-us/item")
	b.ReportMetric(us(bestQueue), "queue-cpu-us/item")
	b.ReportMetric(us(bestLeader), "leader-cpu-us/item")
	b.ReportMetric(100*(us(bestQueue)/us(bestLocal)-1), "overhead-%")
	b.ReportMetric(wallLocal.Seconds(), "local-s")
	b.ReportMetric(wallQueue.Seconds(), "queue-s")
}

// spinFor returns the steps of an item that take a time.
func spinFor(d time.Duration) int {
	s := &sines{behaviour{Spin: 10_000}}
	best := time.Duration(1 << 62)
	for range 50 {
		start := time.Now()
		s.Do(context.Background(), batch.Range{Count: 1}, func(batch.Record) {})
		best = min(best, time.Since(start))
	}
	return int(10_000 * d.Seconds() / best.Seconds())
}

// BenchmarkMessage measures what a message costs: to publish, and to fetch and acknowledge.
func BenchmarkMessage(b *testing.B) {
	ns, a, err := serve(b.TempDir(), "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ns.Shutdown()
	nc, err := a.dial(b.Context(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	js, err := stream(b.Context(), nc)
	if err != nil {
		b.Fatal(err)
	}
	n := names("bench")
	s, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: n.stream(), Subjects: []string{n.items()}, Retention: jetstream.WorkQueuePolicy})
	if err != nil {
		b.Fatal(err)
	}
	c, err := s.CreateConsumer(b.Context(), jetstream.ConsumerConfig{Durable: consumerName, AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: -1})
	if err != nil {
		b.Fatal(err)
	}
	var publishing, fetching time.Duration
	for range b.N {
		start := time.Now()
		if err := publish(b.Context(), js, n, []message{{Manifest: "0123", Spans: []batch.Span{{First: 1, Count: 25_000}}}}); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		msgs, err := c.Fetch(1, jetstream.FetchMaxWait(time.Second))
		msg := first(msgs, err)
		if msg == nil {
			b.Fatal("no message")
		}
		msg.Ack()
		publishing, fetching = publishing+middle.Sub(start), fetching+time.Since(middle)
	}
	b.ReportMetric(publishing.Seconds()*1e6/float64(b.N), "us/publish")
	b.ReportMetric(fetching.Seconds()*1e6/float64(b.N), "us/fetch+ack")
}
