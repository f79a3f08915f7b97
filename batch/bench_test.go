// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/peer"
)

// spin is a task whose items take some time of the processor: rounds of a loop.
type spin struct{ rounds int }

var spun atomic.Uint64

func (s spin) Columns() []Column { return []Column{{Name: "value"}} }

func (s spin) one(item int64) float64 {
	x := float64(item)
	for range s.rounds {
		x = math.Sqrt(x*x + 1)
	}
	return x
}

func (s spin) Do(_ context.Context, items Range, put func(Record)) error {
	for i := items.Item; i < items.Item+items.Count; i++ {
		put(Record{Item: i, Numbers: []float64{s.one(i)}})
	}
	return nil
}

// rounds returns how many rounds take a time.
func rounds(d time.Duration) spin {
	s := spin{20000}
	best := time.Hour
	for range 50 {
		begin := time.Now()
		spun.Add(uint64(s.one(7)))
		best = min(best, time.Since(begin))
	}
	return spin{max(1, int(float64(s.rounds)*float64(d)/float64(best)))}
}

// BenchmarkOverhead compares items of some length in a store with the same work in plain goroutines, in
// turn. It prints what the list adds in percent: of the shortest time, and of the processor's time.
func BenchmarkOverhead(b *testing.B) {
	for _, length := range []time.Duration{20 * time.Microsecond, 200 * time.Microsecond, 2 * time.Millisecond} {
		b.Run(length.String(), func(b *testing.B) {
			task := rounds(length)
			n := int64(6 * time.Second / length)
			m := list(b, n, Header{})
			plain, listed := newStopwatch(), newStopwatch()
			for range 5 {
				plain.time(func() {
					var next atomic.Int64
					var wg sync.WaitGroup
					for range runtime.GOMAXPROCS(0) {
						wg.Go(func() {
							for {
								from := next.Add(64) - 64
								if from >= n {
									return
								}
								for i := from; i < min(from+64, n); i++ {
									spun.Add(uint64(task.one(i)))
								}
							}
						})
					}
					wg.Wait()
				})
				listed.time(func() {
					if _, err := Run(context.Background(), m, task, Settings{Store: Store(b.TempDir()), Shard: Whole}); err != nil {
						b.Fatal(err)
					}
				})
			}
			b.ReportMetric(100*(listed.wall/plain.wall-1), "%wall")
			b.ReportMetric(100*(listed.cpu/plain.cpu-1), "%cpu")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// stopwatch keeps the shortest times of several runs, in seconds.
type stopwatch struct{ wall, cpu float64 }

func newStopwatch() *stopwatch { return &stopwatch{math.Inf(1), math.Inf(1)} }

func (s *stopwatch) time(f func()) {
	begin, cpu := time.Now(), peer.CPUTime()
	f()
	s.wall, s.cpu = min(s.wall, time.Since(begin).Seconds()), min(s.cpu, peer.CPUTime()-cpu)
}

// BenchmarkTenMillion makes a list of ten million items of 100,000 sources, reads it, and counts what a
// share of 1,000 has; it prints the memory that this takes.
func BenchmarkTenMillion(b *testing.B) {
	dir := b.TempDir()
	peak := func(f func()) float64 {
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		var most atomic.Uint64
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
					runtime.ReadMemStats(&now)
					most.Store(max(most.Load(), now.HeapInuse))
				}
			}
		})
		f()
		close(stop)
		wg.Wait()
		return float64(most.Load()-min(most.Load(), before.HeapInuse)) / 1e6
	}
	name := filepath.Join(dir, "manifest.txt")
	var m *Manifest
	begin := time.Now()
	made := peak(func() {
		var err error
		if m, err = Create(name, Header{Command: "spin"}, func(add func(string, int64, int64) error) error {
			for k := range 100_000 {
				if err := add("data/file-"+strconv.Itoa(k)+".hdf", 0, 100); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportMetric(time.Since(begin).Seconds(), "s_made")
	b.ReportMetric(made, "MB_made")
	st, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(st.Size())/1e6, "MB_file")
	begin = time.Now()
	var p Progress
	done := peak(func() {
		if p, err = Run(context.Background(), m, spin{1}, Settings{Store: Store(filepath.Join(dir, "results")), Shard: Shard{Index: 7, Count: 1000}}); err != nil {
			b.Fatal(err)
		}
	})
	if p.Done != 10_000 && p.Done < 9_000 {
		b.Fatal(fmt.Sprint(p))
	}
	b.ReportMetric(time.Since(begin).Seconds(), "s_share")
	b.ReportMetric(done, "MB_share")
	b.ReportMetric(0, "ns/op")
}
