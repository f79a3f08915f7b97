// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

func TestBuffersComeFromSlabs(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	var small []*Buffer
	for i := range 100 {
		b := alloc(t, d, nil, 1+i*100)
		if b.Uintptr()%512 != 0 {
			t.Errorf("a buffer begins at %x", b.Uintptr())
		}
		small = append(small, b)
	}
	if n := lib.Get("cuMemAlloc_v2"); n != 1 {
		t.Errorf("100 small buffers took %d calls of the driver", n)
	}
	medium, large := alloc(t, d, nil, 3<<20), alloc(t, d, nil, 31<<20)
	st := d.Stats()
	if st.Reserved != 2<<20+20<<20+32<<20 || st.Allocations != 102 || st.PeakReserved != st.Reserved {
		t.Errorf("statistics are %+v", st)
	}
	for _, b := range append(small, medium, large) {
		b.Free()
		b.Free()
	}
	st = d.Stats()
	if st.Active != 0 || st.Frees != 102 || st.Cached != st.Reserved || st.Blocks != 3 || st.LargestFree != 32<<20 {
		t.Errorf("after freeing everything statistics are %+v", st)
	}
	if err := d.Trim(); err != nil {
		t.Error(err)
	}
	if st = d.Stats(); st.Reserved != 0 || lib.Get("used") != 0 || lib.Get("early frees") != 0 {
		t.Errorf("after Trim statistics are %+v, and the driver has given %d B", st, lib.Get("used"))
	}
	d.ResetPeak()
	if st = d.Stats(); st.PeakActive != 0 || st.PeakReserved != 0 {
		t.Errorf("peaks are %+v", st)
	}
}

func TestEmptyBuffers(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	b := alloc(t, d, []float32{}, 0)
	if b.Uintptr() != 0 || b.Size() != 0 || lib.Get("cuMemAlloc_v2") != 0 {
		t.Error("an empty buffer has memory")
	}
	if err := d.CopyOut(background, []float32{}, b, 0); err != nil {
		t.Error(err)
	}
	if err := d.CopyIn(background, b, 0, []byte{1}); err == nil {
		t.Error("a byte fits an empty buffer")
	}
	b.Free()
	if _, err := d.Alloc(-1); err == nil {
		t.Error("a buffer of -1 bytes was made")
	}
}

// Random requests never overlap, and the lists of free blocks stay whole.
func TestPoolNeverOverlaps(t *testing.T) {
	lib := pretend.LookPath(t)
	for _, kind := range []Allocator{Caching, Async, Direct} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) { neverOverlaps(t, lib, kind) })
	}
}

func neverOverlaps(t *testing.T, lib *pretend.Library, kind Allocator) {
	lib.Reset()
	d := device(t, lib, Settings{Allocator: kind})
	randomBuffers(t, d)
	if n := lib.Get("used"); n != 0 {
		t.Errorf("after Trim the driver has given %d B", n)
	}
}

// randomBuffers makes and frees buffers on two streams.
func randomBuffers(t *testing.T, d *Device) {
	t.Helper()
	other, err := d.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, uint64(d.options.Allocator)))
	var live []*Buffer
	for range 400 {
		if len(live) > 0 && rng.IntN(5) < 2 {
			i := rng.IntN(len(live))
			live[i].Free()
			live = append(live[:i], live[i+1:]...)
			continue
		}
		s := []*Stream{d.Default(), other}[rng.IntN(2)]
		b, err := s.Alloc(1 + rng.IntN(1<<(4+rng.IntN(18))))
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(3) == 0 {
			b.RecordStream(other)
			b.RecordStream(d.Default())
		}
		live = append(live, b)
		for _, o := range live[:len(live)-1] {
			if b.Uintptr() < o.Uintptr()+uintptr(o.Size()) && o.Uintptr() < b.Uintptr()+uintptr(b.Size()) {
				t.Fatalf("%x+%d and %x+%d overlap", b.Uintptr(), b.Size(), o.Uintptr(), o.Size())
			}
		}
	}
	checkPool(t, d)
	for _, b := range live {
		b.Free()
	}
	if err := errors.Join(other.Close(), d.Trim()); err != nil {
		t.Fatal(err)
	}
	checkPool(t, d)
	if st := d.Stats(); st.Active != 0 || st.Reserved != 0 {
		t.Errorf("after Trim statistics are %+v", st)
	}
}

