// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// copySizes, in bytes, are around those at which a copy goes another way.
var copySizes = []int{1, 3, smallCopy - 1, smallCopy, smallCopy + 1, chunkBytes, chunkBytes + 1, 5*chunkBytes + 7}

func checkCopy(t *testing.T, d *Device, n int) {
	t.Helper()
	in, out := make([]byte, n), make([]byte, n)
	for i := range in {
		in[i] = byte(i * 7 / 5)
	}
	b, err := d.Alloc(n + 64)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	if err := d.Default().Fill(b, 0, n+64, 0xEE); err != nil { // which the copy comes after
		t.Fatal(err)
	}
	if err := d.CopyIn(background, b, 64, in); err != nil {
		t.Fatal(err)
	}
	clear(in[:len(in)/2]) // the slice may be changed at once
	if err := d.CopyOut(background, out, b, 64); err != nil {
		t.Fatal(err)
	}
	for i := range out {
		if out[i] != byte(i*7/5) {
			t.Fatalf("byte %d of %d is %d", i, n, out[i])
		}
	}
}

// Copies of all sizes, around those where the way changes, whatever the driver does when.
func TestCopiesAreWhole(t *testing.T) {
	lib := pretend.LookPath(t)
	for mode := pretend.Eager; mode <= pretend.Random; mode++ {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			lib.Reset()
			lib.Set("mode", mode)
			d := device(t, lib, Settings{})
			for _, n := range copySizes {
				checkCopy(t, d, n)
			}
		})
	}
}

func TestCopiesOfEveryType(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	b := alloc(t, d, nil, 64)
	defer b.Free()
	for _, x := range []any{[]float64{1.5}, []float32{2.5, 3}, []int64{-1}, []uint64{1 << 63}, []int32{-5}, []uint32{7}, []int16{-2}, []uint16{9},
		[]int8{-1}, []bool{true}, []complex64{2i}, []complex128{1 + 2i}, []byte{3}} {
		if err := d.CopyIn(background, b, 8, x); err != nil {
			t.Errorf("%T: %v", x, err)
		}
	}
	z := []complex128{1 + 2i}
	if err := d.CopyIn(background, b, 8, z); err != nil {
		t.Fatal(err)
	}
	got := make([]float64, 2)
	if err := d.CopyOut(background, got, b, 8); err != nil || got[0] != 1 || got[1] != 2 {
		t.Errorf("got %v, %v", got, err)
	}
	for name, err := range map[string]error{
		"[]int":   d.CopyIn(background, b, 0, []int{1}),
		"57 to ":  d.CopyIn(background, b, 57, []float64{1}),
		"-1 to 7": d.CopyOut(background, []float64{1}, b, -1),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error with %q", err, name)
		}
	}
}