// checkPool compares the blocks of slabs with the lists of free ones.
func checkPool(t *testing.T, d *Device) {
	t.Helper()
	p := d.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := map[*block]bool{}
	for key, list := range p.idle {
		for i, b := range list {
			if idle[b] = true; !b.idle || b.stream.Load() != key.stream || i > 0 && byFit(list[i-1], b) >= 0 {
				t.Fatal("a list of free blocks is not in order")
			}
		}
	}
	for s := range p.slabs {
		at := uint64(0)
		for b := s.first; b != nil; b = b.next {
			if b.offset != at || b.idle != idle[b] || b.stream.Load() != s.first.stream.Load() || b.next != nil && b.next.prev != b {
				t.Fatalf("the blocks of a slab do not follow each other at %d", at)
			}
			at += b.size
		}
		if at != s.size {
			t.Fatalf("the blocks of a slab of %d B have %d B", s.size, at)
		}
	}
}

// Two streams, one buffer: the memory is not reused while the other stream still reads it. The
// program without that care is noticed, so the pretend driver would notice a mistake.
func TestMemoryIsNotReusedEarly(t *testing.T) {
	lib := pretend.LookPath(t)
	wrong := func(careless bool) int {
		n := 0
		for seed := range 10 {
			lib.Reset()
			lib.Set("mode", pretend.Lazy+seed%2)
			lib.Set("seed", seed)
			t.Run(fmt.Sprint(careless, seed), func(t *testing.T) {
				if !reuseIsRight(t, lib, careless, seed < 5) {
					n++
				}
			})
		}
		return n
	}
	if n := wrong(false); n != 0 {
		t.Errorf("%d of 10 runs read memory that was reused", n)
	}
	if n := wrong(true); n == 0 {
		t.Error("the pretend driver does not notice reuse that is too early")
	}
}

// reuseIsRight reads a buffer on another stream, by a launch or a copy, frees it and overwrites its memory.
func reuseIsRight(t *testing.T, lib *pretend.Library, careless, byLaunch bool) bool {
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	other, err := d.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	x := alloc(t, d, []float32{7, 0, 0, 0}, 16)
	kept, err := other.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := d.Default().Record()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(ready); err != nil {
		t.Fatal(err)
	}
	if byLaunch {
		launch(t, kernel(t, m, "block_sums"), other, Dim{X: 1}, Dim{X: 4}, 16, x, kept, int32(4))
	} else if err := other.Copy(kept, 0, x, 0, 16); err != nil {
		t.Fatal(err)
	}
	if careless {
		delete(x.b.others, other)
	}
	x.Free()
	if err := d.Default().Synchronize(background); err != nil { // its own stream is done with x
		t.Fatal(err)
	}
	y := alloc(t, d, nil, 16) // perhaps in the place of x
	if err := d.Default().Fill(y, 0, 16, 0x41); err != nil {
		t.Fatal(err)
	}
	launch(t, kernel(t, m, "scaled"), d.Default(), Dim{X: 1}, Dim{X: 4}, 0, y, float32(2), int32(4))
	if err := d.Synchronize(background); err != nil {
		t.Fatal(err)
	}
	return floats(t, other, kept, 1)[0] == 7
}

// A copy that was begun and could not be finished still writes: its memory is not given out before.
func TestFailedCopyKeepsMemory(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	d := device(t, lib, Settings{})
	const n = 2 * smallCopy
	b := alloc(t, d, nil, n)
	lib.Fail("cuStreamWaitEvent", 1, 1, int32(drv.NotPermitted))
	if err := d.CopyIn(background, b, 0, make([]byte, n)); !errors.Is(err, drv.NotPermitted) {
		t.Fatalf("got %v, want NotPermitted", err)
	}
	b.Free()
	c := alloc(t, d, nil, n)
	defer c.Free()
	got := make([]byte, n)
	if err := errors.Join(d.Default().Fill(c, 0, n, 0x55), d.Default().Synchronize(background), d.Synchronize(background), d.CopyOut(background, got, c, 0)); err != nil {
		t.Fatal(err)
	}
	if got[0] != 0x55 || got[n-1] != 0x55 {
		t.Errorf("an old copy wrote into a new buffer: %x", got[0])
	}
}