func TestPinnedMemory(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	d := device(t, lib, Settings{})
	m, err := d.AllocPinned(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Bytes() {
		m.Bytes()[i] = byte(i)
	}
	b := alloc(t, d, nil, 1<<20)
	defer b.Free()
	if err := d.CopyIn(background, b, 0, m); err != nil {
		t.Fatal(err)
	}
	if err := d.Synchronize(background); err != nil {
		t.Fatal(err)
	}
	clear(m.Bytes())
	if err := d.CopyOut(background, m, b, 0); err != nil {
		t.Fatal(err)
	}
	if m.Bytes()[1000] != byte(1000%256) {
		t.Error("the copy differs")
	}
	if err := errors.Join(m.Free(), m.Free()); err != nil || m.Bytes() != nil {
		t.Errorf("Free: %v", err)
	}
	if err := d.CopyIn(background, b, 0, m); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

// Page-locked memory that was freed is taken again for as much or half as much, is bounded, and goes back to the driver by Trim, at the end, and where
// the driver has no more.
func TestPinnedMemoryIsKept(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	locks := func(want int, bytes ...int) {
		t.Helper()
		before := lib.Get("cuMemHostAlloc")
		var all []*Pinned
		for _, n := range bytes {
			m, err := d.AllocPinned(n)
			if err != nil || len(m.Bytes()) != n {
				t.Fatalf("%d bytes: %v", n, err)
			}
			all = append(all, m)
		}
		for _, m := range all {
			if err := m.Free(); err != nil {
				t.Fatal(err)
			}
		}
		if got := lib.Get("cuMemHostAlloc") - before; got != want {
			t.Errorf("%v bytes: %d areas are locked, want %d", bytes, got, want)
		}
	}
	locks(2, 1<<20, 1<<20)
	locks(0, 1<<20, 1<<19)
	locks(1, 1<<18)
	locks(0, 1<<18, 1<<20, 1<<20)
	locks(1, mostKept)
	locks(1, mostKept) // too much to be kept beside the others
	if err := d.Trim(); err != nil {
		t.Fatal(err)
	}
	locks(1, mostKept)
	locks(0, mostKept)
	lib.Fail("cuMemHostAlloc", 0, 1, int32(drv.OutOfMemory))
	locks(2, 1<<20)
	lib.Fail("cuMemHostAlloc", 0, 0, 0)
	locks(1, mostKept) // what was kept went back
}

// A cancelled context ends the wait and nothing else.
func TestCancelledWaits(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	d := device(t, lib, Settings{})
	s, err := d.NewStream(0)
	if err != nil {
		t.Fatal(err)
	}
	b := alloc(t, d, make([]float32, 1000), 4000)
	defer b.Free()
	for range 50 {
		if err := s.Fill(b, 0, 4000, 1); err != nil {
			t.Fatal(err)
		}
	}
	why := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(background)
	cancel(why)
	if err := s.Synchronize(ctx); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
	if err := s.CopyOut(ctx, make([]float32, 1000), b, 0); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
	short, stop := context.WithTimeout(background, time.Minute)
	defer stop()
	if err := s.Synchronize(short); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Synchronize(background); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestEvents(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	d := device(t, lib, Settings{})
	b := alloc(t, d, make([]float32, 1000), 4000)
	defer b.Free()
	if err := d.Default().Fill(b, 0, 4000, 1); err != nil {
		t.Fatal(err)
	}
	e, err := d.Default().Record()
	if err != nil {
		t.Fatal(err)
	}
	if lib.Get("waiting") == 0 {
		t.Error("a lazy driver has nothing to do")
	}
	if err := e.Synchronize(background); err != nil {
		t.Error(err)
	}
	if ok, err := e.Done(); !ok || err != nil {
		t.Errorf("after Synchronize the event is done: %v, %v", ok, err)
	}
}

// Two devices with their own memory; a copy between them waits for both.
func TestCopyBetweenDevices(t *testing.T) {
	lib := pretend.LookPath(t)
	for seed := range 4 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			lib.Reset()
			lib.Set("seed", seed)
			lib.Set("mode", pretend.Lazy+seed%2)
			sys := newSystem()
			d0, d1 := systemDevice(t, lib, sys, 0, Settings{}), systemDevice(t, lib, sys, 1, Settings{})
			m0, err0 := d0.Compile(sample())
			m1, err1 := d1.Compile(sample())
			if err := errors.Join(err0, err1); err != nil {
				t.Fatal(err)
			}
			x, y := alloc(t, d0, []float32{1, 2, 3, 4}, 16), alloc(t, d1, nil, 16)
			defer x.Free()
			defer y.Free()
			launch(t, kernel(t, m0, "scaled"), d0.Default(), Dim{X: 1}, Dim{X: 4}, 0, x, float32(10), int32(4))
			if err := d1.Default().Copy(y, 0, x, 0, 16); err != nil {
				t.Fatal(err)
			}
			launch(t, kernel(t, m0, "scaled"), d0.Default(), Dim{X: 1}, Dim{X: 4}, 0, x, float32(0), int32(4))
			if err := d0.Synchronize(background); err != nil { // which the copy comes before
				t.Fatal(err)
			}
			launch(t, kernel(t, m1, "scaled"), d1.Default(), Dim{X: 1}, Dim{X: 4}, 0, y, float32(2), int32(4))
			if got := floats(t, d1.Default(), y, 4); got[3] != 80 || got[0] != 20 {
				t.Errorf("got %v", got)
			}
			if err := kernel(t, m1, "scaled").Launch(d1.Default(), Dim{X: 1}, Dim{X: 4}, 0, x, float32(2), int32(4)); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "device 0") {
				t.Errorf("a buffer of another device: %v", err)
			}
		})
	}
}

// Many goroutines on one device, each with its own stream.
func TestGoroutinesShareADevice(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	f := kernel(t, m, "scaled")
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			s, err := d.NewStream(0)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			for range 25 {
				if err := oneTurn(d, s, f, 1+rng.IntN(30_000)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func oneTurn(d *Device, s *Stream, f *Function, n int) error {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	b, err := d.Alloc(4 * n) // of another stream, used on ours
	if err != nil {
		return err
	}
	defer b.Free()
	if err := s.CopyIn(background, b, 0, x); err != nil {
		return err
	}
	if err := f.Launch(s, Blocks(n, 256), Dim{X: 256}, 0, b, float32(3), int32(n)); err != nil {
		return err
	}
	if err := s.CopyOut(background, x, b, 0); err != nil {
		return err
	}
	for i := range x {
		if x[i] != 3*float32(i) {
			return fmt.Errorf("element %d of %d is %g", i, n, x[i])
		}
	}
	return nil
}

// More streams than there are chunks make small copies, and large ones go on beside them.
func TestManyStreamsShareChunks(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	b := alloc(t, d, nil, 1<<20)
	defer b.Free()
	ctx, stop := context.WithTimeout(background, time.Minute)
	defer stop()
	for k := range maxChunks + 4 {
		s, err := d.NewStream(0)
		if err != nil {
			t.Fatal(err)
		}
		for turn := range 2 {
			if err := s.CopyIn(ctx, b, 8*k, []int32{int32(k), int32(turn)}); err != nil {
				t.Fatalf("stream %d: %v", k, err)
			}
		}
		if err := s.Synchronize(ctx); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]int32, 1<<18)
	if err := d.CopyOut(ctx, got, b, 0); err != nil {
		t.Fatal(err)
	}
	for k := range maxChunks + 4 {
		if got[2*k] != int32(k) || got[2*k+1] != 1 {
			t.Errorf("stream %d: %v", k, got[2*k:2*k+2])
		}
	}
}

// A device that is closed while it copies ends the copies, and they touch nothing that it gave back.
func TestCloseDuringCopies(t *testing.T) {
	lib := pretend.LookPath(t)
	for i := range 8 {
		lib.Reset()
		d, err := newSystem().device(0, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		const size = 24 << 20
		b := alloc(t, d, nil, size)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				host, err := make([]byte, size), error(nil)
				for err == nil {
					if err = d.CopyOut(background, host, b, 0); err == nil {
						err = d.CopyIn(background, b, 0, host)
					}
				}
				if !errors.Is(err, ErrClosed) {
					t.Errorf("got %v, want ErrClosed", err)
				}
			})
		}
		time.Sleep(time.Duration(5*i) * time.Millisecond)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		b.Free()
	}
}

// A stream that is closed while others use it refuses them, and the driver never sees it again.
func TestStreamsCloseUnderUse(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	b := alloc(t, d, nil, 1<<20)
	defer b.Free()
	for round := range 20 {
		s, err := d.NewStream(0)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for w := range 3 {
			wg.Go(func() {
				var err error
				for err == nil {
					switch w {
					case 0:
						err = s.Fill(b, 0, 100, 1)
					case 1:
						err = s.CopyIn(background, b, 0, make([]byte, 100+round%2*smallCopy))
					case 2:
						err = s.CopyOut(background, make([]byte, 100), b, 0)
					}
				}
				if !errors.Is(err, ErrClosed) {
					t.Errorf("worker %d: got %v, want ErrClosed", w, err)
				}
			})
		}
		time.Sleep(time.Millisecond)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}