// A copy that fails half way writes nothing after the work that follows it.
func TestFailedCopyIsOrdered(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	d := device(t, lib, Settings{})
	const n = 2 * chunkBytes
	b := alloc(t, d, nil, n)
	defer b.Free()
	lib.Fail("cuMemcpyHtoDAsync_v2", 1, 1, int32(drv.NotPermitted))
	if err := d.CopyIn(background, b, 0, make([]byte, n)); !errors.Is(err, drv.NotPermitted) {
		t.Fatalf("got %v, want NotPermitted", err)
	}
	got := make([]byte, 16)
	if err := errors.Join(d.Default().Fill(b, 0, n, 0x55), d.Default().Synchronize(background), d.Synchronize(background), d.CopyOut(background, got, b, 0)); err != nil {
		t.Fatal(err)
	}
	if got[0] != 0x55 {
		t.Errorf("the copy wrote %x after the work behind it", got[0])
	}
}

// Memory goes back to the driver only after the work on it.
func TestTrimWaits(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	d := device(t, lib, Settings{})
	b := alloc(t, d, nil, 1<<20)
	if err := d.Default().Fill(b, 0, 1<<20, 1); err != nil {
		t.Fatal(err)
	}
	b.Free()
	if err := d.Trim(); err != nil {
		t.Fatal(err)
	}
	if lib.Get("early frees") != 0 || lib.Get("used") != 0 {
		t.Errorf("%d early frees, %d B in use", lib.Get("early frees"), lib.Get("used"))
	}
}

// What a closed stream had is given out again, and its buffers live on.
func TestClosedStreamLeavesItsMemory(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	s, err := d.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	live, err1 := s.Alloc(3 << 20)
	gone, err2 := s.Alloc(3 << 20)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	gone.Free()
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Alloc(16); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	again := alloc(t, d, nil, 3<<20)
	if again.Uintptr() != gone.Uintptr() {
		t.Error("free memory of a closed stream is not given out again")
	}
	if err := errors.Join(d.CopyIn(background, live, 0, make([]byte, 3<<20)), d.Synchronize(background)); err != nil {
		t.Error(err) // while a copy is under way, its memory is given to nobody
	}
	live.Free()
	if third := alloc(t, d, nil, 3<<20); third.Uintptr() != live.Uintptr() {
		t.Error("a buffer of a closed stream is not given out again")
	}
	checkPool(t, d)
}

// So does memory that is taken back because it is short.
func TestShortageWaits(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	lib.Set("memory", 64<<20)
	d := device(t, lib, Settings{})
	b := alloc(t, d, nil, 30<<20)
	if err := d.Default().Fill(b, 0, 30<<20, 1); err != nil {
		t.Fatal(err)
	}
	b.Free()
	c := alloc(t, d, nil, 50<<20)
	defer c.Free()
	if n := lib.Get("early frees"); n != 0 || d.Stats().Retries != 1 {
		t.Errorf("%d early frees, %d retries", n, d.Stats().Retries)
	}
	if err := d.Synchronize(background); err != nil {
		t.Error(err)
	}
}

// Memory is found, in this order: free slabs of another kind, buffers that nobody refers to; then the
// error says who has it, and the device goes on.
func TestOutOfMemory(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("memory", 64<<20)
	d := device(t, lib, Settings{})
	for range 10 {
		alloc(t, d, nil, 9<<20).Free() // leaves free slabs of 20 MiB
	}
	held, err := d.AllocTagged(40<<20, "weights")
	if err != nil {
		t.Fatal(err)
	}
	big, err := d.AllocTagged(24<<20, "gradients") // needs the slab's room
	if err != nil {
		t.Fatal(err)
	}
	if st := d.Stats(); st.Retries == 0 {
		t.Errorf("statistics are %+v", st)
	}
	_, err = d.Alloc(8 << 20)
	var e *OutOfMemoryError
	if !errors.Is(err, ErrOutOfMemory) || !errors.Is(err, drv.OutOfMemory) || !errors.As(err, &e) {
		t.Fatalf("got %v, want an OutOfMemoryError", err)
	}
	if e.Requested != 8<<20 || e.Total != 64<<20 || e.Active != 64<<20 || e.Top[0] != (TagUse{"weights", 40 << 20, 1}) || e.Top[1].Tag != "gradients" {
		t.Errorf("the error is %+v", *e)
	}
	for _, want := range []string{"8192.0 KiB", "weights 40.0 MiB in 1", "device 0", "smaller batches"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	big.Free()
	again, err := d.Alloc(8 << 20)
	if err != nil {
		t.Fatalf("after a buffer was freed: %v", err)
	}
	again.Free()
	held.Free()
	if lib.Get("early frees") != 0 {
		t.Error("memory was given back while work waited")
	}
}

func TestForgottenBuffersAreFound(t *testing.T) {
	tier.SlowOnly(t)
	lib := pretend.LookPath(t)
	for _, kind := range []Allocator{Caching, Async, Direct} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) { forgotten(t, lib, kind) })
	}
}

func forgotten(t *testing.T, lib *pretend.Library, kind Allocator) {
	lib.Reset()
	lib.Set("memory", 64<<20)
	d := device(t, lib, Settings{Allocator: kind})
	for range 20 { // 600 MiB in all, and nobody frees anything
		b, err := d.Alloc(30 << 20)
		if err != nil {
			t.Fatalf("allocator %d: %v", kind, err)
		}
		if err := d.Default().Fill(b, 0, b.Size(), 0); err != nil {
			t.Fatal(err)
		}
	}
	runtime.KeepAlive(d)
}

func TestForgottenGraphsAreFound(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("memory", 64<<20)
	d := device(t, lib, Settings{})
	for range 5 {
		b, err := d.Alloc(30 << 20)
		if err != nil {
			t.Fatal(err)
		}
		g, err := d.Capture(func(s *Stream) error { return s.Fill(b, 0, b.Size(), 0) })
		if err != nil {
			t.Fatal(err)
		}
		b.Free() // the graph still holds it
		if err := g.Launch(d.Default()); err != nil {
			t.Fatal(err)
		}
	}
}

// The k-th call of the driver fails, for every kind of call: nothing panics, the error is typed, and
// nothing is left behind.
func TestEveryDriverCallMayFail(t *testing.T) {
	lib := pretend.LookPath(t)
	calls := []string{"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemAlloc_v2", "cuMemHostAlloc", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
		"cuMemcpyDtoH_v2", "cuStreamCreateWithPriority", "cuStreamWaitEvent", "cuEventCreate", "cuEventRecord", "cuEventQuery", "cuModuleLoadDataEx",
		"cuModuleGetFunction", "cuFuncGetAttribute", "cuLaunchKernel", "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphLaunch"}
	for _, call := range calls {
		failed := 0
		for k := range 4 {
			lib.Reset()
			lib.Fail(call, k, 1, int32(drv.NotPermitted))
			err := scenario(lib)
			if err != nil {
				failed++
				var e *Error
				if !errors.As(err, &e) || e.Code != drv.NotPermitted || e.Call != call || !errors.Is(err, drv.NotPermitted) {
					t.Errorf("call %d of %s: got %v", k, call, err)
				}
			}
			if n := lib.Get("leaks"); n != 0 {
				t.Errorf("call %d of %s: %d things were not given back", k, call, n)
			}
		}
		if failed == 0 {
			t.Errorf("%s never failed", call)
		}
	}
}

// scenario uses everything once and returns the first error.
func scenario(lib *pretend.Library) error {
	d, err := newSystem().device(0, Settings{})
	if err != nil {
		return err
	}
	defer d.Close()
	m, err := d.Compile(sample())
	if err != nil {
		return err
	}
	f, err := m.Function("scaled")
	if err != nil {
		return err
	}
	const n = 40_000
	x, err := d.Alloc(4 * n)
	if err != nil {
		return err
	}
	defer x.Free()
	run := func(s *Stream) error { return f.Launch(s, Blocks(n, 256), Dim{X: 256}, 0, x, float32(2), int32(n)) }
	if err := errors.Join(d.CopyIn(background, x, 0, make([]float32, 8)), d.CopyIn(background, x, 0, make([]float32, n)), run(d.Default())); err != nil {
		return err
	}
	g, err := d.Capture(run)
	if err != nil {
		return err
	}
	defer g.Close()
	if err := g.Launch(d.Default()); err != nil {
		return err
	}
	if err := d.CopyOut(background, make([]float32, n), x, 0); err != nil {
		return err
	}
	return errors.Join(d.CopyOut(background, make([]float32, 8), x, 0), d.Synchronize(context.Background()))
}
